/* text/enriched (RFC 1896) and RTF -> text without its formatting. */
#include "reader.h"

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
        bool is_parameter = starts_with_any_case(text, LITERAL("param>"));
        const uint8_t *end = is_parameter ? find_any_case(text, LITERAL("</param>")) : find_byte(text, '>');
        text.at = end ? end + (is_parameter ? 8 : 1) : text.end;
    }
    return writer_close(&writer);
}

/* The state of remove_rtf. */
struct rtf {
    struct writer writer;
    size_t depth, skipped; /* depth: of groups; skipped: the depth of the group without text that is open, or 0 */
};

static void put_rtf_point(struct rtf *rtf, uint32_t point) {
    if (rtf->skipped)
        return;
    writer_reserve(&rtf->writer, 4);
    rtf->writer.at += write_point(rtf->writer.at, point && point < 0x110000 && (point & 0xFFF800) != 0xD800 ? point : 0xFFFD);
}

/* Reads a control word such as "\\u8364 ?", and returns the text after it. */
static span read_control_word(struct rtf *rtf, span text) {
    span name = text;
    long number = 0;
    while (text.at < text.end && is_letter(*text.at))
        text.at++;
    name.end = text.at;
    bool is_negative = starts_with(text, LITERAL("-"));
    for (text.at += is_negative; text.at < text.end && is_digit(*text.at); text.at++)
        number = number < 1 << 24 ? 10 * number + (*text.at - '0') : number;
    text.at += starts_with(text, LITERAL(" "));
    if (is_one_of(name, "fonttbl colortbl stylesheet info pict object listtable header footer") && !rtf->skipped)
        rtf->skipped = rtf->depth;
    else if (is_one_of(name, "par line row cell sect page tab"))
        put_rtf_point(rtf, '\n');
    else if (is_same(name, LITERAL("bin")))
        text = skip_bytes(text, (size_t)number);
    else if (is_same(name, LITERAL("u"))) { /* one character for programs without Unicode follows */
        put_rtf_point(rtf, (uint32_t)(is_negative ? 65536 - number : number));
        text = skip_bytes(text, starts_with(text, LITERAL("\\'")) ? 4 : !is_empty(text) && !find_byte(LITERAL("\\{}"), *text.at));
    }
    return text;
}

span remove_rtf(struct arena *arena, span text) {
    struct rtf rtf = {.writer = writer_open(arena, size_of(text))};
    while (!is_empty(text)) {
        uint8_t c = *text.at++;
        if (c == '{')
            rtf.depth++;
        else if (c == '}') {
            rtf.skipped = rtf.skipped == rtf.depth ? 0 : rtf.skipped;
            rtf.depth -= rtf.depth > 0;
        } else if (c != '\\') {
            if (c != '\n' && !rtf.skipped)
                put_byte(&rtf.writer, c);
        } else if (!is_empty(text) && is_letter(*text.at))
            text = read_control_word(&rtf, text);
        else if (size_of(text) > 2 && *text.at == '\'') {
            int high = hex_value(text.at[1]), low = hex_value(text.at[2]);
            put_rtf_point(&rtf, high < 0 || low < 0 ? 0xFFFD : windows_1252((uint8_t)(high << 4 | low)));
            text.at += 3;
        } else if (!is_empty(text)) {
            c = *text.at++;
            if (c == '*' && !rtf.skipped) /* a group that older programs do not know */
                rtf.skipped = rtf.depth;
            else
                put_rtf_point(&rtf, c == '~' ? ' ' : c);
        }
    }
    return writer_close(&rtf.writer);
}
