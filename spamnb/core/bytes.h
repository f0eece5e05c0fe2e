/* Spans of bytes, and the memory of one message.
 *
 * A span is a pointer and its end. Each function of the core takes text as a span and reads nothing beyond its end. Texts
 * are compared "in any case" with a text in lower case.
 */
#pragma once

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    const uint8_t *at, *end;
} span;

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

/* Returns a span without its first n bytes; its empty end if it has fewer. */
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
/* A space as HTML and style sheets define it. */
static inline bool is_space(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v'); }

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

static inline bool ends_with(span s, span end) {
    return size_of(s) >= size_of(end) && !memcmp(s.end - size_of(end), end.at, size_of(end));
}

/* Returns the first place of a byte; NULL if there is none. */
static inline const uint8_t *find_byte(span s, uint8_t c) { return is_empty(s) ? NULL : memchr(s.at, c, size_of(s)); }

/* Returns the last place of a byte; NULL if there is none. */
static inline const uint8_t *find_last(span s, uint8_t c) {
    for (const uint8_t *at = s.end; at > s.at;)
        if (*--at == c)
            return at;
    return NULL;
}

/* Returns the first place of a text, in linear time; NULL if there is none. */
const uint8_t *find(span s, span what);
/* The same in any case; quadratic, so for short texts only. */
const uint8_t *find_any_case(span s, span lower);

/* Returns the text before the first c; all of it if there is none. */
static inline span before_first(span s, uint8_t c) {
    const uint8_t *separator = find_byte(s, c);
    return separator ? span_between(s.at, separator) : s;
}

/* Moves text behind its next line, and line to that line without its line feed; false if the text is empty. */
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
    while (s.at < s.end && (is_space(*s.at) || *s.at == '\v'))
        s.at++;
    while (s.at < s.end && (is_space(s.end[-1]) || s.end[-1] == '\v'))
        s.end--;
    return s;
}

/* Moves text behind its next word and returns the word; empty if there is none. */
static inline span next_word(span *text) {
    while (text->at < text->end && is_space(*text->at))
        text->at++;
    span word = *text;
    while (text->at < text->end && !is_space(*text->at))
        text->at++;
    word.end = text->at;
    return word;
}

/* Returns a span without any of these bytes at its ends. */
static inline span strip_any(span s, const char *bytes) {
    while (s.at < s.end && *s.at && strchr(bytes, *s.at))
        s.at++;
    while (s.at < s.end && s.end[-1] && strchr(bytes, s.end[-1]))
        s.end--;
    return s;
}

/* Returns a text without the ASCII at its beginning. */
span behind_ascii(span s);
bool is_ascii(span s);
/* Returns whether a word is one of several with blanks between them. */
bool is_one_of(span word, const char *words);

/* Returns the number of binary digits. */
static inline unsigned bit_length(size_t n) {
    unsigned bits = 0;
    for (; n; n >>= 1)
        bits++;
    return bits;
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

/* Why a message could not be read. binding.py has the same numbers. */
enum failure { FAILED_NOT, FAILED_MEMORY, FAILED_ASSERTION, FAILED_ANSWER };

struct block {
    struct block *next;
    size_t size;
    uint8_t bytes[];
};

/* The memory of one message. Allocated memory stays in place until the arena is emptied for the next message. If there is
 * no more memory, the message fails: no caller checks for NULL.
 *
 * One writer may be at the arena's end and grow; until it is closed, nothing else can be allocated. Two texts that grow at
 * the same place would overwrite each other, and no sanitizer would notice.
 */
struct arena {
    struct block *blocks; /* the newest first */
    uint8_t *at, *end;    /* the free memory of the newest */
    size_t used, most;    /* bytes of all blocks, and their bound */
    bool is_writing;
    jmp_buf failed; /* set by the caller of arena_begin */
};

/* Empties the arena, which may then allocate at most so many bytes. */
void arena_begin(struct arena *arena, size_t most);
void arena_free(struct arena *arena);
/* Ends the reading of the message. */
_Noreturn void arena_fail(struct arena *arena, enum failure why);
/* Allocates zeroed memory for count items. */
void *arena_take(struct arena *arena, size_t count, size_t size);
/* Allocates memory with arbitrary contents. */
void *arena_room(struct arena *arena, size_t count, size_t size);
/* Copies a text, or two texts as one. */
span arena_copy(struct arena *arena, span text);
span two_spans(struct arena *arena, span one, span other);

struct writer {
    struct arena *arena;
    uint8_t *begin, *at, *end;
};

/* Begins a text of about so many bytes. */
struct writer writer_open(struct arena *arena, size_t expected);
/* Makes room for n more bytes; the written text may move. */
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

/* Copies a text in lower case. */
span lower_copy(struct arena *arena, span text);

/* Arrays that grow. LIST(type) is their type; LIST_ADD adds an item and returns a pointer to it. */
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

/* Concatenates texts. */
span joined(struct arena *arena, const span_list *texts);
