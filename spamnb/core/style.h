/* Style: enough of CSS to decide whether text is shown plainly.
 *
 * Text that may be hidden is doubtful. Only a property of the element itself can end doubt, in its style attribute:
 * - Letters and background have known colors, which differ.
 * - The size of letters and the height of lines are known.
 * - Everything else that may hide text also makes all text inside the element doubtful: a value that is not understood of
 *   a property that can hide text, an attribute, or the tag. Browsers read over a property that they do not know.
 * A box that is moved may cover other text or move it, so all text of its page is doubtful. A box that reaches over text
 * before it by some pixels makes this text doubtful.
 * A rule of a sheet can make text doubtful, and never plain, even if the element has its own style. So it does not matter
 * which rule is stronger, and a selector that is not understood counts as a match.
 * The same holds for a declaration of the element itself that browsers may not read, such as a background of several words.
 */
#pragma once

#include "hash.h"
#include "tags.h"

typedef int32_t rgb; /* a color 0xRRGGBB, or one of the next four */

enum {
    UNKNOWN = -1, /* a color that is not understood, or a gradient */
    CLEAR = -2,   /* transparent */
    INHERIT = -3, /* the color of the parent element */
    UNSET = -4,   /* the block does not set this color */
};

/* MAX_PAIRS: the sheets of ordinary mail give an element up to 4 pairs of colors. MAX_KEYS: one for each bit. MAX_NAMES:
 * of a page; ordinary mail: 2,764. */
enum { MAX_PAIRS = 6, MAX_KEYS = 64, MAX_NAMES = 4096 };
enum { MAX_COVERED = 4 }; /* pixels of a line; the rest is legible */

/* The flags of a style and of a block of declarations. OVERFLOWS: text may be outside of its box, where a box around it
 * clips, or a later one covers it. FIXED: cells do not grow with their text, as in tables of fixed columns, and in parts
 * of tables that are boxes. REVERSES: the last letter is shown first. The flags OF_ELEMENT are not inherited. IS_BOX: the
 * element is no part of a table, and not within lines. IS_IN_LINES: it may be within lines of text. HAS_GROUND: it has a
 * background or a border of its own. REACHES: it reaches over other text. IS_ABOVE: it is painted above later text. HAS_UNIT:
 * its height of lines has one. */
enum { MAY_HIDE = 1, OVERFLOWS = 2, MOVES = 4, FIXED = 8, REVERSES = 16, IS_BOX = 32, IS_IN_LINES = 64, HAS_GROUND = 128,
       REACHES = 256, IS_ABOVE = 512, HAS_UNIT = 1024,
       OF_ELEMENT = IS_BOX | IS_IN_LINES | HAS_GROUND | REACHES | IS_ABOVE | HAS_UNIT };

struct colors {
    rgb letters, background;
};

/* The style that the text in an element inherits. */
struct style {
    struct colors pairs[MAX_PAIRS]; /* the colors that the text may have, by the rules that may apply */
    size_t n_pairs;
    float size, largest; /* the least and the largest size of the letters, in pixels */
    float lines; /* height of a line in pixels; less than 0: a multiple of the letters' size */
    /* Pixels by which the element itself reaches over text before it. shift: by margins, offsets and shadows, with all that
     * follows; above: by padding and border; above_of_box: as above, if it is no box within lines; above_of_part: of the boxes
     * that a sheet adds to it. */
    float shift, above, above_of_box, above_of_part;
    uint64_t keys; /* bits of the sheet's keys: classes and ids of the element and its ancestors */
    uint32_t flags;
    bool is_doubtful;
};

/* The style that a page begins with, and the style of text that is doubtful whatever its element is. */
extern const struct style FIRST_STYLE, DOUBTFUL_STYLE;

/* Makes the tables of properties and colors. Called once, before the first message. */
void style_begin(void);

struct rule;

/* The rules of all sheets of a document. */
struct sheet {
    struct arena *arena;
    const struct style *page; /* the style of the body element */
    rgb link; /* the color of links */
    uint32_t flags; /* REACHES and IS_ABOVE, if elements have them */
    bool is_lost; /* any text of the page may be hidden: by its sheets, by a box that moves, or beyond a bound */
    uint64_t keys[MAX_KEYS]; /* hashes of the classes and ids that rules need of ancestors; each has a bit */
    size_t n_keys;
    struct rule *buckets[256]; /* by hash */
    span_list sources; /* the texts of style elements */
    struct name *name_buckets[256], *names; /* classes, ids and unknown attributes of the page: by hash, and all */
    size_t n_names, n_name_bytes;
    span_list texts; /* values that show strings or attributes, in lower case */
    size_t n_rules, n_bytes, steps_left; /* n_bytes: of sheets; steps_left: until MAX_STEPS */
};

void sheet_begin(struct sheet *sheet, struct arena *arena);
/* Adds the text of a style element. */
void sheet_add(struct sheet *sheet, span text, span media);
/* Notes that the page has a class, an id, or an attribute of this name that attribute_of does not know. */
void sheet_note_name(struct sheet *sheet, span name);
/* Reads the rules of all style elements, after all names of the page were noted. */
void sheet_read(struct sheet *sheet);

/* Returns whether letters are black on white in a color scheme. */
bool can_be_light(span scheme);
/* Returns whether a text has the URL of a sheet or a picture inside the message, which mail readers show unasked. */
bool has_inner_url(span text);

/* Returns the least height of a line, in pixels. */
float line_height(const struct style *style);

/* Returns the style that the text in an element inherits. parent: the style of the parent element; name: the tag as the
 * page spells it. */
const struct style *element_style(struct sheet *sheet, const struct style *parent, unsigned tag, span name,
                                  struct attributes *attributes);
