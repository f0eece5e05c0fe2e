/* Character references of HTML: &amp; &#38; &#x26; -> the characters that they stand for. */
#include "reader.h"

#include <stdlib.h>

enum { LONGEST_NAME = 41, LONGEST_WITHOUT_SEMICOLON = 6 };

static const char *const *names, *const *texts; /* names ascending */
static size_t n_names;

void references_begin(const char *const given_names[], const char *const given_texts[], size_t n) {
    names = given_names;
    texts = given_texts;
    n_names = n;
}

static int compare(const void *asked, const void *known) {
    span name = *(const span *)asked;
    const char *other = *(const char *const *)known;
    int order = strncmp((const char *)name.at, other, size_of(name));
    return order ? order : -(other[size_of(name)] != 0);
}

/* What a name stands for; NULL where it is none. */
static const char *text_of(span name) {
    const char *const *found = bsearch(&name, names, n_names, sizeof *names, compare);
    return found ? texts[found - names] : NULL;
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
    const char *found = has_semicolon ? text_of(span_between(text->at, end + 1)) : NULL;
    if (found) {
        text->at = end + 1;
        put_span(writer, span_of_text(found));
        return true;
    }
    if (in_attribute && (has_semicolon || (end < text->end && *end == '=')))
        return false;
    size_t shortest = in_attribute ? size_of(name) : 2;
    for (name = first_bytes(name, LONGEST_WITHOUT_SEMICOLON); size_of(name) >= 2 && size_of(name) >= shortest; name.end--) {
        found = text_of(name);
        if (found) {
            text->at = name.end;
            put_span(writer, span_of_text(found));
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
