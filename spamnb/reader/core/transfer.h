/* Bytes written as letters -> bytes, and bytes in the charset that a message claims -> UTF-8. */
#pragma once

#include "arena.h"

struct reader;

/* What the letters of base64 stand for; other characters are skipped. */
void put_base64(struct writer *writer, span text);
/* Decoded quoted-printable. In headers "_" is a space. */
void put_quoted_printable(struct writer *writer, span text, bool in_header);
/* A text with the bytes that "%20" and the like stand for. */
span percent_decoded(struct arena *arena, span text);
/* The body of a part without its Content-Transfer-Encoding, by its name; an unknown one is none. What is plain text in
 * spite of its header stays as it is. */
span decode_transfer(struct reader *reader, span body, span encoding);

/* Text of bytes by a claimed charset, perhaps empty. A claim is only a claim: what comes out is always valid. */
span decode_text(struct reader *reader, span octets, span charset);
