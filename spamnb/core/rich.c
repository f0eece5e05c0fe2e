/* text/enriched (RFC 1896) and RTF -> text without its formatting. */
#include "reader.h"

#include <stdio.h>

span remove_enrichment(struct arena *arena, span text) {
    struct writer writer = writer_open(arena, size_of(text));
    while (!is_empty(text)) {
        span plain = before_first(text, '<');
        put_span(&writer, plain);
        text = skip_bytes(span_between(plain.end, text.end), 1);
        if (starts_with(text, LITERAL("<"))) { /* "<<" is "<" */
            put_byte(&writer, '<');
            text.at++;
            continue;
        }
        if (starts_with_any_case(text, LITERAL("nl>")) || starts_with_any_case(text, LITERAL("lt>"))) /* of text/richtext */
            put_byte(&writer, to_lower(*text.at) == 'n' ? '\n' : '<');
        bool is_parameter = starts_with_any_case(text, LITERAL("param>"));
        const uint8_t *end = is_parameter ? find_any_case(text, LITERAL("</param>")) : find_byte(text, '>');
        text.at = end ? end + (is_parameter ? 8 : 1) : text.end;
    }
    return writer_close(&writer);
}

/* The state of remove_rtf. */
struct rtf {
    struct writer writer; /* of bytes in the document's charset; characters of Unicode are references of HTML */
    size_t depth, skipped; /* depth: of groups; skipped: the depth of the group without text that is open, or 0 */
    span code_page; /* the digits of its number; empty: the document names none */
    size_t n_fallback; /* the characters for programs without Unicode that follow a character */
    long high; /* the first half of a character of UTF-16, or 0 */
};

static void put_rtf(struct rtf *rtf, span text) {
    if (!rtf->skipped)
        put_span(&rtf->writer, text);
}

static void put_rtf_byte(struct rtf *rtf, uint8_t c) { put_rtf(rtf, c == '&' ? LITERAL("&amp;") : span_of(&c, 1)); }

enum { MAX_FALLBACK = 9 }; /* characters for programs without Unicode; programs write one or two */

/* Control words for signs. */
static const char *const RTF_SIGNS[][2] = {
    {"lquote", "&#8216;"}, {"rquote", "&#8217;"}, {"ldblquote", "&#8220;"}, {"rdblquote", "&#8221;"},
    {"endash", "&#8211;"}, {"emdash", "&#8212;"}, {"bullet", "&#8226;"},
};

/* Reads a control word such as "\\u8364 ?", and returns the text after it. */
static span read_control_word(struct rtf *rtf, span text) {
    span name = text;
    long number = 0;
    while (text.at < text.end && is_letter(*text.at))
        text.at++;
    name.end = text.at;
    bool is_negative = starts_with(text, LITERAL("-"));
    span digits = skip_bytes(text, is_negative);
    for (text = digits; text.at < text.end && is_digit(*text.at); text.at++)
        number = number < 1 << 24 ? 10 * number + (*text.at - '0') : number;
    digits.end = text.at;
    text.at += starts_with(text, LITERAL(" "));
    if (is_one_of(name, "fonttbl colortbl stylesheet info pict object listtable header footer") && !rtf->skipped)
        rtf->skipped = rtf->depth;
    else if (is_one_of(name, "par line row cell sect page tab"))
        put_rtf_byte(rtf, '\n');
    else if (is_same(name, LITERAL("ansicpg")))
        rtf->code_page = digits;
    else if (is_same(name, LITERAL("bin")))
        text = skip_bytes(text, (size_t)number);
    else if (is_same(name, LITERAL("uc")))
        rtf->n_fallback = number < MAX_FALLBACK ? (size_t)number : MAX_FALLBACK;
    else if (is_same(name, LITERAL("u"))) {
        char reference[32];
        number = is_negative ? 65536 - number : number;
        number = number < 0 ? 0xFFFD : number;
        if (rtf->high && number >= 0xDC00 && number < 0xE000)
            number += 0x10000 - 0xDC00 + (rtf->high - 0xD800) * 0x400;
        rtf->high = number >= 0xD800 && number < 0xDC00 ? number : 0;
        int size = snprintf(reference, sizeof reference, "&#%ld;", number);
        put_rtf(rtf, span_of(reference, rtf->high ? 0 : (size_t)size));
        for (size_t n = rtf->n_fallback; n && !is_empty(text); n--)
            text = skip_bytes(text, starts_with(text, LITERAL("\\'")) ? 4 : !find_byte(LITERAL("\\{}"), *text.at));
    }
    for (size_t i = 0; i < COUNT_OF(RTF_SIGNS); i++)
        if (is_same(name, span_of_text(RTF_SIGNS[i][0])))
            put_rtf(rtf, span_of_text(RTF_SIGNS[i][1]));
    return text;
}

span remove_rtf(struct reader *reader, span text, span charset) {
    struct arena *arena = &reader->arena;
    struct rtf rtf = {.writer = writer_open(arena, size_of(text)), .n_fallback = 1};
    while (!is_empty(text)) {
        uint8_t c = *text.at++;
        if (c == '{')
            rtf.depth++;
        else if (c == '}') {
            rtf.skipped = rtf.skipped == rtf.depth ? 0 : rtf.skipped;
            rtf.depth -= rtf.depth > 0;
        } else if (c != '\\') {
            if (c != '\n' && c != '\r')
                put_rtf_byte(&rtf, c);
        } else if (!is_empty(text) && is_letter(*text.at))
            text = read_control_word(&rtf, text);
        else if (size_of(text) > 2 && *text.at == '\'') {
            int high = hex_value(text.at[1]), low = hex_value(text.at[2]);
            if (low < 0 || high < 0)
                put_rtf(&rtf, LITERAL("&#xFFFD;"));
            else
                put_rtf_byte(&rtf, (uint8_t)(high << 4 | low));
            text.at += 3;
        } else if (!is_empty(text)) {
            c = *text.at++;
            if (c == '*' && !rtf.skipped) /* a group that older programs do not know */
                rtf.skipped = rtf.depth;
            else
                put_rtf_byte(&rtf, c == '~' ? ' ' : c);
        }
    }
    text = writer_close(&rtf.writer);
    charset = is_empty(rtf.code_page) ? charset : concatenate(arena, LITERAL("cp"), rtf.code_page);
    text = decode_text(reader, text, charset);
    struct writer writer = writer_open(arena, size_of(text));
    put_resolved(&writer, text, false);
    return writer_close(&writer);
}
