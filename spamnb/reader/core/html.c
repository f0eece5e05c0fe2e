#include "html.h"

#include "hash.h"
#include "links.h"
#include "reader.h"
#include "references.h"
#include "style.h"
#include "tags.h"

enum {
    MAX_TAGS = 50000,      /* in one message, formatting that is opened again included */
    TAIL = 8192,           /* bytes of the end of what has more, which are read too */
    MAX_OPEN_ELEMENTS = 512, /* those inside are not opened, as in browsers */
    MAX_FORMATTING = 64,   /* formatting elements that wait to be opened again */
    MAX_SAME = 3,          /* of these, with the same name and attributes */
    MAX_RESTYLED = 100000, /* elements whose style is made again, in one document */
    MAX_TITLE = 200,       /* bytes of a title, and of an input field, that are taken for seen */
    MAX_LINK_TEXT = 300,
    MAX_EMPTY_PAIR = 200,
    MAX_URLS_OF_VALUE = 50,
    N_DECLARED = 256, /* slots for attributes that say something of style */
};

/* The attributes that are read. */
enum attribute {
    A_CLASS, A_ID, A_STYLE, A_COLOR, A_BGCOLOR, A_TEXT, A_HIDDEN, A_OPEN, A_LINK, A_BACKGROUND, LAST_OF_STYLE = A_BACKGROUND,
    A_HREF, A_XLINK, A_DATA, A_CONTENT, A_PING, A_SRC, A_SRCSET, A_IMAGESRCSET, A_POSTER, A_LOWSRC, A_DYNSRC, A_ACTION,
    A_FORMACTION, LAST_OF_URLS = A_FORMACTION, A_HTTP_EQUIV, A_TYPE, A_MEDIA, N_ATTRIBUTES
};

static const struct name ATTRIBUTE_NAMES[N_ATTRIBUTES] = {
    NAME("class"), NAME("id"), NAME("style"), NAME("color"), NAME("bgcolor"), NAME("text"), NAME("hidden"),
    NAME("open"), NAME("link"), NAME("background"), NAME("href"), NAME("xlink:href"), NAME("data"), NAME("content"),
    NAME("ping"), NAME("src"), NAME("srcset"), NAME("imagesrcset"), NAME("poster"), NAME("lowsrc"), NAME("dynsrc"),
    NAME("action"), NAME("formaction"), NAME("http-equiv"), NAME("type"), NAME("media"),
};

#define HAS(attributes, attribute) ((attributes)->present >> (attribute) & 1)
#define STYLE_ATTRIBUTES ((UINT32_C(1) << (LAST_OF_STYLE + 1)) - 1)
#define URL_ATTRIBUTES (((UINT32_C(1) << (LAST_OF_URLS + 1)) - 1) & ~STYLE_ATTRIBUTES)

struct attributes {
    uint32_t present;
    span values[N_ATTRIBUTES];
};

/* What the attributes of an element and the rules that match it say of its style; NULL where they say nothing. */
struct declared {
    struct presentation presentation;
    struct cascade cascade;
    bool has_cascade;
};

struct element {
    unsigned tag;
    span name;
    uint64_t key; /* of its name and attributes */
    const struct declared *declared;
    const struct style *style;
    unsigned why_hidden;
    bool in_table; /* and in none of its cells */
    bool is_dropped; /* its text is shown nowhere */
    bool in_closed, in_old_table, is_open_details;
    uint16_t parent, paragraph; /* where in the stack what it inherits from is, and the paragraph that a block ends here */
    bool is_formatting_open;
};

/* A formatting element that waits to be opened again; is_marker: what stands before it does not. */
struct formatting {
    unsigned tag;
    span name;
    uint64_t key;
    const struct declared *declared;
    bool is_marker, is_open;
};

/* A gap is a space where hidden blanks part words. */
enum piece_kind { PIECE_SHOWN, PIECE_HIDDEN, PIECE_GAP };

struct piece {
    span text;
    enum piece_kind kind;
};

struct document {
    struct reader *reader;
    struct arena *arena;
    span html;
    bool is_old_page;
    bool is_second_pass, needs_second_pass;
    struct sheet sheet;
    struct attributes page_attributes[2]; /* of html and body */
    const struct declared *declared[N_DECLARED];
    uint64_t declared_keys[N_DECLARED];
    size_t n_declared;
    struct element *stack;
    size_t depth;
    uint16_t counts[N_TAGS]; /* of open elements, by tag */
    struct formatting formatting[MAX_FORMATTING];
    size_t n_formatting, n_restyled;
    bool form_is_open, has_content, has_begun, is_cut;
    LIST(struct piece) pieces;
    span linked; /* where the link at hand leads */
    size_t link_begin; /* its first piece */
    span title_rest;
};

static void note_cut(struct document *document) { document->reader->message.cuts |= CUT_HTML; }

/* ---- Style of elements ---- */

static struct element *top_of(struct document *d) { return &d->stack[d->depth - 1]; }

static void fill_names(struct element_names *names, unsigned tag, span name, const struct attributes *attributes) {
    *names = (struct element_names){.tag = tag, .name = name};
    if (HAS(attributes, A_ID))
        names->id = attributes->values[A_ID];
    span classes = HAS(attributes, A_CLASS) ? attributes->values[A_CLASS] : (span){0};
    while (names->n_classes < MAX_CLASSES) {
        while (classes.at < classes.end && is_space(*classes.at))
            classes.at++;
        if (is_empty(classes))
            return;
        span class = classes;
        while (classes.at < classes.end && !is_space(*classes.at))
            classes.at++;
        class.end = classes.at;
        names->classes[names->n_classes++] = class;
    }
    names->has_more_classes = true;
}

static const struct declared *new_declared(struct document *d, unsigned tag, span name,
                                           const struct attributes *attributes) {
    struct declared *found = arena_take(d->arena, 1, sizeof *found);
    struct presentation *p = &found->presentation;
    const span *values = attributes->values;
    p->is_hidden = HAS(attributes, A_HIDDEN);
    p->is_open = HAS(attributes, A_OPEN);
    p->has_href = HAS(attributes, A_HREF);
    p->has_background = HAS(attributes, A_BACKGROUND) && !is_empty(values[A_BACKGROUND]);
    if (HAS(attributes, A_BGCOLOR))
        p->background_color = values[A_BGCOLOR];
    enum attribute color = tag == TAG_BODY ? A_TEXT : A_COLOR;
    if (HAS(attributes, color))
        p->color = values[color];
    if (tag == TAG_BODY && HAS(attributes, A_LINK))
        p->link = values[A_LINK];
    if (d->sheet.n_rules) {
        struct element_names names;
        fill_names(&names, tag, name, attributes);
        cascade_add_rules(&found->cascade, &d->sheet, &names);
        if (d->sheet.is_cut)
            note_cut(d);
    }
    if (HAS(attributes, A_STYLE))
        cascade_add_inline(&found->cascade, d->arena, values[A_STYLE], d->is_old_page);
    for (int i = 0; i < N_PROPERTIES && !found->has_cascade; i++)
        found->has_cascade = found->cascade.strengths[i] || found->cascade.doubts[i];
    return found;
}

/* A key of all that says something of an element's style: elements with the same one share what is declared. */
static uint64_t key_of(struct document *d, unsigned tag, span name, const struct attributes *attributes) {
    const uint64_t *secret = d->reader->tables->secret;
    uint64_t key = tag + 1;
    if (tag == TAG_UNKNOWN)
        key ^= siphash(secret, name);
    for (int i = 0; i <= LAST_OF_STYLE; i++)
        if (HAS(attributes, i)) {
            uint64_t mixed[2] = {secret[0] ^ key, secret[1] + (uint64_t)i};
            key = siphash(mixed, attributes->values[i]);
        }
    return key << 1 | HAS(attributes, A_HREF);
}

/* What is declared for an element; NULL where nothing is. Senders repeat their attributes. */
static const struct declared *declared_for(struct document *d, unsigned tag, span name,
                                           const struct attributes *attributes, uint64_t key) {
    if (!(attributes->present & STYLE_ATTRIBUTES) && !d->sheet.n_rules && !HAS(attributes, A_HREF))
        return NULL;
    size_t slot = key % N_DECLARED;
    while (d->declared[slot] && d->declared_keys[slot] != key)
        slot = (slot + 1) % N_DECLARED;
    if (!d->declared[slot]) {
        if (d->n_declared >= N_DECLARED / 2) { /* a page of very many styles: begin anew */
            memset(d->declared, 0, sizeof d->declared);
            d->n_declared = 0;
            slot = key % N_DECLARED;
        }
        d->declared[slot] = new_declared(d, tag, name, attributes);
        d->declared_keys[slot] = key;
        d->n_declared++;
    }
    return d->declared[slot];
}

/* Gives the element at this place of the stack the style that it inherits. */
static void inherit(struct document *d, size_t at) {
    static const struct presentation NO_PRESENTATION = {0};
    struct element *element = &d->stack[at];
    const struct style *above = at ? d->stack[element->parent].style : &FIRST_STYLE;
    const struct declared *declared = element->declared;
    element->style = above;
    bool is_split = !is_same_color(above->background, above->under) && !(TAGS[element->tag].flags & IS_INLINE);
    if (declared || element->in_old_table || is_split || TAGS[element->tag].flags & IS_STYLED || at < 2) {
        struct style style = inherited_style(
            above, element->tag, declared ? &declared->presentation : &NO_PRESENTATION,
            declared && declared->has_cascade ? &declared->cascade : NULL, element->in_closed, element->in_old_table);
        if (memcmp(&style, above, sizeof style)) {
            struct style *kept = arena_take(d->arena, 1, sizeof *kept);
            *kept = style;
            element->style = kept;
        }
    }
    element->why_hidden = element->style == above && at ? d->stack[element->parent].why_hidden : why_hidden(element->style);
}

/* The styles of the open elements from this one on. */
static void inherit_again(struct document *d, size_t at) {
    for (; at < d->depth; at++) {
        if (d->n_restyled++ > MAX_RESTYLED) { /* nobody knows what is hidden here */
            d->stack[at].why_hidden = 0;
            note_cut(d);
        } else
            inherit(d, at);
        struct element *element = &d->stack[at];
        bool keeps = TAGS[element->tag].flags & IS_BARRIER || element->tag == TAG_BUTTON;
        element->paragraph = element->tag == TAG_P ? (uint16_t)at : at && !keeps ? d->stack[at - 1].paragraph : 0;
    }
}

/* ---- Open elements ---- */

static bool is_element(const struct element *element, unsigned tag, span name) {
    return element->tag == tag && (tag != TAG_UNKNOWN || (size_of(name) == size_of(element->name) &&
           starts_with_any_case(element->name, name)));
}

static void pop(struct document *d) {
    struct element *element = top_of(d);
    d->counts[element->tag]--;
    for (size_t i = d->n_formatting; element->is_formatting_open && i-- > 0;)
        if (d->formatting[i].is_open && d->formatting[i].key == element->key) {
            d->formatting[i].is_open = false;
            break;
        }
    d->depth--;
    if (TAGS[element->tag].flags & KEEPS_FORMATTING)
        while (d->n_formatting && !d->formatting[--d->n_formatting].is_marker)
            continue;
}

/* Closes the element at this place, and all inside; nothing where there is none (0). */
static void pop_to(struct document *d, size_t at) {
    while (at > 1 && d->depth > at)
        pop(d);
}

static bool in_rows(const struct element *element) {
    return element->in_table && TAGS[element->tag].flags & HOLDS_ROWS;
}

/* Where the innermost table is; there is one. */
static size_t table_index(const struct document *d) {
    size_t at = d->depth - 1;
    while (at > 1 && d->stack[at].tag != TAG_TABLE)
        at--;
    return at;
}

/* Where the innermost such element is; 0 where another one stands between that bars the way. */
static size_t find_open(const struct document *d, unsigned tag, span name, bool stops_at_special) {
    bool in_table = TAGS[tag].kind >= TABLE && TAGS[tag].kind <= CELL;
    for (size_t at = d->depth - 1; at > 1; at--) {
        const struct element *element = &d->stack[at];
        if (is_element(element, tag, name))
            return at;
        uint16_t flags = TAGS[element->tag].flags;
        if (tag == TAG_LI && (element->tag == TAG_OL || element->tag == TAG_UL))
            return 0;
        if ((stops_at_special && flags & IS_SPECIAL) || (in_table ? element->tag == TAG_TABLE : flags & IS_BARRIER))
            return 0;
    }
    return 0;
}

static void push(struct document *d, unsigned tag, span name, uint64_t key, const struct declared *declared) {
    if (d->depth >= MAX_OPEN_ELEMENTS)
        return;
    size_t at = d->depth, parent = at - 1;
    const struct element *top = &d->stack[parent];
    /* What stands in a table and in none of its cells stands before it. */
    if (in_rows(top) && !(TAGS[tag].kind >= TABLE && TAGS[tag].kind <= CELL))
        parent = table_index(d) > 0 ? table_index(d) - 1 : 0;
    struct element *element = &d->stack[at];
    bool is_barrier = TAGS[tag].flags & IS_BARRIER || tag == TAG_BUTTON;
    const struct element *above = &d->stack[parent];
    *element = (struct element){
        .tag = tag, .name = name, .key = key, .declared = declared, .parent = (uint16_t)parent,
        .in_table = top->in_table && !(TAGS[tag].flags & KEEPS_FORMATTING),
        .is_dropped = top->is_dropped || TAGS[tag].text == NOWHERE,
        .paragraph = tag == TAG_P ? (uint16_t)at : is_barrier ? 0 : top->paragraph,
        .is_open_details = tag == TAG_DETAILS && declared && declared->presentation.is_open,
        .in_closed = tag == TAG_SUMMARY && above->tag == TAG_DETAILS && !above->is_open_details,
        .in_old_table = tag == TAG_TABLE && d->is_old_page,
    };
    d->counts[tag]++;
    d->depth++;
    d->has_content = true;
    inherit(d, at);
}

static void add_marker(struct document *d) {
    if (d->n_formatting == MAX_FORMATTING)
        memmove(d->formatting, d->formatting + 1, --d->n_formatting * sizeof *d->formatting);
    d->formatting[d->n_formatting++] = (struct formatting){.is_marker = true};
}

/* Formatting is opened again where something else than its own end tag closed it. */
static void remember(struct document *d) {
    struct element *element = top_of(d);
    int same = 0;
    for (size_t at = d->n_formatting; at-- > 0 && !d->formatting[at].is_marker;)
        if (d->formatting[at].key == element->key && ++same == MAX_SAME) {
            memmove(d->formatting + at, d->formatting + at + 1, (--d->n_formatting - at) * sizeof *d->formatting);
            break;
        }
    if (d->n_formatting == MAX_FORMATTING)
        memmove(d->formatting, d->formatting + 1, --d->n_formatting * sizeof *d->formatting);
    d->formatting[d->n_formatting++] =
        (struct formatting){element->tag, element->name, element->key, element->declared, false, true};
    element->is_formatting_open = true;
}

/* Opens formatting that was closed together with what it stood in. */
static void open_formatting_again(struct document *d) {
    size_t at = d->n_formatting;
    while (at && !d->formatting[at - 1].is_marker && !d->formatting[at - 1].is_open)
        at--;
    for (; at < d->n_formatting && d->depth < MAX_OPEN_ELEMENTS; at++) {
        struct formatting *closed = &d->formatting[at];
        push(d, closed->tag, closed->name, closed->key, closed->declared);
        top_of(d)->is_formatting_open = true;
        closed->is_open = true;
        d->reader->message.n_tags++;
    }
}

static void end_paragraph(struct document *d) { pop_to(d, top_of(d)->paragraph); }

/* An item begins: the one before it ends. */
static void end_item(struct document *d, unsigned tag) {
    bool is_list = tag == TAG_LI;
    if (!(is_list ? d->counts[TAG_LI] : d->counts[TAG_DD] + d->counts[TAG_DT]))
        return;
    for (size_t at = d->depth - 1; at > 1; at--) {
        unsigned other = d->stack[at].tag;
        if (is_list ? other == TAG_LI : other == TAG_DD || other == TAG_DT) {
            pop_to(d, at);
            return;
        }
        if (TAGS[other].flags & IS_SPECIAL && other != TAG_ADDRESS && other != TAG_DIV && other != TAG_P)
            return;
    }
}

/* The end tag of a formatting element, which may have blocks inside (the standard's adoption agency, on a stack). */
static void end_formatting(struct document *d, unsigned tag, span name) {
    size_t number = d->n_formatting;
    while (number && !d->formatting[number - 1].is_marker && d->formatting[number - 1].tag != tag)
        number--;
    if (!number || d->formatting[number - 1].is_marker) {
        if (d->counts[tag])
            pop_to(d, find_open(d, tag, name, true));
        return;
    }
    struct formatting waiting = d->formatting[--number];
    size_t at = d->depth - 1, block = 0;
    if (waiting.is_open) {
        for (; at > 1 && !(d->stack[at].is_formatting_open && d->stack[at].key == waiting.key); at--) {
            if (TAGS[d->stack[at].tag].flags & IS_BARRIER)
                return;
            if (TAGS[d->stack[at].tag].flags & IS_SPECIAL)
                block = at;
        }
    }
    memmove(d->formatting + number, d->formatting + number + 1, (--d->n_formatting - number) * sizeof *d->formatting);
    if (!waiting.is_open || at < 2)
        return;
    d->stack[at].is_formatting_open = false; /* it is in the list no more */
    if (!block) {
        pop_to(d, at);
        return;
    }
    /* Blocks inside stay open, without the formatting; formatting inside of it that is not ended is opened again. */
    while (!(TAGS[top_of(d)->tag].flags & IS_SPECIAL))
        pop(d);
    d->counts[tag]--;
    memmove(d->stack + at, d->stack + at + 1, (--d->depth - at) * sizeof *d->stack);
    for (size_t i = at; i < d->depth; i++)
        if (d->stack[i].parent >= at)
            d->stack[i].parent = (uint16_t)(d->stack[i].parent ? d->stack[i].parent - 1 : 0);
    inherit_again(d, at);
}

/* A table or one of its parts; the latter say nothing outside of one. */
static void start_table_part(struct document *d, unsigned tag, span name, uint64_t key, const struct declared *declared) {
    unsigned kind = TAGS[tag].kind;
    if (kind == TABLE) {
        if (top_of(d)->in_table)
            pop_to(d, table_index(d));
        else if (!d->is_old_page)
            end_paragraph(d);
        size_t depth = d->depth;
        push(d, tag, name, key, declared);
        if (d->depth > depth)
            top_of(d)->in_table = true;
        return;
    }
    if (!d->counts[TAG_TABLE])
        return;
    for (;;) {
        const struct tag *top = &TAGS[top_of(d)->tag];
        if (top->kind == TABLE || (kind >= ROW && top->kind == ROWS && top->flags & HOLDS_ROWS) ||
            (kind == CELL && top->kind == ROW))
            break;
        if (d->depth == 2)
            return;
        pop(d);
    }
    size_t depth = d->depth;
    push(d, tag, name, key, declared);
    if (d->depth == depth)
        return;
    top_of(d)->in_table = TAGS[tag].flags & HOLDS_ROWS;
    if (TAGS[tag].flags & KEEPS_FORMATTING)
        add_marker(d);
}

/* Gives the page attributes that it has not yet. */
static void merge_page(struct document *d, unsigned tag, const struct attributes *attributes) {
    size_t at = tag == TAG_BODY;
    struct attributes *known = &d->page_attributes[at];
    uint32_t added = attributes->present & STYLE_ATTRIBUTES & ~known->present;
    if (!added)
        return;
    for (int i = 0; i <= LAST_OF_STYLE; i++)
        if (added >> i & 1)
            known->values[i] = attributes->values[i];
    known->present |= added;
    d->needs_second_pass = d->needs_second_pass || d->pieces.count;
    d->stack[at].declared = new_declared(d, tag, d->stack[at].name, known);
    inherit_again(d, at);
}

/* A start tag; false where it makes no element. */
static bool start_element(struct document *d, unsigned tag, span name, const struct attributes *attributes) {
    unsigned kind = TAGS[tag].kind;
    if (kind == VOID || kind == IGNORED) {
        if (tag == TAG_FRAMESET && !d->has_content)
            d->stack[1].is_dropped = true; /* of such a page frames are shown, and none of its text */
        return true;
    }
    if (kind == BODY) {
        merge_page(d, tag, attributes);
        return true;
    }
    uint64_t key = key_of(d, tag, name, attributes);
    const struct declared *declared = declared_for(d, tag, name, attributes, key);
    if (kind >= TABLE && kind <= CELL) {
        start_table_part(d, tag, name, key, declared);
        return true;
    }
    if (kind == BLOCK || kind == HEADING)
        end_paragraph(d);
    if (kind == HEADING && TAGS[top_of(d)->tag].kind == HEADING)
        pop(d);
    if (kind == ITEM) {
        end_item(d, tag);
        end_paragraph(d);
    } else if (kind == FORM) {
        if (d->form_is_open)
            return false;
        d->form_is_open = true;
        end_paragraph(d);
        if (top_of(d)->in_table)
            return true;
    } else if (kind == OPTION) {
        while (TAGS[top_of(d)->tag].kind == OPTION && (top_of(d)->tag == tag || tag == TAG_OPTGROUP))
            pop(d);
    } else if (kind == FORMATTING && (tag == TAG_A || tag == TAG_NOBR) && d->counts[tag])
        end_formatting(d, tag, name);
    else if (tag == TAG_BUTTON && d->counts[tag])
        pop_to(d, find_open(d, tag, name, false));
    if (kind != BLOCK && kind != HEADING && kind != ITEM)
        open_formatting_again(d);
    size_t depth = d->depth;
    push(d, tag, name, key, declared);
    if (d->depth > depth && kind == FORMATTING)
        remember(d);
    else if (d->depth > depth && TAGS[tag].flags & KEEPS_FORMATTING)
        add_marker(d);
    return true;
}

static void end_element(struct document *d, unsigned tag, span name) {
    unsigned kind = TAGS[tag].kind;
    if (kind == FORMATTING)
        end_formatting(d, tag, name);
    else if (kind == HEADING) {
        for (size_t at = d->depth - 1; at > 1 && !(TAGS[d->stack[at].tag].flags & IS_BARRIER); at--)
            if (TAGS[d->stack[at].tag].kind == HEADING) {
                pop_to(d, at);
                return;
            }
    } else if (tag == TAG_P)
        end_paragraph(d);
    else if (kind != BODY && kind != VOID && d->counts[tag]) {
        if (kind == FORM)
            d->form_is_open = false;
        pop_to(d, find_open(d, tag, name, kind == ORDINARY || kind == OPTION));
    } else if (kind == FORM)
        d->form_is_open = false;
}

/* ---- Text ---- */

static bool is_blank_text(span text) {
    for (; text.at < text.end; text.at++)
        if (!is_space(*text.at) && *text.at != '\v')
            return false;
    return true;
}

static void add_piece(struct document *d, span text, enum piece_kind kind) {
    if (!is_empty(text))
        *LIST_ADD(d->arena, &d->pieces) = (struct piece){text, kind};
}

/* Whether a text shows nothing, in any script. */
static bool shows_nothing(struct reader *reader, span text) {
    while (!is_empty(text)) {
        uint32_t point = next_point(&text);
        bool is_blank = point < 128 ? is_space((uint8_t)point) || point == '\v'
                                    : character_of(reader, point)->flags & IS_SPACE;
        if (!is_blank)
            return false;
    }
    return true;
}

/* As much of a title or an input field as a window may show; the rest is hidden. */
static span beginning_of(struct document *d, span title) {
    if (size_of(title) <= MAX_TITLE)
        return title;
    span shown = first_characters(title, MAX_TITLE);
    const uint8_t *blank = find_last(shown, ' ');
    if (blank && blank > shown.at)
        shown.end = blank;
    d->title_rest = span_between(shown.end, title.end);
    return shown;
}

/* Text where the document has come to, or of its title. */
static void add_text(struct document *d, span text, bool in_title) {
    bool is_blank = is_blank_text(text);
    struct element *top = top_of(d);
    d->has_content = d->has_content || !(in_title || is_blank);
    d->title_rest = (span){0};
    if (in_title || top->tag == TAG_TEXTAREA)
        text = beginning_of(d, text);
    unsigned why = 0;
    if (in_title && d->depth == 2)
        top = &d->stack[0];
    else {
        bool is_stray = in_rows(top) && !is_blank;
        if (is_stray || !in_rows(top)) {
            open_formatting_again(d);
            top = top_of(d);
        }
        if (is_stray && in_rows(top)) /* it is shown before the table */
            top = &d->stack[table_index(d) - 1];
    }
    if (top->is_dropped)
        return;
    /* Where not all rules or styles are known, nothing counts as hidden. */
    bool is_known = !d->sheet.is_cut && d->n_restyled <= MAX_RESTYLED;
    why = is_known ? top->why_hidden : 0;
    d->needs_second_pass = d->needs_second_pass || d->sheet.is_cut;
    if (!why) {
        add_piece(d, text, PIECE_SHOWN);
        if (!is_empty(d->title_rest)) {
            add_piece(d, d->title_rest, PIECE_HIDDEN);
            add_piece(d, LITERAL("\n"), PIECE_SHOWN);
        }
        return;
    }
    add_piece(d, text, PIECE_HIDDEN);
    add_piece(d, d->title_rest, PIECE_HIDDEN);
    if (is_blank) /* it parts words all the same */
        add_piece(d, LITERAL(" "), PIECE_GAP);
    else if (!shows_nothing(d->reader, text)) {
        uint32_t *facts = &d->reader->message.facts;
        *facts |= why == HIDDEN_DISPLAY      ? FACT_DISPLAY_NONE
                  : why == HIDDEN_TINY       ? FACT_TINY
                  : why == HIDDEN_COLOR      ? FACT_SAME_COLOR
                  : why == HIDDEN_OFF_SCREEN ? FACT_OFF_SCREEN
                                             : 0;
    }
}

/* The text between two places of the document, which ends where a tag begins. */
static void text_before(struct document *d, const uint8_t *begin, const uint8_t *end, const struct tag *tag, bool in_title) {
    span text = span_between(begin, end);
    bool breaks = tag && tag->flags & ENDS_WORD && (end == d->html.at || !(is_space(end[-1]) || end[-1] == '\v'));
    if (!is_empty(text)) {
        text = resolve_references(d->arena, &d->reader->tables->references, text, false);
        if (!d->has_begun) /* blanks before the page are none of its text */
            while (text.at < text.end && (is_space(*text.at) || *text.at == '\v'))
                text.at++;
        if (!is_empty(text)) {
            d->has_begun = true;
            add_text(d, text, in_title);
        }
    }
    if (breaks && d->has_begun)
        add_text(d, LITERAL("\n"), in_title);
}

/* ---- Tags ---- */

static bool ends_name(uint8_t c) { return is_space(c) || c == '/' || c == '>'; }

static int attribute_of(span name) {
    /* Most attributes are of no interest: those that are have one of a few lengths and first letters. */
    static const uint32_t LENGTHS = 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 10 | 1 << 11;
    if (size_of(name) > 11 || !(LENGTHS >> size_of(name) & 1))
        return -1;
    for (int i = 0; i < N_ATTRIBUTES; i++)
        if (ATTRIBUTE_NAMES[i].size == size_of(name) && ATTRIBUTE_NAMES[i].text[0] == (*name.at | 32) &&
            is_same_any_case(name, span_of_name(ATTRIBUTE_NAMES[i])))
            return i;
    return -1;
}

/* The end of the tag whose name ends there, NULL where it has none; fills in the attributes that are read. */
static const uint8_t *read_attributes(struct document *d, const uint8_t *at, struct attributes *found) {
    const uint8_t *end = d->html.end;
    found->present = 0;
    for (;;) {
        while (at < end && ends_name(*at) && *at != '>')
            at++;
        if (at == end)
            return NULL;
        if (*at == '>')
            return at + 1;
        span name = span_between(at, at + 1), value;
        while (name.end < end && !ends_name(*name.end) && *name.end != '=')
            name.end++;
        at = name.end;
        while (at < end && is_space(*at))
            at++;
        value = span_between(at, at);
        if (at < end && *at == '=') {
            at++;
            while (at < end && is_space(*at))
                at++;
            if (at < end && (*at == '"' || *at == '\'')) {
                const uint8_t *quote = find_byte(span_between(at + 1, end), *at);
                if (!quote)
                    return NULL;
                value = span_between(at + 1, quote);
                at = quote + 1;
            } else {
                value.at = at;
                while (at < end && *at != '>' && !is_space(*at))
                    at++;
                value.end = at;
            }
        }
        int which = attribute_of(name);
        if (which < 0 || HAS(found, which))
            continue;
        found->present |= UINT32_C(1) << which;
        found->values[which] = resolve_references(d->arena, &d->reader->tables->references, value, true);
    }
}

static void keep_url(struct document *d, struct url_list *list, span url) {
    if (!d->is_second_pass && url_add(d->arena, list, url))
        note_cut(d);
}

/* The URLs of a srcset, of which a browser shows one; a comma may stand inside of them. */
static void keep_srcset(struct document *d, span value) {
    for (int n = 0; n < MAX_URLS_OF_VALUE; n++) {
        while (value.at < value.end && (is_space(*value.at) || *value.at == ','))
            value.at++;
        span url = value;
        while (value.at < value.end && !is_space(*value.at))
            value.at++;
        url.end = value.at;
        if (is_empty(url))
            return;
        bool ends_here = url.end[-1] == ',';
        keep_url(d, &d->reader->message.images, strip_any(url, ","));
        while (!ends_here && value.at < value.end && *value.at != ',')
            value.at++;
    }
}

/* The URLs that a style names: url(...). */
static void keep_style_urls(struct document *d, span style) {
    for (int n = 0; n < MAX_URLS_OF_VALUE; n++) {
        const uint8_t *open = find_any_case(style, LITERAL("url("));
        if (!open)
            return;
        span url = span_between(open + 4, style.end);
        while (url.at < url.end && is_space(*url.at))
            url.at++;
        bool is_quoted = url.at < url.end && (*url.at == '"' || *url.at == '\'');
        url = is_quoted ? before_first(span_between(url.at + 1, url.end), *url.at) : before_first(url, ')');
        keep_url(d, &d->reader->message.images, strip(url));
        style.at = url.end;
    }
}

/* Where a page goes by itself: the URL in a meta refresh; none where it only loads itself again. */
static void keep_refresh(struct document *d, span value) {
    while (value.at < value.end && (is_digit(*value.at) || *value.at == '.' || is_space(*value.at)))
        value.at++;
    if (value.at < value.end && (*value.at == ';' || *value.at == ','))
        value.at++;
    value = strip(value);
    if (starts_with_any_case(value, LITERAL("url"))) {
        span rest = strip(skip_bytes(value, 3));
        if (starts_with(rest, LITERAL("=")))
            value = strip(skip_bytes(rest, 1));
    }
    if (!is_empty(value) && (*value.at == '"' || *value.at == '\''))
        value = before_first(skip_bytes(value, 1), *value.at);
    if (!is_empty(value))
        keep_url(d, &d->reader->message.links, value);
}

/* A link ends: does it show another host than it leads to? */
static void end_link(struct document *d) {
    if (d->linked.at && !d->is_second_pass) {
        struct writer writer = writer_open(d->arena, 2 * MAX_LINK_TEXT);
        for (size_t i = d->link_begin; i < d->pieces.count && writer.at - writer.begin < MAX_LINK_TEXT; i++)
            put_span(&writer, first_characters(d->pieces.items[i].text, MAX_LINK_TEXT));
        if (is_link_mismatch(d->reader, writer_close(&writer), d->linked))
            d->reader->message.facts |= FACT_LINK_MISMATCH;
    }
    d->linked = (span){0};
}

/* The URLs of a tag, and where a link leads. */
static void keep_urls(struct document *d, unsigned tag, span name, const struct attributes *attributes) {
    struct message *message = &d->reader->message;
    bool in_svg = is_same_any_case(name, LITERAL("image")) || is_same_any_case(name, LITERAL("feimage")) ||
                  is_same_any_case(name, LITERAL("use"));
    bool is_frame = tag == TAG_IFRAME || tag == TAG_FRAME || tag == TAG_EMBED;
    bool leads = tag == TAG_A || tag == TAG_AREA || tag == TAG_BASE;
    for (int i = 0; i <= LAST_OF_URLS; i++) {
        if (!HAS(attributes, i))
            continue;
        span value = attributes->values[i];
        struct url_list *list = &message->images;
        switch (i) {
        case A_HREF:
            list = leads ? &message->links : in_svg ? list : NULL;
            break;
        case A_XLINK:
            list = in_svg ? list : &message->links;
            break;
        case A_DATA:
            list = tag == TAG_OBJECT ? &message->links : NULL;
            break;
        case A_PING:
            list = &message->links;
            break;
        case A_SRC:
            list = is_frame ? &message->links : tag == TAG_SCRIPT ? NULL : list;
            break;
        case A_ACTION:
        case A_FORMACTION:
            list = &message->forms;
            break;
        case A_CONTENT:
            list = NULL;
            if (tag == TAG_META && HAS(attributes, A_HTTP_EQUIV) &&
                is_same_any_case(attributes->values[A_HTTP_EQUIV], LITERAL("refresh")))
                keep_refresh(d, value);
            break;
        case A_SRCSET:
        case A_IMAGESRCSET:
            list = NULL;
            keep_srcset(d, value);
            break;
        case A_STYLE:
            list = NULL;
            if (find_byte(value, '('))
                keep_style_urls(d, value);
            break;
        case A_BACKGROUND: case A_POSTER: case A_LOWSRC: case A_DYNSRC:
            break;
        default:
            list = NULL;
        }
        if (list && !is_empty(value))
            keep_url(d, list, value);
    }
    enum attribute href = HAS(attributes, A_HREF) && !is_empty(attributes->values[A_HREF]) ? A_HREF : A_XLINK;
    if (tag == TAG_A && HAS(attributes, href) && !is_empty(attributes->values[href])) {
        end_link(d);
        d->linked = attributes->values[href];
        d->link_begin = d->pieces.count;
    }
}

static void note_tag(struct document *d, unsigned tag) {
    if (!(TAGS[tag].flags & IS_FACT))
        tag = TAG_UNKNOWN;
    d->reader->message.tags[tag / 64] |= UINT64_C(1) << tag % 64;
}

/* What is not shown: of the tags in it only the names count. */
static void skip(struct document *d, span text) {
    const uint8_t *at;
    while ((at = find_byte(text, '<'))) {
        span name = span_between(at + 1, at + 1);
        while (name.end < text.end && (is_letter(*name.end) || (name.end > name.at && is_digit(*name.end))))
            name.end++;
        if (!is_empty(name))
            note_tag(d, tag_of(name));
        text.at = name.end;
    }
}

/* Where the end tag begins of an element whose text holds no other tags. */
static const uint8_t *raw_end(const struct document *d, span name, const uint8_t *at) {
    const uint8_t *end = d->html.end;
    while ((at = find_byte(span_between(at, end), '<'))) {
        span rest = span_between(at, end);
        size_t n = size_of(name) + 2;
        if (size_of(rest) >= n && at[1] == '/' && starts_with_any_case(skip_bytes(rest, 2), name) &&
            (size_of(rest) == n || ends_name(at[n])))
            return at;
        at++;
    }
    return end;
}

static bool is_css(const struct attributes *attributes) {
    span type = HAS(attributes, A_TYPE) ? attributes->values[A_TYPE] : (span){0};
    return is_empty(type) || is_same_any_case(type, LITERAL("text/css"));
}

static void read_sheet(struct document *d, const struct attributes *attributes, span text) {
    if (d->is_second_pass || top_of(d)->is_dropped || !is_css(attributes))
        return;
    span media = HAS(attributes, A_MEDIA) ? attributes->values[A_MEDIA] : (span){0};
    sheet_add(&d->sheet, text, media);
    if (d->sheet.is_cut)
        note_cut(d);
    d->needs_second_pass = d->needs_second_pass || d->pieces.count;
    memset(d->declared, 0, sizeof d->declared); /* other rules match now */
    d->n_declared = 0;
    for (size_t at = 0; at < 2; at++)
        d->stack[at].declared = new_declared(d, d->stack[at].tag, d->stack[at].name, &d->page_attributes[at]);
    inherit_again(d, 0);
}

/* A start tag that ends there; from where on to read. */
static const uint8_t *start_tag(struct document *d, unsigned tag, span name, const struct attributes *attributes,
                                const uint8_t *at) {
    note_tag(d, tag);
    if (tag != TAG_HTML)
        d->has_begun = true;
    bool has_urls = attributes->present & (URL_ATTRIBUTES | UINT32_C(1) << A_STYLE | UINT32_C(1) << A_BACKGROUND);
    unsigned kind = TAGS[tag].text;
    if (kind == NORMAL || kind == NOWHERE) {
        if (start_element(d, tag, name, attributes) && has_urls)
            keep_urls(d, tag, name, attributes);
        return at;
    }
    if (kind == REST) {
        text_before(d, at, d->html.end, NULL, false);
        return d->html.end;
    }
    if (has_urls)
        keep_urls(d, tag, name, attributes);
    /* The text of these ends with their end tag alone. */
    const uint8_t *stop = raw_end(d, span_of_name(TAGS[tag].name), at);
    if (kind == REFERENCES || tag == TAG_XMP) {
        bool in_title = tag == TAG_TITLE;
        if (!in_title)
            start_element(d, tag, name, attributes);
        text_before(d, at, stop, NULL, in_title);
        if (!in_title)
            end_element(d, tag, name);
    } else {
        if (tag == TAG_STYLE)
            read_sheet(d, attributes, span_between(at, stop));
        skip(d, span_between(at, stop));
    }
    return stop;
}

/* Where a comment, or what is read as one, ends whose "!" or "?" stands there. */
static const uint8_t *comment_end(span html, const uint8_t *at) {
    span rest = span_between(at, html.end);
    const uint8_t *stop;
    if (!starts_with(rest, LITERAL("!--"))) {
        stop = find_byte(rest, '>');
        return stop ? stop + 1 : html.end;
    }
    rest.at += 3;
    if (starts_with(rest, LITERAL(">")))
        return rest.at + 1;
    if (starts_with(rest, LITERAL("->")))
        return rest.at + 2;
    while ((stop = find(rest, LITERAL("--")))) {
        rest.at = stop + 2;
        if (starts_with(rest, LITERAL(">")))
            return rest.at + 1;
        if (starts_with(rest, LITERAL("!>")))
            return rest.at + 2;
        rest.at = stop + 1;
    }
    return html.end;
}

/* Whether the bytes around a place, or a span, are letters: a tag or comment there splits a word. */
static bool splits_word(span html, const uint8_t *begin, const uint8_t *end) {
    return begin > html.at && end < html.end && is_letter(begin[-1]) && is_letter(*end);
}

static void read_tags(struct document *d) {
    span html = d->html;
    const uint8_t *at = html.at, *search = html.at; /* where text begins, and from where on a tag is looked for */
    const uint8_t *opened = NULL, *opened_end = NULL; /* the start tag before */
    unsigned opened_tag = TAG_UNKNOWN;
    struct attributes attributes = {0};
    while (search < html.end) {
        if (d->reader->message.n_tags >= MAX_TAGS && !d->is_cut) {
            d->is_cut = true;
            const uint8_t *tail = size_of(html) > TAIL ? html.end - TAIL : html.at;
            const uint8_t *first = find_byte(span_between(tail, html.end), '<');
            tail = first ? first : tail;
            if (tail > search) {
                note_cut(d);
                at = search = tail;
            }
        }
        const uint8_t *found = find_byte(span_between(search, html.end), '<'), *i = found ? found + 1 : NULL;
        if (!i || i == html.end)
            break;
        bool is_end = *i == '/';
        if (is_end && ++i == html.end)
            break;
        if (is_letter(*i)) {
            span name = span_between(i, i);
            while (name.end < html.end && !ends_name(*name.end))
                name.end++;
            unsigned tag = tag_of(name);
            const uint8_t *end = read_attributes(d, name.end, &attributes);
            d->reader->message.n_tags++;
            text_before(d, at, found, &TAGS[tag], false);
            if (!end) { /* a tag that never ends is no tag */
                at = html.end;
                break;
            }
            if (is_end) {
                at = end;
                bool is_pair = opened && opened_tag == tag && tag != TAG_UNKNOWN && opened_end == found && end == name.end + 1;
                if (is_pair && found - opened <= MAX_EMPTY_PAIR && splits_word(html, opened, end))
                    d->reader->message.facts |= FACT_TAG_SPLIT;
                if (tag == TAG_A)
                    end_link(d);
                end_element(d, tag, name);
            } else {
                at = start_tag(d, tag, name, &attributes, end);
                opened = found;
                opened_end = end;
                opened_tag = tag;
            }
        } else if (is_end) {
            text_before(d, at, found, NULL, false);
            const uint8_t *stop = find_byte(span_between(i, html.end), '>');
            at = stop ? stop + 1 : html.end;
        } else if (*i == '!' || *i == '?') {
            text_before(d, at, found, NULL, false);
            at = comment_end(html, i);
            skip(d, span_between(found + 1, at));
            if (*i == '!' && splits_word(html, found, at))
                d->reader->message.facts |= FACT_COMMENT_SPLIT;
        } else {
            search = i;
            continue;
        }
        search = at;
    }
    if (at < html.end)
        text_before(d, at, html.end, NULL, false);
    end_link(d);
}

/* Whether a page is shown as those of the time before style sheets were (https://html.spec.whatwg.org/#quirks). */
static bool is_old_page(span html) {
    for (;;) {
        while (html.at < html.end && is_space(*html.at))
            html.at++;
        if (starts_with(html, LITERAL("\xEF\xBB\xBF")))
            html.at += 3;
        else if (starts_with(html, LITERAL("<!--")) || starts_with(html, LITERAL("<?")))
            html.at = comment_end(html, html.at + 1);
        else
            break;
    }
    if (!starts_with_any_case(html, LITERAL("<!doctype")))
        return true;
    span type = span_between(html.at + 9, comment_end(html, html.at + 1));
    type = strip(first_bytes(type, 300));
    if (!starts_with_any_case(type, LITERAL("html")) || size_of(type) < 5 || !(is_space(type.at[4]) || type.at[4] == '>'))
        return true;
    static const char *const OLD[] = {
        "-//ietf", "-//w3c//dtd html 2", "-//w3c//dtd html 3", "-//w3c//dtd w3 html", "-//w3c//dtd html 4.0 tr",
        "-//w3c//dtd html 4.0 fr",
    };
    for (size_t i = 0; i < COUNT_OF(OLD); i++)
        if (find_any_case(type, span_of(OLD[i], strlen(OLD[i]))))
            return true;
    bool is_4_01 = find_any_case(type, LITERAL("-//w3c//dtd html 4.01 tr")) ||
                   find_any_case(type, LITERAL("-//w3c//dtd html 4.01 fr"));
    return is_4_01 && !find_any_case(type, LITERAL("http"));
}

static void begin_document(struct document *d) {
    d->depth = 0;
    d->n_formatting = 0;
    d->form_is_open = d->has_content = d->has_begun = d->is_cut = d->needs_second_pass = false;
    d->pieces.count = 0;
    memset(d->counts, 0, sizeof d->counts);
    memset(d->declared, 0, sizeof d->declared);
    d->n_declared = 0;
    static const unsigned PAGE_TAGS[2] = {TAG_HTML, TAG_BODY};
    for (size_t i = 0; i < 2; i++) {
        const struct tag *tag = &TAGS[PAGE_TAGS[i]];
        span name = span_of_name(tag->name);
        d->stack[d->depth++] = (struct element){
            .tag = PAGE_TAGS[i], .name = name, .declared = new_declared(d, PAGE_TAGS[i], name, &d->page_attributes[i])};
    }
    inherit_again(d, 0);
}

static span shown_pieces(struct document *d) {
    struct writer writer = writer_open(d->arena, size_of(d->html) / 4 + 64);
    for (size_t i = 0; i < d->pieces.count; i++) {
        const struct piece *piece = &d->pieces.items[i];
        bool is_needed = piece->kind == PIECE_GAP && writer.at > writer.begin && !is_space(writer.at[-1]);
        if (piece->kind == PIECE_SHOWN || is_needed)
            put_span(&writer, piece->text);
    }
    return writer_close(&writer);
}

static span hidden_pieces(struct document *d) {
    struct writer writer = writer_open(d->arena, 64);
    for (size_t i = 0; i < d->pieces.count; i++)
        if (d->pieces.items[i].kind == PIECE_HIDDEN)
            put_span(&writer, d->pieces.items[i].text);
    return writer_close(&writer);
}

struct html_text read_html(struct reader *reader, span html) {
    struct document *d = arena_take(&reader->arena, 1, sizeof *d);
    d->reader = reader;
    d->arena = &reader->arena;
    d->html = html;
    d->is_old_page = is_old_page(html);
    d->stack = arena_room(d->arena, MAX_OPEN_ELEMENTS + 1, sizeof *d->stack);
    sheet_begin(&d->sheet, d->arena, d->is_old_page);
    begin_document(d);
    size_t n_tags = reader->message.n_tags;
    read_tags(d);
    if (d->needs_second_pass) {
        reader->message.n_tags = n_tags;
        reader->message.facts &= ~(uint32_t)(FACT_DISPLAY_NONE | FACT_TINY | FACT_SAME_COLOR | FACT_OFF_SCREEN);
        d->is_second_pass = true;
        begin_document(d);
        read_tags(d);
    }
    struct html_text found = {shown_pieces(d), (span){0}};
    found.hidden = hidden_pieces(d);
    if (shows_nothing(reader, found.hidden))
        found.hidden = (span){0};
    else
        reader->message.facts |= FACT_HIDDEN;
    return found;
}

/* ---- URLs ---- */

bool url_add(struct arena *arena, struct url_list *list, span url) {
    url = strip(first_bytes(url, 2000));
    size_t n = list->n_added++;
    if (list->urls.count < MAX_URLS) {
        *LIST_ADD(arena, &list->urls) = url;
        return false;
    }
    list->urls.items[MAX_URLS / 2 + n % (MAX_URLS / 2)] = url;
    return true;
}

size_t url_count(const struct url_list *list) { return list->urls.count; }

span url_at(const struct url_list *list, size_t i) {
    if (list->n_added > MAX_URLS && i >= MAX_URLS / 2)
        i = MAX_URLS / 2 + (i + list->n_added) % (MAX_URLS / 2);
    return list->urls.items[i];
}

span declared_charset(span octets) {
    const uint8_t *escape = find_byte(octets, 27);
    if (is_ascii(octets) && !escape)
        return (span){0};
    const uint8_t *found = find_any_case(first_bytes(octets, 2048), LITERAL("charset"));
    if (!found)
        return (span){0};
    span rest = span_between(found + 7, octets.end);
    while (rest.at < rest.end && (is_space(*rest.at) || *rest.at == '=' || *rest.at == '"' || *rest.at == '\''))
        rest.at++;
    span name = first_bytes(rest, 40);
    for (const uint8_t *at = name.at; at < name.end; at++)
        if (!(is_letter(*at) || is_digit(*at) || (*at && strchr("_.:-", *at))))
            name.end = at;
    return name;
}
