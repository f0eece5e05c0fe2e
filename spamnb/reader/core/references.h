/* Character references of HTML: &amp; &#38; &#x26; -> the characters that they stand for. */
#pragma once

#include "arena.h"

/* A named reference, as html.entities has it: the name with its semicolon, if it needs one, and what it stands for. */
struct reference {
    span name, text;
};

struct reference_table {
    struct reference *slots; /* a name may be in the slot of its hash, or in those behind it */
    size_t mask;
};

bool references_begin(struct reference_table *table, size_t count);
void references_add(struct reference_table *table, struct reference reference);

/* Memory of a fixed size that is filled; what does not fit is left out. */
struct buffer {
    uint8_t *begin, *at, *end;
};

void buffer_put(struct buffer *buffer, span text);

/* Adds text with its references resolved as browsers do, which takes at most twice the room. In attributes a name
 * without a semicolon is none where a letter, a digit or "=" follows, as in most URLs. */
void put_resolved(struct buffer *buffer, const struct reference_table *table, span text, bool in_attribute);
