/* UTF-8, and what is known of each character, which Python's unicodedata describes, 256 at once, when one is first met. */
#pragma once

#include "bytes.h"

/* What a character is (see characters.py, which has the same list in the same order). */
enum {
    IN_WORDS = 1 << 0,    /* stays as it is in words */
    IS_MARK_OR_SIGN = 1 << 1, /* punctuation or a symbol */
    IS_INVISIBLE = 1 << 2, /* takes no room */
    IS_SPACE = 1 << 3,
    COMBINES = 1 << 4,    /* may become one character with those before it */
    IS_UNSPACED = 1 << 5, /* of a script without spaces */
    IS_ITSELF = 1 << 6,   /* but for words it becomes nothing else, and has no other form in the text */
};

/* What a character becomes: in words, in lower case, without accents, and where it poses as Latin. */
enum { FORM_WORD, FORM_LOW, FORM_BARE, FORM_LATIN, N_FORMS };

struct character {
    uint8_t flags, ends[N_FORMS]; /* ends: of each form in the text */
    uint8_t text[];
};

struct reader;

/* What is known of a character. It stays where it is for ever. */
const struct character *character_of(struct reader *reader, uint32_t point);
/* What a character that does not stay as it is becomes in words. */
span word_form(const struct character *character);
/* What a text becomes in another form, character by character. */
span written_as(struct reader *reader, span text, int form);

/* The next character of UTF-8; of what is no UTF-8 U+FFFD. */
uint32_t next_point(span *text);
/* Writes a character in UTF-8; returns how many bytes, up to four. Surrogates and what is no character are U+FFFD. */
size_t write_point(uint8_t *at, uint32_t point);
/* Of how many bytes the character is that text begins with; of what is none, how many bytes make one U+FFFD. */
size_t sequence_size(span text, bool *is_valid);
/* How many bytes at the beginning are whole characters of UTF-8; all where it is valid. */
size_t valid_utf8(span text);

/* What a number stands for that means a byte of windows-1252 where it is one of these, as browsers take it. */
uint32_t windows_1252(uint32_t number);

/* Of how many bytes the character is that begins with this one. */
static inline size_t point_size(uint8_t first) { return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4; }

/* The first n characters of a text. */
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

/* The first n bytes of a text, less what they have of a character that goes on. */
static inline span first_characters(span text, size_t n) {
    if (size_of(text) <= n)
        return text;
    const uint8_t *end = text.at + n;
    while (end > text.at && (*end & 0xC0) == 0x80)
        end--;
    return span_between(text.at, end);
}
