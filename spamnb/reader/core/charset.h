/* Bytes in the charset that a message claims -> UTF-8. A claim is only a claim: what comes out is always valid. */
#ifndef SPAMNB_CHARSET_H
#define SPAMNB_CHARSET_H

#include "arena.h"

struct reader;

/* How a charset is read. Of single bytes the table has what each stands for; its first half is ASCII. All others are
 * Python's business. */
enum codec_kind { CODEC_UTF8, CODEC_SINGLE_BYTES, CODEC_PYTHON, CODEC_PYTHON_NOT_ASCII };

enum { MAX_CODECS = 64, MAX_CODEC_NAME = 60 };

struct codec {
    uint8_t name[MAX_CODEC_NAME]; /* as a message claims it */
    size_t name_size;
    enum codec_kind kind;
    bool is_default; /* nothing is known of it */
    const uint16_t *points;
};

/* Text of bytes: as a byte order mark says, else the claimed charset (perhaps empty), else UTF-8, else windows-1252. */
span decode_text(struct reader *reader, span octets, span charset);

#endif
