/* Header sections: fields, parameters (RFC 2045 and 2231), encoded words (RFC 2047); as tolerant as mail needs. */
#pragma once

#include "arena.h"

struct reader;

struct field {
    span name, value; /* as they stand in the message: the value may be folded, and encoded in words */
};

struct section {
    LIST(struct field) fields;
    span text; /* of the section */
    const uint8_t *body;
};

/* CRLF and CR made LF: the text itself where there is no CR. */
span with_line_feeds(struct arena *arena, span text);

/* A text without one byte. */
span without_byte(struct arena *arena, span text, uint8_t byte);

/* Where the header section begins: behind a byte order mark and the "From " line of an mbox. */
const uint8_t *skip_envelope(span message);

/* The section at the beginning of a message, or of a part. A line that is no field ends it, unless a field that is
 * well known follows. Sets CUT_HEADERS where a bound is reached. */
struct section read_section(struct reader *reader, span message);

/* The lines of a section without the fields that mailboxes add, and without line feeds around them; without_trace:
 * without those that delivery adds, too. */
span lasting_lines(struct reader *reader, const struct section *section, bool without_trace);

/* A value on one line, in UTF-8; with_words: its encoded words are decoded, too. */
span field_value(struct reader *reader, span value, bool with_words);

/* The value of the first field of a name in lower case; NULL spans where there is none. */
span value_of(struct reader *reader, const struct section *section, span name, bool with_words);

struct parameters {
    span main; /* before the first semicolon or space, in lower case */
    span charset, boundary, name, filename;
};

/* The parameters of a value that field_value gave. */
struct parameters read_parameters(struct reader *reader, span value);
