/* Style: enough of CSS to decide whether text can be seen.
 *
 * Only the last simple selector of a rule is matched: a tag, a class or id, or both. In doubt text is visible:
 * - A rule whose selector or condition is not understood is doubtful: it can show text, but hide none.
 * - A color or length that is not understood hides nothing.
 * - In an element with a property that is not understood, sizes, boxes and colors hide nothing.
 * - On a page in doubt, whose sheets or elements are not all understood, nothing is hidden.
 */
#pragma once

#include "hash.h"
#include "tags.h"

typedef int32_t rgb;

enum {
    UNKNOWN = -1, /* a color that is not understood, or comes from a variable or a picture */
    CLEAR = -2,   /* transparent */
};

enum {
    IS_GONE = 1 << 0,     /* display: none */
    IS_UNSEEN = 1 << 1,   /* visibility: hidden */
    IS_FAINT = 1 << 2,    /* opacity: 0 */
    IS_TINY = 1 << 3,     /* letters too small to be read */
    IS_CUT_OFF = 1 << 4,  /* within a box that is too low to show it */
    IS_DOUBTFUL = 1 << 5, /* has a property that is not understood */
    /* Of a box, not inherited: it clips its text; its height is almost 0; it has padding or another height. */
    CUTS_OFF = 1 << 6, IS_LOW = 1 << 7, HAS_ROOM = 1 << 8,
};

/* The style that the text in an element inherits. */
struct style {
    rgb color, background;
    uint32_t flags;
    bool is_hidden;
};

/* The style of a page, and the style of text that may be shown anywhere. */
extern const struct style FIRST_STYLE, UNKNOWN_STYLE;

/* Makes the table of properties; once, before the first message. */
void style_begin(void);

struct rule;

struct declaration {
    uint8_t property;
    bool is_important;
    rgb color;
    uint32_t on, off; /* flags that it sets and clears */
};

typedef LIST(struct declaration) declaration_list;

/* The rules of a document. */
struct sheet {
    struct arena *arena;
    const struct style *page; /* of body */
    bool is_in_doubt; /* nothing is hidden, because rules or the nesting of elements are not understood */
    struct rule *buckets[256]; /* by the hash of their selectors */
    size_t n_rules, n_bytes, steps_left;
};

void sheet_begin(struct sheet *sheet, struct arena *arena);
/* Adds the rules of a style element. */
void sheet_add(struct sheet *sheet, span text, span media);

/* Returns the style that the text in an element inherits; name: its tag as written. */
const struct style *style_in(struct sheet *sheet, const struct style *above, unsigned tag, span name,
                             const struct attributes *attributes);
