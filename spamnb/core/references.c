/* Character references of HTML -> characters. */
#include "reader.h"

#include <stdlib.h>

enum {
    MAX_NAME = 31,             /* letters of the longest name, CounterClockwiseContourIntegral */
    MAX_WITHOUT_SEMICOLON = 6, /* letters of the longest names that need no semicolon, as in "&Agrave" */
};

static const char **names, **texts; /* names in ascending order, and their characters */
static size_t n_names;

bool references_begin(const char *references, size_t n) {
    names = calloc(2 * n + 1, sizeof *names);
    if (!names)
        return false;
    texts = names + n;
    for (n_names = 0; n_names < n; n_names++) {
        names[n_names] = references;
        texts[n_names] = references + strlen(references) + 1;
        references = texts[n_names] + strlen(texts[n_names]) + 1;
    }
    return true;
}

/* Compares a span with a name of the table, for bsearch. */
static int compare(const void *key, const void *item) {
    span name = *(const span *)key;
    const char *other = *(const char *const *)item;
    int order = strncmp((const char *)name.at, other, size_of(name));
    return order ? order : -(other[size_of(name)] != 0);
}

/* Writes the characters that a name stands for and moves text after the name; false if HTML has no such name. */
static bool put_known_name(struct writer *writer, span *text, span name) {
    const char **entry = bsearch(&name, names, n_names, sizeof *names, compare);
    if (!entry)
        return false;
    text->at = name.end;
    put_span(writer, span_of_text(texts[entry - names]));
    return true;
}

/* Writes the character of a numeric reference, "&#38;" or "&#x26;". text begins after "&#", and is moved after the
 * reference. Returns false if there is no digit. */
static bool put_numeric_reference(struct writer *writer, span *text) {
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

/* Writes the characters of a named reference, such as "&amp;". text begins after "&", and is moved after the
 * reference. Returns false if there is no reference. */
static bool put_named_reference(struct writer *writer, span *text, bool in_attribute) {
    const uint8_t *end = text->at;
    while (end < text->end && (is_letter(*end) || is_digit(*end)) && end - text->at < MAX_NAME)
        end++;
    span name = span_between(text->at, end);
    bool has_semicolon = end < text->end && *end == ';';
    if (has_semicolon && put_known_name(writer, text, span_between(text->at, end + 1)))
        return true;
    if (in_attribute && (has_semicolon || (end < text->end && *end == '=')))
        return false;
    size_t shortest = in_attribute ? size_of(name) : 2;
    for (name = first_bytes(name, MAX_WITHOUT_SEMICOLON); size_of(name) >= 2 && size_of(name) >= shortest; name.end--)
        if (put_known_name(writer, text, name))
            return true;
    return false;
}

void put_resolved(struct writer *writer, span text, bool in_attribute) {
    const uint8_t *ampersand;
    while ((ampersand = find_byte(text, '&'))) {
        put_span(writer, span_between(text.at, ampersand));
        span tail = span_between(ampersand + 1, text.end);
        bool is_number = !is_empty(tail) && *tail.at == '#';
        tail.at += is_number;
        if (!(is_number ? put_numeric_reference(writer, &tail) : put_named_reference(writer, &tail, in_attribute))) {
            put_byte(writer, '&');
            tail.at = ampersand + 1;
        }
        text.at = tail.at;
    }
    put_span(writer, text);
}
