#include "vocabulary.h"

#include "hash.h"

#include <stdlib.h>

/* Memory for twice as many items, at least n; false where there is none. */
static bool grow(void **items, size_t *room, size_t n, size_t size) {
    size_t more = *room ? *room : 512;
    while (more < n) {
        if (more > SIZE_MAX / 4 / size)
            return false;
        more *= 2;
    }
    void *grown = realloc(*items, more * size);
    if (!grown)
        return false;
    *items = grown;
    *room = more;
    return true;
}

static bool rehash(struct vocabulary *v, size_t n_slots) {
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (!slots)
        return false;
    size_t mask = n_slots - 1;
    for (size_t id = 0; id < v->n_tokens; id++) {
        size_t slot = v->entries[id].hash & mask;
        while (slots[slot])
            slot = (slot + 1) & mask;
        slots[slot] = (uint32_t)id + 1;
    }
    free(v->slots);
    v->slots = slots;
    v->slot_mask = mask;
    return true;
}

bool vocabulary_begin(struct vocabulary *v, const uint64_t key[2]) {
    *v = (struct vocabulary){.key = {key[0], key[1]}};
    return rehash(v, 1 << 11);
}

void vocabulary_free(struct vocabulary *v) {
    free(v->entries), free(v->ends), free(v->slots), free(v->text), free(v->cells);
    *v = (struct vocabulary){0};
}

static bool make_room(struct vocabulary *v, size_t size) {
    size_t used = v->n_tokens ? v->ends[v->n_tokens - 1] : 0;
    if (size > SIZE_MAX / 8 || v->n_tokens >= NO_TOKEN - 1)
        return false;
    if (v->text_room - used < size && !grow((void **)&v->text, &v->text_room, used + size, 1))
        return false;
    if (v->n_tokens == v->entry_room &&
        !grow((void **)&v->entries, &v->entry_room, v->n_tokens + 1, sizeof *v->entries))
        return false;
    if (v->n_tokens == v->end_room && !grow((void **)&v->ends, &v->end_room, v->n_tokens + 1, sizeof *v->ends))
        return false;
    /* At most half full: a probe looks at two slots on average. */
    return 2 * (v->n_tokens + 1) <= v->slot_mask || rehash(v, 2 * (v->slot_mask + 1));
}

static size_t slot_of(const struct vocabulary *v, uint64_t hash) {
    size_t slot = hash & v->slot_mask;
    while (v->slots[slot] && v->entries[v->slots[slot] - 1].hash != hash)
        slot = (slot + 1) & v->slot_mask;
    return slot;
}

uint32_t vocabulary_find(const struct vocabulary *v, span token) {
    uint32_t entry = v->slots[slot_of(v, siphash(v->key, token))];
    return entry ? entry - 1 : NO_TOKEN;
}

static uint32_t id_of(struct vocabulary *v, span token, uint64_t hash) {
    size_t slot = slot_of(v, hash);
    if (v->slots[slot])
        return v->slots[slot] - 1;
    if (!make_room(v, size_of(token)))
        return NO_TOKEN;
    slot = slot_of(v, hash); /* the slots may be others now */
    size_t id = v->n_tokens++, begin = id ? v->ends[id - 1] : 0;
    if (!is_empty(token))
        memcpy(v->text + begin, token.at, size_of(token));
    v->ends[id] = begin + size_of(token);
    v->entries[id] = (struct token_entry){hash, UINT32_MAX};
    v->slots[slot] = (uint32_t)id + 1;
    return (uint32_t)id;
}

uint32_t vocabulary_id(struct vocabulary *v, span token) { return id_of(v, token, siphash(v->key, token)); }

span vocabulary_text(const struct vocabulary *v, uint32_t id) {
    size_t begin = id ? v->ends[id - 1] : 0;
    return span_of(v->text + begin, v->ends[id] - begin);
}

static bool count(struct vocabulary *v, const struct pending_token *token) {
    uint32_t id = id_of(v, span_of(v->pending_text + token->begin, token->size), token->hash);
    if (id == NO_TOKEN)
        return false;
    size_t cell = v->entries[id].last_cell;
    if (cell >= v->row_begin && cell < v->n_cells && v->cells[cell].id == id) {
        v->cells[cell].count += !token->only_once;
        return true;
    }
    if (v->n_cells == v->cell_room && !grow((void **)&v->cells, &v->cell_room, v->n_cells + 1, sizeof *v->cells))
        return false;
    if (v->n_cells >= UINT32_MAX - 1)
        return false;
    v->entries[id].last_cell = (uint32_t)v->n_cells;
    v->cells[v->n_cells++] = (struct cell){id, 1};
    return true;
}

bool row_count(struct vocabulary *v) {
    for (size_t i = 0; i < v->n_pending; i++) {
        uint32_t entry = v->slots[v->pending[i].hash & v->slot_mask];
        if (entry)
            __builtin_prefetch(&v->entries[entry - 1]);
    }
    bool fits = true;
    for (size_t i = 0; i < v->n_pending && fits; i++)
        fits = count(v, &v->pending[i]);
    v->n_pending = v->n_pending_bytes = 0;
    return fits;
}

void row_add(struct vocabulary *v, size_t size, bool only_once) {
    uint64_t hash = siphash(v->key, span_of(v->pending_text + v->n_pending_bytes, size));
    __builtin_prefetch(&v->slots[hash & v->slot_mask]);
    v->pending[v->n_pending++] = (struct pending_token){hash, (uint32_t)v->n_pending_bytes, (uint32_t)size, only_once};
    v->n_pending_bytes += size;
}

bool row_end(struct vocabulary *v, size_t *size) {
    if (!row_count(v))
        return false;
    *size = v->n_cells - v->row_begin;
    v->row_begin = v->n_cells;
    return true;
}
