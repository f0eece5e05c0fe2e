#include "style.h"

#include <stdlib.h>

enum {
    MAX_SHEET_BYTES = 1 << 19, /* of all sheets of a document; ordinary mail: 188,223 */
    MAX_RULES = 3000, /* of a document; ordinary mail: 291. A list of 240,000 selectors would take 28 MB */
    MAX_MATCHES = 100, /* rules that match an element; ordinary mail: 61. They are sorted by insertion: 3,000 matches
                        * in a page of 60 kB would take a second */
    MAX_STEPS = 1000000, /* in a document: one for each rule and declaration that is compared with an element; ordinary
                          * mail: 20,093. Without this bound and MAX_MATCHES, the page of 60 kB would take 11 seconds */
    MAX_NESTED = 8,  /* levels of blocks in blocks, such as "@media {...}", because of recursion; ordinary mail: 3 */
    MAX_OPEN = 1024, /* levels of brackets in brackets, each a byte of the stack; ordinary mail: 2 */
};

/* Text is unreadable if it is smaller, less opaque or closer in color than these bounds. */
#define MIN_LETTER 2.5f /* pixels; no text of ordinary mail is between 2 and 3 */
#define MIN_OPACITY 0.1 /* no text of ordinary mail is between 0.08 and 0.8 */
#define MIN_DISTANCE 24 /* sum of three channels of 0 to 255; no text of ordinary mail is between 20 and 25 */

enum { WHITE = 0xFFFFFF, BLACK = 0 };

const struct style FIRST_STYLE = {.color = BLACK, .background = WHITE};
const struct style UNKNOWN_STYLE = {.color = UNKNOWN, .background = UNKNOWN};

/* The kinds of selectors, by ascending specificity. */
enum key_kind { OF_ANY, OF_TAG, OF_CLASS, OF_ID };

/* A rule for one selector. key is a class, an id or a tag; if key is a class or an id, tag may be a tag that the
 * element must also have. */
struct rule {
    struct rule *next;
    enum key_kind kind;
    span key, tag;
    uint64_t hash, tag_hash; /* hash: of kind and key; tag_hash: of tag */
    bool is_doubtful;
    uint64_t strength; /* specificity in the high 32 bits, number of the rule in the low ones */
    declaration_list declarations;
};

#define IS(text) is_same(value, LITERAL(text))

/* ---- Text ---- */

/* Returns declarations or a sheet with each comment replaced by a space, and with all strings and URLs emptied. An
 * escape puts the page in doubt, because escapes are not decoded: "d\69splay" is display. */
static span simplify(struct sheet *sheet, span text) {
    if (!find_byte(text, '*') && !find_byte(text, '\\') && !find_byte(text, '"') && !find_byte(text, '\'') &&
        !find_byte(text, '('))
        return text;
    struct writer writer = writer_open(sheet->arena, size_of(text) + 1);
    while (text.at < text.end) {
        uint8_t c = *text.at++;
        const uint8_t *end = NULL;
        if (c == '/' && starts_with(text, LITERAL("*"))) {
            end = find(skip_bytes(text, 1), LITERAL("*/"));
            text.at = end ? end + 2 : text.end;
            c = ' ';
        } else if (c == '"' || c == '\'') {
            for (; text.at < text.end && *text.at != c && *text.at != '\n'; text.at++)
                text.at += *text.at == '\\' && size_of(text) > 1;
            text.at += text.at < text.end && *text.at == c;
            c = '"';
        } else if (c == '(' && writer.at - writer.begin >= 3 &&
                   is_same_any_case(span_between(writer.at - 3, writer.at), LITERAL("url"))) {
            span inside = text;
            while (inside.at < inside.end && is_space(*inside.at))
                inside.at++;
            if (inside.at < inside.end && *inside.at != '"' && *inside.at != '\'') {
                end = find_byte(inside, ')');
                text.at = end ? end : text.end;
            }
        } else if (c == '\\')
            sheet->is_in_doubt = true;
        put_byte(&writer, c);
    }
    return writer_close(&writer);
}

/* Returns where one of two bytes first occurs outside of brackets; the end of the text if neither does. */
static const uint8_t *find_outside(span text, uint8_t stop, uint8_t other_stop) {
    static const uint8_t CLOSERS[256] = {['('] = ')', ['['] = ']', ['{'] = '}'};
    static const bool IS_SYNTAX[256] = {
        ['('] = true, ['['] = true, ['{'] = true, [')'] = true, [']'] = true, ['}'] = true, [';'] = true, [','] = true,
        [' '] = true};
    uint8_t closers[MAX_OPEN];
    size_t depth = 0;
    for (const uint8_t *at = text.at; at < text.end; at++) {
        uint8_t c = *at;
        if (!IS_SYNTAX[c])
            continue;
        if (!depth && (c == stop || c == other_stop))
            return at;
        if (CLOSERS[c]) {
            if (depth == MAX_OPEN)
                return text.end;
            closers[depth++] = CLOSERS[c];
        } else if (depth && c == closers[depth - 1])
            depth--;
    }
    return text.end;
}

/* ---- Numbers and colors ---- */

/* Reads a number of a style sheet, which may have an exponent (2e1 is 20), and moves text after the number. */
static bool read_number(span *text, double *number) {
    enum { MAX_NUMBER = 40 }; /* bytes; numbers of style sheets have a few digits */
    char digits[MAX_NUMBER + 1] = "", *end;
    for (size_t i = 0; i < MAX_NUMBER && i < size_of(*text); i++) {
        uint8_t c = text->at[i];
        if (!is_digit(c) && c != '.' && c != 'e' && c != '+' && c != '-')
            break;
        digits[i] = (char)c;
    }
    *number = strtod(digits, &end);
    text->at += end - digits;
    return end > digits;
}

/* Returns the color of three or six hexadecimal digits, as in #rgb and #rrggbb. */
static rgb color_of_digits(span digits) {
    size_t n = size_of(digits);
    rgb color = 0;
    if (n != 3 && n != 6)
        return UNKNOWN;
    for (; !is_empty(digits); digits.at++) {
        int digit = hex_value(*digits.at);
        if (digit < 0)
            return UNKNOWN;
        color = n == 3 ? color << 8 | digit * 17 : color << 4 | digit;
    }
    return color;
}

/* Returns a color by its digits or its name in lower case. Forms such as rgb() and other names are UNKNOWN. */
static rgb read_color(span value) {
    if (starts_with(value, LITERAL("#")))
        return color_of_digits(skip_bytes(value, 1));
    return IS("white") ? WHITE : IS("black") ? BLACK : IS("transparent") ? CLEAR : UNKNOWN;
}

/* Returns the color of an attribute such as bgcolor, in which six digits need no "#". */
static rgb read_attribute_color(struct arena *arena, span value) {
    value = copy_lower(arena, strip(value));
    return size_of(value) == 6 ? color_of_digits(value) : read_color(value);
}

/* Returns whether letters are transparent, or have nearly the color of their background. */
static bool is_unreadable(rgb letters, rgb background) {
    if (letters < 0 || background < 0)
        return letters == CLEAR;
    int distance = 0;
    for (int shift = 0; shift < 24; shift += 8)
        distance += abs((letters >> shift & 255) - (background >> shift & 255));
    return distance <= MIN_DISTANCE;
}

/* ---- Declarations ---- */

/* Returns whether a size is too small for letters. Returns false for a size that is not understood. */
static bool is_tiny(span value) {
    double number;
    if (!read_number(&value, &number) || number < 0 || !(is_empty(value) || is_one_of(value, "px pt em rem %")))
        return false;
    return number == 0 || (IS("px") && number < MIN_LETTER) || (IS("pt") && number < MIN_LETTER * 3 / 4);
}

/* The kinds of properties. Properties of one kind have values that are read alike. */
enum property {
    P_COLOR, P_BACKGROUND, P_SIZE, P_FONT, P_OPACITY, P_DISPLAY, P_VISIBILITY, P_OVERFLOW, P_HEIGHT, P_ROOM, P_MARGIN, P_ALL,
    P_HARMLESS, N_PROPERTIES
};

static const char *const PROPERTIES[N_PROPERTIES] = {
    [P_COLOR] = "color", [P_BACKGROUND] = "background background-color background-image", [P_SIZE] = "font-size",
    [P_FONT] = "font", [P_OPACITY] = "opacity", [P_DISPLAY] = "display", [P_VISIBILITY] = "visibility",
    [P_OVERFLOW] = "overflow overflow-x overflow-y", [P_HEIGHT] = "height max-height",
    [P_ROOM] = "padding padding-top padding-bottom min-height", [P_ALL] = "all",
    [P_MARGIN] = "margin margin-top margin-bottom margin-left margin-right",
    [P_HARMLESS] = "font-family font-weight font-style text-align text-decoration text-transform text-indent line-height "
                   "letter-spacing vertical-align white-space width max-width min-width cursor direction list-style border "
                   "border-top border-bottom border-left border-right border-width border-color border-collapse "
                   "border-spacing border-radius border-style padding-left padding-right table-layout word-break word-wrap "
                   "overflow-wrap clear font-stretch box-sizing content background-repeat background-position background-size "
                   "-webkit-text-size-adjust -ms-text-size-adjust -ms-interpolation-mode -webkit-font-smoothing",
};

static void set_flag(struct declaration *declaration, uint32_t flag, bool is_on) {
    *(is_on ? &declaration->on : &declaration->off) |= flag;
}

/* Reads the value of a property, in lower case. A color or size that is not understood hides nothing. */
static struct declaration read_value(enum property property, span value) {
    struct declaration declaration = {.property = (uint8_t)property};
    span word = before_first(value, ' ');
    double opacity = 1;
    switch (property) {
    case P_COLOR: case P_BACKGROUND:
        declaration.color = read_color(value);
        break;
    case P_SIZE:
        set_flag(&declaration, IS_TINY, is_tiny(value));
        break;
    case P_FONT:
        declaration.off = IS_TINY;
        break;
    case P_OPACITY:
        read_number(&value, &opacity);
        set_flag(&declaration, IS_FAINT, opacity < (IS("%") ? 100 * MIN_OPACITY : MIN_OPACITY));
        break;
    case P_DISPLAY:
        set_flag(&declaration, IS_GONE, is_same(word, LITERAL("none")));
        declaration.on |= is_one_of(value, "none block") ? 0 : HAS_ROOM; /* the element may be no box */
        break;
    case P_VISIBILITY:
        set_flag(&declaration, IS_UNSEEN, is_one_of(word, "hidden collapse"));
        break;
    case P_OVERFLOW:
        set_flag(&declaration, CUTS_OFF, is_one_of(word, "hidden clip scroll auto"));
        break;
    case P_HEIGHT:
        set_flag(&declaration, IS_LOW, is_tiny(value) && !find_byte(value, '%'));
        break;
    case P_ROOM:
        declaration.on = is_one_of(value, "0 0px") ? 0 : HAS_ROOM;
        break;
    case P_MARGIN:
        declaration.on = find_byte(value, '-') ? IS_DOUBTFUL : 0; /* a negative margin may move the element */
        break;
    default: /* a property that is not understood */
        declaration.on = is_one_of(value, "none 0 0px") ? 0 : IS_DOUBTFUL;
    }
    return declaration;
}

/* Applies a declaration to a style. The declaration of a doubtful rule can show text, but never hide text. */
static void apply(struct style *style, const struct style *parent, const struct declaration *declaration,
                  bool is_doubtful) {
    switch (declaration->property) {
    case P_COLOR:
        style->color = is_doubtful ? UNKNOWN : declaration->color;
        break;
    case P_BACKGROUND:
        style->background = declaration->color == CLEAR ? parent->background : declaration->color;
        if (is_doubtful)
            style->background = UNKNOWN;
        break;
    default:
        style->flags |= is_doubtful ? declaration->on & (IS_DOUBTFUL | HAS_ROOM) : declaration->on;
        style->flags &= ~declaration->off;
    }
}

static struct name_table property_table;

void style_begin(void) {
    for (int property = 0; property < N_PROPERTIES; property++)
        add_names(&property_table, PROPERTIES[property], (uint8_t)property, 0);
}

/* Reads the declarations in a text in lower case that simplify returned. */
static declaration_list read_declarations(struct sheet *sheet, span text) {
    declaration_list declarations = {0};
    while (!is_empty(text)) {
        const uint8_t *end = find_outside(text, ';', ';'), *colon = find_byte(span_between(text.at, end), ':');
        span name = colon ? strip(span_between(text.at, colon)) : (span){0};
        int property = number_of(&property_table, name);
        text = skip_bytes(span_between(end, text.end), 1);
        sheet->is_in_doubt = sheet->is_in_doubt || property == P_ALL; /* "all" sets all properties */
        if (property == P_HARMLESS || is_empty(name) || starts_with(name, LITERAL("mso-")))
            continue;
        span value = span_between(colon + 1, end);
        const uint8_t *mark = find_byte(value, '!');
        bool is_important = mark && is_same(strip(span_between(mark + 1, value.end)), LITERAL("important"));
        value = strip(span_between(value.at, mark ? mark : value.end));
        if (is_empty(value) || (mark && !is_important))
            continue;
        struct declaration *declaration = LIST_ADD(sheet->arena, &declarations);
        *declaration = read_value(property < 0 ? N_PROPERTIES : (enum property)property, value);
        declaration->is_important = is_important;
    }
    return declarations;
}

/* Applies either the declarations with "!important", or the declarations without it. */
static void apply_all(struct style *style, const struct style *parent, const declaration_list *list, bool important,
                      bool is_doubtful) {
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].is_important == important)
            apply(style, parent, &list->items[i], is_doubtful);
}

/* ---- Rules and the elements that they match ---- */

/* The rules that match an element, by ascending strength. */
struct matches {
    const struct rule *items[MAX_MATCHES];
    size_t count;
};

static uint64_t hash_of_key(enum key_kind kind, span key) { return hash_any_case(SECRET, key) + kind; }

static struct rule **bucket_of(struct sheet *sheet, uint64_t hash) {
    return &sheet->buckets[hash % COUNT_OF(sheet->buckets)];
}

/* Adds the rules with this key to matches. If the class or id of a rule differs from the key in case, the page is in
 * doubt, because browsers ignore the case only on pages without a doctype. */
static void add_matches(struct sheet *sheet, enum key_kind kind, span key, uint64_t tag_hash, struct matches *matches) {
    uint64_t hash = hash_of_key(kind, key);
    for (const struct rule *rule = *bucket_of(sheet, hash); rule; rule = rule->next) {
        size_t steps = 1 + rule->declarations.count;
        if (sheet->steps_left < steps || matches->count == MAX_MATCHES) {
            sheet->is_in_doubt = true;
            return;
        }
        sheet->steps_left -= steps;
        if (rule->hash != hash || (!is_empty(rule->tag) && rule->tag_hash != tag_hash))
            continue;
        sheet->is_in_doubt = sheet->is_in_doubt || (kind != OF_TAG && !is_same(rule->key, key));
        size_t at = matches->count++;
        for (; at > 0 && matches->items[at - 1]->strength > rule->strength; at--)
            matches->items[at] = matches->items[at - 1];
        matches->items[at] = rule;
    }
}

static void find_matches(struct sheet *sheet, span tag, const struct attributes *attributes, struct matches *matches) {
    span classes = value_of_attribute(attributes, A_CLASS);
    uint64_t tag_hash = hash_any_case(SECRET, tag);
    add_matches(sheet, OF_ANY, (span){0}, tag_hash, matches);
    add_matches(sheet, OF_TAG, tag, tag_hash, matches);
    if (has(attributes, A_ID))
        add_matches(sheet, OF_ID, attributes->values[A_ID], tag_hash, matches);
    for (span class = next_word(&classes); !is_empty(class) && !sheet->is_in_doubt; class = next_word(&classes))
        add_matches(sheet, OF_CLASS, class, tag_hash, matches);
}

/* ---- Sheets ---- */

void sheet_begin(struct sheet *sheet, struct arena *arena) {
    *sheet = (struct sheet){.arena = arena, .steps_left = MAX_STEPS};
}

static bool is_name_byte(uint8_t c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c >= 0x80; }

/* Returns a rule for the last simple selector of a selector. Sets is_doubtful if the selector is not understood, or if
 * it has several classes or ids, because only the last one is matched. */
static struct rule read_selector(span text, bool *is_doubtful) {
    struct rule rule = {.kind = OF_ANY};
    *is_doubtful = *is_doubtful || is_empty(text);
    while (!is_empty(text)) {
        uint8_t c = *text.at;
        text.at += !is_name_byte(c);
        span name = text;
        while (text.at < text.end && is_name_byte(*text.at))
            text.at++;
        name.end = text.at;
        enum key_kind kind = c == '#' ? OF_ID : c == '.' ? OF_CLASS : is_name_byte(c) ? OF_TAG : OF_ANY;
        if (kind != OF_ANY && !is_empty(name) && !is_digit(*name.at)) {
            *is_doubtful = *is_doubtful || rule.kind > OF_TAG;
            rule.tag = kind == OF_TAG ? name : rule.tag;
            rule.kind = kind;
            rule.key = name;
        } else if (c == '(' || c == '[') {
            uint8_t closer = c == '(' ? ')' : ']';
            text.at = find_outside(span_between(name.at, text.end), closer, closer);
            *is_doubtful = true;
        } else if (c != '*' || !is_empty(name)) {
            *is_doubtful = true;
            if (is_space(c) || c == '>' || c == '+' || c == '~' || c == '|') { /* a combinator ends the selector */
                text.at = name.at;
                rule = (struct rule){.kind = OF_ANY};
            }
        }
    }
    return rule;
}

/* Adds a rule for each selector of a list. If one selector is doubtful, all these rules are doubtful, because browsers
 * ignore a list with a selector that they do not understand. */
static void add_rule(struct sheet *sheet, span selectors, span body, bool is_doubtful) {
    declaration_list declarations = read_declarations(sheet, copy_lower(sheet->arena, body));
    struct rule *new_rules = NULL;
    sheet->is_in_doubt = sheet->is_in_doubt || find_byte(body, '{'); /* the body has a nested rule */
    for (bool is_last = !declarations.count; !is_last;) {
        if (sheet->n_rules++ == MAX_RULES) {
            sheet->is_in_doubt = true;
            return;
        }
        const uint8_t *end = find_outside(selectors, ',', ',');
        struct rule *rule = arena_allocate(sheet->arena, 1, sizeof *rule);
        *rule = read_selector(strip(span_between(selectors.at, end)), &is_doubtful);
        rule->declarations = declarations;
        rule->next = new_rules;
        new_rules = rule;
        is_last = end == selectors.end;
        selectors = skip_bytes(span_between(end, selectors.end), 1);
    }
    while (new_rules) {
        struct rule *rule = new_rules;
        rule->hash = hash_of_key(rule->kind, rule->key);
        rule->tag_hash = hash_any_case(SECRET, rule->tag);
        struct rule **bucket = bucket_of(sheet, rule->hash);
        new_rules = rule->next;
        rule->is_doubtful = is_doubtful;
        rule->strength = (is_doubtful ? UINT32_MAX : 2 * (uint64_t)rule->kind + !is_empty(rule->tag)) << 32 | sheet->n_rules;
        rule->next = *bucket;
        *bucket = rule;
    }
}

/* Adds the rules of a sheet, or of a block in a sheet. Rules under a condition, such as "@media", are doubtful. */
static void add_rules(struct sheet *sheet, span text, bool is_doubtful, int depth) {
    while (!is_empty(text = strip(text))) {
        sheet->is_in_doubt = sheet->is_in_doubt || depth > MAX_NESTED;
        if (sheet->is_in_doubt)
            return;
        if (starts_with(text, LITERAL("<!--")) || starts_with(text, LITERAL("-->"))) {
            text.at += *text.at == '<' ? 4 : 3;
            continue;
        }
        bool is_at_rule = *text.at == '@';
        const uint8_t *open = find_outside(text, '{', is_at_rule ? ';' : '{');
        span prelude = span_between(text.at, open), body = skip_bytes(span_between(open, text.end), 1);
        text = body;
        if (open == text.end || *open == ';')
            continue;
        body.end = find_outside(body, '}', '}');
        text = skip_bytes(span_between(body.end, text.end), 1);
        if (is_at_rule)
            add_rules(sheet, body, true, depth + 1);
        else
            add_rule(sheet, prelude, body, is_doubtful);
    }
}

void sheet_add(struct sheet *sheet, span text, span media) {
    size_t left = MAX_SHEET_BYTES - sheet->n_bytes;
    sheet->is_in_doubt = sheet->is_in_doubt || size_of(text) > left;
    text = first_bytes(text, left);
    sheet->n_bytes += size_of(text);
    add_rules(sheet, simplify(sheet, text), !is_empty(strip(media)), 0);
}

/* ---- The style of an element ---- */

static void apply_attributes(struct style *style, struct arena *arena, unsigned tag,
                             const struct attributes *attributes) {
    if (TAGS[tag].flags & IS_CONTROL || tag == TAG_MARK || (tag == TAG_A && has(attributes, A_HREF)))
        style->color = UNKNOWN; /* browsers set the colors of these elements */
    if (has(attributes, A_HIDDEN) || TAGS[tag].flags & IS_UNSHOWN)
        style->flags |= IS_GONE;
    enum attribute color = tag == TAG_BODY ? A_TEXT : A_COLOR;
    if (has(attributes, color))
        style->color = read_attribute_color(arena, attributes->values[color]);
    if (has(attributes, A_BGCOLOR))
        style->background = read_attribute_color(arena, attributes->values[A_BGCOLOR]);
    if (!is_empty(value_of_attribute(attributes, A_BACKGROUND)))
        style->background = UNKNOWN;
}

static bool hides_text(const struct style *style) {
    return style->flags & (IS_GONE | IS_UNSEEN | IS_FAINT) ||
           (!(style->flags & IS_DOUBTFUL) &&
            (style->flags & (IS_TINY | IS_CUT_OFF) || is_unreadable(style->color, style->background)));
}

static struct style make_style(struct sheet *sheet, const struct style *parent, unsigned tag, span name,
                               const struct attributes *attributes) {
    struct style style = *parent;
    if (tag == TAG_TABLE) { /* on pages without a doctype, tables do not inherit color and size */
        style.color = sheet->page->color;
        style.flags &= ~(uint32_t)IS_TINY;
    }
    apply_attributes(&style, sheet->arena, tag, attributes);
    struct matches matches;
    matches.count = 0;
    if (sheet->n_rules)
        find_matches(sheet, name, attributes, &matches);
    span text = copy_lower(sheet->arena, value_of_attribute(attributes, A_STYLE));
    declaration_list attribute_declarations = read_declarations(sheet, simplify(sheet, text));
    for (int important = 0; important < 2; important++) {
        for (size_t i = 0; i < matches.count; i++)
            apply_all(&style, parent, &matches.items[i]->declarations, important, matches.items[i]->is_doubtful);
        apply_all(&style, parent, &attribute_declarations, important, false);
    }
    if (TAGS[tag].flags & IS_INLINE && style.background != parent->background)
        style.background = UNKNOWN; /* browsers do not paint the background behind blocks in an inline element */
    unsigned kind = TAGS[tag].kind;
    bool is_box = !(TAGS[tag].flags & IS_INLINE || kind == WHOLE_PAGE || (kind >= TABLE && kind <= CELL));
    bool is_low = is_box && (style.flags & (CUTS_OFF | IS_LOW | HAS_ROOM | IS_DOUBTFUL)) == (CUTS_OFF | IS_LOW);
    style.flags &= ~(uint32_t)(CUTS_OFF | IS_LOW | HAS_ROOM);
    style.flags |= (parent->flags & (IS_GONE | IS_FAINT)) | (is_low ? IS_CUT_OFF : 0);
    return style;
}

const struct style *element_style(struct sheet *sheet, const struct style *parent, unsigned tag, span name,
                             const struct attributes *attributes) {
    static const struct attributes NONE;
    struct style style = make_style(sheet, parent, tag, name, attributes ? attributes : &NONE);
    if (style.color == parent->color && style.background == parent->background && style.flags == parent->flags)
        return parent;
    struct style *copy = arena_allocate(sheet->arena, 1, sizeof *copy);
    style.is_hidden = hides_text(&style);
    *copy = style;
    return copy;
}
