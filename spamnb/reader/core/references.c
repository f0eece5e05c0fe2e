/* Character references of HTML: &amp; &#38; &#x26; -> the characters that they stand for. */
#include "reader.h"

#include <stdlib.h>

enum { LONGEST_NAME = 41, LONGEST_WITHOUT_SEMICOLON = 6 };

struct reference {
    span name, text;
};

static struct reference *slots; /* a name may be in the slot of its hash, or in those behind it */
static size_t mask;

static struct reference *slot_of(span name) {
    uint32_t hash = 0; /* the names are given: nobody chooses them to collide, and no more are looked for than fit */
    for (const uint8_t *at = name.at; at < name.end; at++)
        hash = hash * 0x01000193 ^ *at;
    size_t slot = (hash ^ hash >> 15) & mask;
    while (slots[slot].name.at && !is_same(slots[slot].name, name))
        slot = (slot + 1) & mask;
    return &slots[slot];
}

bool references_begin(const char *const names[], const char *const texts[], size_t n) {
    for (mask = 63; mask < 2 * n;)
        mask = 2 * mask + 1;
    slots = calloc(mask + 1, sizeof *slots);
    for (size_t i = 0; slots && i < n; i++)
        *slot_of(span_of_text(names[i])) = (struct reference){span_of_text(names[i]), span_of_text(texts[i])};
    return slots != NULL;
}

/* A reference by number that begins behind "&#"; moves text behind it. */
static bool put_number(struct writer *writer, span *text) {
    span digits = *text;
    bool is_hex = !is_empty(digits) && (*digits.at | 32) == 'x';
    digits.at += is_hex;
    uint32_t point = 0;
    const uint8_t *begin = digits.at;
    for (; digits.at < digits.end; digits.at++) {
        int value = is_hex ? hex_value(*digits.at) : is_digit(*digits.at) ? *digits.at - '0' : -1;
        if (value < 0)
            break;
        point = point > 0x110000 ? point : point * (is_hex ? 16 : 10) + (uint32_t)value;
    }
    if (digits.at == begin)
        return false;
    if (digits.at < digits.end && *digits.at == ';')
        digits.at++;
    text->at = digits.at;
    uint8_t encoded[4];
    put_span(writer, span_of(encoded, write_point(encoded, point ? windows_1252(point) : 0xFFFD)));
    return true;
}

/* A reference by name that begins behind "&"; moves text behind it. */
static bool put_name(struct writer *writer, span *text, bool in_attribute) {
    const uint8_t *end = text->at;
    while (end < text->end && (is_letter(*end) || is_digit(*end)) && end - text->at < LONGEST_NAME)
        end++;
    span name = span_between(text->at, end);
    bool has_semicolon = end < text->end && *end == ';';
    const struct reference *found = has_semicolon ? slot_of(span_between(text->at, end + 1)) : NULL;
    if (found && found->name.at) {
        text->at = end + 1;
        put_span(writer, found->text);
        return true;
    }
    if (in_attribute && (has_semicolon || (end < text->end && *end == '=')))
        return false;
    size_t shortest = in_attribute ? size_of(name) : 2;
    for (name = first_bytes(name, LONGEST_WITHOUT_SEMICOLON); size_of(name) >= 2 && size_of(name) >= shortest; name.end--) {
        found = slot_of(name);
        if (found->name.at) {
            text->at = name.end;
            put_span(writer, found->text);
            return true;
        }
    }
    return false;
}

void put_resolved(struct writer *writer, span text, bool in_attribute) {
    const uint8_t *found;
    while ((found = find_byte(text, '&'))) {
        put_span(writer, span_between(text.at, found));
        span rest = span_between(found + 1, text.end);
        bool is_number = !is_empty(rest) && *rest.at == '#';
        rest.at += is_number;
        if (!(is_number ? put_number(writer, &rest) : put_name(writer, &rest, in_attribute))) {
            put_span(writer, span_between(found, found + 1));
            rest.at = found + 1;
        }
        text.at = rest.at;
    }
    put_span(writer, text);
}
