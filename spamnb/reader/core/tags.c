#include "tags.h"

enum { N_SLOTS = 1024, MAX_NAME = 16 };

/* Tags of one kind. Those that the header names come first, in its order. */
static const struct {
    const char *names;
    uint8_t kind, text, flags;
} GROUPS[] = {
    {"?", ORDINARY, NORMAL, IS_INLINE},
    {"a", FORMATTING, NORMAL, IS_INLINE | IS_FACT},
    {"body html", WHOLE_PAGE, NORMAL, ENDS_WORD | IS_BARRIER | IS_FACT},
    {"p", BLOCK, NORMAL, ENDS_WORD | IS_FACT},
    {"li dd dt", ITEM, NORMAL, ENDS_WORD | IS_FACT},
    {"table", TABLE, NORMAL, ENDS_WORD | IS_BARRIER | IS_FACT},
    {"style", ORDINARY, RAW, IS_FACT},
    {"title textarea", ORDINARY, REFERENCES, ENDS_WORD | IS_CONTROL | IS_FACT},
    {"script xmp", ORDINARY, RAW, IS_FACT},
    {"meta area base", VOID, NORMAL, IS_FACT},
    {"iframe", ORDINARY, RAW, IS_FACT},
    {"frame embed", VOID, NORMAL, IS_FACT},
    {"frameset", IGNORED, NORMAL, IS_FACT},
    {"mark", ORDINARY, NORMAL, IS_INLINE},
    {"address article aside blockquote center details div dl fieldset footer form h1 h2 h3 h4 h5 h6 header main nav ol "
     "pre section summary ul", BLOCK, NORMAL, ENDS_WORD | IS_FACT},
    {"dialog dir figcaption figure hgroup listing menu search", BLOCK, NORMAL, ENDS_WORD},
    {"b big code em font i nobr s small strike strong tt u", FORMATTING, NORMAL, IS_INLINE | IS_FACT},
    {"abbr acronym bdo cite del dfn ins kbd label q samp span sub sup var", ORDINARY, NORMAL, IS_INLINE | IS_FACT},
    {"audio blink canvas ilayer layer map noscript picture svg video xml", ORDINARY, NORMAL, IS_INLINE | IS_FACT},
    {"bdi data time", ORDINARY, NORMAL, IS_INLINE},
    {"br hr img input", VOID, NORMAL, ENDS_WORD | IS_FACT},
    {"basefont bgsound col link param source spacer wbr", VOID, NORMAL, IS_FACT},
    {"image keygen track", VOID, NORMAL, 0},
    {"caption", ROWS, NORMAL, ENDS_WORD | IS_BARRIER | IS_FACT},
    {"colgroup tbody tfoot thead", ROWS, NORMAL, IS_FACT},
    {"tr", ROW, NORMAL, ENDS_WORD | IS_FACT},
    {"td th", CELL, NORMAL, ENDS_WORD | IS_BARRIER | IS_FACT},
    {"button select", ORDINARY, NORMAL, ENDS_WORD | IS_CONTROL | IS_FACT},
    {"legend optgroup option", ORDINARY, NORMAL, ENDS_WORD | IS_FACT},
    {"applet marquee object", ORDINARY, NORMAL, IS_BARRIER | IS_FACT},
    {"head", IGNORED, NORMAL, IS_FACT},
    {"noembed noframes", ORDINARY, RAW, IS_FACT},
    {"template", ORDINARY, NOWHERE, IS_BARRIER},
    {"plaintext", ORDINARY, REST, 0},
};

struct tag TAGS[N_TAGS];
size_t TAG_COUNT;
static uint8_t slots[N_SLOTS];

static size_t slot_of(span name) {
    uint32_t hash = 0;
    for (const uint8_t *at = name.at; at < name.end; at++)
        hash = hash * 31 + to_lower(*at);
    return (hash ^ hash >> 10) % N_SLOTS;
}

void tags_begin(void) {
    static char names[N_TAGS][MAX_NAME + 1];
    memset(slots, 0, sizeof slots);
    size_t n = 0;
    for (size_t i = 0; i < COUNT_OF(GROUPS); i++)
        for (span rest = span_of(GROUPS[i].names, strlen(GROUPS[i].names)); !is_empty(rest) && n < N_TAGS;) {
            span name = before_first(rest, ' ');
            memcpy(names[n], name.at, size_of(name));
            TAGS[n] = (struct tag){{names[n], (uint8_t)size_of(name)}, GROUPS[i].kind, GROUPS[i].text, GROUPS[i].flags};
            size_t slot = slot_of(name);
            while (slots[slot])
                slot = (slot + 1) % N_SLOTS;
            if (n) /* TAG_UNKNOWN has no name */
                slots[slot] = (uint8_t)n;
            TAG_COUNT = ++n;
            rest = skip_bytes(rest, size_of(name) + 1);
        }
}

unsigned tag_of(span name) {
    if (size_of(name) > MAX_NAME)
        return TAG_UNKNOWN;
    for (size_t slot = slot_of(name); slots[slot]; slot = (slot + 1) % N_SLOTS)
        if (is_same_any_case(name, span_of_name(TAGS[slots[slot]].name)))
            return slots[slot];
    return TAG_UNKNOWN;
}

enum attribute attribute_of(span name) {
    static const struct name NAMES[N_ATTRIBUTES] = {
        NAME("class"), NAME("id"), NAME("style"), NAME("color"), NAME("bgcolor"), NAME("text"), NAME("hidden"),
        NAME("background"), NAME("href"), NAME("src"), NAME("action"), NAME("formaction"), NAME("data"), NAME("ping"),
        NAME("poster"), NAME("lowsrc"), NAME("dynsrc"), NAME("xlink:href"), NAME("content"), NAME("http-equiv"),
        NAME("type"), NAME("media"),
    };
    int which = 0;
    while (which < N_ATTRIBUTES && !(NAMES[which].size == size_of(name) && *NAMES[which].text == to_lower(*name.at) &&
                                     is_same_any_case(name, span_of_name(NAMES[which]))))
        which++;
    return (enum attribute)which;
}
