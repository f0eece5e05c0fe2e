/* UTF-8, and the properties of characters. Python's unicodedata describes 256 of them when one is first read. */
#pragma once

#include "bytes.h"

/* What a character is. characters.py has the same list in the same order. */
enum {
    IN_WORDS = 1 << 0,    /* words have it as it is */
    IS_MARK_OR_SIGN = 1 << 1, /* punctuation or a symbol */
    IS_INVISIBLE = 1 << 2, /* takes no room */
    IS_SPACE = 1 << 3,
    COMBINES = 1 << 4,    /* may become one character with those before it */
    IS_UNSPACED = 1 << 5, /* of a script without spaces */
    IS_ITSELF = 1 << 6,   /* its other forms, but perhaps that in words, are itself and not in the text */
};

/* The forms of a character: in words, in lower case, without accents, and the Latin letter that it looks like. */
enum { FORM_WORD, FORM_LOW, FORM_BARE, FORM_LATIN, N_FORMS };

struct character {
    uint8_t flags, ends[N_FORMS]; /* ends: the end of each form in the text */
    uint8_t text[];
};

struct reader;

/* Returns the properties of a character, which stay in place. */
const struct character *character_of(struct reader *reader, uint32_t point);
/* Returns the form in words of a character that is not IN_WORDS. */
span word_form(const struct character *character);
/* Returns a text with each character in another form. */
span written_as(struct reader *reader, span text, int form);

/* Moves text behind its first character and returns that; U+FFFD for invalid UTF-8. */
uint32_t next_point(span *text);
/* Writes a character in UTF-8 and returns its number of bytes, up to four; U+FFFD for surrogates and larger numbers. */
size_t write_point(uint8_t *at, uint32_t point);
/* Returns the bytes of a text's first character; if it is not valid, the bytes that U+FFFD stands for. */
size_t sequence_size(span text, bool *is_valid);
/* Returns the number of bytes before the first invalid one. */
size_t valid_utf8(span text);

/* Returns the character of a number that is a byte of windows-1252 if it is from 128 to 159, as in browsers. */
uint32_t windows_1252(uint32_t number);

/* Returns the bytes of the character that begins with this byte. */
static inline size_t point_size(uint8_t first) { return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4; }

/* Returns the first n characters of a text. */
static inline span first_points(span text, size_t n) {
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

/* Returns the whole characters in the first n bytes of a text. */
static inline span first_characters(span text, size_t n) {
    if (size_of(text) <= n)
        return text;
    const uint8_t *end = text.at + n;
    while (end > text.at && (*end & 0xC0) == 0x80)
        end--;
    return span_between(text.at, end);
}
