#include "charset.h"

#include "reader.h"

/* What is known of a charset's name; each reader remembers the few that its messages use. */
static const struct codec *codec_of(struct reader *reader, span name) {
    name = first_bytes(name, MAX_CODEC_NAME);
    for (size_t i = 0; i < reader->n_codecs; i++)
        if (is_same(span_of(reader->codecs[i].name, reader->codecs[i].name_size), name))
            return &reader->codecs[i];
    struct codec codec = {.name_size = size_of(name)};
    memcpy(codec.name, name.at, size_of(name));
    if (!reader->host->find_codec(reader->host, name, &codec))
        arena_fail(&reader->arena, FAILED_HOST);
    reader->n_codecs %= MAX_CODECS; /* all are forgotten where there are too many */
    reader->codecs[reader->n_codecs] = codec;
    return &reader->codecs[reader->n_codecs++];
}

static span decode_single_bytes(struct arena *arena, span octets, const uint16_t points[256]) {
    struct writer writer = writer_open(arena, 3 * size_of(octets));
    for (; octets.at < octets.end; octets.at++)
        if (*octets.at < 0x80)
            *writer.at++ = *octets.at;
        else
            writer.at += write_point(writer.at, points[*octets.at]);
    return writer_close(&writer);
}

/* UTF-8 with U+FFFD for what is none; windows-1252 where that would be half of what is not ASCII: a spoilt text loses a
 * few letters, and what is no UTF-8 would lose most. */
static span decode_utf8(struct reader *reader, span octets) {
    if (valid_utf8(octets) == size_of(octets))
        return octets;
    struct writer writer = writer_open(&reader->arena, size_of(octets) + 16);
    size_t n_spoilt = 0, n_valid = 0;
    for (span rest = octets; rest.at < rest.end; n_spoilt++) {
        span good = span_of(rest.at, valid_utf8(rest));
        put_span(&writer, good);
        for (const uint8_t *at = good.at; at < good.end; at++)
            n_valid += *at >= 0xC0;
        rest.at = good.end;
        if (is_empty(rest))
            break;
        put_span(&writer, LITERAL("\xEF\xBF\xBD"));
        bool is_valid;
        rest.at += sequence_size(rest, &is_valid);
    }
    span text = writer_close(&writer);
    const struct codec *codec = n_spoilt < n_valid ? NULL : codec_of(reader, LITERAL("windows-1252"));
    return codec && codec->points ? decode_single_bytes(&reader->arena, octets, codec->points) : text;
}

span decode_text(struct reader *reader, span octets, span charset) {
    const struct codec *codec = is_empty(charset) ? NULL : codec_of(reader, charset);
    enum codec_kind kind = codec ? codec->kind : CODEC_UTF8;
    if (kind != CODEC_PYTHON_NOT_ASCII && is_ascii(octets))
        return octets;
    bool is_wide = starts_with(octets, LITERAL("\xFF\xFE")) || starts_with(octets, LITERAL("\xFE\xFF")) ||
                   starts_with(octets, LITERAL("\0\0\xFE\xFF"));
    if (kind >= CODEC_PYTHON || is_wide)
        return ask_host(reader, ASK_DECODE, octets, charset);
    if (starts_with(octets, LITERAL("\xEF\xBB\xBF")))
        return decode_utf8(reader, skip_bytes(octets, 3));
    if (kind == CODEC_UTF8 || codec->is_default)
        return decode_utf8(reader, octets);
    return decode_single_bytes(&reader->arena, octets, codec->points);
}
