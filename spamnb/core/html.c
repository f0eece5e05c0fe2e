/* HTML -> plain text, doubtful text, URLs and tags.
 *
 * read_html reads a page in one pass, by the rules of the HTML standard, with a stack of open elements and without a
 * tree. It writes the text after it has read the whole page, because style sheets may follow the text that they hide.
 */
#include "reader.h"

enum {
    MAX_TAGS = 50000, /* of a message; ordinary mail: 7,106. 1 MB of end tags takes 57 ms; without the bound, 277 ms */
    MAX_OPEN_ELEMENTS = 512, /* nested deeper, elements are not opened, as in browsers */
    MAX_NODES = 1 << 17, /* of a message, because each "<p>" opens the formatting around it again; ordinary mail: 3,544.
                          * This many take 18 MB */
    MAX_FORMATTING = 64, /* formatting elements that may be opened again; ordinary mail: 16 */
    MAX_WRAPPERS = 8, /* formatting elements that end in one open block; then its text is doubtful */
    MIN_PAGE_LETTER = 10, /* pixels of the letters of the html element, because the unit rem is a multiple of them */
    MAX_FRAMES = 1000, /* pages in a page; ordinary mail: 0 */
    MAX_PIECES = 1 << 17, /* pieces of a document: this many take 5 MB; ordinary mail: 7,149 */
    MAX_PARTS_BYTES = 128, /* of the plain parts of a word: more than any word that is counted */
    MAX_META = 100, /* "url" must begin in these bytes of a meta element's content; ordinary mail: in 4 */
    MAX_PRESCAN = 2048, /* bytes before the declaration of a charset; ordinary mail: 1,067. Browsers read 1,024 */
    MAX_ABOVE_PAGE = 12, /* pixels by which text may be moved above the page */
    MAX_CHARSET = 40, /* bytes of a charset's name (RFC 2978) */
};

/* An element that was opened. Texts and elements inside inherit its style, which make_styles computes after the whole
 * page was read. */
struct node {
    unsigned tag;
    uint32_t parent;
    uint32_t wrapper, next; /* the formatting that is moved into this block, and the node of the block after that; or 0 */
    span name;
    uint64_t hash; /* of the name, if HTML has no such tag; else 0 */
    struct attributes *attributes; /* the attributes that set style; NULL if the tag has none */
    const struct style *style;
    uint32_t n_pieces; /* of the page before the element */
    float shift, above; /* of the element itself, as in its style */
};

struct element {
    unsigned tag;
    uint32_t node;
    uint16_t paragraph; /* index of the open p element that a new block would close; 0 if there is none */
};

/* A formatting element. If a block closes it, browsers open it again before the next text. An item without a tag is the
 * beginning of a cell, in which outer formatting is not opened again. */
struct formatting {
    unsigned tag;
    uint32_t node;
    bool is_open;
};

/* TEXT: its character references are resolved when it is written. PLAIN_TEXT has no references. The others have no
 * text: at these places in the page a word ends or may end. */
enum piece_kind { TEXT, PLAIN_TEXT, END_OF_WORD, MAYBE_END };

struct piece {
    span text;
    uint32_t node;
    enum piece_kind kind;
};

/* A link with a URL, and its node. */
struct anchor {
    span url;
    uint32_t node;
};

struct document {
    struct reader *reader;
    struct arena *arena;
    span html;
    struct sheet sheet;
    struct attributes page_attributes[2]; /* of the elements html and body */
    LIST(struct node) nodes;
    LIST(struct piece) pieces;
    LIST(struct anchor) anchors;
    span_list doubtful_texts;
    LIST(struct formatting) formatting; /* the formatting elements that no end tag has closed */
    size_t n_breaks; /* br, hr and p elements since the last text */
    bool shows_attributes; /* a sheet shows attributes as text */
    bool has_form; /* a form was opened and not closed, so that another one is not opened */
    bool is_below; /* the text from here on follows MAX_BREAKS breaks */
    struct element stack[MAX_OPEN_ELEMENTS + 1]; /* open elements, the outermost first */
    size_t depth;
    uint16_t counts[N_TAGS]; /* numbers of open elements, by tag */
};

/* DOUBTFUL_NODE: the node of text that is doubtful whatever its element is, such as text that is in a table but in no
 * cell: browsers show it before the table. MAY_END: the control character in a text that marks where a word may end. */
enum { DOUBTFUL_NODE = 2, MAY_END = 1 };

static struct element *top_of(struct document *d) { return &d->stack[d->depth - 1]; }

/* ---- Open elements ---- */

/* Tags in these elements have another meaning. */
static bool is_foreign_tag(unsigned tag) { return tag == TAG_SVG || tag == TAG_MATH; }

static bool is_table_part(unsigned tag) { return TAGS[tag].kind >= TABLE && TAGS[tag].kind <= CELL; }

/* Returns whether an element is a table or a part of a table that contains cells but no text. */
static bool contains_cells(const struct element *element) {
    const struct tag *tag = &TAGS[element->tag];
    bool is_caption = tag->kind == TABLE_SECTION && tag->flags & IS_BARRIER;
    return tag->kind >= TABLE && tag->kind <= ROW && !is_caption;
}

/* Adds the node of the element at this index of the stack, and sets the element's node and paragraph. */
static void add_node(struct document *d, size_t at, struct node node) {
    struct element *element = &d->stack[at];
    bool is_barrier = TAGS[element->tag].flags & IS_BARRIER || is_foreign_tag(element->tag) || !at;
    element->paragraph = element->tag == TAG_P ? (uint16_t)at : is_barrier ? 0 : d->stack[at - 1].paragraph;
    element->node = (uint32_t)d->nodes.count;
    node.n_pieces = (uint32_t)d->pieces.count;
    bool is_moved = at && contains_cells(&d->stack[at - 1]) && !is_table_part(element->tag);
    node.parent = is_moved ? DOUBTFUL_NODE : at ? d->stack[at - 1].node : 0;
    *LIST_ADD(d->arena, &d->nodes) = node;
    d->reader->message.n_nodes++;
}

/* Forgets the formatting elements of a cell. */
static void end_cell(struct document *d) {
    while (d->formatting.count && d->formatting.items[--d->formatting.count].tag)
        continue;
}

/* Closes the element at this index of the stack, and all elements inside; closes nothing at 0. */
static void pop_to(struct document *d, size_t at) {
    while (at > 1 && d->depth > at) {
        const struct element *element = &d->stack[--d->depth];
        const struct tag *tag = &TAGS[element->tag];
        d->counts[element->tag]--;
        if (tag->flags & IS_BARRIER && tag->kind != TABLE)
            end_cell(d);
        for (size_t i = d->formatting.count; tag->kind == FORMATTING && i-- > 0;)
            if (d->formatting.items[i].node == element->node) {
                d->formatting.items[i].is_open = false;
                break;
            }
    }
}

/* Returns the index of the open element that an end tag closes; 0 if the end tag closes none. */
static size_t find_open(const struct document *d, unsigned tag, span name) {
    unsigned kind = TAGS[tag].kind;
    bool is_inline = TAGS[tag].flags & IS_INLINE;
    uint64_t hash = tag == TAG_UNKNOWN ? hash_any_case(SECRET, name) : 0;
    for (size_t at = d->depth - 1; at > 1; at--) {
        const struct element *element = &d->stack[at];
        bool is_same_name = element->tag == tag && d->nodes.items[element->node].hash == hash;
        if (is_same_name || (kind == HEADING && TAGS[element->tag].kind == HEADING))
            return at;
        unsigned flags = TAGS[element->tag].flags;
        if (is_table_part(tag) ? element->tag == TAG_TABLE : flags & IS_BARRIER || (is_inline && !(flags & IS_INLINE)))
            return 0;
    }
    return 0;
}

static void push(struct document *d, struct node node) {
    if (d->depth >= MAX_OPEN_ELEMENTS)
        return;
    if (d->reader->message.n_nodes >= MAX_NODES) {
        d->sheet.is_lost = true;
        return;
    }
    const struct tag *tag = &TAGS[node.tag];
    d->stack[d->depth] = (struct element){.tag = node.tag};
    d->counts[node.tag]++;
    add_node(d, d->depth++, node);
    if (tag->flags & IS_BARRIER && tag->kind != TABLE)
        *LIST_ADD(d->arena, &d->formatting) = (struct formatting){0};
}

/* Returns whether two nodes are elements of one tag with the same style. */
static bool is_same_formatting(const struct node *node, const struct node *other) {
    const struct attributes *a = node->attributes, *b = other->attributes;
    if (node->tag != other->tag || !a != !b || (a && a->present != b->present))
        return false;
    for (int i = 0; a && i < N_STYLE_ATTRIBUTES; i++)
        if (a->present >> i & 1 && !is_same(a->values[i], b->values[i]))
            return false;
    return true;
}

/* Notes that the innermost element is formatting. As in browsers, no more than three such elements are opened again. */
static void begin_formatting(struct document *d) {
    uint32_t node = top_of(d)->node;
    size_t n_same = 0, n = 0, i = d->formatting.count;
    for (; i-- > 0 && d->formatting.items[i].tag; n++)
        if (is_same_formatting(&d->nodes.items[d->formatting.items[i].node], &d->nodes.items[node]) && ++n_same == 3)
            break;
    if (n_same == 3) {
        memmove(&d->formatting.items[i], &d->formatting.items[i + 1],
                (--d->formatting.count - i) * sizeof *d->formatting.items);
    } else if (n >= MAX_FORMATTING) {
        d->sheet.is_lost = true;
        return;
    }
    *LIST_ADD(d->arena, &d->formatting) = (struct formatting){top_of(d)->tag, node, true};
}

/* Opens the formatting elements again that a block has closed. */
static void reopen_formatting(struct document *d) {
    size_t i = d->formatting.count;
    if (!i || d->formatting.items[i - 1].is_open || contains_cells(top_of(d)))
        return;
    while (i > 0 && d->formatting.items[i - 1].tag && !d->formatting.items[i - 1].is_open)
        i--;
    for (; i < d->formatting.count && !d->sheet.is_lost; i++) {
        struct formatting *formatting = &d->formatting.items[i];
        size_t depth = d->depth;
        struct node node = d->nodes.items[formatting->node];
        node.style = NULL;
        push(d, node);
        if (d->depth == depth)
            return;
        formatting->node = top_of(d)->node;
        formatting->is_open = true;
    }
}

/* Ends formatting in which blocks are open: these blocks go on without it. Browsers move it into each block, around the
 * text that the block has. at: the index of the formatting element. */
static void move_into_blocks(struct document *d, size_t at) {
    size_t depth = d->depth;
    uint32_t wrapper = d->stack[at].node;
    d->counts[d->stack[at].tag]--;
    d->depth = at;
    for (size_t i = at + 1; i < depth; i++) {
        struct element element = d->stack[i];
        unsigned kind = TAGS[element.tag].kind;
        if (TAGS[element.tag].flags & IS_INLINE && kind != FORMATTING) {
            d->counts[element.tag]--;
            continue;
        }
        d->stack[d->depth] = element;
        struct node node = d->nodes.items[element.node];
        node.style = NULL;
        add_node(d, d->depth, node);
        if (!(TAGS[element.tag].flags & IS_INLINE)) {
            d->nodes.items[element.node].wrapper = wrapper;
            d->nodes.items[element.node].next = d->stack[d->depth].node;
        }
        for (size_t k = d->formatting.count; kind == FORMATTING && k-- > 0;)
            if (d->formatting.items[k].node == element.node)
                d->formatting.items[k].node = d->stack[d->depth].node;
        d->depth++;
    }
    d->sheet.is_lost = d->sheet.is_lost || d->reader->message.n_nodes >= MAX_NODES;
}

/* Handles the end tag of formatting as browsers do (the adoption agency algorithm of the HTML standard). */
static void end_formatting(struct document *d, unsigned tag, span name) {
    size_t i = d->formatting.count;
    while (i > 0 && d->formatting.items[i - 1].tag && d->formatting.items[i - 1].tag != tag)
        i--;
    if (!i || !d->formatting.items[i - 1].tag) {
        pop_to(d, find_open(d, tag, name));
        return;
    }
    struct formatting formatting = d->formatting.items[--i];
    size_t at = d->depth - 1;
    bool has_block = false;
    for (; formatting.is_open && d->stack[at].node != formatting.node; at--) {
        if (TAGS[d->stack[at].tag].flags & IS_BARRIER || at <= 2)
            return; /* a table is open in the formatting */
        has_block = has_block || !(TAGS[d->stack[at].tag].flags & IS_INLINE);
    }
    memmove(&d->formatting.items[i], &d->formatting.items[i + 1], (--d->formatting.count - i) * sizeof *d->formatting.items);
    if (has_block && d->reader->message.n_nodes < MAX_NODES)
        move_into_blocks(d, at);
    else if (formatting.is_open)
        pop_to(d, at);
}

/* Closes the open item of a list before the next item of this list. */
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

/* Closes the elements that a new table, or a new part of a table, ends. Returns false if the part is in no table. */
static bool close_for_table_part(struct document *d, unsigned kind) {
    if (kind == TABLE) {
        size_t at = d->depth - 1; /* at: the innermost part of a table */
        while (at > 1 && !is_table_part(d->stack[at].tag))
            at--;
        bool is_between_cells = at > 1 && contains_cells(&d->stack[at]); /* browsers end the outer table */
        while (is_between_cells && at > 2 && d->stack[at].tag != TAG_TABLE)
            at--;
        pop_to(d, is_between_cells ? at : top_of(d)->paragraph);
        return true;
    }
    if (!d->counts[TAG_TABLE])
        return false;
    size_t at = d->depth;
    for (; at > 2; at--) {
        const struct element *top = &d->stack[at - 1];
        unsigned top_kind = TAGS[top->tag].kind;
        if (top_kind == TABLE || (kind >= ROW && top_kind == TABLE_SECTION && contains_cells(top)) ||
            (kind == CELL && top_kind == ROW))
            break;
    }
    pop_to(d, at);
    return at > 2;
}

/* Returns whether the message has more than MAX_TAGS tags. Then elements are not opened, and the text is doubtful. */
static bool has_too_many_tags(struct document *d) {
    if (d->reader->message.n_tags <= MAX_TAGS)
        return false;
    d->reader->message.truncations |= TRUNCATED_HTML;
    return d->sheet.is_lost = true;
}

/* Adds the attributes of an html or body tag to the page, except attributes that the page already has. */
static void merge_page_attributes(struct document *d, unsigned tag, const struct attributes *attributes) {
    struct attributes *page = &d->page_attributes[tag == TAG_BODY];
    uint32_t new_attributes = attributes->present & ((UINT32_C(1) << N_STYLE_ATTRIBUTES) - 1) & ~page->present;
    for (int i = 0; i < N_STYLE_ATTRIBUTES; i++)
        if (new_attributes >> i & 1)
            page->values[i] = attributes->values[i];
    page->present |= new_attributes;
}

/* Closes a form, but not the elements in it, except the innermost ones that need no end tag. at: its index. */
static void end_form(struct document *d, size_t at) {
    while (TAGS[top_of(d)->tag].flags & NEEDS_NO_END)
        pop_to(d, d->depth - 1);
    d->counts[TAG_FORM]--;
    memmove(&d->stack[at], &d->stack[at + 1], (--d->depth - at) * sizeof *d->stack);
    for (size_t i = at; i < d->depth; i++)
        d->stack[i].paragraph -= d->stack[i].paragraph > at;
}

static void start_element(struct document *d, unsigned tag, span name, const struct attributes *tag_attributes) {
    unsigned kind = TAGS[tag].kind;
    if (kind == IGNORED || has_too_many_tags(d) || (tag == TAG_FORM && d->has_form))
        return;
    d->has_form = d->has_form || tag == TAG_FORM;
    if (kind == WHOLE_PAGE) {
        merge_page_attributes(d, tag, tag_attributes);
        return;
    }
    struct attributes *attributes = NULL;
    uint32_t styling = tag_attributes->present & ((UINT32_C(1) << N_STYLE_ATTRIBUTES) - 1);
    if (styling) {
        attributes = arena_allocate(d->arena, 1, offsetof(struct attributes, values) + N_STYLE_ATTRIBUTES * sizeof(span));
        attributes->present = styling;
        attributes->effects = NULL;
        memcpy(attributes->values, tag_attributes->values, N_STYLE_ATTRIBUTES * sizeof(span));
    }
    uint64_t hash = tag == TAG_UNKNOWN ? hash_any_case(SECRET, name) : 0;
    struct node node = {.tag = tag, .parent = top_of(d)->node, .name = name, .hash = hash, .attributes = attributes};
    if (kind == VOID || TAGS[tag].text == RAW) { /* its box has no text, but may cover other text */
        node.n_pieces = (uint32_t)d->pieces.count;
        *LIST_ADD(d->arena, &d->nodes) = node;
        return;
    }
    if (is_table_part(tag)) {
        if (!close_for_table_part(d, kind))
            return;
    } else if (kind == BLOCK || kind == HEADING || kind == ITEM) {
        if (kind == ITEM)
            end_item(d, tag);
        pop_to(d, top_of(d)->paragraph);
        if (kind == HEADING && TAGS[top_of(d)->tag].kind == HEADING)
            pop_to(d, d->depth - 1);
    } else {
        if (tag == TAG_A && d->counts[tag])
            end_formatting(d, tag, name);
        reopen_formatting(d);
    }
    size_t depth = d->depth;
    push(d, node);
    if (kind == FORMATTING && d->depth > depth)
        begin_formatting(d);
}

static void end_element(struct document *d, unsigned tag, span name) {
    unsigned kind = TAGS[tag].kind;
    if (has_too_many_tags(d))
        return;
    size_t at = tag == TAG_FORM && d->counts[tag] ? find_open(d, tag, name) : 0;
    d->has_form = d->has_form && tag != TAG_FORM;
    if (at)
        end_form(d, at);
    else if (kind == FORMATTING)
        end_formatting(d, tag, name);
    else if (tag == TAG_P)
        pop_to(d, top_of(d)->paragraph);
    else if (kind == HEADING || (kind != WHOLE_PAGE && kind != VOID && d->counts[tag]))
        pop_to(d, find_open(d, tag, name));
}

/* ---- Text ---- */

/* Returns a text without the spaces, of any script, and the invisible characters at its beginning. */
static span skip_unseen(struct reader *reader, span text) {
    for (span tail = text; !is_empty(tail); text = tail) {
        uint8_t c = *tail.at;
        if (c < 0x80 ? !is_white(c) : !(character_of(reader, next_point(&tail))->flags & (IS_SPACE | IS_INVISIBLE)))
            break;
        tail.at += c < 0x80;
    }
    return text;
}

/* Returns the style of a node in this parent. It is the parent's style if tag, attributes and rules cannot change it. */
static const struct style *style_in(struct document *d, const struct style *parent, const struct node *node) {
    bool may_differ = node->attributes || d->sheet.n_rules || TAGS[node->tag].flags & (IS_CONTROL | IS_DOUBTFUL | HAS_STYLE);
    return may_differ ? element_style(&d->sheet, parent, node->tag, node->name, node->attributes) : parent;
}

/* Returns the style of the text in a block into which formatting is moved. */
static const struct style *wrapped_style(struct document *d, const struct node *block, const struct style *style) {
    uint32_t wrappers[MAX_WRAPPERS];
    size_t n = 0;
    for (; block->wrapper; block = &d->nodes.items[block->next]) {
        if (n == MAX_WRAPPERS)
            return &DOUBTFUL_STYLE;
        wrappers[n++] = block->wrapper;
    }
    while (n && !style->is_doubtful)
        style = style_in(d, style, &d->nodes.items[wrappers[--n]]);
    return style;
}

static const struct style *style_of(struct document *d, uint32_t number) {
    struct node *node = &d->nodes.items[number];
    if (!node->style) {
        const struct style *parent = number ? style_of(d, node->parent) : &FIRST_STYLE;
        const struct style *style = style_in(d, parent, node);
        node->shift = style == parent ? 0 : style->shift;
        node->above = style == parent ? 0 : style->above;
        node->style = wrapped_style(d, node, style);
    }
    return node->style;
}

/* Before the styles are made, all text is doubtful. */
static bool is_doubtful(const struct document *d, const struct piece *piece) {
    const struct style *style = d->nodes.items[piece->node].style;
    return !style || style->is_doubtful;
}

/* Makes text doubtful that later elements may cover. From the end of the page on, what elements reach over adds up, and the
 * lines of plain text before them take it up. */
static void cover_text(struct document *d) {
    float reach = 0, line = 0; /* line: height of the plain text between two ends of lines */
    bool is_in_line = false; /* the element is in the same line */
    size_t at = d->pieces.count;
    for (size_t i = d->nodes.count; i-- > 0;) {
        const struct node *node = &d->nodes.items[i];
        for (; at > node->n_pieces && reach > 0; at--) {
            struct piece *piece = &d->pieces.items[at - 1];
            span text = skip_unseen(d->reader, piece->text);
            if (piece->kind == END_OF_WORD) {
                reach -= line;
                line = 0;
                is_in_line = false;
            } else if (!is_empty(text)) {
                bool is_line = !is_in_line && !is_doubtful(d, piece) && *text.at != '&'; /* it may be a blank */
                line = is_line ? line_height(d->nodes.items[piece->node].style) : line;
                piece->node = reach > MAX_COVERED ? DOUBTFUL_NODE : piece->node;
            }
        }
        at = at < node->n_pieces ? at : node->n_pieces;
        reach = reach > 0 ? reach : 0;
        is_in_line = is_in_line || node->shift > 0 || node->above > 0;
        line = is_in_line ? 0 : line;
        reach = (reach > node->above ? reach : node->above) + node->shift;
    }
    d->sheet.is_lost = d->sheet.is_lost || reach > MAX_ABOVE_PAGE;
}

/* Returns whether an element has a style or class attribute, which may put space around its text. */
static bool may_add_space(const struct node *node) {
    return node->attributes && node->attributes->present & STYLE_OR_CLASS;
}

static bool is_in_word(const struct writer *writer) { return writer->at > writer->begin && !is_space(writer->at[-1]); }

/* Writes a piece with text after the piece of the node last. */
static void put_piece(struct document *d, struct writer *writer, const struct piece *piece, uint32_t *last) {
    const struct node *node = &d->nodes.items[piece->node], *before = &d->nodes.items[*last];
    if (node != before && is_in_word(writer) && (may_add_space(node) || may_add_space(before)))
        put_byte(writer, MAY_END);
    *last = piece->node;
    if (piece->kind == TEXT)
        put_resolved(writer, piece->text, false);
    else
        put_span(writer, piece->text);
}

/* Writes the mark of a piece without text, and returns whether the piece has none. */
static bool put_end(struct writer *writer, const struct piece *piece) {
    if (piece->kind != END_OF_WORD && piece->kind != MAYBE_END)
        return false;
    if (is_in_word(writer))
        put_byte(writer, piece->kind == END_OF_WORD ? '\n' : MAY_END);
    return true;
}

/* Returns the plain text of all pieces. A word ends at doubtful text. */
static span write_plain(struct document *d) {
    struct writer writer = writer_open(d->arena, size_of(first_bytes(d->html, MAX_TEXT)));
    uint32_t last = 0;
    for (size_t i = 0; i < d->pieces.count; i++) {
        const struct piece *piece = &d->pieces.items[i];
        if (is_doubtful(d, piece)) {
            if (is_in_word(&writer))
                put_byte(&writer, piece->kind == MAYBE_END ? MAY_END : '\n');
        } else if (!put_end(&writer, piece))
            put_piece(d, &writer, piece, &last);
    }
    return writer_close(&writer);
}

/* The word at the end of a doubtful text that is being written. */
struct last_word {
    size_t begin;         /* where the word begins in the text */
    bool is_doubtful;     /* a part of the word is */
    size_t n_parts, size; /* plain parts of the word, and their bytes */
    uint8_t parts[MAX_PARTS_BYTES];
};

static void add_part(struct last_word *word, span part) {
    part = truncate_text(part, MAX_PARTS_BYTES - word->size);
    memcpy(word->parts + word->size, part.at, size_of(part));
    word->size += size_of(part);
    word->n_parts += !is_empty(part);
}

/* Ends the last word. A plain word is removed. After a doubtful word, its plain parts are written as one word, because
 * people see this word if the other parts are hidden. */
static void end_word(const struct document *d, struct writer *writer, struct last_word *word) {
    if (!word->is_doubtful)
        writer->at = writer->begin + word->begin;
    else {
        put_byte(writer, '\n');
        if (word->n_parts > 1) {
            put_span(writer, span_of(word->parts, word->size));
            put_byte(writer, '\n');
        }
    }
    word->begin = (size_t)(writer->at - writer->begin);
    word->is_doubtful = d->sheet.is_lost;
    word->n_parts = word->size = 0;
}

/* Writes a plain piece, of which only the parts of doubtful words stay, unless the page is lost. */
static void put_plain_parts(struct document *d, struct writer *writer, struct last_word *word,
                            const struct piece *piece, uint32_t *last_node) {
    size_t begin = (size_t)(writer->at - writer->begin);
    put_piece(d, writer, piece, last_node);
    span text = span_between(writer->begin + begin, writer->at), first = text, last = text;
    while (first.at < first.end && !is_space(*first.at))
        first.at++;
    add_part(word, span_between(text.at, first.at));
    if (first.at == text.end)
        return;
    while (!is_space(last.end[-1]))
        last.end--;
    last = span_between(last.end, text.end);
    last.at += size_of(last) > MAX_PARTS_BYTES ? size_of(last) - MAX_PARTS_BYTES : 0;
    while (last.at < last.end && (*last.at & 0xC0) == 0x80)
        last.at++;
    uint8_t copy[MAX_PARTS_BYTES];
    size_t size = size_of(last);
    memcpy(copy, last.at, size);
    writer->at = (uint8_t *)(d->sheet.is_lost ? last.at : first.at);
    end_word(d, writer, word);
    put_span(writer, span_of(copy, size));
    add_part(word, span_of(copy, size));
}

/* Returns the doubtful text of all pieces, with the plain parts of words that contain doubtful text. */
static span write_doubtful(struct document *d) {
    struct writer writer = writer_open(d->arena, 4096);
    struct last_word word;
    uint32_t last = 0;
    word.begin = word.n_parts = word.size = 0;
    word.is_doubtful = d->sheet.is_lost;
    for (size_t i = 0; i < d->pieces.count; i++) {
        const struct piece *piece = &d->pieces.items[i];
        bool is_last_of_word =
            i + 1 == d->pieces.count || (piece[1].kind == END_OF_WORD && !is_doubtful(d, &piece[1]));
        if (is_doubtful(d, piece)) {
            word.is_doubtful = true;
            if (!put_end(&writer, piece))
                put_piece(d, &writer, piece, &last);
        } else if (piece->kind == END_OF_WORD)
            end_word(d, &writer, &word);
        else if (!put_end(&writer, piece) && (word.is_doubtful || !is_last_of_word))
            put_plain_parts(d, &writer, &word, piece, &last);
    }
    end_word(d, &writer, &word);
    return writer_close(&writer);
}

/* Adds a piece. If there are MAX_PIECES already, the page is lost, and they are written first. */
static void add_piece(struct document *d, struct piece piece) {
    if (d->pieces.count == MAX_PIECES) {
        d->sheet.is_lost = true;
        *LIST_ADD(d->arena, &d->doubtful_texts) = write_doubtful(d);
        d->pieces.count = 0;
    }
    *LIST_ADD(d->arena, &d->pieces) = piece;
}

static span resolve_references(struct document *d, span text, bool in_attribute) {
    if (!find_byte(text, '&'))
        return text;
    struct writer writer = writer_open(d->arena, size_of(text));
    put_resolved(&writer, text, in_attribute);
    return writer_close(&writer);
}

/* Returns whether a text of HTML shows anything. */
static bool has_letters(struct document *d, span text) {
    text = skip_unseen(d->reader, text);
    text = starts_with(text, LITERAL("&")) ? skip_unseen(d->reader, resolve_references(d, text, false)) : text;
    return !is_empty(text);
}

static void add_text(struct document *d, enum piece_kind kind, span text) {
    if (is_empty(text))
        return;
    bool is_shown = has_letters(d, text), is_moved = is_shown && contains_cells(top_of(d));
    if (!is_moved)
        reopen_formatting(d);
    d->is_below = d->is_below || (is_shown && d->n_breaks >= MAX_BREAKS);
    d->n_breaks = is_shown ? 0 : d->n_breaks;
    add_piece(d, (struct piece){text, is_moved || d->is_below ? DOUBTFUL_NODE : top_of(d)->node, kind});
}

/* Adds text that mail readers may not show, between words: an attribute or a title. */
static void add_doubtful_text(struct document *d, enum piece_kind kind, span text) {
    if (is_empty(text))
        return;
    add_piece(d, (struct piece){.node = DOUBTFUL_NODE, .kind = END_OF_WORD});
    add_piece(d, (struct piece){text, DOUBTFUL_NODE, kind});
    add_piece(d, (struct piece){.node = DOUBTFUL_NODE, .kind = END_OF_WORD});
}

/* Adds the attributes that browsers may show as text: the alternative text of a picture, and the placeholder, label or
 * value of a form field. */
static void add_attribute_texts(struct document *d, unsigned tag, const struct attributes *attributes) {
    for (enum attribute attribute = A_ALT; attribute <= A_VALUE; attribute++)
        if (attribute != A_VALUE || tag == TAG_INPUT) /* read_attributes has resolved the references */
            add_doubtful_text(d, PLAIN_TEXT, value_of_attribute(attributes, attribute));
}

/* ---- Tags ---- */

static bool ends_name(uint8_t c) { return c <= '>' && (c == '>' || c == '/' || is_space(c)); }

/* Reads the attributes of a tag whose name ends at this address. Returns where the tag ends; NULL if the tag has no
 * end. */
static const uint8_t *read_attributes(struct document *d, const uint8_t *at, struct attributes *attributes) {
    const uint8_t *end = d->html.end;
    attributes->present = 0;
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
        if (which < 0)
            sheet_note_name(&d->sheet, name);
        if (d->shows_attributes && which != A_STYLE && (which < 0 || find_byte(value, ' ')))
            add_doubtful_text(d, TEXT, value);
        if (which < 0 || has(attributes, (enum attribute)which))
            continue;
        attributes->present |= UINT32_C(1) << which;
        attributes->values[which] = value = resolve_references(d, value, true);
        if (which == A_ID)
            sheet_note_name(&d->sheet, strip(value));
        for (span word = next_word(&value); which == A_CLASS && !is_empty(word); word = next_word(&value))
            sheet_note_name(&d->sheet, word);
    }
}

/* Adds the URL of a meta refresh, "0; url=...", if its value has a URL. */
static void add_refresh(struct document *d, span value) {
    const uint8_t *begin = find_any_case(first_bytes(value, MAX_META), LITERAL("url"));
    span url = begin ? strip(span_between(begin + 3, value.end)) : (span){0};
    if (!starts_with(url, LITERAL("=")))
        return;
    url = strip(skip_bytes(url, 1));
    bool is_quoted = !is_empty(url) && (*url.at == '"' || *url.at == '\'');
    add_link(d->reader, is_quoted ? before_first(skip_bytes(url, 1), *url.at) : url, true);
}

/* Adds a page in the page. After MAX_FRAMES, it replaces the last one, so that the first ones and the last are read. */
static void add_frame(struct document *d, span page) {
    struct message *message = &d->reader->message;
    if (message->frames.count == MAX_FRAMES) {
        message->truncations |= TRUNCATED_HTML;
        message->frames.count--;
    }
    *LIST_ADD(d->arena, &message->frames) = page;
}

/* Adds the page or the text in a URL such as "data:text/html,..." (RFC 2397) as a page in the page. */
static void add_data(struct document *d, span url) {
    span type = before_first(skip_bytes(url, 5), ','), data = skip_bytes(span_between(type.end, url.end), 1);
    if (!starts_with_any_case(type, LITERAL("text/")) && !starts_with_any_case(type, LITERAL("image/svg")) &&
        !starts_with_any_case(type, LITERAL("application/xhtml")))
        return;
    data = decode_percents(d->arena, data);
    if (find_any_case(type, LITERAL("base64"))) {
        struct writer writer = writer_open(d->arena, size_of(data));
        put_base64(&writer, data);
        data = writer_close(&writer);
    }
    add_frame(d, decode_text(d->reader, data, (span){0}));
}

/* Returns whether a tag may hide text of the page: by frames in its place, by a sheet in a URL, by white letters on
 * black, or by a policy against styles. */
static bool may_hide_page(unsigned tag, const struct attributes *attributes) {
    span content = first_bytes(value_of_attribute(attributes, A_CONTENT), MAX_META);
    bool is_scheme = is_same_any_case(value_of_attribute(attributes, A_NAME), LITERAL("color-scheme"));
    if (tag == TAG_LINK)
        return has_inner_url(first_bytes(value_of_attribute(attributes, A_HREF), MAX_META));
    if (tag != TAG_META)
        return tag == TAG_FRAMESET;
    return is_scheme ? !can_be_light(content)
                     : is_same_any_case(value_of_attribute(attributes, A_HTTP_EQUIV), LITERAL("content-security-policy"));
}

/* Adds the URLs of a tag but that of a link with text. They are doubtful: nobody sees the host of a picture. */
static void add_urls(struct document *d, unsigned tag, const struct attributes *attributes) {
    for (uint32_t left = attributes->present & URL_ATTRIBUTES; left; left &= left - 1) {
        enum attribute which = (enum attribute)__builtin_ctz(left);
        bool is_link = tag == TAG_AREA || tag == TAG_BASE;
        span url = strip(attributes->values[which]);
        if (starts_with_any_case(url, LITERAL("data:")))
            add_data(d, url);
        if (which == A_HREF ? is_link : which != A_SRC || tag != TAG_SCRIPT)
            add_link(d->reader, url, true);
    }
    span content = value_of_attribute(attributes, A_CONTENT);
    if (tag == TAG_META && is_same_any_case(value_of_attribute(attributes, A_HTTP_EQUIV), LITERAL("refresh")))
        add_refresh(d, content);
}

/* Returns where the next end tag with this name begins; the end of the page if there is none. */
static const uint8_t *find_end_tag(const struct document *d, span name, const uint8_t *at) {
    const uint8_t *end = d->html.end;
    while ((at = find_byte(span_between(at, end), '<'))) {
        span tail = skip_bytes(span_between(at, end), 2);
        if (tail.at < end && at[1] == '/' && starts_with_any_case(tail, name) &&
            (size_of(tail) == size_of(name) || ends_name(tail.at[size_of(name)])))
            return at;
        at++;
    }
    return end;
}

static void read_sheet(struct document *d, const struct attributes *attributes, span text) {
    span type = value_of_attribute(attributes, A_TYPE);
    if (is_empty(type) || is_same_any_case(type, LITERAL("text/css")))
        sheet_add(&d->sheet, text, value_of_attribute(attributes, A_MEDIA));
}

static bool is_foreign(const struct document *d) { return d->counts[TAG_SVG] || d->counts[TAG_MATH]; }

/* Handles a start tag that ends at this address. Returns the address at which reading goes on. */
static const uint8_t *start_tag(struct document *d, unsigned tag, span name, const struct attributes *attributes,
                                const uint8_t *at) {
    d->reader->message.tags[tag] = true;
    d->n_breaks += tag == TAG_P || (TAGS[tag].kind == VOID && TAGS[tag].flags & ENDS_WORD);
    d->sheet.is_lost = d->sheet.is_lost || may_hide_page(tag, attributes);
    if (attributes->present)
        add_urls(d, tag, attributes);
    bool is_hidden_field = is_same_any_case(value_of_attribute(attributes, A_TYPE), LITERAL("hidden"));
    bool is_shown = !has(attributes, A_HIDDEN) && !is_hidden_field;
    if (is_shown && attributes->present >> A_ALT)
        add_attribute_texts(d, tag, attributes);
    if (!is_empty(value_of_attribute(attributes, A_SRCDOC)))
        add_frame(d, attributes->values[A_SRCDOC]);
    unsigned kind = TAGS[tag].text;
    if (is_foreign(d)) { /* tags in title are read, too */
        if (tag == TAG_STYLE && !d->sheet.is_lost) /* each may have the rest of the page as its sheet */
            read_sheet(d, attributes, span_between(at, find_end_tag(d, TAGS[tag].name, at)));
        kind = NORMAL;
    }
    if (kind == NORMAL) {
        start_element(d, tag, name, attributes);
        if (tag == TAG_A && has(attributes, A_HREF))
            *LIST_ADD(d->arena, &d->anchors) = (struct anchor){attributes->values[A_HREF], top_of(d)->node};
        bool is_maybe_end = TAGS[tag].flags & MAY_END_WORD || is_foreign(d) ||
                            (TAGS[tag].kind == VOID && attributes->present & STYLE_OR_CLASS);
        if ((is_shown || TAGS[tag].kind != VOID) && (is_maybe_end || TAGS[tag].flags & ENDS_WORD))
            add_piece(d, (struct piece){.node = top_of(d)->node, .kind = is_maybe_end ? MAYBE_END : END_OF_WORD});
        if (is_foreign(d) && at[-2] == '/')
            end_element(d, tag, name);
        return at;
    }
    /* Tags inside the element are not read. */
    span text = span_between(at, kind == REST ? d->html.end : find_end_tag(d, TAGS[tag].name, at));
    if (tag == TAG_TITLE)
        add_doubtful_text(d, TEXT, text);
    else if (tag == TAG_STYLE)
        read_sheet(d, attributes, text);
    else if (kind == RAW)
        start_element(d, tag, name, attributes);
    else {
        start_element(d, tag, name, attributes);
        add_text(d, kind == REFERENCES ? TEXT : PLAIN_TEXT, text);
        end_element(d, tag, name);
    }
    return text.end;
}

static void end_tag(struct document *d, unsigned tag, span name) {
    size_t depth = d->depth;
    end_element(d, tag, name);
    uint32_t node = d->stack[d->depth < depth ? d->depth : depth - 1].node; /* of the element that ended */
    if (TAGS[tag].flags & ENDS_WORD)
        add_piece(d, (struct piece){.node = node, .kind = END_OF_WORD});
}

/* Returns where a comment, or markup that browsers read as a comment, ends. at: the byte after its "<". */
static const uint8_t *comment_end(span html, const uint8_t *at) {
    span tail = span_between(at, html.end);
    const uint8_t *stop;
    if (!starts_with(tail, LITERAL("!--"))) {
        stop = find_byte(tail, '>');
        return stop ? stop + 1 : html.end;
    }
    tail.at += 3;
    if (starts_with(tail, LITERAL(">")) || starts_with(tail, LITERAL("->")))
        return find_byte(tail, '>') + 1;
    while ((stop = find(tail, LITERAL("--")))) {
        tail.at = stop + 2;
        if (starts_with(tail, LITERAL(">")) || starts_with(tail, LITERAL("!>")))
            return find_byte(tail, '>') + 1;
        tail.at = stop + 1;
    }
    return html.end;
}

static void read_tags(struct document *d) {
    span html = d->html;
    const uint8_t *at = html.at, *search = html.at, *less_than; /* at: where the text before the next tag begins */
    struct attributes attributes = {0};
    while ((less_than = find_byte(span_between(search, html.end), '<')) && less_than + 1 < html.end) {
        bool is_end = less_than[1] == '/';
        const uint8_t *begin = less_than + 1 + is_end;
        if (begin < html.end && is_letter(*begin)) {
            span name = span_between(begin, begin);
            while (name.end < html.end && !ends_name(*name.end))
                name.end++;
            unsigned tag = tag_of(name);
            const uint8_t *end = read_attributes(d, name.end, &attributes);
            add_text(d, TEXT, span_between(at, less_than));
            at = search = html.end;
            if (!end) /* a tag without an end is dropped, with the rest of the page */
                break;
            d->reader->message.n_tags++;
            if (is_end)
                end_tag(d, tag, name);
            at = is_end ? end : start_tag(d, tag, name, &attributes, end);
        } else if (is_foreign(d) && starts_with(span_between(begin, html.end), LITERAL("![CDATA["))) {
            add_text(d, TEXT, span_between(at, less_than));
            const uint8_t *end = find(span_between(begin, html.end), LITERAL("]]>"));
            add_text(d, PLAIN_TEXT, span_between(begin + 8, end ? end : html.end));
            at = end ? end + 3 : html.end;
        } else if (is_end || *begin == '!' || *begin == '?') {
            add_text(d, TEXT, span_between(at, less_than));
            at = comment_end(html, less_than + 1); /* "</" without a letter begins a comment, too */
        } else {
            search = begin;
            continue;
        }
        search = at;
    }
    add_text(d, TEXT, span_between(at, html.end));
}

/* Adds the attributes with words as doubtful texts. */
static void add_all_attributes(struct document *d) {
    struct attributes attributes;
    d->shows_attributes = true;
    for (const uint8_t *at = d->html.at; at && (at = find_byte(span_between(at, d->html.end), '<'));) {
        for (at++; at < d->html.end && !ends_name(*at); at++)
            continue;
        at = read_attributes(d, at, &attributes);
    }
}

/* Adds the text of elements that show the last letter first, with overrides of its direction. */
static void add_reversed_text(struct document *d) {
    struct writer writer = writer_open(d->arena, 64);
    for (size_t i = 0; i < d->pieces.count; i++) {
        const struct piece *piece = &d->pieces.items[i];
        if (!(d->nodes.items[piece->node].style->flags & REVERSES)) {
            if (is_in_word(&writer))
                put_byte(&writer, '\n');
        } else if (piece->kind == TEXT || piece->kind == PLAIN_TEXT) {
            if (!is_in_word(&writer))
                put_span(&writer, LITERAL("\u202E"));
            put_resolved(&writer, piece->text, false);
        }
    }
    span text = writer_close(&writer);
    *LIST_ADD(d->arena, &d->doubtful_texts) = text;
}

/* Adds the strings in a value that shows text, with blanks for "?", which style.c writes for blanks. */
static void add_sheet_text(struct document *d, span value) {
    struct writer writer = writer_open(d->arena, size_of(value) + 1);
    bool is_quoted = false;
    for (const uint8_t *at = value.at; at < value.end; at++) {
        is_quoted ^= *at == '"';
        put_byte(&writer, is_quoted && *at != '"' && *at != '?' ? *at : ' ');
    }
    put_byte(&writer, '\n');
    span copy = writer_close(&writer);
    *LIST_ADD(d->arena, &d->doubtful_texts) = copy;
    if (!d->shows_attributes && find(value, LITERAL("attr(")))
        add_all_attributes(d);
}

/* Returns whether an element shows text: one of the pieces before this one. */
static bool shows_text(struct document *d, uint32_t node, size_t end) {
    for (size_t i = d->nodes.items[node].n_pieces; i < end; i++) {
        const struct piece *piece = &d->pieces.items[i];
        uint32_t outer = piece->node;
        while (outer > node)
            outer = d->nodes.items[outer].parent;
        if (outer == node && !is_doubtful(d, piece) && has_letters(d, piece->text))
            return true;
    }
    return false;
}

/* Adds the URLs of links. A link is doubtful if it shows no text. */
static void add_anchors(struct document *d, bool is_doubtful) {
    size_t end = d->pieces.count;
    for (size_t i = d->anchors.count; i-- > 0;) {
        const struct anchor *anchor = &d->anchors.items[i];
        add_link(d->reader, anchor->url, is_doubtful || d->sheet.is_lost || !shows_text(d, anchor->node, end));
        end = d->nodes.items[anchor->node].n_pieces;
    }
}

struct html_text read_html(struct reader *reader, span html, bool is_doubtful) {
    static const unsigned PAGE_TAGS[2] = {TAG_HTML, TAG_BODY};
    struct message *message = &reader->message;
    struct document *d = message->document;
    if (!d) { /* one for all pages of the message, with the room of its lists */
        d = message->document = arena_allocate(&reader->arena, 1, sizeof *d);
        *d = (struct document){0};
    }
    d->nodes.count = d->pieces.count = 0;
    *d = (struct document){
        .reader = reader, .arena = &reader->arena, .html = html, .nodes = d->nodes, .pieces = d->pieces};
    sheet_begin(&d->sheet, d->arena);
    for (; d->depth < 2; d->depth++) {
        unsigned tag = PAGE_TAGS[d->depth];
        d->stack[d->depth].tag = tag;
        add_node(d, d->depth, (struct node){.tag = tag, .name = TAGS[tag].name, .attributes = &d->page_attributes[d->depth]});
    }
    *LIST_ADD(d->arena, &d->nodes) = (struct node){.style = &DOUBTFUL_STYLE}; /* DOUBTFUL_NODE */
    read_tags(d);
    sheet_read(&d->sheet);
    d->sheet.page = style_of(d, 1);
    for (size_t i = 0; i < d->nodes.count; i++) {
        const struct node *node = &d->nodes.items[i];
        bool is_column = node->tag == TAG_COL || node->tag == TAG_COLGROUP; /* has the style of cells */
        bool is_new = style_of(d, (uint32_t)i)->is_doubtful && !style_of(d, node->parent)->is_doubtful;
        d->sheet.is_lost = d->sheet.is_lost || (is_column && is_new);
    }
    d->sheet.is_lost = d->sheet.is_lost || style_of(d, 0)->size < MIN_PAGE_LETTER;
    cover_text(d);
    for (size_t i = 0; i < d->sheet.texts.count; i++)
        add_sheet_text(d, d->sheet.texts.items[i]);
    add_reversed_text(d);
    add_anchors(d, is_doubtful);
    span plain = d->sheet.is_lost ? (span){0} : write_plain(d);
    while (!is_empty(plain) && is_space(*plain.at))
        plain.at++;
    *LIST_ADD(d->arena, &d->doubtful_texts) = write_doubtful(d);
    span doubtful = concatenate_all(d->arena, &d->doubtful_texts);
    return (struct html_text){plain, is_empty(skip_unseen(reader, doubtful)) ? (span){0} : doubtful};
}

span needed_charset(span octets) {
    bool is_xml = starts_with(octets, LITERAL("<?xml")) && find(before_first(octets, '>'), LITERAL(" encoding"));
    span word = is_xml ? LITERAL(" encoding") : LITERAL("charset");
    const uint8_t *declaration = find_any_case(first_bytes(octets, MAX_PRESCAN), word);
    if (!declaration || (valid_utf8_size(octets) == size_of(octets) && !find_byte(octets, 27)))
        return (span){0};
    span name = first_bytes(strip_any(span_between(declaration + size_of(word), octets.end), " \t\r\n=\"'"), MAX_CHARSET);
    for (const uint8_t *at = name.at; at < name.end; at++)
        if (!(is_letter(*at) || is_digit(*at) || (*at && strchr("_.:-", *at))))
            name.end = at;
    return name;
}
