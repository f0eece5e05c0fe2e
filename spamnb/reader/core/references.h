/* Character references of HTML: &amp; &#38; &#x26; -> the characters that they stand for. */
#ifndef SPAMNB_REFERENCES_H
#define SPAMNB_REFERENCES_H

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

/* Text with its references resolved as browsers do. In attributes a name without a semicolon is none where a letter, a
 * digit or "=" follows, as in most URLs. */
span resolve_references(struct arena *arena, const struct reference_table *table, span text, bool in_attribute);

#endif
