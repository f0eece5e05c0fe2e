/* Bytes written as letters: base64 and quoted-printable. */
#ifndef SPAMNB_TRANSFER_H
#define SPAMNB_TRANSFER_H

#include "arena.h"

/* What the letters of base64 stand for; other characters are skipped. */
void put_base64(struct writer *writer, span text);
/* Decoded quoted-printable. In headers "_" is a space. */
void put_quoted_printable(struct writer *writer, span text, bool in_header);
/* The body of a part without its Content-Transfer-Encoding, by its name; an unknown one is none. What is plain text in
 * spite of its header stays as it is. */
span transfer_decode(struct arena *arena, span text, span encoding);

#endif
