/* Style: enough of declarations and style sheets to tell whether text can be seen.
 *
 * Read are selectors of one compound of a tag, classes and an id. When in doubt text is visible: of a rule whose
 * selector or condition is not understood, what it declares is taken for something that may apply to all elements that
 * its last compound matches, and there nothing that it could undo hides text.
 */
#ifndef SPAMNB_STYLE_H
#define SPAMNB_STYLE_H

#include "arena.h"
#include "colors.h"

enum property {
    P_DISPLAY, P_VISIBILITY, P_COLOR, P_FILL, P_BACKGROUND, P_PICTURE, P_SIZE, P_OPACITY, P_SHADOW, P_POSITION,
    P_OVERFLOW, P_HEIGHT, P_MAX_HEIGHT, P_WIDTH, P_MAX_WIDTH, P_PADDING, P_LEFT, P_TOP, P_MARGIN_LEFT, P_MARGIN_TOP,
    P_MOVED, /* by a transform, or by properties that are not read */
    N_PROPERTIES
};

/* Values of P_DISPLAY, and of P_VISIBILITY and the others that are either so or not. */
enum { DISPLAY_NONE, DISPLAY_INLINE, DISPLAY_BLOCK, DISPLAY_TABLE, DISPLAY_OTHER };

struct declaration {
    uint8_t property;
    bool is_important, is_share; /* the number is a share of the inherited one */
    union {
        struct color color;
        float number;
    };
};

/* What declarations come to: of each property the strongest. */
struct cascade {
    struct declaration values[N_PROPERTIES];
    uint64_t strengths[N_PROPERTIES]; /* 0 where nothing is declared */
    uint64_t doubts[N_PROPERTIES];    /* of the strongest declaration that may apply and would show text */
    bool may_come_back; /* from beyond the edges of the page, by one that may apply */
};

/* What the text in an element inherits. */
struct style {
    bool is_gone, is_unseen, is_away, has_shadow, has_fill;
    int folded; /* closed details around */
    float size, opacity;
    struct color color, fill, background, under, link, page;
};

/* Why text is not seen. */
enum { HIDDEN_DISPLAY = 1, HIDDEN_TINY = 2, HIDDEN_COLOR = 4, HIDDEN_OFF_SCREEN = 8, HIDDEN_OTHERWISE = 16 };

enum { MAX_CLASSES = 32 };

/* What selectors ask of an element. */
struct element_names {
    unsigned tag;
    span name, id;
    span classes[MAX_CLASSES];
    size_t n_classes;
    bool has_more_classes;
};

struct rule;

/* The rules of a document. */
struct sheet {
    struct arena *arena;
    bool is_old_page, is_cut;
    struct rule *buckets[256]; /* by the hash of an id, class or tag that an element must have */
    struct rule *of_any;
    size_t n_rules, n_bytes, steps_left;
};

void sheet_begin(struct sheet *sheet, struct arena *arena, bool is_old_page);
/* Adds the rules of a style element. Where is_cut is set, not all rules are known: then nothing counts as hidden. */
void sheet_add(struct sheet *sheet, span text, span media);

/* The declarations of a style attribute. */
void cascade_add_inline(struct cascade *cascade, struct arena *arena, span text, bool is_old_page);
/* Those of the rules that match an element. */
void cascade_add_rules(struct cascade *cascade, struct sheet *sheet, const struct element_names *element);

/* The attributes that are style. */
struct presentation {
    bool is_hidden, is_open, has_href, has_background;
    span color, background_color, link;
};

extern const struct style FIRST_STYLE;

/* The style that is inherited from an element, tag and all. in_closed: of a summary in closed details; in_old_table:
 * letters have the size and color of the page's. */
struct style inherited_style(const struct style *above, unsigned tag, const struct presentation *presentation,
                             const struct cascade *cascade, bool in_closed, bool in_old_table);

/* Why text of this style is not seen; 0 where it is. */
unsigned why_hidden(const struct style *style);

#endif
