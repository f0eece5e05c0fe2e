#include "references.h"

#include "hash.h"
#include "unicode.h"

#include <stdlib.h>

enum { LONGEST_NAME = 41, LONGEST_WITHOUT_SEMICOLON = 6 };

/* What numbers from 0x80 on stand for: browsers take them for windows-1252. */
static const uint16_t WINDOWS_1252[32] = {
    0x20AC, 0x81, 0x201A, 0x192, 0x201E, 0x2026, 0x2020, 0x2021, 0x2C6, 0x2030, 0x160, 0x2039, 0x152, 0x8D, 0x17D, 0x8F,
    0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC, 0x2122, 0x161, 0x203A, 0x153, 0x9D, 0x17E, 0x178,
};

bool references_begin(struct reference_table *table, size_t count) {
    size_t n = 64;
    while (n < 2 * count)
        n *= 2;
    *table = (struct reference_table){calloc(n, sizeof *table->slots), n - 1};
    return table->slots != NULL;
}

static struct reference *slot_of(const struct reference_table *table, span name) {
    size_t slot = fast_hash((const uint64_t[2]){0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9}, 0, name) & table->mask;
    while (table->slots[slot].name.at && !is_same(table->slots[slot].name, name))
        slot = (slot + 1) & table->mask;
    return &table->slots[slot];
}

void references_add(struct reference_table *table, struct reference reference) {
    *slot_of(table, reference.name) = reference;
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
    if (point >= 0x80 && point < 0xA0)
        point = WINDOWS_1252[point - 0x80];
    writer_reserve(writer, 4);
    writer->at += write_point(writer->at, point ? point : 0xFFFD);
    return true;
}

/* A reference by name that begins behind "&"; moves text behind it. */
static bool put_name(struct writer *writer, const struct reference_table *table, span *text, bool in_attribute) {
    const uint8_t *end = text->at;
    while (end < text->end && (is_letter(*end) || is_digit(*end)) && end - text->at < LONGEST_NAME)
        end++;
    span name = span_between(text->at, end);
    if (end < text->end && *end == ';') {
        const struct reference *found = slot_of(table, span_between(text->at, end + 1));
        if (found->name.at) {
            text->at = end + 1;
            put_span(writer, found->text);
            return true;
        }
    }
    if (in_attribute && end < text->end && *end == '=')
        return false;
    size_t shortest = in_attribute ? size_of(name) : 2;
    if (in_attribute && end < text->end && *end == ';')
        return false;
    for (name = first_bytes(name, LONGEST_WITHOUT_SEMICOLON); size_of(name) >= 2 && size_of(name) >= shortest; name.end--) {
        const struct reference *found = slot_of(table, name);
        if (found->name.at) {
            text->at = name.end;
            put_span(writer, found->text);
            return true;
        }
    }
    return false;
}

span resolve_references(struct arena *arena, const struct reference_table *table, span text, bool in_attribute) {
    const uint8_t *found = find_byte(text, '&');
    if (!found)
        return text;
    struct writer writer = writer_open(arena, size_of(text) + 16);
    while (found) {
        put_span(&writer, span_between(text.at, found));
        span rest = span_between(found + 1, text.end);
        bool is_number = !is_empty(rest) && *rest.at == '#';
        rest.at += is_number;
        if (!(is_number ? put_number(&writer, &rest) : put_name(&writer, table, &rest, in_attribute))) {
            put_byte(&writer, '&');
            rest.at = found + 1;
        }
        text.at = rest.at;
        found = find_byte(text, '&');
    }
    put_span(&writer, text);
    return writer_close(&writer);
}
