#include "html.h"

#include "links.h"
#include "reader.h"
#include "style.h"

enum {
    MAX_TAGS = 50000, /* in one message, formatting that is opened again included */
    TAIL = 8192,      /* bytes of the end of what has more, which are read too */
    MAX_OPEN_ELEMENTS = 512, /* those inside are not opened, as in browsers */
    MAX_FORMATTING = 64,  /* formatting elements that wait to be opened again */
    MAX_RESTYLED = 100000, /* elements whose style is made again, in one document */
    MAX_TITLE = 200,      /* bytes of a title, and of an input field, that are taken for seen */
    MAX_LINK_TEXT = 300,
    MAX_EMPTY_PAIR = 200,
    MAX_STYLE_URLS = 50,
    MAX_URLS = 1000,      /* of each kind */
};

struct element {
    unsigned tag;
    span name;
    const struct attributes *attributes; /* of style; NULL where there are none */
    const struct style *style;
    uint16_t parent;    /* where in the stack what it inherits from is */
    uint16_t paragraph; /* the paragraph that a block ends here; 0: none */
    bool is_dropped;    /* its text is shown nowhere */
    bool is_waiting;    /* as formatting, in the list */
};

/* Formatting that is opened again where something else than its own end tag closed it. One without attributes is a
 * marker: what stands before it is not. */
struct formatting {
    unsigned tag;
    span name;
    const struct attributes *attributes;
    bool is_open;
};

struct document {
    struct reader *reader;
    struct arena *arena;
    span html;
    bool is_second_pass, needs_second_pass, is_cut;
    struct sheet sheet;
    struct attributes page_attributes[2]; /* of html and body */
    struct element stack[MAX_OPEN_ELEMENTS + 1];
    size_t depth;
    uint16_t counts[N_TAGS]; /* of open elements, by tag */
    struct formatting formatting[MAX_FORMATTING];
    size_t n_formatting, n_restyled;
    struct buffer shown, hidden;
    span linked; /* where the link at hand leads */
    uint8_t *link_begin; /* its text */
};

static void note_cut(struct document *d) { d->reader->message.cuts |= CUT_HTML; }

static struct element *top_of(struct document *d) { return &d->stack[d->depth - 1]; }

/* ---- Open elements ---- */

/* Gives the element at this place of the stack its style, and says which paragraph it stands in. */
static void inherit(struct document *d, size_t at) {
    struct element *element = &d->stack[at];
    const struct style *style = at ? d->stack[element->parent].style : &FIRST_STYLE;
    unsigned flags = TAGS[element->tag].flags;
    bool is_barrier = flags & IS_BARRIER || !at;
    element->paragraph = element->tag == TAG_P ? (uint16_t)at : is_barrier ? 0 : d->stack[at - 1].paragraph;
    bool is_own = element->attributes || d->sheet.n_rules || flags & (IS_CONTROL | IS_UNSHOWN) ||
                  element->tag == TAG_MARK || element->tag == TAG_TABLE ||
                  (style->flags & IS_UNDER_INLINE && !(flags & IS_INLINE));
    element->style = is_own ? style_in(&d->sheet, style, element->tag, element->name, element->attributes) : style;
    if (at == 1)
        d->sheet.page = element->style;
    if (d->sheet.is_cut)
        note_cut(d);
}

/* The same of the open elements from this one on. */
static void inherit_again(struct document *d, size_t at) {
    d->n_restyled += d->depth - at;
    for (; at < d->depth && d->n_restyled <= MAX_RESTYLED; at++)
        inherit(d, at);
}

static void pop(struct document *d) {
    struct element *element = top_of(d);
    d->counts[element->tag]--;
    d->depth--;
    for (size_t i = d->n_formatting; element->is_waiting && i-- > 0;)
        if (d->formatting[i].attributes == element->attributes) {
            d->formatting[i].is_open = false;
            break;
        }
    if (TAGS[element->tag].flags & IS_BARRIER && element->tag != TAG_TABLE)
        while (d->n_formatting && d->formatting[--d->n_formatting].attributes)
            continue;
}

/* Closes the element at this place, and all inside; nothing where there is none (0). */
static void pop_to(struct document *d, size_t at) {
    while (at > 1 && d->depth > at)
        pop(d);
}

/* Whether an element is a table or its rows, where no text stands. */
static bool is_row(const struct element *element) {
    return TAGS[element->tag].kind >= TABLE && TAGS[element->tag].kind <= ROW && !(element->tag != TAG_TABLE &&
           TAGS[element->tag].flags & IS_BARRIER);
}

/* What stands in a table and in none of its cells is shown before the table: what it inherits from. */
static size_t place_of(const struct document *d, unsigned kind) {
    size_t at = d->depth - 1;
    if (is_row(&d->stack[at]) && !(kind >= TABLE && kind <= CELL))
        for (; at > 1; at--)
            if (d->stack[at].tag == TAG_TABLE)
                return at - 1;
    return at;
}

static bool is_element(const struct element *element, unsigned tag, span name) {
    return element->tag == tag && (tag != TAG_UNKNOWN || (size_of(name) == size_of(element->name) &&
           starts_with_any_case(element->name, name)));
}

/* Where the innermost such element is; 0 where another one stands between that bars the way. */
static size_t find_open(const struct document *d, unsigned tag, span name) {
    unsigned kind = TAGS[tag].kind;
    bool is_part = kind >= TABLE && kind <= CELL, is_inline = TAGS[tag].flags & IS_INLINE;
    for (size_t at = d->depth - 1; at > 1; at--) {
        const struct element *element = &d->stack[at];
        if (is_element(element, tag, name) || (kind == HEADING && TAGS[element->tag].kind == HEADING))
            return at;
        unsigned flags = TAGS[element->tag].flags;
        if (is_part ? element->tag == TAG_TABLE : flags & IS_BARRIER || (is_inline && !(flags & IS_INLINE)))
            return 0;
    }
    return 0;
}

static void push(struct document *d, unsigned tag, span name, const struct attributes *attributes) {
    if (d->depth >= MAX_OPEN_ELEMENTS)
        return;
    size_t parent = place_of(d, TAGS[tag].kind);
    bool is_dropped = top_of(d)->is_dropped || TAGS[tag].text == NOWHERE;
    d->stack[d->depth] = (struct element){
        .tag = tag, .name = name, .attributes = attributes, .parent = (uint16_t)parent, .is_dropped = is_dropped};
    d->counts[tag]++;
    inherit(d, d->depth++);
}

/* Puts formatting, or a marker, on the list of what waits to be opened again. */
static void remember(struct document *d, const struct formatting *entry) {
    if (d->n_formatting == MAX_FORMATTING)
        memmove(d->formatting, d->formatting + 1, --d->n_formatting * sizeof *d->formatting);
    d->formatting[d->n_formatting++] = *entry;
}

static void open_formatting_again(struct document *d) {
    size_t at = d->n_formatting;
    while (at && d->formatting[at - 1].attributes && !d->formatting[at - 1].is_open)
        at--;
    for (; at < d->n_formatting && d->depth < MAX_OPEN_ELEMENTS; at++) {
        struct formatting *closed = &d->formatting[at];
        push(d, closed->tag, closed->name, closed->attributes);
        top_of(d)->is_waiting = closed->is_open = true;
        d->reader->message.n_tags++;
    }
}

/* The end tag of formatting, which may have blocks inside (the standard's adoption agency, on a stack). */
static void end_formatting(struct document *d, unsigned tag, span name) {
    size_t i = d->n_formatting;
    while (i && d->formatting[i - 1].attributes && d->formatting[i - 1].tag != tag)
        i--;
    size_t at = find_open(d, tag, name);
    if (!i || !d->formatting[i - 1].attributes || (at && !d->stack[at].is_waiting)) {
        pop_to(d, at);
        return;
    }
    struct formatting ended = d->formatting[--i];
    memmove(d->formatting + i, d->formatting + i + 1, (--d->n_formatting - i) * sizeof *d->formatting);
    if (!ended.is_open)
        return;
    for (at = d->depth - 1; at > 1 && !(d->stack[at].is_waiting && d->stack[at].attributes == ended.attributes); at--)
        continue;
    if (at < 2)
        return;
    d->stack[at].is_waiting = false;
    if (find_open(d, tag, name) == at) {
        pop_to(d, at);
        return;
    }
    /* Blocks inside stay open, without the formatting; formatting inside of it that is not ended is opened again. */
    while (TAGS[top_of(d)->tag].flags & IS_INLINE)
        pop(d);
    d->counts[tag]--;
    memmove(d->stack + at, d->stack + at + 1, (--d->depth - at) * sizeof *d->stack);
    for (size_t k = at; k < d->depth; k++)
        d->stack[k].parent -= d->stack[k].parent >= at;
    inherit_again(d, at);
}

/* An item begins: the one before it in the same list ends. */
static void end_item(struct document *d, unsigned tag) {
    for (size_t at = d->depth - 1; at > 1; at--) {
        unsigned other = d->stack[at].tag;
        if (tag == TAG_LI ? other == TAG_LI : other == TAG_DD || other == TAG_DT) {
            pop_to(d, at);
            return;
        }
        if (!(TAGS[other].flags & IS_INLINE) && other != TAG_P && other != TAG_DIV && other != TAG_ADDRESS)
            return;
    }
}

/* Closes what must be closed before a table or one of its parts begins; false where there is no place for it. */
static bool make_place(struct document *d, unsigned kind) {
    if (kind == TABLE) {
        size_t at = d->depth - 1; /* the part of a table that is around */
        while (at > 1 && (TAGS[d->stack[at].tag].kind < TABLE || TAGS[d->stack[at].tag].kind > CELL))
            at--;
        bool is_between = at > 1 && is_row(&d->stack[at]); /* the cells of a table: that one ends */
        while (is_between && at > 2 && d->stack[at].tag != TAG_TABLE)
            at--;
        pop_to(d, is_between ? at : top_of(d)->paragraph);
        return true;
    }
    if (!d->counts[TAG_TABLE])
        return false;
    for (;;) {
        const struct element *top = top_of(d);
        unsigned above = TAGS[top->tag].kind;
        if (above == TABLE || (kind >= ROW && above == ROWS && is_row(top)) || (kind == CELL && above == ROW))
            return true;
        if (d->depth == 2)
            return false;
        pop(d);
    }
}

/* Gives the page attributes that it has not yet. */
static void merge_page(struct document *d, unsigned tag, const struct attributes *attributes) {
    size_t at = tag == TAG_BODY;
    struct attributes *known = &d->page_attributes[at];
    uint32_t added = attributes->present & ((UINT32_C(1) << N_STYLE_ATTRIBUTES) - 1) & ~known->present;
    for (int i = 0; i < N_STYLE_ATTRIBUTES; i++)
        if (added >> i & 1)
            known->values[i] = attributes->values[i];
    known->present |= added;
    if (!added)
        return;
    d->needs_second_pass = d->needs_second_pass || d->shown.at > d->shown.begin || d->hidden.at > d->hidden.begin;
    inherit_again(d, at);
}

static void start_element(struct document *d, unsigned tag, span name, const struct attributes *found) {
    unsigned kind = TAGS[tag].kind;
    if (kind == VOID || kind == IGNORED) {
        if (tag == TAG_FRAMESET && d->depth == 2 && d->shown.at == d->shown.begin)
            d->stack[1].is_dropped = true; /* of such a page frames are shown, and none of its text */
        return;
    }
    if (kind == WHOLE_PAGE) {
        merge_page(d, tag, found);
        return;
    }
    struct attributes *attributes = NULL;
    uint32_t styling = found->present & ((UINT32_C(1) << N_STYLE_ATTRIBUTES) - 1);
    if (styling || (kind == FORMATTING && d->sheet.n_rules)) {
        attributes = arena_room(d->arena, 1, offsetof(struct attributes, values) + N_STYLE_ATTRIBUTES * sizeof(span));
        attributes->present = styling;
        memcpy(attributes->values, found->values, N_STYLE_ATTRIBUTES * sizeof(span));
    }
    if (kind >= TABLE && kind <= CELL) {
        if (!make_place(d, kind))
            return;
    } else if (kind == BLOCK || kind == HEADING || kind == ITEM) {
        if (kind == ITEM)
            end_item(d, tag);
        pop_to(d, top_of(d)->paragraph);
        if (kind == HEADING && TAGS[top_of(d)->tag].kind == HEADING)
            pop(d);
    } else {
        if (tag == TAG_A && d->counts[tag])
            end_formatting(d, tag, name);
        open_formatting_again(d);
    }
    size_t depth = d->depth;
    push(d, tag, name, attributes);
    bool is_barrier = TAGS[tag].flags & IS_BARRIER && tag != TAG_TABLE;
    if (d->depth > depth && (is_barrier || (kind == FORMATTING && attributes))) {
        top_of(d)->is_waiting = !is_barrier;
        remember(d, &(struct formatting){tag, name, is_barrier ? NULL : attributes, true});
    }
}

static void end_element(struct document *d, unsigned tag, span name) {
    unsigned kind = TAGS[tag].kind;
    if (kind == FORMATTING)
        end_formatting(d, tag, name);
    else if (tag == TAG_P)
        pop_to(d, top_of(d)->paragraph);
    else if (kind == HEADING || (kind != WHOLE_PAGE && kind != VOID && d->counts[tag]))
        pop_to(d, find_open(d, tag, name));
}

/* ---- Text ---- */

/* Whether a text shows nothing, in any script. */
static bool shows_nothing(struct reader *reader, span text) {
    while (!is_empty(text)) {
        uint8_t c = *text.at;
        if (c < 0x80 ? !(is_space(c) || c == '\v') : !(character_of(reader, next_point(&text))->flags & IS_SPACE))
            return false;
        text.at += c < 0x80;
    }
    return true;
}

static void end_word(struct buffer *buffer) {
    if (buffer->at > buffer->begin && !is_space(buffer->at[-1]))
        buffer_put(buffer, LITERAL("\n"));
}

/* Adds text to what is shown, or to what is hidden. Of one that is hidden spaces part what is shown around it. */
static void put_text(struct document *d, span text, enum why_hidden why) {
    struct buffer *buffer = why ? &d->hidden : &d->shown;
    uint8_t *begin = buffer->at;
    put_resolved(buffer, &d->reader->tables->references, text, false);
    if (!why)
        return;
    span hidden = span_between(begin, buffer->at);
    static const uint32_t FACTS[] = {0, FACT_DISPLAY_NONE, FACT_TINY, FACT_SAME_COLOR, FACT_OFF_SCREEN, 0};
    if (!shows_nothing(d->reader, hidden))
        d->reader->message.facts |= FACT_HIDDEN | FACTS[why];
    else if (!is_empty(hidden) && d->shown.at > d->shown.begin && !is_space(d->shown.at[-1]))
        buffer_put(&d->shown, LITERAL(" "));
}

/* The text between two places of the document. */
static void add_text(struct document *d, const uint8_t *begin, const uint8_t *end) {
    span text = span_between(begin, end);
    if (is_empty(text))
        return;
    bool is_blank = shows_nothing(d->reader, text);
    struct element *top = top_of(d);
    if (!is_blank && (d->n_formatting && !d->formatting[d->n_formatting - 1].is_open)) {
        open_formatting_again(d);
        top = top_of(d);
    }
    if (top->is_dropped)
        return;
    if (!is_blank && is_row(top))
        top = &d->stack[place_of(d, ORDINARY)];
    /* Where not all rules or styles are known, nothing counts as hidden. */
    bool is_known = !d->sheet.is_cut && d->n_restyled <= MAX_RESTYLED;
    d->needs_second_pass = d->needs_second_pass || !is_known;
    put_text(d, text, is_known ? top->style->why : SEEN);
}

/* The text of a title or an input field, of which a window shows the beginning. */
static void add_window_text(struct document *d, span text) {
    span shown = first_characters(text, MAX_TITLE);
    if (size_of(shown) < size_of(text)) {
        const uint8_t *blank = find_last(shown, ' ');
        shown.end = blank ? blank : shown.end;
    }
    const struct element *top = top_of(d);
    enum why_hidden why = top->is_dropped ? HIDDEN_OTHERWISE : d->depth > 2 ? top->style->why : SEEN;
    put_text(d, shown, why);
    if (shown.end < text.end)
        put_text(d, span_between(shown.end, text.end), HIDDEN_OTHERWISE);
}

/* ---- Tags ---- */

static bool ends_name(uint8_t c) { return c <= '>' && (c == '>' || c == '/' || is_space(c)); }

static span resolved(struct document *d, span value) {
    if (!find_byte(value, '&'))
        return value;
    size_t room = 2 * size_of(value) + 8;
    uint8_t *begin = arena_room(d->arena, room, 1);
    struct buffer buffer = {begin, begin, begin + room};
    put_resolved(&buffer, &d->reader->tables->references, value, true);
    return span_between(buffer.begin, buffer.at);
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
        enum attribute which = attribute_of(name);
        if (which == N_ATTRIBUTES || has(found, which))
            continue;
        found->present |= UINT32_C(1) << which;
        found->values[which] = resolved(d, value);
    }
}

/* Keeps a URL; of very many the first ones, and some of the last. */
static void keep_url(struct document *d, span_list *list, span url) {
    struct message *message = &d->reader->message;
    if (is_empty(url) || d->is_second_pass)
        return;
    if (list->count == MAX_URLS)
        message->cuts |= CUT_LINKS;
    span *place = list->count < MAX_URLS ? LIST_ADD(d->arena, list)
                                         : &list->items[MAX_URLS / 2 + message->n_tags % (MAX_URLS / 2)];
    *place = strip(first_bytes(url, MAX_URL));
}

/* The URLs that a style names: url(...). */
static void keep_style_urls(struct document *d, span style) {
    for (int n = 0; n < MAX_STYLE_URLS; n++) {
        const uint8_t *open = find_any_case(style, LITERAL("url("));
        if (!open)
            return;
        span url = before_first(span_between(open + 4, style.end), ')');
        keep_url(d, &d->reader->message.images, strip_any(strip(url), "\"'"));
        style.at = url.end;
    }
}

/* Where a page goes by itself: the URL in a meta refresh; none where it only loads itself again. */
static void keep_refresh(struct document *d, span value) {
    const uint8_t *begin = find_any_case(first_bytes(value, 100), LITERAL("url"));
    span url = begin ? strip(span_between(begin + 3, value.end)) : (span){0};
    if (!starts_with(url, LITERAL("=")))
        return;
    url = strip(skip_bytes(url, 1));
    bool is_quoted = !is_empty(url) && (*url.at == '"' || *url.at == '\'');
    keep_url(d, &d->reader->message.links, is_quoted ? before_first(skip_bytes(url, 1), *url.at) : url);
}

/* A link ends: does it show another host than it leads to? */
static void end_link(struct document *d) {
    if (d->linked.at && !d->is_second_pass) {
        span shown = first_characters(span_between(d->link_begin, d->shown.at), MAX_LINK_TEXT);
        if (is_link_mismatch(d->reader, shown, d->linked))
            d->reader->message.facts |= FACT_LINK_MISMATCH;
    }
    d->linked = (span){0};
}

/* The URLs of a tag, and where a link leads. */
static void keep_urls(struct document *d, unsigned tag, const struct attributes *attributes) {
    struct message *message = &d->reader->message;
    bool is_frame = tag == TAG_IFRAME || tag == TAG_FRAME || tag == TAG_EMBED;
    bool leads = tag == TAG_A || tag == TAG_AREA || tag == TAG_BASE;
    span_list *const list_of[N_ATTRIBUTES] = {
        [A_HREF] = leads ? &message->links : NULL,
        [A_SRC] = is_frame ? &message->links : tag == TAG_SCRIPT ? NULL : &message->images,
        [A_PING] = &message->links, [A_XLINK] = &message->links,
        [A_BACKGROUND] = &message->images, [A_POSTER] = &message->images, [A_LOWSRC] = &message->images,
        [A_DYNSRC] = &message->images, [A_ACTION] = &message->forms, [A_FORMACTION] = &message->forms,
    };
    for (uint32_t left = attributes->present; left; left &= left - 1)
        if (list_of[__builtin_ctz(left)])
            keep_url(d, list_of[__builtin_ctz(left)], attributes->values[__builtin_ctz(left)]);
    if (has(attributes, A_STYLE) && find_byte(attributes->values[A_STYLE], '('))
        keep_style_urls(d, attributes->values[A_STYLE]);
    if (tag == TAG_META && is_same_any_case(value_of_attribute(attributes, A_HTTP_EQUIV), LITERAL("refresh")))
        keep_refresh(d, value_of_attribute(attributes, A_CONTENT));
    if (tag == TAG_A && !is_empty(value_of_attribute(attributes, A_HREF))) {
        end_link(d);
        d->linked = attributes->values[A_HREF];
        d->link_begin = d->shown.at;
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
        span rest = skip_bytes(span_between(at, end), 2);
        if (rest.at < end && at[1] == '/' && starts_with_any_case(rest, name) &&
            (size_of(rest) == size_of(name) || ends_name(rest.at[size_of(name)])))
            return at;
        at++;
    }
    return end;
}

static void read_sheet(struct document *d, const struct attributes *attributes, span text) {
    span type = value_of_attribute(attributes, A_TYPE);
    bool is_css = is_empty(type) || is_same_any_case(type, LITERAL("text/css"));
    if (d->is_second_pass || top_of(d)->is_dropped || !is_css)
        return;
    sheet_add(&d->sheet, text, value_of_attribute(attributes, A_MEDIA));
    d->needs_second_pass = d->needs_second_pass || d->shown.at > d->shown.begin || d->hidden.at > d->hidden.begin;
    inherit_again(d, 0);
}

/* A start tag that ends there; from where on to read. */
static const uint8_t *start_tag(struct document *d, unsigned tag, span name, const struct attributes *attributes,
                                const uint8_t *at) {
    note_tag(d, tag);
    if (attributes->present)
        keep_urls(d, tag, attributes);
    unsigned kind = TAGS[tag].text;
    if (kind == NORMAL || kind == NOWHERE) {
        start_element(d, tag, name, attributes);
        return at;
    }
    /* The text of these ends with their end tag alone. */
    span text = span_between(at, kind == REST ? d->html.end : raw_end(d, span_of_name(TAGS[tag].name), at));
    if (tag == TAG_TITLE)
        add_window_text(d, text);
    else if (kind == RAW && tag != TAG_XMP) {
        if (tag == TAG_STYLE)
            read_sheet(d, attributes, text);
        skip(d, text);
    } else {
        start_element(d, tag, name, attributes);
        if (tag == TAG_TEXTAREA)
            add_window_text(d, text);
        else
            add_text(d, text.at, text.end);
        end_element(d, tag, name);
    }
    return text.end;
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
    if (starts_with(rest, LITERAL(">")) || starts_with(rest, LITERAL("->")))
        return find_byte(rest, '>') + 1;
    while ((stop = find(rest, LITERAL("--")))) {
        rest.at = stop + 2;
        if (starts_with(rest, LITERAL(">")) || starts_with(rest, LITERAL("!>")))
            return find_byte(rest, '>') + 1;
        rest.at = stop + 1;
    }
    return html.end;
}

/* Whether the bytes around a place, or a span, are letters: a tag or comment there splits a word. */
static bool splits_word(span html, const uint8_t *begin, const uint8_t *end) {
    return begin > html.at && end < html.end && is_letter(begin[-1]) && is_letter(*end);
}

/* Of a page with very many tags, where the tail begins that is read too; else from where on to read. */
static const uint8_t *skip_middle(struct document *d, const uint8_t *at) {
    if (d->reader->message.n_tags < MAX_TAGS || d->is_cut || (size_t)(d->html.end - at) <= TAIL)
        return at;
    d->is_cut = true;
    note_cut(d);
    const uint8_t *tail = find_byte(span_between(d->html.end - TAIL, d->html.end), '<');
    return tail ? tail : d->html.end;
}

static void read_tags(struct document *d) {
    span html = d->html, opened = {0}; /* the start tag before */
    const uint8_t *at = html.at, *search = html.at, *found; /* where text begins; where a tag is looked for */
    struct attributes attributes = {0};
    unsigned opened_tag = TAG_UNKNOWN;
    while ((found = find_byte(span_between(search, html.end), '<')) && found + 1 < html.end) {
        const uint8_t *tail = skip_middle(d, found);
        if (tail > found) {
            at = search = tail;
            continue;
        }
        bool is_end = found[1] == '/';
        const uint8_t *begin = found + 1 + is_end;
        if (begin < html.end && is_letter(*begin)) {
            span name = span_between(begin, begin);
            while (name.end < html.end && !ends_name(*name.end))
                name.end++;
            unsigned tag = tag_of(name);
            const uint8_t *end = read_attributes(d, name.end, &attributes);
            add_text(d, at, found);
            at = search = html.end;
            if (!end) /* a tag that never ends is no tag */
                break;
            d->reader->message.n_tags++;
            if (TAGS[tag].flags & ENDS_WORD) {
                end_word(&d->shown);
                end_word(&d->hidden);
            }
            if (is_end) {
                bool is_pair = opened.end == found && opened_tag == tag && tag != TAG_UNKNOWN && end == name.end + 1;
                if (is_pair && size_of(opened) <= MAX_EMPTY_PAIR && splits_word(html, opened.at, end))
                    d->reader->message.facts |= FACT_TAG_SPLIT;
                if (tag == TAG_A)
                    end_link(d);
                end_element(d, tag, name);
                at = end;
            } else {
                at = start_tag(d, tag, name, &attributes, end);
                opened = span_between(found, end);
                opened_tag = tag;
            }
        } else if (is_end || *begin == '!' || *begin == '?') {
            add_text(d, at, found);
            at = comment_end(html, begin);
            skip(d, span_between(begin, at > begin ? at : begin));
            if (!is_end && *begin == '!' && splits_word(html, found, at))
                d->reader->message.facts |= FACT_COMMENT_SPLIT;
        } else {
            search = begin;
            continue;
        }
        search = at;
    }
    if (at < html.end)
        add_text(d, at, html.end);
    end_link(d);
}

static void begin_document(struct document *d) {
    static const unsigned PAGE_TAGS[2] = {TAG_HTML, TAG_BODY};
    d->shown.at = d->shown.begin;
    d->hidden.at = d->hidden.begin;
    d->n_formatting = 0;
    d->needs_second_pass = d->is_cut = false;
    memset(d->counts, 0, sizeof d->counts);
    for (d->depth = 0; d->depth < 2; d->depth++)
        d->stack[d->depth] = (struct element){.tag = PAGE_TAGS[d->depth], .name = span_of_name(TAGS[PAGE_TAGS[d->depth]].name),
                                              .attributes = &d->page_attributes[d->depth]};
    inherit_again(d, 0);
}

static void buffer_begin(struct document *d, struct buffer *buffer) {
    size_t room = 2 * size_of(d->html) + 64;
    buffer->begin = buffer->at = arena_room(d->arena, room, 1);
    buffer->end = buffer->begin + room;
}

struct html_text read_html(struct reader *reader, span html) {
    struct document *d = arena_room(&reader->arena, 1, sizeof *d);
    d->is_second_pass = false;
    d->n_restyled = 0;
    d->linked = (span){0};
    d->page_attributes[0].present = d->page_attributes[1].present = 0;
    d->reader = reader;
    d->arena = &reader->arena;
    d->html = html;
    buffer_begin(d, &d->shown);
    buffer_begin(d, &d->hidden);
    sheet_begin(&d->sheet, d->arena);
    begin_document(d);
    size_t n_tags = reader->message.n_tags;
    uint32_t facts = reader->message.facts;
    read_tags(d);
    if (d->needs_second_pass) {
        reader->message.n_tags = n_tags;
        reader->message.facts = facts | (reader->message.facts & (FACT_LINK_MISMATCH | FACT_COMMENT_SPLIT | FACT_TAG_SPLIT));
        d->is_second_pass = true;
        begin_document(d);
        read_tags(d);
    }
    span shown = span_between(d->shown.begin, d->shown.at), hidden = strip(span_between(d->hidden.begin, d->hidden.at));
    while (!is_empty(shown) && is_space(*shown.at))
        shown.at++;
    return (struct html_text){shown, shows_nothing(reader, hidden) ? (span){0} : hidden};
}

span declared_charset(span octets) {
    const uint8_t *found = find_any_case(first_bytes(octets, 2048), LITERAL("charset"));
    if (!found || (is_ascii(octets) && !find_byte(octets, 27)))
        return (span){0};
    span name = first_bytes(strip_any(span_between(found + 7, octets.end), " \t\r\n=\"'"), 40);
    for (const uint8_t *at = name.at; at < name.end; at++)
        if (!(is_letter(*at) || is_digit(*at) || (*at && strchr("_.:-", *at))))
            name.end = at;
    return name;
}
