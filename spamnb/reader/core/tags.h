/* What HTML elements are to a reader: which end a word, nest, close others, or hold text that is never shown.
 *
 * The groups are those of the HTML standard's tree construction (https://html.spec.whatwg.org/#parsing).
 */
#ifndef SPAMNB_TAGS_H
#define SPAMNB_TAGS_H

#include "bytes.h"

/* How a start tag is treated; an end tag is treated by the same kind. */
enum tag_kind {
    ORDINARY, BLOCK, HEADING, ITEM, FORMATTING, VOID, TABLE, ROWS, ROW, CELL, FORM, BODY, SCOPE, IGNORED, OPTION
};

/* Where the text in an element goes. */
enum tag_text { NORMAL, RAW, REFERENCES, NOWHERE, REST };

enum {
    ENDS_WORD = 1 << 0,
    IS_SPECIAL = 1 << 1,       /* ends the search of an end tag for its start tag */
    IS_BARRIER = 1 << 2,       /* ends the search for a paragraph or formatting */
    KEEPS_FORMATTING = 1 << 3, /* within itself */
    IS_INLINE = 1 << 4,
    IS_STYLED = 1 << 5, /* has a style of its own */
    HOLDS_ROWS = 1 << 6,
    IS_FACT = 1 << 7, /* that it occurs is a token; of others, "tag:unknown" is */
};

struct tag {
    struct name name;
    uint8_t kind, text;
    uint16_t flags;
};

/* Tags that the parser asks for by name; TAG_UNKNOWN is that of all names that HTML does not have. */
enum {
    TAG_UNKNOWN, TAG_A, TAG_BODY, TAG_BUTTON, TAG_DD, TAG_DETAILS, TAG_DIALOG, TAG_DT, TAG_HTML, TAG_LI, TAG_MARK,
    TAG_NOBR, TAG_OPTGROUP, TAG_P, TAG_SCRIPT, TAG_SELECT, TAG_STYLE, TAG_SUMMARY, TAG_TABLE, TAG_TEXTAREA, TAG_TITLE,
    TAG_XMP, TAG_META, TAG_IFRAME, TAG_FRAME, TAG_EMBED, TAG_AREA, TAG_BASE, TAG_OBJECT, TAG_FRAMESET, TAG_ADDRESS,
    TAG_DIV, TAG_OL, TAG_UL
};

enum { MAX_TAG_NAME = 16, N_TAGS = 160 };

extern const struct tag TAGS[];
extern const size_t TAG_COUNT;

/* Makes the table by which names are found; once, before anything is read. */
void tags_begin(void);
/* The number of a tag by its name in any case. */
unsigned tag_of(span name);

#endif
