/* The tags and attributes of HTML by name. The table of tags says which tags end a word, which tags close other
 * elements, and in which elements text is never shown. The kinds of tags follow the HTML standard's rules for tree
 * construction (https://html.spec.whatwg.org/#parsing). */
#pragma once

#include "bytes.h"

/* A hash table of names and their numbers. Names are stored in lower case; a name in capitals is the same name. */
struct name_table {
    uint32_t sizes[32]; /* for each first letter: bit n is set if a name of n bytes begins with this letter */
    struct {
        span name;
        uint8_t number;
    } slots[512]; /* a name is in the slot of its hash, or in the next free slot after it */
};

/* Adds names that are separated by blanks. The first name gets this number; each further name gets the number of the
 * name before it plus step. */
void add_names(struct name_table *table, const char *names, uint8_t number, uint8_t step);
/* Returns the number of a name; -1 if the table does not have the name. */
int number_of(const struct name_table *table, span name);

/* The kinds of tags, by how start tags and end tags open and close elements. */
enum tag_kind { ORDINARY, BLOCK, HEADING, ITEM, FORMATTING, VOID, TABLE, TABLE_SECTION, ROW, CELL, WHOLE_PAGE, IGNORED };

/* How the text in an element is read. NORMAL: tags are read. RAW: no tags are read until the end tag, and the
 * text is not shown. SHOWN: as RAW, but the text is shown. REFERENCES: as SHOWN, but character references are resolved.
 * REST: no tags are read until the end of the page. */
enum tag_text { NORMAL, RAW, SHOWN, REFERENCES, REST };

enum {
    ENDS_WORD = 1 << 0,  /* a word ends at the tag */
    IS_INLINE = 1 << 1,  /* without this flag, end tags of inline elements in the element close no element around it */
    IS_BARRIER = 1 << 2, /* no end tag in the element closes an element around it */
    IS_CONTROL = 1 << 3, /* browsers set the element's colors, as in a button */
    IS_DOUBTFUL = 1 << 4, /* only some browsers show the text in the element, or only after a click */
    MAY_END_WORD = 1 << 5, /* a word ends at the tag, unless its element takes up no space */
    HAS_STYLE = 1 << 6, /* browsers give the element a style that matters here */
    NEEDS_NO_END = 1 << 7, /* the end of a form ends the element */
};

struct tag {
    span name;
    uint8_t kind, text, flags;
};

/* The numbers of the tags that the code names. TAG_UNKNOWN stands for all names that HTML does not have. */
enum {
    TAG_UNKNOWN, TAG_A, TAG_BODY, TAG_HTML, TAG_P, TAG_LI, TAG_DD, TAG_DT, TAG_TABLE, TAG_STYLE, TAG_TITLE,
    TAG_SCRIPT, TAG_META, TAG_AREA, TAG_BASE, TAG_MARK, TAG_DIV, TAG_ADDRESS, TAG_SVG, TAG_MATH, TAG_IMG, TAG_INPUT,
    TAG_SMALL, TAG_SUB, TAG_SUP, TAG_FONT, TAG_LINK, TAG_COL, TAG_COLGROUP, TAG_FORM,
    TAG_FRAMESET, TAG_BDO
};

enum { N_TAGS = 160 }; /* room for tags; TAG_COUNT are in use */

extern struct tag TAGS[N_TAGS];
extern size_t TAG_COUNT;

/* Makes the tables of tags and attributes. Called once, before the first message. */
void tags_begin(void);
/* Returns the number of the tag with this name, in capitals or not; TAG_UNKNOWN if HTML does not have the name. */
unsigned tag_of(span name);

/* The attributes that are read. Style depends on the attributes before N_STYLE_ATTRIBUTES. */
enum attribute {
    A_CLASS, A_ID, A_STYLE, A_COLOR, A_BGCOLOR, A_TEXT, A_LINK, A_HIDDEN, A_POPOVER, A_BACKGROUND, A_HREF,
    A_SRC, N_STYLE_ATTRIBUTES, A_ACTION = N_STYLE_ATTRIBUTES, A_FORMACTION, A_PING, A_POSTER, A_LOWSRC, A_DYNSRC, A_XLINK,
    A_CONTENT, A_NAME, A_HTTP_EQUIV, A_TYPE, A_MEDIA, A_SRCDOC, A_ALT, A_PLACEHOLDER, A_LABEL, A_VALUE, N_ATTRIBUTES,
    URL_ATTRIBUTES = 1 << A_HREF | 1 << A_SRC | 1 << A_ACTION | 1 << A_FORMACTION | 1 << A_PING | 1 << A_BACKGROUND |
                     1 << A_POSTER | 1 << A_LOWSRC | 1 << A_DYNSRC | 1 << A_XLINK,
};

enum { STYLE_OR_CLASS = 1 << A_STYLE | 1 << A_CLASS };

struct attributes {
    uint32_t present; /* bit n is set if values[n] is */
    const struct own_effects *effects; /* of the style attribute; NULL: it was not read yet */
    span values[N_ATTRIBUTES];
};

static inline bool has(const struct attributes *attributes, enum attribute attribute) {
    return attributes->present >> attribute & 1;
}

/* Returns the value of an attribute; a span of NULL if the tag does not have the attribute. */
static inline span value_of_attribute(const struct attributes *attributes, enum attribute attribute) {
    return has(attributes, attribute) ? attributes->values[attribute] : (span){0};
}

/* Returns the number of the attribute with this name, in capitals or not; -1 if this attribute is not read. */
int attribute_of(span name);
