/* UTF-8, and the properties of characters. Python's unicodedata describes a block of 256 characters when the first
 * character of the block is read. */
#pragma once

#include "bytes.h"

/* The flags of a character. spamnb/reader/characters.py has the same list in the same order. */
enum {
    IS_UNCHANGED = 1 << 0,    /* words contain the character unchanged */
    IS_PUNCTUATION = 1 << 1, /* punctuation or a symbol */
    IS_INVISIBLE = 1 << 2, /* shows nothing and takes no room */
    IS_SPACE = 1 << 3,
    COMBINES = 1 << 4,    /* may combine with the characters before it to one character */
    IS_UNSPACED = 1 << 5, /* belongs to a script without spaces between words, such as Thai or Chinese */
    IS_ITSELF = 1 << 6,   /* equals its last three forms, so they are not stored */
};

/* The forms of a character: in words, in lower case, without accents, and the Latin letter that it looks like. */
enum { FORM_WORD, FORM_LOW, FORM_BARE, FORM_LATIN, N_FORMS };

struct character {
    uint8_t flags, ends[N_FORMS]; /* ends: where each form ends in text */
    uint8_t text[]; /* the forms, one after the other */
};

struct reader;

/* Returns the properties of a character, which stay at this address until the process ends. */
const struct character *character_of(struct reader *reader, uint32_t point);
/* Returns the FORM_WORD of a character without the flag IS_UNCHANGED; for other characters this form is not stored. */
span word_form(const struct character *character);
/* Returns a text with each character replaced by one of its forms other than FORM_WORD. */
span replace_by_form(struct reader *reader, span text, int form);

/* Returns the first character of text and moves text after it. Bytes that are not valid UTF-8 are U+FFFD. */
uint32_t next_point(span *text);
/* Writes a character in UTF-8 and returns the number of bytes, at most four. Surrogates and numbers above 10FFFF are
 * written as U+FFFD. */
size_t write_point(uint8_t *at, uint32_t point);
/* Returns the number of bytes of a text's first character, and writes whether they are valid UTF-8. If not, U+FFFD
 * replaces these bytes. */
size_t sequence_size(span text, bool *is_valid);
/* Returns the number of bytes of a text before its first byte that is not valid UTF-8. */
size_t valid_utf8_size(span text);

/* Returns the character that a number stands for. Numbers from 128 to 159 are read as bytes of windows-1252, as
 * browsers do. */
uint32_t windows_1252(uint32_t number);

/* Returns the number of bytes of a character that begins with this byte. */
static inline size_t point_size(uint8_t first) { return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4; }

static inline span first_code_points(span text, size_t n) {
    if (size_of(text) <= n)
        return text;
    if (is_ascii(span_of(text.at, n + 1)))
        return span_of(text.at, n);
    const uint8_t *at = text.at;
    for (; at < text.end; at++)
        if ((*at & 0xC0) != 0x80 && !n--)
            break;
    return span_between(text.at, at);
}

/* Returns the first n bytes of a text, without an incomplete character at the end. */
static inline span truncate_text(span text, size_t n) {
    if (size_of(text) <= n)
        return text;
    const uint8_t *end = text.at + n;
    while (end > text.at && (*end & 0xC0) == 0x80)
        end--;
    return span_between(text.at, end);
}
