#include "unicode.h"
#include "reader.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { PAGE = 256 }; /* characters */

/* The properties of a block of 256 characters. If all 256 are alike, bytes has the properties of one. */
struct page {
    const struct character *characters[PAGE];
    uint8_t bytes[];
};

static _Atomic(const struct page *) pages[0x110000 / PAGE];

static const struct page *new_page(struct reader *reader, uint32_t point) {
    uint8_t encoded[4];
    span properties = ask(reader, ASK_CHARACTERS, span_of(encoded, write_point(encoded, point)), (span){0}).text;
    struct page *page = malloc(sizeof *page + size_of(properties));
    if (!page)
        arena_fail(&reader->arena, FAILED_MEMORY);
    memcpy(page->bytes, properties.at, size_of(properties));
    const uint8_t *at = page->bytes, *end = at + size_of(properties);
    for (int i = 0; i < PAGE; i++) {
        page->characters[i] = (const struct character *)at;
        size_t size = sizeof(struct character) + page->characters[i]->ends[N_FORMS - 1];
        at += at + size < end ? size : 0;
    }
    return page;
}

const struct character *character_of(struct reader *reader, uint32_t point) {
    if (point >= 0x110000)
        point = 0xFFFD;
    if (point >= 0x40000 && (point < 0xE0000 || point >= 0xF0000)) /* without letters or signs: they share a page */
        point = 0x40000;
    _Atomic(const struct page *) *slot = &pages[point / PAGE];
    const struct page *page = atomic_load_explicit(slot, memory_order_acquire);
    if (!page) {
        const struct page *new = new_page(reader, point);
        if (atomic_compare_exchange_strong(slot, &page, new))
            page = new;
        else
            free((void *)new); /* another thread has stored this page first */
    }
    return page->characters[point % PAGE];
}

span word_form(const struct character *character) { return span_of(character->text, character->ends[FORM_WORD]); }

span replace_by_form(struct reader *reader, span text, int form) {
    struct writer writer = writer_open(&reader->arena, 2 * size_of(text));
    while (!is_empty(text)) {
        span tail = text;
        const struct character *character = character_of(reader, next_point(&text));
        const uint8_t *forms = character->text;
        span stored = span_between(forms + character->ends[form - 1], forms + character->ends[form]);
        put_span(&writer, character->flags & IS_ITSELF ? span_between(tail.at, text.at) : stored);
    }
    return writer_close(&writer);
}

uint32_t next_point(span *text) {
    bool is_valid;
    size_t n = sequence_size(*text, &is_valid);
    uint32_t point = n == 1 ? *text->at : *text->at & 0x7Fu >> n;
    for (size_t i = 1; i < n; i++)
        point = point << 6 | (text->at[i] & 0x3F);
    text->at += n;
    return is_valid ? point : 0xFFFD;
}

size_t write_point(uint8_t *at, uint32_t point) {
    if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
        point = 0xFFFD;
    size_t n = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i; i--, point >>= 6)
        at[i] = (uint8_t)(0x80 | (point & 0x3F));
    at[0] = (uint8_t)(n == 1 ? point : 0xF00u >> n | point);
    return n;
}

size_t sequence_size(span text, bool *is_valid) {
    uint8_t first = *text.at, second = size_of(text) > 1 ? text.at[1] : 0;
    size_t n = point_size(first);
    *is_valid = first < 0x80;
    if (first < 0xC2 || first > 0xF4)
        return 1;
    uint8_t least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    uint8_t most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF; /* no surrogates, no numbers above 10FFFF */
    if (second < least || second > most)
        return 1;
    for (size_t i = 2; i < n; i++)
        if (i >= size_of(text) || (text.at[i] & 0xC0) != 0x80)
            return i;
    *is_valid = true;
    return n;
}

size_t valid_utf8_size(span text) {
    const uint8_t *begin = text.at;
    while (!is_empty(text = skip_ascii(text))) {
        bool is_valid;
        size_t n = sequence_size(text, &is_valid);
        if (!is_valid)
            break;
        text.at += n;
    }
    return (size_t)(text.at - begin);
}

uint32_t windows_1252(uint32_t number) {
    static const uint16_t POINTS[32] = {
        0x20AC, 0x81, 0x201A, 0x192, 0x201E, 0x2026, 0x2020, 0x2021, 0x2C6, 0x2030, 0x160, 0x2039, 0x152, 0x8D, 0x17D,
        0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC, 0x2122, 0x161, 0x203A, 0x153, 0x9D,
        0x17E, 0x178,
    };
    return number >= 0x80 && number < 0xA0 ? POINTS[number - 0x80] : number;
}
