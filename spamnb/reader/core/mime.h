/* The body of a message: its multipart structure, and what is said of each part. */
#pragma once

#include "arena.h"

struct reader;

enum {
    MAX_DEPTH = 16,
    MAX_PARTS = 250,
    MAX_TEXT = 1 << 20,                /* bytes of decoded text in one message */
    MIN_TEXT = MAX_TEXT / MAX_PARTS,   /* of each text, however long those before it are */
};

/* What a reader shows a part as. */
enum shown_as {
    AS_NOTHING, AS_TEXT, AS_HTML, AS_MULTIPART, AS_MESSAGE, AS_REPORT, AS_PDF, AS_SMIME, AS_TNEF
};

/* What is said of a part. */
struct part {
    span content_type, charset, encoding, disposition, filename;
    size_t size; /* bytes it takes in the message, still encoded */
};

/* A part and where its encoded body stands; of a message inside the message all of it. */
struct entity {
    struct part part;
    enum shown_as as;
    span boundary, body;
};

typedef LIST(struct entity) entity_list;

/* The leaves of a message whose section was read, in the order in which a reader shows them: of alternatives plain text
 * comes last. */
entity_list read_leaves(struct reader *reader, const struct section *section, span message);
