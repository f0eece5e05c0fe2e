#include "tags.h"

#include "style.h"

enum { MAX_NAME = 30 };

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
    {"div address article aside blockquote center details dl fieldset footer form header main nav ol pre section summary ul",
     BLOCK, NORMAL, ENDS_WORD | IS_FACT},
    {"h1 h2 h3 h4 h5 h6", HEADING, NORMAL, ENDS_WORD | IS_FACT},
    {"dir figcaption figure hgroup listing menu search", BLOCK, NORMAL, ENDS_WORD},
    {"b big code em font i nobr s small strike strong tt u", FORMATTING, NORMAL, IS_INLINE | IS_FACT},
    {"abbr acronym bdo cite del dfn ins kbd label q samp span sub sup var", ORDINARY, NORMAL, IS_INLINE | IS_FACT},
    {"blink ilayer layer map noscript picture svg xml", ORDINARY, NORMAL, IS_INLINE | IS_FACT},
    {"audio canvas video", ORDINARY, NORMAL, IS_INLINE | IS_UNSHOWN | IS_FACT},
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
    {"datalist", ORDINARY, NORMAL, IS_UNSHOWN},
    {"dialog", BLOCK, NORMAL, ENDS_WORD | IS_CONTROL},
    {"plaintext", ORDINARY, REST, 0},
};

struct tag TAGS[N_TAGS];
size_t TAG_COUNT;

/* In the order of the header. */
static const struct name ATTRIBUTES[N_ATTRIBUTES] = {
    NAME("class"), NAME("id"), NAME("style"), NAME("color"), NAME("bgcolor"), NAME("text"), NAME("hidden"),
    NAME("background"), NAME("href"), NAME("src"), NAME("action"), NAME("formaction"), NAME("ping"),
    NAME("poster"), NAME("lowsrc"), NAME("dynsrc"), NAME("xlink:href"), NAME("content"), NAME("http-equiv"),
    NAME("type"), NAME("media"),
};

static struct name_table tag_table, attribute_table;

static span name_in(const struct name_table *table, size_t number) {
    return span_of_name(*(const struct name *)((const uint8_t *)table->items + number * table->size));
}

/* The slot where a name is, or would be. */
static size_t slot_of(const struct name_table *table, span name) {
    size_t n = size_of(name), first = name.at[0] & 31, last = name.at[n - 1] & 31, middle = name.at[n / 2] & 31;
    size_t slot = (n + 5 * first + 23 * last + 97 * middle) % COUNT_OF(table->slots);
    while (table->slots[slot] && !is_same_any_case(name, name_in(table, table->slots[slot] - 1u)))
        slot = (slot + 1) % COUNT_OF(table->slots);
    return slot;
}

void name_table_begin(struct name_table *table, const void *items, size_t size, size_t count) {
    *table = (struct name_table){.items = items, .size = size, .count = count};
    for (size_t i = 0; i < count; i++) {
        span name = name_in(table, i);
        table->slots[slot_of(table, name)] = (uint8_t)(i + 1);
        table->sizes[*name.at & 31] |= UINT32_C(1) << size_of(name);
    }
}

size_t number_of(const struct name_table *table, span name) {
    if (is_empty(name) || size_of(name) > MAX_NAME || !(table->sizes[*name.at & 31] >> size_of(name) & 1))
        return table->count;
    uint8_t slot = table->slots[slot_of(table, name)];
    return slot ? slot - 1u : table->count;
}

void tags_begin(void) {
    static char names[N_TAGS][MAX_NAME + 1];
    TAG_COUNT = 0;
    for (size_t i = 0; i < COUNT_OF(GROUPS); i++)
        for (span rest = span_of(GROUPS[i].names, strlen(GROUPS[i].names)); !is_empty(rest) && TAG_COUNT < N_TAGS;) {
            span name = before_first(rest, ' ');
            memcpy(names[TAG_COUNT], name.at, size_of(name));
            TAGS[TAG_COUNT] = (struct tag){
                {names[TAG_COUNT], (uint8_t)size_of(name)}, GROUPS[i].kind, GROUPS[i].text, GROUPS[i].flags};
            TAG_COUNT++;
            rest = skip_bytes(rest, size_of(name) + 1);
        }
    name_table_begin(&tag_table, TAGS, sizeof *TAGS, TAG_COUNT);
    name_table_begin(&attribute_table, ATTRIBUTES, sizeof *ATTRIBUTES, N_ATTRIBUTES);
    style_begin();
}

unsigned tag_of(span name) {
    size_t number = number_of(&tag_table, name);
    return number < TAG_COUNT ? (unsigned)number : TAG_UNKNOWN; /* "?", the name of TAG_UNKNOWN, begins no tag */
}

enum attribute attribute_of(span name) { return (enum attribute)number_of(&attribute_table, name); }
