#include "charset.h"

#include "reader.h"

enum { MAX_NAME = 60 };

/* What is known of a charset's name; each reader remembers the few that its messages use. */
static const struct codec *codec_of(struct reader *reader, span name) {
    name = first_bytes(name, MAX_NAME);
    for (size_t i = 0; i < reader->n_codecs; i++)
        if (is_same(reader->codecs[i].name, name))
            return &reader->codecs[i];
    size_t i = reader->n_codecs < COUNT_OF(reader->codecs) ? reader->n_codecs++ : reader->next_codec;
    reader->next_codec = (i + 1) % COUNT_OF(reader->codecs);
    struct codec *codec = &reader->codecs[i];
    uint8_t *kept = reader->codec_names[i];
    if (!is_empty(name))
        memcpy(kept, name.at, size_of(name));
    *codec = (struct codec){.name = span_of(kept, size_of(name))};
    if (!reader->host->find_codec(reader->host, name, codec)) {
        codec->name = LITERAL("?"); /* no message claims it: it is asked for again */
        arena_fail(&reader->arena, FAILED_HOST);
    }
    return codec;
}

/* UTF-8 of single bytes. Where is_strict, false as soon as one stands for nothing. */
static bool put_single_bytes(struct writer *writer, span octets, const uint16_t *points, bool is_strict) {
    if (size_of(octets) > SIZE_MAX / 8)
        arena_fail(writer->arena, FAILED_MEMORY);
    writer_reserve(writer, 3 * size_of(octets));
    uint8_t *out = writer->at;
    bool fits = true;
    for (; octets.at < octets.end; octets.at++) {
        if (*octets.at < 0x80) {
            *out++ = *octets.at;
            continue;
        }
        uint16_t point = points[*octets.at];
        fits = fits && point != 0xFFFF;
        if (!fits && is_strict)
            return false;
        out += write_point(out, point == 0xFFFF ? 0xFFFD : point);
    }
    writer->at = out;
    return true;
}

/* UTF-8 with U+FFFD for what is none; how many of these, and how many other characters than ASCII there are. */
static span repaired(struct arena *arena, span octets, size_t *n_spoilt, size_t *n_other) {
    struct writer writer = writer_open(arena, size_of(octets) + 16);
    *n_spoilt = *n_other = 0;
    while (octets.at < octets.end) {
        span good = span_of(octets.at, valid_utf8(octets));
        put_span(&writer, good);
        for (const uint8_t *at = good.at; at < good.end; at++)
            *n_other += *at >= 0xC0;
        octets.at = good.end;
        if (octets.at == octets.end)
            break;
        put_span(&writer, LITERAL("\xEF\xBF\xBD"));
        ++*n_spoilt;
        ++*n_other;
        bool is_valid;
        octets.at += sequence_size(octets, &is_valid);
    }
    return writer_close(&writer);
}

/* What nobody says the charset of, or what is not what it is said to be. */
static span decode_unknown(struct reader *reader, span octets) {
    struct arena *arena = &reader->arena;
    if (valid_utf8(octets) == size_of(octets))
        return octets;
    /* A spoilt text loses a few letters; what is no UTF-8 would lose most of those that are not ASCII. */
    size_t n_spoilt, n_other;
    span text = repaired(arena, octets, &n_spoilt, &n_other);
    if (2 * n_spoilt < n_other)
        return text;
    struct writer writer = writer_open(arena, 2 * size_of(octets));
    if (!put_single_bytes(&writer, octets, reader->tables->windows_1252, true)) {
        writer.at = writer.begin;
        put_single_bytes(&writer, octets, reader->tables->latin_1, false);
    }
    return writer_close(&writer);
}

static bool has_foreign_mark(span octets) {
    return starts_with(octets, LITERAL("\xFF\xFE")) || starts_with(octets, LITERAL("\xFE\xFF")) ||
           starts_with(octets, LITERAL("\0\0\xFE\xFF"));
}

span decode_text(struct reader *reader, span octets, span charset) {
    const struct codec *codec = is_empty(charset) ? NULL : codec_of(reader, charset);
    bool transparent = !codec || codec->kind != CODEC_PYTHON_NOT_ASCII;
    if (transparent && is_ascii(octets))
        return octets;
    if ((codec && codec->kind >= CODEC_PYTHON) || has_foreign_mark(octets)) {
        span text;
        if (!reader->host->ask(reader->host, ASK_DECODE, octets, charset, &reader->arena, &text))
            arena_fail(&reader->arena, FAILED_HOST);
        return text;
    }
    span mark = LITERAL("\xEF\xBB\xBF");
    if (starts_with(octets, mark))
        return decode_unknown(reader, skip_bytes(octets, size_of(mark)));
    if (!codec || codec->is_default || codec->kind == CODEC_UTF8)
        return decode_unknown(reader, octets);
    struct writer writer = writer_open(&reader->arena, 2 * size_of(octets));
    if (!put_single_bytes(&writer, octets, codec->points, true)) {
        writer.at = writer.begin;
        if (valid_utf8(octets) == size_of(octets))
            put_span(&writer, octets);
        else
            put_single_bytes(&writer, octets, codec->points, false);
    }
    return writer_close(&writer);
}
