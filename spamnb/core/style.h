/* Style: enough of CSS to decide whether text can be seen.
 *
 * Only the last simple selector of a rule is matched: a tag, a class or an id, or a tag with a class or an id. When in
 * doubt, text is visible:
 * - A rule whose selector or condition is not understood is doubtful: such a rule can show text, but never hide text.
 * - A color or length that is not understood hides nothing.
 * - In an element with a property that is not understood, sizes, boxes and colors hide nothing.
 * - If not all sheets or elements of a page are understood, the page is in doubt: none of its text is hidden.
 */
#pragma once

#include "hash.h"
#include "tags.h"

typedef int32_t rgb; /* a color 0xRRGGBB, UNKNOWN or CLEAR */

enum {
    UNKNOWN = -1, /* a color that is not understood, or that a variable or a picture sets */
    CLEAR = -2,   /* transparent */
};

/* The flags of a style. */
enum {
    IS_GONE = 1 << 0,     /* display: none */
    IS_UNSEEN = 1 << 1,   /* visibility: hidden */
    IS_FAINT = 1 << 2,    /* opacity: 0 */
    IS_TINY = 1 << 3,     /* the letters are too small to be read */
    IS_CUT_OFF = 1 << 4,  /* the text is in a box that clips text and is too low to show a line */
    IS_DOUBTFUL = 1 << 5, /* a property of the element is not understood */
    /* Flags of a box, which elements inside the box do not inherit. CUTS_OFF: the box clips its text. IS_LOW: the
     * height is almost 0. HAS_ROOM: padding or minimum height may leave room for text, or the element may be no box. */
    CUTS_OFF = 1 << 6, IS_LOW = 1 << 7, HAS_ROOM = 1 << 8,
};

/* The style that the text in an element inherits. */
struct style {
    rgb color, background;
    uint32_t flags;
    bool is_hidden; /* the style hides text */
};

/* The style that a page begins with, and the style of text whose colors are unknown. */
extern const struct style FIRST_STYLE, UNKNOWN_STYLE;

/* Makes the table of properties. Called once, before the first message. */
void style_begin(void);

struct rule;

/* A declaration, "property: value", and its effect on a style. */
struct declaration {
    uint8_t property;
    bool is_important;
    rgb color;
    uint32_t on, off; /* flags that the declaration sets and clears */
};

typedef LIST(struct declaration) declaration_list;

/* The rules of all sheets of a document. */
struct sheet {
    struct arena *arena;
    const struct style *page; /* the style of the body element */
    bool is_in_doubt; /* no text is hidden, because rules or the nesting of elements are not understood */
    struct rule *buckets[256]; /* by hash */
    size_t n_rules, n_bytes, steps_left; /* n_bytes: of sheets; steps_left: until MAX_STEPS */
};

void sheet_begin(struct sheet *sheet, struct arena *arena);
/* Adds the rules of a style element. */
void sheet_add(struct sheet *sheet, span text, span media);

/* Returns the style that the text in an element inherits. parent: the style of the parent element; name: the tag as the
 * page spells it. */
const struct style *element_style(struct sheet *sheet, const struct style *parent, unsigned tag, span name,
                             const struct attributes *attributes);
