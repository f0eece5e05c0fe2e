/* Text in a transfer encoding -> bytes; bytes in the charset that a message names -> UTF-8. */
#include "reader.h"

/* The value of each byte in base64: 0 to 63, PADDING for "=", and FOREIGN for bytes that base64 does not have. */
enum { PADDING = 65, FOREIGN = 66 };

#define FOREIGN_16 66, 66, 66, 66, 66, 66, 66, 66, 66, 66, 66, 66, 66, 66, 66, 66
static const uint8_t VALUES[256] = {
    FOREIGN_16, FOREIGN_16, 66, 66, 66, 66, 66, 66, 66, 66, 66, 66, 66, 62, 66, 66, 66, 63,
    52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 66, 66, 66, 65, 66, 66,
    66, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 66, 66, 66, 66, 66,
    66, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 66, 66, 66, 66, 66,
    FOREIGN_16, FOREIGN_16, FOREIGN_16, FOREIGN_16, FOREIGN_16, FOREIGN_16, FOREIGN_16, FOREIGN_16,
};

/* Returns whether text begins with a line that begins with a foreign byte, as the footers of mailing lists do. The first
 * line is no footer if it may be base64 behind its foreign bytes; in "- Hello" a blank follows these. */
static bool begins_footer(const uint8_t *begin, span text, bool is_first) {
    bool begins_line = text.at == begin || text.at[-1] == '\n';
    if (!begins_line || *text.at <= ' ' || VALUES[*text.at] != FOREIGN)
        return false;
    span line = strip(before_first(text, '\n'));
    while (line.at < line.end && VALUES[*line.at] == FOREIGN && *line.at > ' ')
        line.at++;
    while (line.at < line.end && VALUES[*line.at] != FOREIGN)
        line.at++;
    return !is_first || !is_empty(line);
}

span put_base64(struct writer *writer, span text) {
    const uint8_t *begin = text.at;
    uint32_t bits = 0;
    unsigned n = 0; /* letters of an incomplete group of four */
    writer_reserve(writer, size_of(text) + 3);
    const uint8_t *output = writer->at;
    for (;;) {
        for (; !n && size_of(text) >= 4; text.at += 4) { /* the fast way for nearly all groups */
            uint8_t a = VALUES[text.at[0]], b = VALUES[text.at[1]], c = VALUES[text.at[2]], d = VALUES[text.at[3]];
            if ((a | b | c | d) >= 64)
                break;
            bits = (uint32_t)a << 18 | (uint32_t)b << 12 | (uint32_t)c << 6 | d;
            writer->at[0] = (uint8_t)(bits >> 16);
            writer->at[1] = (uint8_t)(bits >> 8);
            writer->at[2] = (uint8_t)bits;
            writer->at += 3;
        }
        bool is_first = writer->at == output && !n;
        bool is_end = is_empty(text) || VALUES[*text.at] == PADDING || begins_footer(begin, text, is_first);
        uint8_t value = is_end ? FOREIGN : VALUES[*text.at++];
        if (value < 64) {
            bits = bits << 6 | value;
            n++;
        }
        if (n == 4 || is_end) {
            bits <<= 6 * (4 - n);
            for (unsigned i = 0; i + 1 < n; i++)
                *writer->at++ = (uint8_t)(bits >> (16 - 8 * i));
            bits = n = 0;
        }
        if (is_end)
            break;
    }
    return text;
}

void put_quoted_printable(struct writer *writer, span text, bool in_header) {
    writer_reserve(writer, size_of(text));
    while (text.at < text.end) {
        span plain = before_first(text, '=');
        for (; in_header && plain.at < plain.end; plain.at++)
            *writer->at++ = *plain.at == '_' ? ' ' : *plain.at;
        put_span(writer, plain);
        text.at = plain.end;
        if (is_empty(text))
            break;
        text.at++;
        span line_end = skip_blanks(text);
        int high = size_of(text) > 1 ? hex_value(text.at[0]) : -1, low = high >= 0 ? hex_value(text.at[1]) : -1;
        if (low >= 0) {
            *writer->at++ = (uint8_t)(high << 4 | low);
            text.at += 2;
        } else if (is_empty(line_end) || *line_end.at == '\n')
            text = skip_bytes(line_end, 1); /* a soft line break, before which blanks may have been added */
        else
            *writer->at++ = '=';
    }
}

span decode_percents(struct arena *arena, span text) {
    struct writer writer = writer_open(arena, size_of(text));
    for (; text.at < text.end; text.at++) {
        int high = *text.at == '%' && size_of(text) > 2 ? hex_value(text.at[1]) : -1;
        int low = high >= 0 ? hex_value(text.at[2]) : -1;
        put_byte(&writer, low >= 0 ? (uint8_t)(high << 4 | low) : *text.at);
        text.at += low >= 0 ? 2 : 0;
    }
    return writer_close(&writer);
}

/* Writes decoded uuencoded text. The text is between a line "begin ..." and a line "end". The first letter of each line
 * is the number of bytes in the line; each further letter has six bits. */
static void put_uuencoded(struct writer *writer, span text) {
    span line = {0};
    while (!starts_with(line, LITERAL("begin ")) && next_line(&text, &line))
        continue;
    while (next_line(&text, &line) && !starts_with(line, LITERAL("end"))) {
        size_t n = is_empty(line) ? 0 : (*line.at++ - 32u) & 63;
        for (; n && !is_empty(line); line = skip_bytes(line, 4)) {
            uint32_t bits = 0;
            for (size_t i = 0; i < 4; i++)
                bits = bits << 6 | (i < size_of(line) ? (line.at[i] - 32u) & 63 : 0);
            for (int shift = 16; n && shift >= 0; shift -= 8, n--)
                put_byte(writer, (uint8_t)(bits >> shift));
        }
    }
}

span decode_transfer(struct reader *reader, span body, span encoding, span *rest) {
    bool is_base64 = is_same(encoding, LITERAL("base64")), is_uuencode = is_same(encoding, LITERAL("x-uuencode"));
    *rest = (span){0};
    if (!is_base64 && !is_uuencode && !is_same(encoding, LITERAL("quoted-printable")))
        return body;
    struct writer writer = writer_open(&reader->arena, size_of(body));
    if (is_base64)
        *rest = put_base64(&writer, body);
    else if (is_uuencode)
        put_uuencoded(&writer, body);
    else
        put_quoted_printable(&writer, body, false);
    return writer_close(&writer);
}

/* Decodes bytes as UTF-8. Valid sequences stay. U+FFFD replaces the others, or if they are the majority, each of their
 * bytes is read as windows-1252. A text that names such a charset and has few valid sequences is in this charset. */
static span decode_default(struct arena *arena, span octets, bool names_latin) {
    size_t n_valid = 0, n_invalid = 0;
    bool is_valid;
    for (span tail = skip_ascii(octets); !is_empty(tail); tail = skip_ascii(tail)) {
        tail.at += sequence_size(tail, &is_valid);
        *(is_valid ? &n_valid : &n_invalid) += 1;
    }
    struct writer writer = writer_open(arena, size_of(octets) + 16);
    while (!is_empty(octets)) {
        bool is_other = n_invalid > n_valid;
        span tail = skip_ascii(octets);
        if (!(is_other && names_latin))
            tail.at = octets.at + valid_utf8_size(octets);
        put_span(&writer, span_between(octets.at, tail.at));
        if (is_empty(tail))
            break;
        writer_reserve(&writer, 3);
        writer.at += write_point(writer.at, is_other ? windows_1252(*tail.at) : 0xFFFD);
        octets = skip_bytes(tail, is_other ? 1 : sequence_size(tail, &is_valid));
    }
    return writer_close(&writer);
}

span decode_text(struct reader *reader, span octets, span charset) {
    if (is_unnamed(charset) && valid_utf8_size(octets) < size_of(octets))
        charset = message_charset(reader);
    bool is_default = is_empty(charset) || is_one_of(charset, "utf-8 us-ascii iso-8859-1 windows-1252");
    bool has_ascii = is_default || starts_with(charset, LITERAL("iso-8859-")) || starts_with(charset, LITERAL("windows-"));
    bool has_escape = find_byte(octets, '\x1B') && find(octets, LITERAL("\x1B$")); /* of ISO 2022 */
    if (is_empty(octets) || (has_ascii && !has_escape && is_ascii(octets)))
        return octets;
    bool may_have_mark = find_byte(LITERAL("\xEF\xFE\xFF\0"), *octets.at); /* a byte order mark */
    if ((!is_default || has_escape || may_have_mark) && may_ask(reader)) {
        span text = ask(reader, ASK_DECODE, octets, charset).text;
        if (text.at)
            return text;
    }
    if (valid_utf8_size(octets) == size_of(octets))
        return octets;
    return decode_default(&reader->arena, octets, is_one_of(charset, "iso-8859-1 windows-1252"));
}
