#include "tags.h"

/* The tags that the header names stand first, in its order. */
const struct tag TAGS[] = {
    {NAME(""), ORDINARY, NORMAL, 0},
    {NAME("a"), FORMATTING, NORMAL, IS_INLINE | IS_STYLED | IS_FACT},
    {NAME("body"), BODY, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("button"), SCOPE, NORMAL, ENDS_WORD | IS_SPECIAL | IS_STYLED | IS_FACT},
    {NAME("dd"), ITEM, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("details"), BLOCK, NORMAL, ENDS_WORD | IS_SPECIAL | IS_STYLED | IS_FACT},
    {NAME("dialog"), BLOCK, NORMAL, ENDS_WORD | IS_SPECIAL | IS_STYLED},
    {NAME("dt"), ITEM, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("html"), BODY, NORMAL, IS_SPECIAL | IS_BARRIER | IS_FACT},
    {NAME("li"), ITEM, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("mark"), ORDINARY, NORMAL, IS_INLINE | IS_STYLED},
    {NAME("nobr"), FORMATTING, NORMAL, IS_INLINE | IS_FACT},
    {NAME("optgroup"), OPTION, NORMAL, IS_FACT},
    {NAME("p"), BLOCK, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("script"), ORDINARY, RAW, IS_FACT},
    {NAME("select"), SCOPE, NORMAL, IS_SPECIAL | IS_STYLED | IS_FACT},
    {NAME("style"), ORDINARY, RAW, IS_FACT},
    {NAME("summary"), BLOCK, NORMAL, ENDS_WORD | IS_SPECIAL | IS_STYLED | IS_FACT},
    {NAME("table"), TABLE, NORMAL, ENDS_WORD | IS_SPECIAL | IS_BARRIER | HOLDS_ROWS | IS_FACT},
    {NAME("textarea"), ORDINARY, REFERENCES, ENDS_WORD | IS_STYLED | IS_FACT},
    {NAME("title"), ORDINARY, REFERENCES, ENDS_WORD | IS_FACT},
    {NAME("xmp"), ORDINARY, RAW, 0},
    {NAME("meta"), VOID, NORMAL, IS_SPECIAL | IS_FACT},
    {NAME("iframe"), ORDINARY, RAW, IS_FACT},
    {NAME("frame"), VOID, NORMAL, IS_SPECIAL | IS_FACT},
    {NAME("embed"), VOID, NORMAL, IS_SPECIAL | IS_FACT},
    {NAME("area"), VOID, NORMAL, IS_SPECIAL | IS_FACT},
    {NAME("base"), VOID, NORMAL, IS_SPECIAL | IS_FACT},
    {NAME("object"), SCOPE, NORMAL, IS_SPECIAL | IS_BARRIER | KEEPS_FORMATTING | IS_FACT},
    {NAME("frameset"), IGNORED, NORMAL, IS_SPECIAL | IS_FACT},
    {NAME("address"), BLOCK, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("div"), BLOCK, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("ol"), BLOCK, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("ul"), BLOCK, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("abbr"), ORDINARY, NORMAL, IS_INLINE | IS_FACT},
    {NAME("acronym"), ORDINARY, NORMAL, IS_INLINE | IS_FACT},
    {NAME("applet"), SCOPE, NORMAL, IS_SPECIAL | IS_BARRIER | KEEPS_FORMATTING | IS_FACT},
    {NAME("article"), BLOCK, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("aside"), BLOCK, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("audio"), ORDINARY, NORMAL, IS_STYLED | IS_FACT},
    {NAME("b"), FORMATTING, NORMAL, IS_INLINE | IS_FACT},
    {NAME("basefont"), VOID, NORMAL, IS_SPECIAL | IS_FACT},
    {NAME("bdi"), ORDINARY, NORMAL, IS_INLINE},
    {NAME("bdo"), ORDINARY, NORMAL, IS_INLINE | IS_FACT},
    {NAME("bgsound"), VOID, NORMAL, IS_SPECIAL | IS_FACT},
    {NAME("big"), FORMATTING, NORMAL, IS_INLINE | IS_FACT},
    {NAME("blink"), ORDINARY, NORMAL, IS_FACT},
    {NAME("blockquote"), BLOCK, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("br"), VOID, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("canvas"), ORDINARY, NORMAL, IS_STYLED | IS_FACT},
    {NAME("caption"), ROWS, NORMAL, ENDS_WORD | IS_SPECIAL | IS_BARRIER | KEEPS_FORMATTING | IS_FACT},
    {NAME("center"), BLOCK, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("cite"), ORDINARY, NORMAL, IS_INLINE | IS_FACT},
    {NAME("code"), FORMATTING, NORMAL, IS_INLINE | IS_FACT},
    {NAME("col"), VOID, NORMAL, IS_SPECIAL | IS_FACT},
    {NAME("colgroup"), ROWS, NORMAL, IS_SPECIAL | IS_FACT},
    {NAME("data"), ORDINARY, NORMAL, IS_INLINE},
    {NAME("del"), ORDINARY, NORMAL, IS_INLINE | IS_FACT},
    {NAME("dfn"), ORDINARY, NORMAL, IS_INLINE | IS_FACT},
    {NAME("dir"), BLOCK, NORMAL, IS_SPECIAL | IS_FACT},
    {NAME("dl"), BLOCK, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("em"), FORMATTING, NORMAL, IS_INLINE | IS_FACT},
    {NAME("fieldset"), BLOCK, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("figcaption"), BLOCK, NORMAL, IS_SPECIAL},
    {NAME("figure"), BLOCK, NORMAL, IS_SPECIAL | IS_FACT},
    {NAME("font"), FORMATTING, NORMAL, IS_INLINE | IS_FACT},
    {NAME("footer"), BLOCK, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("form"), FORM, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("h1"), HEADING, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("h2"), HEADING, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("h3"), HEADING, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("h4"), HEADING, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("h5"), HEADING, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("h6"), HEADING, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("head"), IGNORED, NORMAL, IS_SPECIAL | IS_FACT},
    {NAME("header"), BLOCK, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("hgroup"), BLOCK, NORMAL, IS_SPECIAL},
    {NAME("hr"), VOID, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("i"), FORMATTING, NORMAL, IS_INLINE | IS_FACT},
    {NAME("ilayer"), ORDINARY, NORMAL, IS_FACT},
    {NAME("image"), VOID, NORMAL, IS_SPECIAL},
    {NAME("img"), VOID, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("input"), VOID, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("ins"), ORDINARY, NORMAL, IS_INLINE | IS_FACT},
    {NAME("kbd"), ORDINARY, NORMAL, IS_INLINE | IS_FACT},
    {NAME("keygen"), VOID, NORMAL, IS_SPECIAL},
    {NAME("label"), ORDINARY, NORMAL, IS_INLINE | IS_FACT},
    {NAME("layer"), ORDINARY, NORMAL, IS_FACT},
    {NAME("legend"), ORDINARY, NORMAL, ENDS_WORD | IS_FACT},
    {NAME("link"), VOID, NORMAL, IS_SPECIAL | IS_FACT},
    {NAME("listing"), BLOCK, NORMAL, IS_SPECIAL},
    {NAME("main"), BLOCK, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("map"), ORDINARY, NORMAL, IS_FACT},
    {NAME("marquee"), SCOPE, NORMAL, ENDS_WORD | IS_SPECIAL | IS_BARRIER | KEEPS_FORMATTING | IS_FACT},
    {NAME("menu"), BLOCK, NORMAL, IS_SPECIAL | IS_FACT},
    {NAME("nav"), BLOCK, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("noembed"), ORDINARY, RAW, IS_FACT},
    {NAME("noframes"), ORDINARY, RAW, IS_FACT},
    {NAME("noscript"), ORDINARY, NORMAL, IS_FACT},
    {NAME("option"), OPTION, NORMAL, ENDS_WORD | IS_FACT},
    {NAME("param"), VOID, NORMAL, IS_SPECIAL | IS_FACT},
    {NAME("picture"), ORDINARY, NORMAL, IS_FACT},
    {NAME("plaintext"), ORDINARY, REST, 0},
    {NAME("pre"), BLOCK, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("q"), ORDINARY, NORMAL, IS_INLINE | IS_FACT},
    {NAME("s"), FORMATTING, NORMAL, IS_INLINE | IS_FACT},
    {NAME("samp"), ORDINARY, NORMAL, IS_INLINE | IS_FACT},
    {NAME("search"), BLOCK, NORMAL, IS_SPECIAL},
    {NAME("section"), BLOCK, NORMAL, ENDS_WORD | IS_SPECIAL | IS_FACT},
    {NAME("small"), FORMATTING, NORMAL, IS_INLINE | IS_FACT},
    {NAME("source"), VOID, NORMAL, IS_SPECIAL | IS_FACT},
    {NAME("spacer"), VOID, NORMAL, IS_SPECIAL | IS_FACT},
    {NAME("span"), ORDINARY, NORMAL, IS_INLINE | IS_FACT},
    {NAME("strike"), FORMATTING, NORMAL, IS_INLINE | IS_FACT},
    {NAME("strong"), FORMATTING, NORMAL, IS_INLINE | IS_FACT},
    {NAME("sub"), ORDINARY, NORMAL, IS_INLINE | IS_FACT},
    {NAME("sup"), ORDINARY, NORMAL, IS_INLINE | IS_FACT},
    {NAME("svg"), ORDINARY, NORMAL, IS_FACT},
    {NAME("tbody"), ROWS, NORMAL, IS_SPECIAL | HOLDS_ROWS | IS_FACT},
    {NAME("td"), CELL, NORMAL, ENDS_WORD | IS_SPECIAL | IS_BARRIER | KEEPS_FORMATTING | IS_FACT},
    {NAME("template"), SCOPE, NOWHERE, IS_SPECIAL | IS_BARRIER | KEEPS_FORMATTING},
    {NAME("tfoot"), ROWS, NORMAL, IS_SPECIAL | HOLDS_ROWS | IS_FACT},
    {NAME("th"), CELL, NORMAL, ENDS_WORD | IS_SPECIAL | IS_BARRIER | KEEPS_FORMATTING | IS_FACT},
    {NAME("thead"), ROWS, NORMAL, IS_SPECIAL | HOLDS_ROWS | IS_FACT},
    {NAME("time"), ORDINARY, NORMAL, IS_INLINE},
    {NAME("tr"), ROW, NORMAL, ENDS_WORD | IS_SPECIAL | HOLDS_ROWS | IS_FACT},
    {NAME("track"), VOID, NORMAL, IS_SPECIAL},
    {NAME("tt"), FORMATTING, NORMAL, IS_INLINE | IS_FACT},
    {NAME("u"), FORMATTING, NORMAL, IS_INLINE | IS_FACT},
    {NAME("var"), ORDINARY, NORMAL, IS_INLINE | IS_FACT},
    {NAME("video"), ORDINARY, NORMAL, IS_STYLED | IS_FACT},
    {NAME("wbr"), VOID, NORMAL, IS_SPECIAL | IS_FACT},
    {NAME("xml"), ORDINARY, NORMAL, IS_FACT},
};

const size_t TAG_COUNT = COUNT_OF(TAGS);
_Static_assert(COUNT_OF(TAGS) <= N_TAGS, "the set of tags that a message has needs more bits");

enum { N_SLOTS = 1024 };

static uint8_t slots[N_SLOTS];

static size_t slot_of(span name) {
    uint32_t hash = 0;
    for (const uint8_t *at = name.at; at < name.end; at++)
        hash = hash * 31 + to_lower(*at);
    return (hash ^ hash >> 10) % N_SLOTS;
}

void tags_begin(void) {
    memset(slots, 0, sizeof slots);
    for (size_t i = 1; i < TAG_COUNT; i++) {
        size_t slot = slot_of(span_of_name(TAGS[i].name));
        while (slots[slot])
            slot = (slot + 1) % N_SLOTS;
        slots[slot] = (uint8_t)i;
    }
}

unsigned tag_of(span name) {
    if (size_of(name) > MAX_TAG_NAME)
        return TAG_UNKNOWN;
    for (size_t slot = slot_of(name); slots[slot]; slot = (slot + 1) % N_SLOTS) {
        if (is_same_any_case(name, span_of_name(TAGS[slots[slot]].name)))
            return slots[slot];
    }
    return TAG_UNKNOWN;
}
