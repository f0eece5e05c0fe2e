/* Style: enough of declarations and style sheets to tell whether text can be seen.
 *
 * Read are selectors of a tag, a class or id, or both. When in doubt text is visible: a rule whose selector or condition is not
 * understood may apply wherever the last thing does that it asks for, and what it declares can show text there, but hide
 * none. A color or length that is not understood hides nothing. In an element with a property that is not understood
 * neither sizes, boxes nor colors do. On a page where more is not understood, nothing does.
 */
#pragma once

#include "hash.h"

/* ---- tags.c: which tags end a word, close others, or hold text that is never shown. The groups are those of the HTML
 * standard's tree construction (https://html.spec.whatwg.org/#parsing). ---- */

/* Names in lower case, which are found in any case, and a number for each. */
struct name_table {
    uint32_t sizes[32]; /* of the names by their first letters, a bit each */
    struct {
        span name;
        uint8_t number;
    } slots[512]; /* a name may be in the slot of its hash, or in those behind it */
};

/* Adds names with blanks between them: the first has this number, each other one the number before it and step. */
void add_names(struct name_table *table, const char *names, uint8_t number, uint8_t step);
/* The number of a name; -1 where it has none. */
int number_of(const struct name_table *table, span name);

/* How a start tag is treated, and its end tag. */
enum tag_kind { ORDINARY, BLOCK, HEADING, ITEM, FORMATTING, VOID, TABLE, ROWS, ROW, CELL, WHOLE_PAGE, IGNORED };

/* Where the text in an element goes. */
enum tag_text { NORMAL, RAW, REFERENCES, NOWHERE, REST };

enum {
    ENDS_WORD = 1 << 0,
    MAY_END_WORD = 1 << 5, /* it may take no room */
    IS_INLINE = 1 << 1,  /* an end tag may reach over it to what is around */
    IS_BARRIER = 1 << 2, /* what is around is not closed from inside */
    IS_CONTROL = 1 << 3, /* has colors of its own */
    IS_UNSHOWN = 1 << 4, /* its text is for programs, or for browsers without it */
};

struct tag {
    span name;
    uint8_t kind, text, flags;
};

/* Tags that the parser asks for by name; TAG_UNKNOWN is that of all names that HTML does not have. */
enum {
    TAG_UNKNOWN, TAG_A, TAG_BODY, TAG_HTML, TAG_P, TAG_LI, TAG_DD, TAG_DT, TAG_TABLE, TAG_STYLE, TAG_TITLE,
    TAG_SCRIPT, TAG_XMP, TAG_META, TAG_AREA, TAG_BASE, TAG_MARK, TAG_DIV, TAG_ADDRESS, TAG_SVG, TAG_MATH, TAG_IMG, TAG_INPUT
};

enum { N_TAGS = 160 };

extern struct tag TAGS[N_TAGS];
extern size_t TAG_COUNT;

/* Makes the tables by which tags and attributes are found; once, before anything is read. */
void tags_begin(void);
/* The number of a tag by its name in any case. */
unsigned tag_of(span name);

/* The attributes that are read: those of style, those with a URL, and others. */
enum attribute {
    A_CLASS, A_ID, A_STYLE, A_COLOR, A_BGCOLOR, A_TEXT, A_HIDDEN, A_BACKGROUND, A_HREF, N_STYLE_ATTRIBUTES,
    A_SRC = N_STYLE_ATTRIBUTES, A_ACTION, A_FORMACTION, A_PING, A_POSTER, A_LOWSRC, A_DYNSRC, A_XLINK,
    A_CONTENT, A_HTTP_EQUIV, A_TYPE, A_MEDIA, A_SRCDOC, A_SHADOWROOTMODE, A_ALT, A_PLACEHOLDER, A_LABEL, A_VALUE, N_ATTRIBUTES,
    URL_ATTRIBUTES = 1 << A_HREF | 1 << A_SRC | 1 << A_ACTION | 1 << A_FORMACTION | 1 << A_PING | 1 << A_BACKGROUND |
                     1 << A_POSTER | 1 << A_LOWSRC | 1 << A_DYNSRC | 1 << A_XLINK,
};

enum { STYLES = 1 << A_STYLE | 1 << A_CLASS };

struct attributes {
    uint32_t present;
    span values[N_ATTRIBUTES];
};

static inline bool has(const struct attributes *attributes, enum attribute which) {
    return attributes->present >> which & 1;
}

/* The value of an attribute; nothing where it is missing. */
static inline span value_of_attribute(const struct attributes *attributes, enum attribute which) {
    return has(attributes, which) ? attributes->values[which] : (span){0};
}

/* The number of an attribute by its name in any case; -1 where it is none that is read. */
int attribute_of(span name);

/* ---- style.c ---- */

typedef int32_t rgb;

enum {
    UNKNOWN = -1, /* a color that is not understood, or depends on what is not read: a variable, a picture */
    CLEAR = -2,
};

enum {
    IS_GONE = 1 << 0,     /* display: none */
    IS_UNSEEN = 1 << 1,   /* visibility: hidden */
    IS_FAINT = 1 << 2,    /* opacity: 0 */
    IS_TINY = 1 << 3,     /* letters too small to be read */
    IS_CUT_OFF = 1 << 4,  /* within a box that is too low to show it */
    IS_DOUBTFUL = 1 << 5, /* a property that is not understood, which may show what sizes, boxes and colors would hide */
    CUTS_OFF = 1 << 6, IS_LOW = 1 << 7, HAS_ROOM = 1 << 8, /* of a box alone: cuts off what does not fit; has room besides */
};

/* What the text in an element inherits. */
struct style {
    rgb color, background;
    uint32_t flags;
    bool is_hidden;
};

/* That of a page, and that of what may stand anywhere. */
extern const struct style FIRST_STYLE, UNKNOWN_STYLE;

/* Makes the table of properties; once, before anything is read. */
void style_begin(void);

struct rule;

struct declaration {
    uint8_t property;
    bool is_important;
    rgb color;
    uint32_t on, off; /* flags that it switches */
};

typedef LIST(struct declaration) declaration_list;

/* The rules of a document. */
struct sheet {
    struct arena *arena;
    const struct style *page; /* that of body */
    bool is_in_doubt; /* nothing counts as hidden: not all rules are known, or which elements are in which */
    struct rule *buckets[256]; /* by the hash of what they ask for */
    size_t n_rules, n_bytes, steps_left;
};

void sheet_begin(struct sheet *sheet, struct arena *arena);
/* Adds the rules of a style element. */
void sheet_add(struct sheet *sheet, span text, span media);

/* The style that is inherited from an element; name: its tag as written. */
const struct style *style_in(struct sheet *sheet, const struct style *above, unsigned tag, span name,
                             const struct attributes *attributes);
