#include "transfer.h"

/* Of each byte its value in base64; 64 for spaces and line ends, 65 for "=", 66 for all others. */
enum { BLANK = 64, PADDING = 65, FOREIGN = 66, HEAD = 1024, MAX_CHUNKS = 1000, MIN_LINE = 20 };

#define FOREIGN_16 66, 66, 66, 66, 66, 66, 66, 66, 66, 66, 66, 66, 66, 66, 66, 66
static const uint8_t BASE64_VALUES[256] = {
    66, 66, 66, 66, 66, 66, 66, 66, 66, 64, 64, 66, 66, 64, 66, 66, FOREIGN_16,
    64, 66, 66, 66, 66, 66, 66, 66, 66, 66, 66, 62, 66, 66, 66, 63, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 66, 66, 66, 65, 66, 66,
    66, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 66, 66, 66, 66, 66,
    66, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 66, 66, 66, 66, 66,
    FOREIGN_16, FOREIGN_16, FOREIGN_16, FOREIGN_16, FOREIGN_16, FOREIGN_16, FOREIGN_16, FOREIGN_16,
};

static uint8_t base64_value(uint8_t c) { return BASE64_VALUES[c]; }

/* Decodes letters up to the padding; where is_strict, up to a foreign character, too. Returns what is left. */
static span put_letters(struct writer *writer, span text, bool is_strict) {
    writer_reserve(writer, size_of(text) / 4 * 3 + 3);
    uint8_t *out = writer->at;
    uint32_t bits = 0;
    unsigned n = 0;
    while (text.at < text.end) {
        if (!n)
            while (size_of(text) >= 4) { /* nearly all of it */
                uint8_t a = base64_value(text.at[0]), b = base64_value(text.at[1]);
                uint8_t c = base64_value(text.at[2]), d = base64_value(text.at[3]);
                if ((a | b | c | d) >= 64)
                    break;
                uint32_t four = (uint32_t)a << 18 | (uint32_t)b << 12 | (uint32_t)c << 6 | d;
                out[0] = (uint8_t)(four >> 16);
                out[1] = (uint8_t)(four >> 8);
                out[2] = (uint8_t)four;
                out += 3;
                text.at += 4;
            }
        if (is_empty(text))
            break;
        uint8_t value = base64_value(*text.at);
        if (value == PADDING || (is_strict && value == FOREIGN))
            break;
        text.at++;
        if (value >= 64)
            continue;
        bits = bits << 6 | value;
        if (++n == 4) {
            *out++ = (uint8_t)(bits >> 16);
            *out++ = (uint8_t)(bits >> 8);
            *out++ = (uint8_t)bits;
            bits = n = 0;
        }
    }
    if (n == 2)
        *out++ = (uint8_t)(bits >> 4);
    if (n == 3) {
        *out++ = (uint8_t)(bits >> 10);
        *out++ = (uint8_t)(bits >> 2);
    }
    writer->at = out;
    return text;
}

void put_base64(struct writer *writer, span text) { put_letters(writer, text, false); }

static span line_at(span text) {
    const uint8_t *end = find_byte(text, '\n');
    return span_between(text.at, end ? end : text.end);
}

/* Whether a line is nothing but base64; how many letters it has. */
static bool is_base64_line(span line, size_t *n_letters) {
    bool padded = false;
    size_t n = 0;
    for (line = strip(line); line.at < line.end; line.at++) {
        uint8_t value = base64_value(*line.at);
        if (value >= PADDING ? value == FOREIGN : (padded || value == BLANK))
            return false;
        padded = padded || value == PADDING;
        n += value < 64;
    }
    *n_letters = n;
    return true;
}

/* Runs of lines of base64, each piece that was padded by itself, without other lines. A run begins with a long line. */
static void put_runs(struct writer *writer, span text) {
    bool in_run = false;
    unsigned chunks = 0;
    const uint8_t *begin = text.at;
    while (text.at < text.end && chunks < MAX_CHUNKS) {
        span line = line_at(text);
        size_t n = 0;
        bool fits = is_base64_line(line, &n) && n && (in_run || n >= MIN_LINE);
        if (fits && !in_run)
            begin = line.at;
        text.at = line.end < text.end ? line.end + 1 : text.end;
        if (in_run && !fits)
            put_letters(writer, span_between(begin, line.at), false);
        if (fits && memchr(line.at, '=', size_of(line))) { /* padding ends a chunk */
            put_letters(writer, span_between(begin, line.end), false);
            begin = text.at;
            chunks++;
        }
        in_run = fits;
    }
    if (in_run)
        put_letters(writer, span_between(begin, text.end), false);
}

/* Whether most of what stands between blanks are words: one piece of base64 in forty is, of four letters. */
static bool is_prose(span text) {
    size_t pieces = 0, words = 0;
    text = first_bytes(text, HEAD);
    while (text.at < text.end) {
        if (is_space(*text.at)) {
            text.at++;
            continue;
        }
        size_t n = 0, upper = 0, letters = 0;
        bool first_is_upper = is_upper(*text.at);
        for (; text.at < text.end && !is_space(*text.at); text.at++, n++) {
            upper += is_upper(*text.at);
            letters += is_letter(*text.at);
        }
        pieces++;
        words += letters == n && (upper == n || (n > 1 && upper == first_is_upper));
    }
    return 2 * words > pieces;
}

/* Whether bytes may be text in some charset: random ones have a control character in nine. */
static bool is_text(span octets) {
    octets = first_bytes(octets, HEAD);
    size_t controls = 0;
    for (const uint8_t *at = octets.at; at < octets.end; at++)
        controls += (*at < 32 && !(*at >= '\t' && *at <= '\r') && *at != 27) || *at == 127;
    return !is_empty(octets) && 50 * controls <= size_of(octets);
}

static span runs_or_all(struct arena *arena, span text) {
    struct writer writer = writer_open(arena, 64);
    put_runs(&writer, text);
    span found = writer_close(&writer);
    return is_empty(found) ? text : found;
}

span decode_base64(struct arena *arena, span text) {
    struct writer writer = writer_open(arena, size_of(text) / 4 * 3 + 3);
    span rest = put_letters(&writer, text, true);
    bool may_go_on = !is_prose(rest);
    for (int chunks = 0; rest.at < rest.end && base64_value(*rest.at) != FOREIGN && may_go_on;)
        if (base64_value(*rest.at) >= 64)
            rest.at++;
        else { /* chunks that were encoded one by one */
            may_go_on = ++chunks < MAX_CHUNKS;
            rest = put_letters(&writer, rest, true);
        }
    span found = writer_close(&writer);
    const uint8_t *padding = find_byte(text, '=');
    span first = span_between(text.at, padding ? padding : text.end);
    bool has_blanks = find_byte(first, ' ') || find_byte(first, '\t');
    size_t n_letters = 0, n_foreign = 0;
    for (const uint8_t *at = first.at; at < first.end && at - first.at < HEAD; at++) {
        uint8_t value = base64_value(*at);
        n_letters += value != BLANK;
        n_foreign += value == FOREIGN;
    }
    if (12 * n_foreign > n_letters)
        return runs_or_all(arena, text);
    if (has_blanks && (is_prose(first) || rest.at < first.end || !is_text(found)))
        return runs_or_all(arena, text);
    if (is_empty(rest))
        return found;
    /* What is foreign stands among the letters, or behind the padding: what mailing lists append. */
    writer = writer_open(arena, size_of(text) / 4 * 3 + 3);
    put_letters(&writer, first, false);
    rest = span_between(first.end, text.end);
    while (rest.at < rest.end && *rest.at == '=')
        rest.at++;
    put_runs(&writer, rest);
    return writer_close(&writer);
}

void put_quoted_printable(struct writer *writer, span text, bool in_header) {
    writer_reserve(writer, size_of(text));
    uint8_t *out = writer->at;
    while (text.at < text.end) {
        const uint8_t *equals = in_header ? text.at : find_byte(text, '=');
        if (!equals)
            equals = text.end;
        if (!in_header && equals > text.at) {
            memcpy(out, text.at, (size_t)(equals - text.at));
            out += equals - text.at;
            text.at = equals;
            continue;
        }
        uint8_t c = *text.at++;
        if (c == '_' && in_header) {
            *out++ = ' ';
            continue;
        }
        if (c != '=') {
            *out++ = c;
            continue;
        }
        const uint8_t *at = text.at;
        while (at < text.end && is_blank(*at))
            at++;
        if (at < text.end && *at == '\n') {
            text.at = at + 1;
            continue;
        }
        if (at == text.end && text.at == text.end)
            break;
        if (text.at < text.end && *text.at == '=') { /* as broken programs write it */
            *out++ = '=';
            text.at++;
            continue;
        }
        int high = text.at < text.end ? hex_value(text.at[0]) : -1;
        int low = size_of(text) > 1 ? hex_value(text.at[1]) : -1;
        if (high >= 0 && low >= 0) {
            *out++ = (uint8_t)(high << 4 | low);
            text.at += 2;
        } else
            *out++ = '=';
    }
    writer->at = out;
}

span transfer_decode(struct arena *arena, span text, span encoding) {
    if (is_same(encoding, LITERAL("base64")))
        return decode_base64(arena, text);
    if (!is_same(encoding, LITERAL("quoted-printable")))
        return text;
    struct writer writer = writer_open(arena, size_of(text));
    put_quoted_printable(&writer, text, false);
    return writer_close(&writer);
}
