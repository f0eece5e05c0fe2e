#define _GNU_SOURCE /* memmem */
#include "bytes.h"

#include <stdlib.h>

enum {
    BLOCK = 1 << 20, /* bytes of a block, enough for most messages; larger allocations have larger blocks */
    MAX_SHORT = 4, /* bytes of a text that find looks up by its first byte: memchr is ten times as fast as memmem */
};

typedef uint8_t sixteen __attribute__((vector_size(16)));

/* ---- Spans ---- */

const uint8_t *find(span s, span text) {
    if (size_of(text) > MAX_SHORT)
        return size_of(s) < size_of(text) ? NULL : memmem(s.at, size_of(s), text.at, size_of(text));
    for (; (s.at = find_byte(s, *text.at)); s.at++)
        if (starts_with(s, text))
            return s.at;
    return NULL;
}

const uint8_t *find_any_case(span s, span lower) {
    for (; size_of(s) >= size_of(lower); s.at++)
        if (to_lower(*s.at) == *lower.at && starts_with_any_case(s, lower))
            return s.at;
    return NULL;
}

span skip_ascii(span s) {
    while (size_of(s) >= 8 && !(load_64(s.at) & UINT64_C(0x8080808080808080)))
        s.at += 8;
    while (s.at < s.end && *s.at < 0x80)
        s.at++;
    return s;
}

bool is_ascii(span s) { return is_empty(skip_ascii(s)); }

bool is_one_of(span word, const char *words) {
    span tail = span_of_text(words);
    for (span entry = next_word(&tail); !is_empty(entry); entry = next_word(&tail))
        if (is_same(entry, word))
            return true;
    return false;
}

/* ---- Memory ---- */

_Noreturn void arena_fail(struct arena *arena, enum failure reason) { longjmp(arena->failure, (int)reason); }

static void free_block(struct arena *arena) {
    struct block *block = arena->blocks;
    arena->blocks = block->next;
    free(block);
}

static void use_block(struct arena *arena) {
    arena->at = arena->blocks->bytes;
    arena->end = arena->at + arena->blocks->size;
}

void arena_begin(struct arena *arena, size_t max_bytes) {
    while (arena->blocks && (arena->blocks->next || arena->blocks->size > BLOCK))
        free_block(arena);
    arena->max_bytes = max_bytes;
    arena->is_writing = false;
    arena->n_bytes = arena->blocks ? arena->blocks->size : 0;
    arena->at = arena->end = NULL;
    if (arena->blocks)
        use_block(arena);
}

void arena_free(struct arena *arena) {
    while (arena->blocks)
        free_block(arena);
}

static void new_block(struct arena *arena, size_t size) {
    size_t room = size < BLOCK ? BLOCK : size;
    bool is_allowed = room <= arena->max_bytes && arena->n_bytes <= arena->max_bytes - room;
    struct block *block = is_allowed ? malloc(sizeof *block + room) : NULL;
    if (!block)
        arena_fail(arena, FAILED_MEMORY);
    *block = (struct block){arena->blocks, room};
    arena->blocks = block;
    arena->n_bytes += room;
    use_block(arena);
}

static uint8_t *allocate(struct arena *arena, size_t size) {
    if (arena->is_writing)
        arena_fail(arena, FAILED_ASSERTION);
    if (size > SIZE_MAX / 4)
        arena_fail(arena, FAILED_MEMORY);
    size_t aligned = ((size ? size : 1) + 15) & ~(size_t)15; /* 16 aligns items of all types */
    if ((size_t)(arena->end - arena->at) < aligned)
        new_block(arena, aligned);
    uint8_t *memory = arena->at;
    arena->at += aligned;
    return memory;
}

void *arena_allocate(struct arena *arena, size_t count, size_t size) {
    if (size && count > SIZE_MAX / 4 / size)
        arena_fail(arena, FAILED_MEMORY);
    return allocate(arena, count * size);
}

span arena_copy(struct arena *arena, span text) { return concatenate(arena, text, (span){0}); }

span concatenate_all(struct arena *arena, const span_list *texts) {
    size_t size = 0;
    if (texts->count < 2)
        return texts->count ? texts->items[0] : (span){0};
    for (size_t i = 0; i < texts->count; i++)
        size += size_of(texts->items[i]);
    struct writer writer = writer_open(arena, size);
    for (size_t i = 0; i < texts->count; i++)
        put_span(&writer, texts->items[i]);
    return writer_close(&writer);
}

span concatenate(struct arena *arena, span first, span second) {
    struct writer writer = writer_open(arena, size_of(first) + size_of(second));
    put_span(&writer, first);
    put_span(&writer, second);
    return writer_close(&writer);
}

struct writer writer_open(struct arena *arena, size_t expected) {
    uint8_t *begin = allocate(arena, expected);
    arena->is_writing = true;
    return (struct writer){arena, begin, begin, arena->at};
}

void writer_grow(struct writer *writer, size_t n) {
    struct arena *arena = writer->arena;
    size_t size = (size_t)(writer->at - writer->begin);
    if (!arena->is_writing || writer->end != arena->at)
        arena_fail(arena, FAILED_ASSERTION);
    if (n > SIZE_MAX / 8 || size > SIZE_MAX / 8)
        arena_fail(arena, FAILED_MEMORY);
    uint8_t *old_begin = writer->begin;
    arena->is_writing = false;
    arena->at = old_begin; /* allocate may return old_begin, and then the text need not be copied */
    writer->begin = allocate(arena, 2 * (size + n));
    arena->is_writing = true;
    if (writer->begin != old_begin && size)
        memcpy(writer->begin, old_begin, size);
    writer->at = writer->begin + size;
    writer->end = arena->at;
}

span writer_close(struct writer *writer) {
    struct arena *arena = writer->arena;
    if (!arena->is_writing || writer->end != arena->at)
        arena_fail(arena, FAILED_ASSERTION);
    arena->is_writing = false;
    span text = span_between(writer->begin, writer->at);
    arena->at = writer->begin + ((size_of(text) + 15) & ~(size_t)15);
    return text;
}

span copy_lower(struct arena *arena, span text) {
    uint8_t *copy = allocate(arena, size_of(text));
    size_t i = 0;
    for (sixteen bytes; i + sizeof bytes <= size_of(text); i += sizeof bytes) {
        memcpy(&bytes, text.at + i, sizeof bytes);
        bytes |= (sixteen)(bytes - 'A' <= (uint8_t)('Z' - 'A')) & 32;
        memcpy(copy + i, &bytes, sizeof bytes);
    }
    for (; i < size_of(text); i++)
        copy[i] = to_lower(text.at[i]);
    return span_of(copy, size_of(text));
}

size_t count_capitals(span text) {
    enum { MAX_COUNT = 255 }; /* of a byte */
    size_t n_capitals = 0;
    while (size_of(text) >= sizeof(sixteen)) {
        sixteen bytes, counts = {0};
        for (int n = 0; n < MAX_COUNT && size_of(text) >= sizeof bytes; n++, text.at += sizeof bytes) {
            memcpy(&bytes, text.at, sizeof bytes);
            counts -= (sixteen)(bytes - 'A' <= (uint8_t)('Z' - 'A'));
        }
        for (size_t i = 0; i < sizeof counts; i++)
            n_capitals += counts[i];
    }
    for (; text.at < text.end; text.at++)
        n_capitals += is_upper(*text.at);
    return n_capitals;
}

void *list_grow(struct arena *arena, void *items, size_t count, size_t *room, size_t size) {
    *room = *room ? 2 * *room : 8;
    void *copy = arena_allocate(arena, *room, size);
    return count ? memcpy(copy, items, count * size) : copy;
}
