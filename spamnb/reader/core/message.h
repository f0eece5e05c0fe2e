/* A message: raw bytes -> a row of tokens, and spans of what people ask for. */
#pragma once

#include "hash.h"
#include "header.h"
#include "html.h"
#include "mime.h"

/* What was left out because a bound was reached. */
enum {
    CUT_HEADERS = 1, CUT_HTML = 2, CUT_LINKS = 4, CUT_PARTS = 8, CUT_PDF = 16, CUT_SMIME = 32, CUT_TEXT = 64,
    CUT_TNEF = 128, N_CUTS = 8
};

enum {
    N_TAG_WORDS = 3, /* of 64 bits, one for each tag */
    DATE = 64,       /* bytes: a date has 31, and a comment of the zone's name behind it */
};

struct message {
    span raw; /* with LF line ends */
    struct section section;
    span_list values; /* of its fields, decoded */
    span_list texts, attached; /* what a reader shows first; what he opens */
    span_list all_texts, hidden; /* both in this order; what HTML does not show */
    span_list links, images, forms; /* URLs */
    uint64_t tags[N_TAG_WORDS]; /* that occur in HTML */
    uint32_t facts, cuts;
    span_list named_facts; /* of HTML, as tokens and people have them */
    size_t n_tags, bytes_left;
    LIST(struct part) parts;
    uint8_t digest[DIGEST], identity[DIGEST];
    uint8_t date[DATE]; /* when it was received, as its topmost server wrote it; ends with 0 */
};

/* What is wanted of a message. */
enum {
    WANT_FIELDS = 1, /* values of header fields */
    WANT_BODY = 2,   /* texts, links, parts */
    NEEDS_VOCABULARY = 4,
    WANT_ROW = NEEDS_VOCABULARY | WANT_BODY,
    WANT_DIGEST = 8,
    WANT_IDENTITY = 16,
    WANT_DATE = 32,
    WANT_IDENTIFIED = WANT_DIGEST | WANT_DATE,
};

/* Reads a message into reader->message and a row of its vocabulary. The row is ended by the caller, or given up where
 * this fails. */
enum failure read_message(struct reader *reader, span raw, unsigned wants);
