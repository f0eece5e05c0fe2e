/* Style: enough of declarations and style sheets to tell whether text can be seen.
 *
 * Read are selectors of one compound of a tag, classes and an id. When in doubt text is visible: a rule whose selector
 * or condition is not understood may apply wherever its last compound does, and what it declares can show text there,
 * but hide none. A color or length that is not understood hides nothing.
 */
#pragma once

#include "bytes.h"
#include "tags.h"

struct color {
    int16_t red, green, blue; /* −1 where it depends on what is not read: a variable, a picture */
    float alpha;
};

/* Why text is not seen. */
enum why_hidden { SEEN, HIDDEN_DISPLAY, HIDDEN_TINY, HIDDEN_COLOR, HIDDEN_OTHERWISE };

enum {
    IS_GONE = 1 << 0,         /* display: none */
    IS_UNSEEN = 1 << 1,       /* visibility: hidden */
    IS_CUT_OFF = 1 << 4,      /* within a box that is too low to show it */
    HAS_EFFECTS = 1 << 2,     /* a shadow or the like, which may make any color readable */
    IS_UNDER_INLINE = 1 << 3, /* the background is that of an inline element, and not painted behind blocks */
};

/* What the text in an element inherits. */
struct style {
    struct color color, background;
    float size, opacity; /* pixels; a share */
    uint32_t flags;
    enum why_hidden why;
};

extern const struct style FIRST_STYLE;

/* Makes the table of properties; once, before anything is read. */
void style_begin(void);

struct rule;

struct declaration {
    uint8_t property;
    bool is_important, is_share; /* is_share: the number is one of what is inherited */
    struct color color;
    float number;     /* a size in pixels, an opacity */
    uint32_t on, off; /* flags that it switches */
};

typedef LIST(struct declaration) declaration_list;

/* A style attribute that was read: pages repeat theirs. */
struct known_text {
    span text;
    declaration_list declarations;
};

/* The rules of a document. */
struct sheet {
    struct arena *arena;
    const struct style *page; /* that of body */
    bool is_cut; /* not all rules are known: then nothing counts as hidden */
    struct rule *buckets[256]; /* by the hash of an id, class or tag that an element must have */
    struct rule *of_any;
    size_t n_rules, n_bytes, steps_left;
    struct known_text known_texts[64];
};

void sheet_begin(struct sheet *sheet, struct arena *arena);
/* Adds the rules of a style element. */
void sheet_add(struct sheet *sheet, span text, span media);

/* A style that something unknown may change, which can show text. */
const struct style *style_in_doubt(struct sheet *sheet, const struct style *style);
/* The style that is inherited from an element; name: its tag as written. */
const struct style *style_in(struct sheet *sheet, const struct style *above, unsigned tag, span name,
                             const struct attributes *attributes);
