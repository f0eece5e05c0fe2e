/* HTML -> what its reader sees, what he does not see, and the facts of its structure that betray a sender.
 *
 * One pass by the HTML standard's tokenization rules, and a flat stack of open elements; no tree. A page whose style
 * sheets or body attributes stand behind text is read again, with all of them known.
 */
#pragma once

#include "arena.h"

struct reader;

/* Facts beside the tags that occur; why text is hidden, in the order of style.h. */
enum {
    FACT_COMMENT_SPLIT = 1 << 0,
    FACT_HIDDEN = 1 << 1,
    FACT_LINK_MISMATCH = 1 << 2,
    FACT_TAG_SPLIT = 1 << 3,
    FACT_DISPLAY_NONE = 1 << 4,
    FACT_TINY = 1 << 5,
    FACT_SAME_COLOR = 1 << 6,
    FACT_OFF_SCREEN = 1 << 7,
    N_FACTS = 8
};

struct html_text {
    span shown, hidden;
};

/* The texts of a document in UTF-8; URLs and facts go to the reader's message. */
struct html_text read_html(struct reader *reader, span html);

/* The charset that a document's meta element declares, as far as it matters; perhaps empty. */
span declared_charset(span octets);
