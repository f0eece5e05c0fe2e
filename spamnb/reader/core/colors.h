/* Colors as HTML and style sheets write them, and whether text of one can be read on another. */
#ifndef SPAMNB_COLORS_H
#define SPAMNB_COLORS_H

#include "bytes.h"

struct color {
    int16_t red, green, blue; /* −1 where the color depends on what is not read: a variable, a picture */
    float alpha;
};

#define WHITE ((struct color){255, 255, 255, 1})
#define BLACK ((struct color){0, 0, 0, 1})
#define BLUE ((struct color){0, 0, 238, 1})
#define CLEAR ((struct color){0, 0, 0, 0})
#define UNKNOWN ((struct color){-1, -1, -1, 1})

static inline bool is_same_color(struct color a, struct color b) {
    return a.red == b.red && a.green == b.green && a.blue == b.blue && a.alpha == b.alpha;
}

/* A number as style sheets write it, all of it: 2e1 is twenty; moves text behind it. */
bool read_number(span *text, double *number);

/* The color of a style sheet in lower case; false where it is none. In old pages a number sign may be missing. */
bool read_color(span text, bool is_old_page, struct color *color);

/* The color of an attribute such as bgcolor, where any word is one
 * (https://html.spec.whatwg.org/#rules-for-parsing-a-legacy-colour-value). */
bool read_attribute_color(span text, struct color *color);

/* What is seen of a color that lies over another one, which is opaque. */
struct color over(struct color color, struct color below);

/* Whether text of this color on this background is hard to see. */
bool is_unreadable(struct color color, struct color background, float opacity);

#endif
