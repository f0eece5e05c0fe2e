#define _DEFAULT_SOURCE /* madvise */
#include "vocabulary.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 1 << 21 }; /* bytes */

/* Doubles the memory of an array until it has room for n items; false if there is too little memory. */
static bool grow(void **items, size_t *room, size_t n, size_t size) {
    size_t new_room = *room ? *room : 512;
    while (new_room < n) {
        if (new_room > SIZE_MAX / 4 / size)
            return false;
        new_room *= 2;
    }
    void *memory = realloc(*items, new_room * size);
    if (!memory)
        return false;
    *items = memory;
    *room = new_room;
    return true;
}

/* Returns the slot of the token with this hash, or the free slot for this token. */
static struct slot *slot_of(struct slot *slots, size_t mask, uint64_t hash) {
    size_t i = hash & mask;
    while (slots[i].number && slots[i].hash != hash)
        i = (i + 1) & mask;
    return &slots[i];
}

/* Returns n free slots, a power of two; NULL if there is too little memory. Large tables are in huge pages: with pages
 * of 4 kB, reading newsgroup posts takes a fifth longer. */
static struct slot *allocate_slots(size_t n) {
#ifdef MADV_HUGEPAGE
    if (n >= HUGE_PAGE / sizeof(struct slot)) {
        struct slot *slots = aligned_alloc(HUGE_PAGE, n * sizeof *slots);
        if (slots) {
            madvise(slots, n * sizeof *slots, MADV_HUGEPAGE);
            memset(slots, 0, n * sizeof *slots);
        }
        return slots;
    }
#endif
    return calloc(n, sizeof(struct slot));
}

/* Replaces the hash table by a table with n_slots slots, a power of two; false if there is too little memory. */
static bool rehash(struct vocabulary *v, size_t n_slots) {
    struct slot *slots = allocate_slots(n_slots);
    if (!slots)
        return false;
    for (size_t i = 0; v->slots && i <= v->slot_mask; i++)
        if (v->slots[i].number)
            *slot_of(slots, n_slots - 1, v->slots[i].hash) = v->slots[i];
    free(v->slots);
    v->slots = slots;
    v->slot_mask = n_slots - 1;
    return true;
}

struct vocabulary *vocabulary_new(void) {
    struct vocabulary *v = calloc(1, sizeof *v);
    if (v && !rehash(v, 1 << 11)) {
        free(v);
        return NULL;
    }
    return v;
}

void vocabulary_delete(struct vocabulary *v) {
    free(v->records), free(v->slots), free(v->text), free(v->cells);
    free(v);
}

size_t vocabulary_size(const struct vocabulary *v) { return v->n_tokens; }

/* Adds the record and the text of a new token; false if there is too little memory. */
static bool append_token(struct vocabulary *v, span text) {
    size_t used = v->n_tokens ? v->records[v->n_tokens - 1].end : 0, size = size_of(text);
    if (size > SIZE_MAX / 8 || v->n_tokens >= UINT32_MAX - 1)
        return false;
    if (v->text_room - used < size && !grow((void **)&v->text, &v->text_room, used + size, 1))
        return false;
    if (v->n_tokens == v->record_room &&
        !grow((void **)&v->records, &v->record_room, v->n_tokens + 1, sizeof *v->records))
        return false;
    if (size)
        memcpy(v->text + used, text.at, size);
    v->records[v->n_tokens++] = (struct token_record){used + size, 0};
    return true;
}

/* Returns the slot of a token, which gets an id if it is new. Returns NULL if there is too little memory. */
static struct slot *slot_with_id(struct vocabulary *v, const struct token *token) {
    struct slot *slot = slot_of(v->slots, v->slot_mask, token->hash);
    if (slot->number)
        return slot;
    if (v->n_tokens >= v->slot_mask / 4 * 3) { /* three quarters of the slots are full */
        if (v->slot_mask >= SIZE_MAX / 4 || !rehash(v, 2 * (v->slot_mask + 1)))
            return NULL;
        slot = slot_of(v->slots, v->slot_mask, token->hash);
    }
    if (!append_token(v, token->text))
        return NULL;
    *slot = (struct slot){token->hash, (uint32_t)v->n_tokens, UINT32_MAX};
    return slot;
}

bool vocabulary_ids(struct vocabulary *v, const uint8_t *text, const int32_t *lengths, size_t n, int32_t *ids) {
    for (size_t i = 0; i < n; i++) {
        span token = span_of(text, (size_t)lengths[i]);
        struct slot *slot = slot_with_id(v, &(struct token){fast_hash(SECRET, token), token});
        if (!slot)
            return false;
        ids[i] = slot->number - 1;
        text += lengths[i];
    }
    return true;
}

span vocabulary_text(const struct vocabulary *v, uint32_t id) {
    return span_between(v->text + (id ? v->records[id - 1].end : 0), v->text + v->records[id].end);
}

void vocabulary_lengths(const struct vocabulary *v, const uint32_t *ids, size_t n, int32_t *lengths) {
    for (size_t i = 0; i < n; i++)
        lengths[i] = (int32_t)size_of(vocabulary_text(v, ids[i]));
}

void vocabulary_texts(const struct vocabulary *v, const uint32_t *ids, size_t n, uint8_t *at) {
    for (size_t i = 0; i < n; i++) {
        span token = vocabulary_text(v, ids[i]);
        memcpy(at, token.at, size_of(token));
        at += size_of(token);
    }
}

uint64_t vocabulary_file_hash(struct vocabulary *v, uint32_t id) {
    if (!v->records[id].file_hash)
        v->records[id].file_hash = file_hash(vocabulary_text(v, id));
    return v->records[id].file_hash;
}

const struct cell *vocabulary_cells(const struct vocabulary *v, size_t *n) {
    *n = v->n_cells;
    return v->cells;
}

void vocabulary_forget_rows(struct vocabulary *v) { v->n_pending = v->n_cells = v->row_begin = v->doubtful_begin = 0; }

/* Counts an occurrence of a token in the current row; false if there is too little memory. */
static bool count_occurrence(struct vocabulary *v, const struct token *token) {
    struct slot *slot = slot_with_id(v, token);
    if (!slot)
        return false;
    size_t cell = slot->last_cell;
    if (cell >= v->row_begin && cell < v->n_cells && v->cells[cell].id == slot->number - 1) {
        v->cells[cell].count += cell >= v->doubtful_begin;
        return true;
    }
    if (v->n_cells == v->cell_room && !grow((void **)&v->cells, &v->cell_room, v->n_cells + 1, sizeof *v->cells))
        return false;
    if (v->n_cells >= UINT32_MAX - 1)
        return false;
    slot->last_cell = (uint32_t)v->n_cells;
    v->cells[v->n_cells++] = (struct cell){slot->number - 1, 1};
    return true;
}

bool row_add_pending(struct vocabulary *v) {
    bool is_done = true;
    for (size_t i = 0; i < v->n_pending && is_done; i++)
        is_done = count_occurrence(v, &v->pending[i]);
    v->n_pending = 0;
    return is_done;
}

bool row_end_plain(struct vocabulary *v) {
    if (!row_add_pending(v))
        return false;
    v->doubtful_begin = v->n_cells;
    return true;
}

bool row_end(struct vocabulary *v, uint32_t *size, uint32_t *n_plain) {
    if (!row_add_pending(v))
        return false;
    *size = (uint32_t)(v->n_cells - v->row_begin);
    *n_plain = (uint32_t)(v->doubtful_begin - v->row_begin);
    v->row_begin = v->n_cells;
    v->doubtful_begin = 0;
    return true;
}
