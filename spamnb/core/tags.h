/* The tags and attributes of HTML by name: which tags end a word, close others, or have text that is never shown. The
 * kinds are those of the HTML standard's tree construction (https://html.spec.whatwg.org/#parsing). */
#pragma once

#include "bytes.h"

/* A hash table of names in lower case, which are looked up in any case, and a number for each. */
struct name_table {
    uint32_t sizes[32]; /* by first letter, a bit for each size of a name */
    struct {
        span name;
        uint8_t number;
    } slots[512]; /* a name is in the slot of its hash, or in one behind it */
};

/* Adds names with blanks between them; the first gets this number, and each other one a number larger by step. */
void add_names(struct name_table *table, const char *names, uint8_t number, uint8_t step);
/* Returns the number of a name; -1 if it has none. */
int number_of(const struct name_table *table, span name);

/* How a start tag and its end tag open and close elements. */
enum tag_kind { ORDINARY, BLOCK, HEADING, ITEM, FORMATTING, VOID, TABLE, ROWS, ROW, CELL, WHOLE_PAGE, IGNORED };

/* How the text in an element is read: with tags; without tags, or with character references only, until the end tag; not
 * at all; without tags until the end of the page. */
enum tag_text { NORMAL, RAW, REFERENCES, NOWHERE, REST };

enum {
    ENDS_WORD = 1 << 0,
    MAY_END_WORD = 1 << 5, /* unless it takes no room */
    IS_INLINE = 1 << 1,  /* end tags inside may close elements around it */
    IS_BARRIER = 1 << 2, /* end tags inside close no elements around it */
    IS_CONTROL = 1 << 3, /* has colors of its own */
    IS_UNSHOWN = 1 << 4, /* its text is for programs, or for browsers that do not know the element */
};

struct tag {
    span name;
    uint8_t kind, text, flags;
};

/* Tags that the parser names; TAG_UNKNOWN is the tag of all names that HTML does not have. */
enum {
    TAG_UNKNOWN, TAG_A, TAG_BODY, TAG_HTML, TAG_P, TAG_LI, TAG_DD, TAG_DT, TAG_TABLE, TAG_STYLE, TAG_TITLE,
    TAG_SCRIPT, TAG_XMP, TAG_META, TAG_AREA, TAG_BASE, TAG_MARK, TAG_DIV, TAG_ADDRESS, TAG_SVG, TAG_MATH, TAG_IMG, TAG_INPUT
};

enum { N_TAGS = 160 };

extern struct tag TAGS[N_TAGS];
extern size_t TAG_COUNT;

/* Makes the tables of tags and attributes; once, before the first message. */
void tags_begin(void);
/* Returns the number of a tag by its name in any case. */
unsigned tag_of(span name);

/* The attributes that are read: of style first, then those with a URL, and others. */
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

/* Returns the value of an attribute; NULL spans if it is missing. */
static inline span value_of_attribute(const struct attributes *attributes, enum attribute which) {
    return has(attributes, which) ? attributes->values[which] : (span){0};
}

/* Returns the number of an attribute by its name in any case; -1 if it is not read. */
int attribute_of(span name);
