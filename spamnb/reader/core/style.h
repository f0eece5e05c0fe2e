/* Style: enough of declarations and style sheets to tell whether text can be seen.
 *
 * Read are selectors of one compound of a tag, classes and an id. When in doubt text is visible: a rule whose selector
 * or condition is not understood may apply wherever its last compound does, and what it declares can show text there,
 * but hide none. A color or length that is not understood hides nothing.
 */
#ifndef SPAMNB_STYLE_H
#define SPAMNB_STYLE_H

#include "arena.h"
#include "tags.h"

struct color {
    int16_t red, green, blue; /* −1 where it depends on what is not read: a variable, a picture */
    float alpha;
};

/* What the text in an element inherits. */
struct style {
    struct color color, background;
    float size, opacity;  /* pixels; a share */
    bool is_gone;         /* display: none */
    bool is_unseen;       /* visibility: hidden */
    bool is_away;         /* cut off, or beyond the edges of the page */
    bool has_effects;     /* a shadow or the like, which may make any color readable */
    bool is_under_inline; /* the background is that of an inline element, and not painted behind blocks */
};

extern const struct style FIRST_STYLE;

/* Why text is not seen. */
enum why_hidden { SEEN, HIDDEN_DISPLAY, HIDDEN_TINY, HIDDEN_COLOR, HIDDEN_OFF_SCREEN, HIDDEN_OTHERWISE };

/* Makes the table of properties; once, before anything is read. */
void style_begin(void);

struct rule;

/* The rules of a document. */
struct sheet {
    struct arena *arena;
    bool is_cut; /* not all rules are known: then nothing counts as hidden */
    struct rule *buckets[256]; /* by the hash of an id, class or tag that an element must have */
    struct rule *of_any;
    size_t n_rules, n_bytes, steps_left;
};

void sheet_begin(struct sheet *sheet, struct arena *arena);
/* Adds the rules of a style element. */
void sheet_add(struct sheet *sheet, span text, span media);

/* The style that is inherited from an element; name: its tag as written. */
struct style style_in(struct sheet *sheet, const struct style *above, unsigned tag, span name,
                      const struct attributes *attributes);

enum why_hidden why_hidden(const struct style *style);

#endif
