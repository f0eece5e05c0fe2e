/* What HTML's tags and attributes are to a reader: which end a word, close others, or hold text that is never shown.
 *
 * The groups are those of the HTML standard's tree construction (https://html.spec.whatwg.org/#parsing).
 */
#pragma once

#include "bytes.h"

/* A table of names in lower case by which they are found in any case: items of any type that begin with a struct name. */
struct name_table {
    const void *items;
    size_t size, count; /* of an item, of items */
    uint32_t sizes[32]; /* of the names by their first letters, a bit each */
    uint8_t slots[512]; /* number + 1; a name may be in the slot of its hash, or in those behind it */
};

void name_table_begin(struct name_table *table, const void *items, size_t size, size_t count);
/* The number of a name; count where it has none. */
size_t number_of(const struct name_table *table, span name);

/* How a start tag is treated, and its end tag. */
enum tag_kind { ORDINARY, BLOCK, HEADING, ITEM, FORMATTING, VOID, TABLE, ROWS, ROW, CELL, WHOLE_PAGE, IGNORED };

/* Where the text in an element goes. */
enum tag_text { NORMAL, RAW, REFERENCES, NOWHERE, REST };

enum {
    ENDS_WORD = 1 << 0,
    IS_INLINE = 1 << 1,  /* an end tag may reach over it to what is around */
    IS_BARRIER = 1 << 2, /* what is around is not closed from inside */
    IS_CONTROL = 1 << 3, /* has colors of its own */
    IS_UNSHOWN = 1 << 5, /* its text is for programs, or for browsers without it */
    IS_FACT = 1 << 4,    /* that it occurs is a token; of others, "tag:unknown" is */
};

struct tag {
    struct name name;
    uint8_t kind, text, flags;
};

/* Tags that the parser asks for by name; TAG_UNKNOWN is that of all names that HTML does not have. */
enum {
    TAG_UNKNOWN, TAG_A, TAG_BODY, TAG_HTML, TAG_P, TAG_LI, TAG_DD, TAG_DT, TAG_TABLE, TAG_STYLE, TAG_TITLE,
    TAG_TEXTAREA, TAG_SCRIPT, TAG_XMP, TAG_META, TAG_AREA, TAG_BASE, TAG_IFRAME, TAG_FRAME, TAG_EMBED, TAG_FRAMESET,
    TAG_MARK, TAG_DIV, TAG_ADDRESS
};

enum { N_TAGS = 160 };

extern struct tag TAGS[N_TAGS];
extern size_t TAG_COUNT;

/* Makes the tables by which tags, attributes and properties of style are found; once, before anything is read. */
void tags_begin(void);
/* The number of a tag by its name in any case. */
unsigned tag_of(span name);

/* The attributes that are read: those of style, those with a URL, and others. */
enum attribute {
    A_CLASS, A_ID, A_STYLE, A_COLOR, A_BGCOLOR, A_TEXT, A_HIDDEN, A_BACKGROUND, A_HREF, N_STYLE_ATTRIBUTES,
    A_SRC = N_STYLE_ATTRIBUTES, A_ACTION, A_FORMACTION, A_PING, A_POSTER, A_LOWSRC, A_DYNSRC, A_XLINK,
    A_CONTENT, A_HTTP_EQUIV, A_TYPE, A_MEDIA, N_ATTRIBUTES
};

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

/* The number of an attribute by its name in any case; N_ATTRIBUTES where it is none that is read. */
enum attribute attribute_of(span name);
