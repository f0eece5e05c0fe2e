/* Spans of bytes, and the memory of one message.
 *
 * A span is a text: the address of its first byte, and the address after its last byte. Functions of the core take
 * texts as spans, and read nothing beyond the end of a span. Functions that ignore the case of ASCII letters
 * ("any_case") take the expected text in lower case.
 */
#pragma once

#include <setjmp.h>
#include <string.h>

#include "interface.h"

#define LITERAL(text) span_of(text, sizeof(text) - 1)
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static inline span span_of(const void *bytes, size_t size) {
    const uint8_t *at = bytes;
    return (span){at, at + size};
}

static inline span span_between(const uint8_t *at, const uint8_t *end) { return (span){at, end}; }

static inline span span_of_text(const char *text) { return span_of(text, strlen(text)); }

static inline size_t size_of(span s) { return (size_t)(s.end - s.at); }

static inline bool is_empty(span s) { return s.at == s.end; }

/* Returns the first bytes of a span, at most n. */
static inline span first_bytes(span s, size_t n) { return size_of(s) > n ? span_of(s.at, n) : s; }

/* Returns a span without its first n bytes; an empty span at its end if the span has fewer bytes. */
static inline span skip_bytes(span s, size_t n) {
    s.at += size_of(s) < n ? size_of(s) : n;
    return s;
}

static inline bool is_upper(uint8_t c) { return c >= 'A' && c <= 'Z'; }
static inline bool is_lower(uint8_t c) { return c >= 'a' && c <= 'z'; }
static inline bool is_letter(uint8_t c) { return is_lower(c | 32); }
static inline bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }
static inline uint8_t to_lower(uint8_t c) { return is_upper(c) ? c | 32 : c; }
static inline bool is_blank(uint8_t c) { return c == ' ' || c == '\t'; }
/* Returns whether a byte is a space in HTML and in style sheets. */
static inline bool is_space(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v'); }

/* Returns whether a byte is a space of ASCII. */
static inline bool is_white(uint8_t c) { return is_space(c) || c == '\v'; }

static inline int hex_value(uint8_t c) {
    return is_digit(c) ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

static inline bool is_same(span a, span b) {
    return size_of(a) == size_of(b) && (is_empty(a) || !memcmp(a.at, b.at, size_of(a)));
}

static inline bool starts_with(span s, span start) {
    return size_of(s) >= size_of(start) && (is_empty(start) || !memcmp(s.at, start.at, size_of(start)));
}

static inline bool starts_with_any_case(span s, span lower) {
    if (size_of(s) < size_of(lower))
        return false;
    for (size_t i = 0; i < size_of(lower); i++)
        if (to_lower(s.at[i]) != lower.at[i])
            return false;
    return true;
}

static inline bool is_same_any_case(span s, span lower) {
    return size_of(s) == size_of(lower) && starts_with_any_case(s, lower);
}

/* Returns the address of the first byte c in a span; NULL if the span has no such byte. */
static inline const uint8_t *find_byte(span s, uint8_t c) { return is_empty(s) ? NULL : memchr(s.at, c, size_of(s)); }

/* Returns the address of the last byte c in a span; NULL if the span has no such byte. */
static inline const uint8_t *find_last(span s, uint8_t c) {
    for (const uint8_t *at = s.end; at > s.at;)
        if (*--at == c)
            return at;
    return NULL;
}

/* Returns the address at which a text, which is not empty, first occurs in a span; NULL if it does not occur. Takes
 * linear time. */
const uint8_t *find(span s, span text);
/* Returns the same, but ignores the case of letters. Takes quadratic time, so one of the texts must be short. */
const uint8_t *find_any_case(span s, span lower);

/* Returns the text before the first byte c; the whole text if it has no such byte. */
static inline span before_first(span s, uint8_t c) {
    const uint8_t *separator = find_byte(s, c);
    return separator ? span_between(s.at, separator) : s;
}

/* Sets line to the first line of text, without its line feed, and moves text after this line; false if text is
 * empty. */
static inline bool next_line(span *text, span *line) {
    bool has_line = !is_empty(*text);
    *line = before_first(*text, '\n');
    text->at = line->end < text->end ? line->end + 1 : text->end;
    return has_line;
}

static inline span skip_blanks(span s) {
    while (s.at < s.end && is_blank(*s.at))
        s.at++;
    return s;
}

static inline span strip(span s) {
    while (s.at < s.end && is_white(*s.at))
        s.at++;
    while (s.at < s.end && is_white(s.end[-1]))
        s.end--;
    return s;
}

/* Returns the first word of text and moves text after this word; an empty span if text has no word. */
static inline span next_word(span *text) {
    while (text->at < text->end && is_space(*text->at))
        text->at++;
    span word = *text;
    while (text->at < text->end && !is_space(*text->at))
        text->at++;
    word.end = text->at;
    return word;
}

/* Returns a span without these bytes at its beginning and at its end. */
static inline span strip_any(span s, const char *bytes) {
    while (s.at < s.end && *s.at && strchr(bytes, *s.at))
        s.at++;
    while (s.at < s.end && s.end[-1] && strchr(bytes, s.end[-1]))
        s.end--;
    return s;
}

/* Returns a text from its first byte that is not ASCII; an empty span if all bytes are ASCII. */
span skip_ascii(span s);
bool is_ascii(span s);
/* Returns whether a list of words, separated by blanks, contains this word. */
bool is_one_of(span word, const char *words);

/* Returns the number of binary digits of n; 0 for n = 0. */
static inline unsigned bit_length(size_t n) {
    return n ? 64 - (unsigned)__builtin_clzll(n) : 0;
}

static inline uint32_t load_32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap32(value);
#endif
    return value;
}

static inline uint64_t load_64(const uint8_t *at) {
    uint64_t value;
    memcpy(&value, at, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

/* ---- Memory ---- */

struct block {
    struct block *next;
    size_t size;
    uint8_t bytes[];
};

/* The memory of one message. Allocated memory stays in place until arena_begin empties the arena for the next message.
 * If an allocation fails, it ends the reading of the message by longjmp, so no caller checks for NULL.
 *
 * One writer may be open at a time. Its text grows at the end of the arena, so nothing else can be allocated until the
 * writer is closed: two texts that grow at the same address would overwrite each other, and no sanitizer would notice.
 */
struct arena {
    struct block *blocks;      /* the newest block first */
    uint8_t *at, *end;         /* the free memory of the newest block */
    size_t n_bytes, max_bytes; /* n_bytes: of all blocks */
    bool is_writing;           /* a writer is open */
    jmp_buf failure;           /* where arena_fail jumps to; set by the caller of arena_begin */
};

/* Empties the arena, and limits the bytes of its blocks. */
void arena_begin(struct arena *arena, size_t max_bytes);
void arena_free(struct arena *arena);
/* Ends the reading of the message by a jump to arena->failure. */
_Noreturn void arena_fail(struct arena *arena, enum failure reason);
/* Allocates memory for count items, with arbitrary content. */
void *arena_allocate(struct arena *arena, size_t count, size_t size);
span arena_copy(struct arena *arena, span text);
/* Copies two texts, one after the other, as one text. */
span concatenate(struct arena *arena, span first, span second);

/* A text that is being written: from begin to at; the memory up to end is reserved. */
struct writer {
    struct arena *arena;
    uint8_t *begin, *at, *end;
};

/* Opens a writer, with memory reserved for the expected number of bytes. */
struct writer writer_open(struct arena *arena, size_t expected);
/* Reserves memory for n more bytes, which may move the written text to another address. */
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

span copy_lower(struct arena *arena, span text);
/* Returns the number of ASCII capital letters in a text. */
size_t count_capitals(span text);

/* Arrays that grow. LIST(type) is the type of an array; LIST_ADD adds an item and returns a pointer to the new item. */
#define LIST(type)         \
    struct {               \
        type *items;       \
        size_t count, room; \
    }

void *list_grow(struct arena *arena, void *items, size_t count, size_t *room, size_t size);

#define LIST_ADD(arena, list)                                                                                      \
    ((list)->count == (list)->room                                                                                 \
         ? (void)((list)->items =                                                                                  \
                      list_grow(arena, (list)->items, (list)->count, &(list)->room, sizeof *(list)->items))       \
         : (void)0,                                                                                                \
     &(list)->items[(list)->count++])

typedef LIST(span) span_list;

span concatenate_all(struct arena *arena, const span_list *texts);
