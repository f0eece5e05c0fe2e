/* Bytes written as letters: base64 and quoted-printable. */
#ifndef SPAMNB_TRANSFER_H
#define SPAMNB_TRANSFER_H

#include "arena.h"

/* Decoded base64. Characters outside of its alphabet are skipped, padding may be missing or early. Beside lines of
 * base64 other lines are left out: no reader shows them. What is plain text in spite of its header stays as it is. */
span decode_base64(struct arena *arena, span text);
/* What the letters of base64 stand for, up to the padding; others are skipped. */
void put_base64(struct writer *writer, span text);
/* Decoded quoted-printable; blanks between a soft line break and the line's end are no error. In headers "_" is a
 * space. */
void put_quoted_printable(struct writer *writer, span text, bool in_header);
/* The body of a part without its Content-Transfer-Encoding, by its name; an unknown one is none. */
span transfer_decode(struct arena *arena, span text, span encoding);

#endif
