/* The memory of one message. What is taken stays where it is until the arena is emptied for the next message.
 *
 * One writer may stand at the arena's end and grow; until it is closed nothing else can be taken. Two texts that grow at
 * the same place would overwrite each other, and no sanitizer would see it.
 */
#pragma once

#include "bytes.h"

#include <setjmp.h>

/* Why a message could not be read. */
enum failure { FAILED_NOT, FAILED_MEMORY, FAILED_ASSERTION, FAILED_HOST };

struct block {
    struct block *next;
    size_t size;
    uint8_t bytes[];
};

struct arena {
    struct block *blocks; /* the newest first */
    uint8_t *at, *end; /* what is left of the newest */
    size_t used, most; /* bytes of blocks, and how many there may be */
    bool is_writing;
    jmp_buf failed; /* whoever empties the arena sets it */
};

void arena_begin(struct arena *arena, size_t most);
void arena_free(struct arena *arena);
/* Gives the message up. */
_Noreturn void arena_fail(struct arena *arena, enum failure why);
/* Memory for count items, zeroed. */
void *arena_take(struct arena *arena, size_t count, size_t size);
/* The same, with whatever stands in it. */
void *arena_room(struct arena *arena, size_t count, size_t size);
/* A copy of a text, and of two as one. */
span arena_copy(struct arena *arena, span text);
span two_spans(struct arena *arena, span one, span other);

struct writer {
    struct arena *arena;
    uint8_t *begin, *at, *end;
};

/* Begins a text of perhaps so many bytes. */
struct writer writer_open(struct arena *arena, size_t expected);
/* Makes room for n more bytes; what was written may move. */
void writer_grow(struct writer *writer, size_t n);
span writer_close(struct writer *writer);

static inline void writer_reserve(struct writer *writer, size_t n) {
    if ((size_t)(writer->end - writer->at) < n)
        writer_grow(writer, n);
}

static inline void put_byte(struct writer *writer, uint8_t byte) {
    writer_reserve(writer, 1);
    *writer->at++ = byte;
}

static inline void put_span(struct writer *writer, span text) {
    if (is_empty(text))
        return;
    writer_reserve(writer, size_of(text));
    memcpy(writer->at, text.at, size_of(text));
    writer->at += size_of(text);
}

/* A copy in lower case. */
span lower_copy(struct arena *arena, span text);

/* Arrays that grow. LIST(type) is their type; LIST_ADD makes room for one more item, and is a pointer to it. */
#define LIST(type)         \
    struct {               \
        type *items;       \
        size_t count, room; \
    }

void *list_grown(struct arena *arena, void *items, size_t count, size_t *room, size_t size);

#define LIST_ADD(arena, list)                                                                                      \
    ((list)->count == (list)->room                                                                                 \
         ? (void)((list)->items =                                                                                  \
                      list_grown(arena, (list)->items, (list)->count, &(list)->room, sizeof *(list)->items))       \
         : (void)0,                                                                                                \
     &(list)->items[(list)->count++])

typedef LIST(span) span_list;
