#include "tags.h"

enum { MAX_NAME = 30 }; /* bytes: name_table.sizes has bits for sizes up to 31 */

/* All tags, in groups with the same properties. The tags that tags.h names come first, in the order of tags.h. */
static const struct {
    const char *names;
    uint8_t kind, text, flags;
} GROUPS[] = {
    {"unknown", ORDINARY, NORMAL, IS_INLINE | HAS_STYLE},
    {"a", FORMATTING, NORMAL, IS_INLINE},
    {"body html", WHOLE_PAGE, NORMAL, ENDS_WORD | IS_BARRIER},
    {"p", BLOCK, NORMAL, ENDS_WORD | NEEDS_NO_END},
    {"li dd dt", ITEM, NORMAL, ENDS_WORD | NEEDS_NO_END},
    {"table", TABLE, NORMAL, ENDS_WORD | IS_BARRIER | HAS_STYLE},
    {"style", ORDINARY, RAW, 0},
    {"title", ORDINARY, REFERENCES, 0},
    {"script", ORDINARY, RAW, 0},
    {"meta area base", VOID, NORMAL, 0},
    {"mark", ORDINARY, NORMAL, IS_INLINE | HAS_STYLE},
    {"div address", BLOCK, NORMAL, ENDS_WORD},
    {"svg math", ORDINARY, NORMAL, IS_INLINE | MAY_END_WORD | IS_DOUBTFUL},
    {"img input", VOID, NORMAL, MAY_END_WORD},
    {"small", FORMATTING, NORMAL, IS_INLINE | HAS_STYLE},
    {"sub sup", ORDINARY, NORMAL, IS_INLINE | HAS_STYLE},
    {"font", FORMATTING, NORMAL, IS_INLINE},
    {"link col", VOID, NORMAL, 0},
    {"colgroup", TABLE_SECTION, NORMAL, 0},
    {"form", BLOCK, NORMAL, ENDS_WORD},
    {"frameset", IGNORED, NORMAL, 0},
    {"bdo", ORDINARY, NORMAL, IS_INLINE | IS_DOUBTFUL},
    {"head", IGNORED, NORMAL, 0},
    {"article aside blockquote center dl fieldset footer header main nav ol pre section summary "
     "ul dir figcaption figure hgroup listing menu search", BLOCK, NORMAL, ENDS_WORD},
    {"details", BLOCK, NORMAL, ENDS_WORD | IS_DOUBTFUL},
    {"h1 h2 h3 h4 h5 h6", HEADING, NORMAL, ENDS_WORD},
    {"b big code em i nobr s strike strong tt u", FORMATTING, NORMAL, IS_INLINE},
    {"abbr acronym cite del dfn ins kbd label q samp span var blink ilayer layer map picture bdi data time ruby "
     "output slot spacer", ORDINARY, NORMAL, IS_INLINE},
    {"rb", ORDINARY, NORMAL, IS_INLINE | NEEDS_NO_END},
    {"noscript xml rp rt rtc datalist", ORDINARY, NORMAL, IS_INLINE | IS_DOUBTFUL},
    {"progress meter audio canvas video", ORDINARY, NORMAL, IS_INLINE | MAY_END_WORD | IS_DOUBTFUL},
    {"br hr", VOID, NORMAL, ENDS_WORD},
    {"image keygen embed", VOID, NORMAL, MAY_END_WORD},
    {"basefont bgsound param source wbr track frame", VOID, NORMAL, 0},
    {"caption", TABLE_SECTION, NORMAL, ENDS_WORD | IS_BARRIER},
    {"tbody tfoot thead", TABLE_SECTION, NORMAL, 0},
    {"tr", ROW, NORMAL, ENDS_WORD},
    {"td th", CELL, NORMAL, ENDS_WORD | IS_BARRIER},
    {"button", ORDINARY, NORMAL, ENDS_WORD | IS_CONTROL},
    {"select", ORDINARY, NORMAL, ENDS_WORD | IS_CONTROL | IS_BARRIER | IS_DOUBTFUL},
    {"legend", ORDINARY, NORMAL, IS_INLINE | ENDS_WORD},
    {"optgroup option", ORDINARY, NORMAL, IS_INLINE | ENDS_WORD | IS_DOUBTFUL},
    {"applet marquee object template", ORDINARY, NORMAL, IS_BARRIER | IS_DOUBTFUL},
    {"iframe noembed noframes", ORDINARY, RAW, 0},
    {"dialog", BLOCK, NORMAL, ENDS_WORD | IS_CONTROL | IS_DOUBTFUL},
    {"textarea", ORDINARY, REFERENCES, ENDS_WORD | IS_CONTROL | IS_DOUBTFUL},
    {"xmp", ORDINARY, SHOWN, 0},
    {"plaintext", ORDINARY, REST, 0},
};

struct tag TAGS[N_TAGS];
size_t TAG_COUNT;

/* The names of all attributes, in the order of enum attribute. */
static const char ATTRIBUTES[] = "class id style color bgcolor text link hidden popover background href src action formaction ping "
                                 "poster lowsrc dynsrc xlink:href content name http-equiv type media srcdoc "
                                 "alt placeholder label value";

static struct name_table tag_table, attribute_table;

/* Returns the slot that has a name; if the table does not have the name, the free slot in which to store the name. */
static size_t slot_of(const struct name_table *table, span name) {
    size_t n = size_of(name), first = name.at[0] & 31, last = name.at[n - 1] & 31, middle = name.at[n / 2] & 31;
    size_t slot = (n + 5 * first + 23 * last + 97 * middle) % COUNT_OF(table->slots);
    while (table->slots[slot].name.at && !is_same_any_case(name, table->slots[slot].name))
        slot = (slot + 1) % COUNT_OF(table->slots);
    return slot;
}

void add_names(struct name_table *table, const char *names, uint8_t number, uint8_t step) {
    span tail = span_of_text(names);
    for (span name = next_word(&tail); !is_empty(name); name = next_word(&tail), number += step) {
        size_t slot = slot_of(table, name);
        table->slots[slot].name = name;
        table->slots[slot].number = number;
        table->sizes[*name.at & 31] |= UINT32_C(1) << size_of(name);
    }
}

int number_of(const struct name_table *table, span name) {
    if (is_empty(name) || size_of(name) > MAX_NAME || !(table->sizes[*name.at & 31] >> size_of(name) & 1))
        return -1;
    size_t slot = slot_of(table, name);
    return table->slots[slot].name.at ? table->slots[slot].number : -1;
}

void tags_begin(void) {
    TAG_COUNT = 0;
    for (size_t i = 0; i < COUNT_OF(GROUPS); i++) {
        span tail = span_of_text(GROUPS[i].names);
        add_names(&tag_table, GROUPS[i].names, (uint8_t)TAG_COUNT, 1);
        for (span name = next_word(&tail); !is_empty(name) && TAG_COUNT < N_TAGS; name = next_word(&tail))
            TAGS[TAG_COUNT++] = (struct tag){name, GROUPS[i].kind, GROUPS[i].text, GROUPS[i].flags};
    }
    add_names(&attribute_table, ATTRIBUTES, 0, 1);
}

unsigned tag_of(span name) {
    int number = number_of(&tag_table, name);
    return number < 0 ? TAG_UNKNOWN : (unsigned)number;
}

int attribute_of(span name) { return number_of(&attribute_table, name); }
