/* A message: raw bytes -> a row of tokens, and spans of what people ask for. */
#ifndef SPAMNB_MESSAGE_H
#define SPAMNB_MESSAGE_H

#include "hash.h"
#include "header.h"
#include "html.h"
#include "mime.h"

/* What was left out because a bound was reached. */
enum {
    CUT_HEADERS = 1, CUT_HTML = 2, CUT_LINKS = 4, CUT_PARTS = 8, CUT_PDF = 16, CUT_SMIME = 32, CUT_TEXT = 64,
    CUT_TNEF = 128, N_CUTS = 8
};

enum { N_TAG_WORDS = 3 }; /* of 64 bits, one for each tag */

struct message {
    span raw; /* with LF line ends */
    struct section section;
    span_list values; /* of its fields, decoded; where no tokens are wanted */
    span_list texts, attached, extracted; /* what a reader shows first; what he opens; what stands in documents */
    span_list hidden;
    struct url_list links, images, forms;
    uint64_t tags[N_TAG_WORDS]; /* that occur in HTML */
    uint32_t facts, cuts;
    size_t n_tags, bytes_left, n_pdf, n_tnef;
    LIST(struct part) parts;
    uint8_t digest[DIGEST];
};

/* Reads a message into reader->message and a row of its vocabulary. identify: the digest is wanted; with_tokens: the
 * row is, else the values of fields. The row is ended by the caller, or given up where this fails. */
enum failure read_message(struct reader *reader, span raw, bool identify, bool with_tokens);

#endif
