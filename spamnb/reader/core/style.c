#include "style.h"

#include "hash.h"
#include "tags.h"
#include "unicode.h"

enum {
    MAX_SHEET_BYTES = 1 << 19, /* of all sheets of a document */
    MAX_RULES = 3000,
    MAX_STEPS = 100000, /* rules that are compared with elements, in one document */
    MAX_DECLARATIONS = 100, /* of one rule or attribute */
    MAX_INLINE = 4000, /* bytes */
    MAX_NESTED = 8, MAX_OPEN = 1024, /* blocks in blocks; brackets */
    MAX_MEDIA = 1000,
    MAX_RULE_CLASSES = 4,
    MAX_SELECTOR = 4000,
    SCREEN_WIDTH = 1280,
};

#define MEDIUM 16.0f /* pixels */
#define TINY 2.5f    /* smaller letters count as hidden */
#define MIN_SEEN 0.1f
#define SMALL_BOX 3.0f /* pixels; of a box that cuts off what is larger, nothing can be read */
#define FAR_AWAY -500.0f /* beyond the left or upper edge nobody looks */

const struct style FIRST_STYLE = {
    .size = MEDIUM, .opacity = 1, .color = {0, 0, 0, 1}, .background = {255, 255, 255, 1}, .under = {255, 255, 255, 1},
    .link = {0, 0, 238, 1}, .page = {0, 0, 0, 1},
};

/* One selector: a compound of a tag, an id and classes, with the declarations of its rule. */
struct rule {
    struct rule *next;
    unsigned tag; /* TAG_UNKNOWN with an empty name: any */
    span name, id, classes[MAX_RULE_CLASSES];
    size_t n_classes;
    bool is_doubtful;
    uint64_t specificity, order;
    const struct declaration *declarations;
    size_t n_declarations;
};

/* ---- Where things end ---- */

static const uint8_t *string_end(span text) {
    uint8_t quote = *text.at;
    const uint8_t *at = text.at + 1;
    for (; at < text.end && *at != quote && *at != '\n'; at++)
        if (*at == '\\' && at + 1 < text.end)
            at++;
    return at < text.end && *at == quote ? at + 1 : at;
}

/* Where one of two bytes stands that no string, bracket or URL holds; the end where none does. */
static const uint8_t *find_outside(span text, uint8_t stop, uint8_t other) {
    uint8_t closers[MAX_OPEN];
    size_t depth = 0;
    const uint8_t *at = text.at;
    while (at < text.end) {
        uint8_t c = *at;
        if (!depth && (c == stop || c == other))
            return at;
        if (c == '"' || c == '\'') {
            at = string_end(span_between(at, text.end));
            continue;
        }
        if (c == '\\') {
            at += at + 1 < text.end ? 2 : 1;
            continue;
        }
        if (c == '(' && at - text.at >= 3 && starts_with_any_case(span_between(at - 3, at), LITERAL("url"))) {
            const uint8_t *inside = at + 1;
            while (inside < text.end && is_space(*inside))
                inside++;
            if (inside < text.end && *inside != '"' && *inside != '\'') {
                const uint8_t *close = find_byte(span_between(inside, text.end), ')');
                at = close ? close + 1 : text.end;
                continue;
            }
        }
        if (c == '(' || c == '[' || c == '{') {
            if (depth == MAX_OPEN)
                return text.end;
            closers[depth++] = c == '(' ? ')' : c == '[' ? ']' : '}';
        } else if (depth && c == closers[depth - 1])
            depth--;
        at++;
    }
    return text.end;
}

/* A text with a space for each comment outside of strings. */
static span without_comments(struct arena *arena, span text) {
    if (!find(text, LITERAL("/*")))
        return text;
    struct writer writer = writer_open(arena, size_of(text));
    while (text.at < text.end) {
        const uint8_t *next = text.at + 1;
        if (*text.at == '"' || *text.at == '\'')
            next = string_end(text);
        else if (starts_with(text, LITERAL("/*"))) {
            const uint8_t *end = find(skip_bytes(text, 2), LITERAL("*/"));
            put_byte(&writer, ' ');
            text.at = end ? end + 2 : text.end;
            continue;
        }
        put_span(&writer, span_between(text.at, next));
        text.at = next;
    }
    return writer_close(&writer);
}

/* A name or value in lower case, if wanted, and without escapes: "\64 isp\lay" is display. */
static span unescaped(struct arena *arena, span text, bool in_lower_case) {
    struct writer writer = writer_open(arena, size_of(text) + 4);
    while (text.at < text.end) {
        uint8_t c = *text.at++;
        if (c != '\\' || is_empty(text)) {
            put_byte(&writer, in_lower_case ? to_lower(c) : c);
            continue;
        }
        uint32_t point = 0;
        int n = 0;
        for (; n < 6 && text.at < text.end && hex_value(*text.at) >= 0; n++)
            point = 16 * point + (uint32_t)hex_value(*text.at++);
        if (!n) {
            put_byte(&writer, in_lower_case ? to_lower(*text.at) : *text.at);
            text.at++;
            continue;
        }
        if (text.at < text.end && is_space(*text.at))
            text.at++;
        writer_reserve(&writer, 4);
        writer.at += write_point(writer.at, in_lower_case && point < 128 ? to_lower((uint8_t)point) : point);
    }
    return writer_close(&writer);
}

/* ---- Values ---- */

static span next_word(span *text) {
    while (text->at < text->end && is_space(*text->at))
        text->at++;
    span word = *text;
    while (text->at < text->end && !is_space(*text->at))
        text->at++;
    word.end = text->at;
    return word;
}

#define IS(text) is_same(value, LITERAL(text))

/* A length in pixels, or with is_share a share of the inherited size; false where it is none that is read. */
static bool read_length(span value, bool is_old_page, float *pixels, bool *is_share) {
    static const struct {
        struct name unit;
        float pixels;
        bool is_share;
    } UNITS[] = {
        {NAME("px"), 1, false}, {NAME("pt"), 4 / 3.f, false}, {NAME("pc"), 16, false}, {NAME("em"), 1, true}, {NAME("rem"), 16, false},
        {NAME("ex"), .5f, true}, {NAME("ch"), .5f, true}, {NAME("%"), .01f, true}, {NAME("in"), 96, false}, {NAME("cm"), 37.8f, false},
        {NAME("mm"), 3.78f, false}, {NAME("q"), .945f, false}, {NAME("vw"), 12, false}, {NAME("vh"), 8, false},
    };
    double number;
    *is_share = false;
    if (!read_number(&value, &number))
        return false;
    *pixels = (float)number;
    if (is_empty(value))
        return number == 0 || is_old_page;
    for (size_t i = 0; i < COUNT_OF(UNITS); i++)
        if (is_same(value, span_of_name(UNITS[i].unit))) {
            *pixels = (float)number * UNITS[i].pixels;
            *is_share = UNITS[i].is_share;
            return true;
        }
    return false;
}

static bool read_size(span value, bool is_old_page, struct declaration *found) {
    static const struct {
        struct name name;
        float pixels;
    } SIZES[] = {
        {NAME("xx-small"), 9}, {NAME("x-small"), 10}, {NAME("small"), 13}, {NAME("medium"), MEDIUM}, {NAME("large"), 18}, {NAME("x-large"), 24},
        {NAME("xx-large"), 32}, {NAME("xxx-large"), 48}, {NAME("initial"), MEDIUM},
    };
    for (size_t i = 0; i < COUNT_OF(SIZES); i++)
        if (is_same(value, span_of_name(SIZES[i].name))) {
            found->number = SIZES[i].pixels;
            return true;
        }
    if (IS("smaller") || IS("larger")) {
        found->number = 1;
        found->is_share = true;
        return true;
    }
    if (find_byte(value, '(')) { /* it is computed */
        found->number = MEDIUM;
        return true;
    }
    return read_length(value, is_old_page, &found->number, &found->is_share) && found->number >= 0;
}

/* [style] [weight] size[/line height] family */
static bool read_font(span value, bool is_old_page, struct declaration *found) {
    while (!is_empty(value)) {
        span word = next_word(&value), size = before_first(word, '/');
        bool is_weight = size_of(word) == 3 && is_digit(word.at[0]) && is_digit(word.at[1]) && is_digit(word.at[2]);
        if (!is_empty(word) && !is_weight && read_size(size, is_old_page, found))
            return !is_empty(strip(value));
    }
    return false;
}

static bool is_one_of(span value, const char *words) {
    size_t n = size_of(value);
    for (const char *at = words; n && (at = strstr(at, " ")); at++)
        if (!strncmp(at + 1, (const char *)value.at, n) && at[1 + n] == ' ')
            return true;
    return false;
}

static bool read_display(span value, struct declaration *found) {
    int display = IS("none") ? DISPLAY_NONE : IS("inline") || IS("contents") ? DISPLAY_INLINE : -1;
    if (is_one_of(value, " block inline-block flex inline-flex grid inline-grid list-item flow-root "))
        display = DISPLAY_BLOCK;
    if (is_one_of(value, " table inline-table table-cell table-row table-row-group "))
        display = DISPLAY_TABLE;
    if (display < 0 && (is_one_of(value, " initial inherit unset revert revert-layer ") || starts_with(value, LITERAL("-")) ||
                        starts_with(value, LITERAL("table")) || starts_with(value, LITERAL("ruby")) ||
                        find_byte(value, '(') || find_byte(value, ' ')))
        display = DISPLAY_OTHER;
    found->number = (float)display;
    return display >= 0;
}

static bool has_picture(span value) {
    return find(value, LITERAL("url(")) || find(value, LITERAL("gradient")) || find(value, LITERAL("var(")) ||
           find(value, LITERAL("image"));
}

static struct color background_of(span value, bool is_old_page) {
    struct color color = CLEAR, found;
    while (!is_empty(value)) {
        while (value.at < value.end && is_space(*value.at))
            value.at++;
        span word = span_between(value.at, find_outside(value, ' ', ','));
        if (read_color(word, is_old_page, &found))
            color = found;
        value.at = word.end < value.end ? word.end + 1 : value.end;
    }
    return color;
}

/* What declarations are read of which names, and how. */
enum reads { READS_DISPLAY, READS_VISIBILITY, READS_COLOR, READS_BACKGROUND, READS_PICTURE, READS_SIZE, READS_FONT,
    READS_OPACITY, READS_SHADOW, READS_POSITION, READS_OVERFLOW, READS_LENGTH, READS_PADDING, READS_MARGIN, READS_CLIP, READS_ALL,
    N_OF_ONE = 5 /* declarations that one may stand for */ };

static const struct {
    struct name name;
    uint8_t property, reads;
} PROPERTIES[] = {
    {NAME("display"), P_DISPLAY, READS_DISPLAY}, {NAME("visibility"), P_VISIBILITY, READS_VISIBILITY},
    {NAME("color"), P_COLOR, READS_COLOR}, {NAME("-webkit-text-fill-color"), P_FILL, READS_COLOR},
    {NAME("background-color"), P_BACKGROUND, READS_COLOR}, {NAME("background"), P_BACKGROUND, READS_BACKGROUND},
    {NAME("background-image"), P_PICTURE, READS_PICTURE}, {NAME("font-size"), P_SIZE, READS_SIZE}, {NAME("font"), P_SIZE, READS_FONT},
    {NAME("opacity"), P_OPACITY, READS_OPACITY}, {NAME("text-shadow"), P_SHADOW, READS_SHADOW},
    {NAME("-webkit-text-stroke"), P_SHADOW, READS_SHADOW}, {NAME("background-clip"), P_FILL, READS_CLIP},
    {NAME("-webkit-background-clip"), P_FILL, READS_CLIP}, {NAME("position"), P_POSITION, READS_POSITION},
    {NAME("overflow"), P_OVERFLOW, READS_OVERFLOW}, {NAME("overflow-y"), P_OVERFLOW, READS_OVERFLOW},
    {NAME("overflow-x"), P_OVERFLOW, READS_OVERFLOW}, {NAME("height"), P_HEIGHT, READS_LENGTH},
    {NAME("max-height"), P_MAX_HEIGHT, READS_LENGTH}, {NAME("width"), P_WIDTH, READS_LENGTH},
    {NAME("max-width"), P_MAX_WIDTH, READS_LENGTH}, {NAME("left"), P_LEFT, READS_LENGTH}, {NAME("top"), P_TOP, READS_LENGTH},
    {NAME("margin-left"), P_MARGIN_LEFT, READS_LENGTH}, {NAME("margin-top"), P_MARGIN_TOP, READS_LENGTH},
    {NAME("min-height"), P_PADDING, READS_PADDING}, {NAME("min-width"), P_PADDING, READS_PADDING},
    {NAME("padding"), P_PADDING, READS_PADDING}, {NAME("padding-top"), P_PADDING, READS_PADDING},
    {NAME("padding-bottom"), P_PADDING, READS_PADDING}, {NAME("padding-left"), P_PADDING, READS_PADDING},
    {NAME("transform"), P_MOVED, READS_SHADOW}, {NAME("-webkit-transform"), P_MOVED, READS_SHADOW},
    {NAME("translate"), P_MOVED, READS_SHADOW}, {NAME("inset"), P_MOVED, READS_SHADOW},
    {NAME("inset-inline"), P_MOVED, READS_SHADOW}, {NAME("inset-inline-start"), P_MOVED, READS_SHADOW},
    {NAME("inset-block"), P_MOVED, READS_SHADOW}, {NAME("inset-block-start"), P_MOVED, READS_SHADOW},
    {NAME("margin-inline"), P_MOVED, READS_SHADOW}, {NAME("margin-inline-start"), P_MOVED, READS_SHADOW},
    {NAME("margin-block"), P_MOVED, READS_SHADOW}, {NAME("margin-block-start"), P_MOVED, READS_SHADOW},
    {NAME("all"), P_DISPLAY, READS_ALL},
    {NAME("padding-right"), P_PADDING, READS_PADDING}, {NAME("margin"), P_MARGIN_LEFT, READS_MARGIN},
};

#define NO_LENGTH 1e6f

/* A length in pixels; NO_LENGTH for auto and the like, and for shares of what is not known. */
static float length_of(span word, bool is_old_page) {
    float length;
    bool is_share;
    if (!read_length(word, is_old_page, &length, &is_share) || word.end[-1] == '%')
        return NO_LENGTH;
    return is_share ? length * MEDIUM : length;
}

/* margin: the top comes first; the left is the fourth of four, else the second, else the only one. */
static void read_margins(span value, bool is_old_page, struct declaration *left, struct declaration *top) {
    float lengths[4] = {0};
    size_t n = 0;
    for (span word = next_word(&value); !is_empty(word) && n < 4; word = next_word(&value))
        lengths[n++] = length_of(word, is_old_page);
    top->property = P_MARGIN_TOP;
    top->number = lengths[0];
    left->number = lengths[n == 4 ? 3 : n > 1 ? 1 : 0];
}

static bool is_keyword_for_parent(span value) { return IS("inherit") || IS("unset") || IS("currentcolor"); }

/* The declarations that one text "name: value" stands for; how many. Browsers leave out what they do not
 * understand. */
static size_t read_declaration(struct arena *arena, span text, bool is_old_page, struct declaration found[N_OF_ONE]) {
    const uint8_t *colon = find_byte(text, ':');
    if (!colon)
        return 0;
    span name = strip(span_between(text.at, colon)), value = span_between(colon + 1, text.end);
    uint8_t lower[24];
    if (find_byte(name, '\\'))
        name = strip(unescaped(arena, name, true));
    if (size_of(name) > sizeof lower)
        return 0;
    for (size_t i = 0; i < size_of(name); i++)
        lower[i] = to_lower(name.at[i]);
    name = span_of(lower, size_of(name));
    size_t which = 0;
    while (which < COUNT_OF(PROPERTIES) && !is_same(name, span_of_name(PROPERTIES[which].name)))
        which++;
    if (which == COUNT_OF(PROPERTIES))
        return 0;
    value = strip(unescaped(arena, value, true));
    bool is_important = false;
    const uint8_t *mark = find_last(value, '!');
    if (mark) {
        if (!is_same(strip(span_between(mark + 1, value.end)), LITERAL("important")))
            return 0;
        is_important = true;
        value = strip(span_between(value.at, mark));
    }
    if (is_empty(value))
        return 0;
    for (size_t i = 0; i < N_OF_ONE; i++)
        found[i] = (struct declaration){.property = PROPERTIES[which].property, .is_important = is_important};
    double number;
    switch ((enum reads)PROPERTIES[which].reads) {
    case READS_DISPLAY:
        return read_display(value, &found[0]);
    case READS_VISIBILITY:
        found[0].number = IS("hidden") || IS("collapse");
        return found[0].number || is_one_of(value, " visible initial ") || find_byte(value, '(');
    case READS_COLOR:
        return !is_keyword_for_parent(value) && read_color(value, is_old_page, &found[0].color);
    case READS_BACKGROUND:
        found[0].color = background_of(value, is_old_page);
        found[1].property = P_PICTURE;
        found[1].number = has_picture(value);
        return 2;
    case READS_PICTURE:
        found[0].number = has_picture(value);
        return 1;
    case READS_SIZE:
        return read_size(value, is_old_page, &found[0]);
    case READS_FONT:
        return read_font(value, is_old_page, &found[0]);
    case READS_OPACITY:
        if (!read_number(&value, &number))
            number = 1; /* it is computed */
        else if (IS("%"))
            number /= 100;
        else if (!is_empty(value))
            return 0;
        found[0].number = number < 0 ? 0 : number > 1 ? 1 : (float)number;
        return 1;
    case READS_SHADOW:
        found[0].number = !(IS("none") || (found[0].property == P_SHADOW && (IS("0") || IS("initial"))));
        return 1;
    case READS_CLIP: /* a picture shows through the letters */
        found[0].color = UNKNOWN;
        return IS("text");
    case READS_POSITION:
        found[0].number = starts_with(value, LITERAL("absolute")) || starts_with(value, LITERAL("fixed")) ? 2
                          : starts_with(value, LITERAL("relative"))                                       ? 1
                                                                                                           : 0;
        return 1;
    case READS_OVERFLOW:
        found[0].number = is_one_of(before_first(value, ' '), " hidden clip scroll auto ");
        return 1;
    case READS_PADDING:
        for (const uint8_t *at = value.at; at < value.end; at++)
            found[0].number = found[0].number || (is_digit(*at) && *at != '0') || *at == '(';
        return 1;
    case READS_ALL: /* all: unset */
        found[0].number = DISPLAY_OTHER;
        found[1].property = P_VISIBILITY;
        found[2].property = P_OPACITY;
        found[2].number = 1;
        found[3].property = P_SIZE;
        found[3].number = MEDIUM;
        found[4].property = P_COLOR;
        found[4].color = UNKNOWN;
        return N_OF_ONE;
    case READS_LENGTH:
        found[0].number = length_of(value, is_old_page);
        return 1;
    case READS_MARGIN:
        read_margins(value, is_old_page, &found[0], &found[1]);
        return 2;
    }
    return 0;
}

/* Adds the declarations of a text to an array of MAX_DECLARATIONS; what stands in braces is left out. is_cut: there are
 * more. */
static size_t read_declarations(struct arena *arena, span text, bool is_old_page, struct declaration *found, bool *is_cut) {
    size_t n = 0;
    while (text.at < text.end) {
        if (n + N_OF_ONE > MAX_DECLARATIONS) {
            *is_cut = true;
            break;
        }
        const uint8_t *end = find_outside(text, ';', '{');
        if (end < text.end && *end == '{') { /* a rule in a rule */
            end = find_outside(span_between(end + 1, text.end), '}', '}');
            text.at = end < text.end ? end + 1 : text.end;
            continue;
        }
        n += read_declaration(arena, span_between(text.at, end), is_old_page, found + n);
        text.at = end < text.end ? end + 1 : text.end;
    }
    return n;
}

/* ---- The cascade ---- */

enum { INLINE_STRENGTH = 62, IMPORTANT_STRENGTH = 63 };

static void add(struct cascade *cascade, const struct declaration *declaration, uint64_t strength) {
    strength |= (uint64_t)declaration->is_important << IMPORTANT_STRENGTH;
    if (strength >= cascade->strengths[declaration->property]) {
        cascade->strengths[declaration->property] = strength;
        cascade->values[declaration->property] = *declaration;
    }
}

/* Whether a declaration may bring back what lies beyond the edges of the page. */
static bool brings_back(const struct declaration *declaration) {
    switch (declaration->property) {
    case P_POSITION:
        return declaration->number == 2;
    case P_MOVED:
        return declaration->number != 0;
    case P_LEFT: case P_TOP:
        return declaration->number >= -FAR_AWAY;
    case P_MARGIN_LEFT: case P_MARGIN_TOP:
        return declaration->number >= -FAR_AWAY && declaration->number < NO_LENGTH; /* margin: auto does not */
    default:
        return false;
    }
}

/* A declaration that may apply: where it would show text, it counts against what would hide it. */
static void add_doubt(struct cascade *cascade, const struct declaration *declaration, uint64_t strength) {
    uint8_t property = declaration->property;
    bool hides = (property == P_DISPLAY && declaration->number == DISPLAY_NONE) ||
                 (property == P_VISIBILITY && declaration->number) ||
                 (property == P_OPACITY && declaration->number < MIN_SEEN) ||
                 (property == P_SIZE && declaration->number < TINY && !declaration->is_share);
    strength |= (uint64_t)declaration->is_important << IMPORTANT_STRENGTH;
    if (!hides && strength >= cascade->doubts[property])
        cascade->doubts[property] = strength;
    cascade->may_come_back = cascade->may_come_back || brings_back(declaration);
}

/* What is not read may undo anything. */
static void doubt_all(struct cascade *cascade) {
    for (size_t i = 0; i < N_PROPERTIES; i++)
        cascade->doubts[i] = UINT64_MAX;
    cascade->may_come_back = true;
}

void cascade_add_inline(struct cascade *cascade, struct arena *arena, span text, bool is_old_page) {
    struct declaration found[MAX_DECLARATIONS];
    bool is_cut = size_of(text) > MAX_INLINE;
    text = without_comments(arena, first_bytes(text, MAX_INLINE));
    size_t n = read_declarations(arena, text, is_old_page, found, &is_cut);
    for (size_t i = 0; i < n; i++)
        add(cascade, &found[i], UINT64_C(1) << INLINE_STRENGTH);
    if (is_cut)
        doubt_all(cascade);
}

static bool has_class(const struct element_names *element, span class, bool any_case) {
    for (size_t i = 0; i < element->n_classes; i++) {
        span other = element->classes[i];
        if (size_of(other) != size_of(class))
            continue;
        size_t n = size_of(class), k = 0;
        while (k < n && (other.at[k] == class.at[k] || (any_case && to_lower(other.at[k]) == to_lower(class.at[k]))))
            k++;
        if (k == n)
            return true;
    }
    return false;
}

static bool matches(const struct rule *rule, const struct element_names *element, bool is_old_page) {
    struct element_names own = {.n_classes = 1, .classes = {element->id}};
    if (!is_empty(rule->name) && (rule->tag != element->tag || (rule->tag == TAG_UNKNOWN && (
            size_of(rule->name) != size_of(element->name) || !starts_with_any_case(element->name, rule->name)))))
        return false;
    if (rule->id.at && !has_class(&own, rule->id, is_old_page))
        return false;
    for (size_t i = 0; i < rule->n_classes; i++)
        if (!has_class(element, rule->classes[i], is_old_page))
            return false;
    return true;
}

/* The bucket of a key; in any case, since old pages tell none apart. */
static uint8_t bucket_of(uint8_t kind, span key) {
    uint32_t hash = kind;
    for (const uint8_t *at = key.at; at < key.end; at++)
        hash = hash * 31 + to_lower(*at);
    return (uint8_t)(hash ^ hash >> 8 ^ hash >> 16);
}

static void add_matching(struct cascade *cascade, struct sheet *sheet, const struct rule *rule,
                         const struct element_names *element) {
    for (; rule; rule = rule->next) {
        if (!sheet->steps_left) {
            sheet->is_cut = true;
            return;
        }
        sheet->steps_left--;
        if (!matches(rule, element, sheet->is_old_page))
            continue;
        for (size_t i = 0; i < rule->n_declarations; i++)
            if (rule->is_doubtful)
                add_doubt(cascade, &rule->declarations[i], UINT64_C(0x3FFFF) << 32 | rule->order);
            else
                add(cascade, &rule->declarations[i], rule->specificity << 32 | rule->order);
    }
}

void cascade_add_rules(struct cascade *cascade, struct sheet *sheet, const struct element_names *element) {
    if (!sheet->n_rules)
        return;
    if (element->has_more_classes)
        doubt_all(cascade);
    uint8_t seen[256 / 8] = {0};
    uint8_t keys[MAX_CLASSES + 2];
    size_t n = 0;
    keys[n++] = bucket_of('t', element->name);
    if (element->id.at)
        keys[n++] = bucket_of('#', element->id);
    for (size_t i = 0; i < element->n_classes; i++)
        keys[n++] = bucket_of('.', element->classes[i]);
    for (size_t i = 0; i < n; i++) {
        if (seen[keys[i] / 8] >> keys[i] % 8 & 1)
            continue;
        seen[keys[i] / 8] |= (uint8_t)(1 << keys[i] % 8);
        add_matching(cascade, sheet, sheet->buckets[keys[i]], element);
    }
    add_matching(cascade, sheet, sheet->of_any, element);
}

/* ---- Sheets ---- */

void sheet_begin(struct sheet *sheet, struct arena *arena, bool is_old_page) {
    *sheet = (struct sheet){.arena = arena, .is_old_page = is_old_page, .steps_left = MAX_STEPS};
}

static bool is_name_byte(uint8_t c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c >= 0x80 || c == '\\'; }

/* A name at the beginning of a selector, without escapes; moves text behind it. */
static span take_name(struct arena *arena, span *text) {
    span name = *text;
    while (text->at < text->end && is_name_byte(*text->at))
        text->at += *text->at == '\\' && size_of(*text) > 1 ? 2 : 1;
    name.end = text->at;
    return find_byte(name, '\\') ? unescaped(arena, name, false) : name;
}

/* What a pseudo class says of what it stands behind. */
enum { NEVER, DOUBTFUL, FOREIGN };

static int read_pseudo(struct arena *arena, span *text) {
    while (text->at < text->end && *text->at == ':')
        text->at++;
    span name = lower_copy(arena, take_name(arena, text)), value = name;
    if (text->at < text->end && *text->at == '(') {
        const uint8_t *end = find_outside(skip_bytes(*text, 1), ')', ')');
        text->at = end < text->end ? end + 1 : text->end;
    }
    if (is_one_of(value, " hover focus active visited target focus-within focus-visible checked disabled before after "
                         "first-line first-letter selection placeholder marker backdrop "))
        return NEVER;
    if (is_one_of(value, " first-child last-child only-child nth-child nth-last-child first-of-type last-of-type "
                         "only-of-type nth-of-type nth-last-of-type not is where has root link any-link empty enabled "
                         "lang dir scope read-only read-write required optional valid default "))
        return DOUBTFUL;
    return FOREIGN;
}

/* A selector; false where browsers leave out its whole rule. never: it matches nothing; is_foreign: browsers may not
 * understand it. */
static bool read_selector(struct sheet *sheet, span text, struct rule *rule, bool *never, bool *is_foreign) {
    *rule = (struct rule){.tag = TAG_UNKNOWN};
    *never = false;
    uint64_t ids = 0, classes = 0, tags = 0;
    text = strip(text);
    sheet->is_cut = sheet->is_cut || size_of(text) > MAX_SELECTOR;
    if (is_empty(text) || size_of(text) > MAX_SELECTOR)
        return false;
    while (!is_empty(text)) {
        uint8_t c = *text.at;
        if (is_space(c) || c == '>' || c == '+' || c == '~') { /* what stands before it is not looked at */
            text.at++;
            if (is_empty(strip(text)))
                return false;
            rule->is_doubtful = true;
            rule->name = rule->id = (span){0};
            rule->n_classes = 0;
        } else if (c == '*' || c == '&') {
            text.at++;
            rule->is_doubtful = rule->is_doubtful || c == '&';
        } else if (c == '.' || c == '#') {
            text.at++;
            span name = take_name(sheet->arena, &text);
            if (is_empty(name) || is_digit(*name.at))
                return false;
            if (c == '#')
                rule->id = name, ids++;
            else if (rule->n_classes < MAX_RULE_CLASSES)
                rule->classes[rule->n_classes++] = name, classes++;
            else
                rule->is_doubtful = true;
        } else if (c == '[') {
            const uint8_t *end = find_outside(skip_bytes(text, 1), ']', ']');
            text.at = end < text.end ? end + 1 : text.end;
            rule->is_doubtful = true;
        } else if (c == ':') {
            int says = read_pseudo(sheet->arena, &text);
            *is_foreign = *is_foreign || says == FOREIGN;
            *never = *never || says == NEVER;
            rule->is_doubtful = true;
        } else if (is_name_byte(c)) {
            rule->name = lower_copy(sheet->arena, take_name(sheet->arena, &text));
            if (is_empty(rule->name))
                return false;
            rule->tag = tag_of(rule->name);
            tags++;
        } else
            return false;
    }
    rule->specificity = (ids > 63 ? 63 : ids) << 12 | (classes > 63 ? 63 : classes) << 6 | (tags > 63 ? 63 : tags);
    return true;
}

static void keep_rule(struct sheet *sheet, const struct rule *rule) {
    if (sheet->n_rules >= MAX_RULES) {
        sheet->is_cut = true;
        return;
    }
    struct rule *kept = arena_take(sheet->arena, 1, sizeof *kept);
    *kept = *rule;
    kept->order = ++sheet->n_rules;
    struct rule **bucket = &sheet->of_any;
    if (rule->id.at)
        bucket = &sheet->buckets[bucket_of('#', rule->id)];
    else if (rule->n_classes)
        bucket = &sheet->buckets[bucket_of('.', rule->classes[0])];
    else if (!is_empty(rule->name))
        bucket = &sheet->buckets[bucket_of('t', rule->name)];
    kept->next = *bucket;
    *bucket = kept;
}

/* Adds the rules of a list of selectors. */
static void add_rule(struct sheet *sheet, span selectors, span body, bool is_doubtful) {
    struct declaration found[MAX_DECLARATIONS];
    size_t n = read_declarations(sheet->arena, body, sheet->is_old_page, found, &sheet->is_cut);
    if (!n)
        return;
    struct declaration *declarations = arena_take(sheet->arena, n, sizeof *declarations);
    memcpy(declarations, found, n * sizeof *found);
    LIST(struct rule) rules = {0};
    while (!is_empty(selectors) && rules.count < MAX_RULES) {
        const uint8_t *end = find_outside(selectors, ',', ',');
        struct rule rule;
        bool never;
        if (!read_selector(sheet, span_between(selectors.at, end), &rule, &never, &is_doubtful))
            is_doubtful = true;
        else if (!never) {
            rule.declarations = declarations;
            rule.n_declarations = n;
            *LIST_ADD(sheet->arena, &rules) = rule;
        }
        selectors.at = end < selectors.end ? end + 1 : selectors.end;
    }
    for (size_t i = 0; i < rules.count; i++) {
        rules.items[i].is_doubtful = rules.items[i].is_doubtful || is_doubtful;
        keep_rule(sheet, &rules.items[i]);
    }
}

enum answer { NO, PERHAPS, YES };

/* Whether a condition such as (min-width: 600px) holds on a screen. */
static enum answer condition_holds(span text) {
    const uint8_t *colon = find_byte(text, ':');
    if (!colon)
        return PERHAPS;
    span name = strip(span_between(text.at, colon)), value = strip(span_between(colon + 1, text.end));
    bool is_min = starts_with(name, LITERAL("min-")), is_max = starts_with(name, LITERAL("max-"));
    bool is_width = is_same(skip_bytes(name, 4), LITERAL("width")) || is_same(skip_bytes(name, 4), LITERAL("device-width"));
    float pixels;
    bool is_share;
    if (is_same(name, LITERAL("prefers-color-scheme")))
        return IS("light") ? YES : NO;
    if (!(is_min || is_max) || !is_width || !read_length(value, false, &pixels, &is_share))
        return PERHAPS;
    pixels *= is_share ? MEDIUM : 1;
    return (is_min ? SCREEN_WIDTH >= pixels : SCREEN_WIDTH <= pixels) ? YES : NO;
}

/* Whether one media query, in lower case, holds. */
static enum answer query_holds(span text) {
    enum answer holds = YES;
    text = strip(text);
    while (!is_empty(text)) {
        if (*text.at == '(') {
            const uint8_t *end = find_outside(skip_bytes(text, 1), ')', ')');
            enum answer one = condition_holds(span_between(text.at + 1, end));
            holds = one < holds ? one : holds;
            text.at = end < text.end ? end + 1 : text.end;
        } else {
            span value = text;
            while (text.at < text.end && !is_space(*text.at) && *text.at != '(')
                text.at++;
            value.end = text.at;
            if (IS("not") || IS("or"))
                return PERHAPS;
            if (!(IS("only") || IS("and") || IS("screen") || IS("all")))
                return NO;
        }
        text = strip(text);
    }
    return holds;
}

static enum answer media_holds(struct arena *arena, span list) {
    enum answer holds = is_empty(strip(list)) ? YES : size_of(list) > MAX_MEDIA ? PERHAPS : NO;
    list = lower_copy(arena, first_bytes(list, MAX_MEDIA));
    while (!is_empty(list)) {
        const uint8_t *end = find_outside(list, ',', ',');
        enum answer one = query_holds(span_between(list.at, end));
        holds = one > holds ? one : holds;
        list.at = end < list.end ? end + 1 : list.end;
    }
    return holds;
}

/* The rules of a sheet, or of a block in it; in_rule: declarations stand between them. */
static void add_rules(struct sheet *sheet, span text, bool is_doubtful, int depth, bool in_rule) {
    while (!is_empty(text) && sheet->n_rules < MAX_RULES) {
        text = strip(text);
        if (!is_empty(text) && (*text.at == '}' || *text.at == ';')) {
            text.at++;
            continue;
        }
        if (starts_with(text, LITERAL("<!--")) || starts_with(text, LITERAL("-->"))) {
            text.at += *text.at == '<' ? 4 : 3;
            continue;
        }
        bool is_at_rule = !is_empty(text) && *text.at == '@';
        const uint8_t *open = find_outside(text, '{', is_at_rule || in_rule ? ';' : '{');
        if (open == text.end || *open == ';') {
            text.at = open < text.end ? open + 1 : text.end;
            continue;
        }
        span prelude = strip(span_between(text.at, open)), body = span_between(open + 1, text.end);
        body.end = find_outside(body, '}', '}');
        text.at = body.end < text.end ? body.end + 1 : text.end;
        if (!is_at_rule) {
            bool has_rules = find_byte(body, '{') != NULL;
            add_rule(sheet, prelude, body, is_doubtful || has_rules);
            if (has_rules && depth < MAX_NESTED)
                add_rules(sheet, body, true, depth + 1, true);
            sheet->is_cut = sheet->is_cut || (has_rules && depth == MAX_NESTED);
            continue;
        }
        span name = prelude;
        prelude.at++;
        while (prelude.at < prelude.end && is_name_byte(*prelude.at))
            prelude.at++;
        name.end = prelude.at;
        if (depth == MAX_NESTED) {
            sheet->is_cut = true;
            continue;
        }
        if (is_same_any_case(name, LITERAL("@media"))) {
            enum answer holds = media_holds(sheet->arena, prelude);
            if (holds != NO)
                add_rules(sheet, body, is_doubtful || holds == PERHAPS, depth + 1, in_rule);
        } else if (is_same_any_case(name, LITERAL("@supports")) || is_same_any_case(name, LITERAL("@layer")) ||
                   is_same_any_case(name, LITERAL("@container")) || is_same_any_case(name, LITERAL("@scope")))
            add_rules(sheet, body, true, depth + 1, in_rule);
    }
}

void sheet_add(struct sheet *sheet, span text, span media) {
    enum answer holds = media_holds(sheet->arena, media);
    size_t left = MAX_SHEET_BYTES - sheet->n_bytes;
    sheet->is_cut = sheet->is_cut || size_of(text) > left;
    text = first_bytes(text, left);
    sheet->n_bytes += size_of(text);
    if (holds != NO)
        add_rules(sheet, without_comments(sheet->arena, text), holds == PERHAPS, 0, false);
    sheet->is_cut = sheet->is_cut || sheet->n_rules >= MAX_RULES;
}

/* ---- What an element's children inherit ---- */

/* The strongest declaration of a property, or NULL; one that a doubt is stronger than is none that hides. */
static const struct declaration *declared(const struct cascade *cascade, enum property property) {
    return cascade->strengths[property] ? &cascade->values[property] : NULL;
}

static bool is_doubted(const struct cascade *cascade, enum property property) {
    return cascade->doubts[property] > cascade->strengths[property];
}

/* Whether a box cuts off all that it holds, or lies beyond the edges of the page. */
static bool is_box_away(const struct cascade *cascade, bool is_page) {
    const struct declaration *value;
    float height = NO_LENGTH, width = NO_LENGTH;
    for (enum property p = P_POSITION; p <= P_MOVED; p++)
        if (is_doubted(cascade, p))
            return false;
    if ((value = declared(cascade, P_MOVED)) && value->number)
        return false;
    if ((value = declared(cascade, P_HEIGHT)))
        height = value->number;
    if ((value = declared(cascade, P_MAX_HEIGHT)) && value->number < height)
        height = value->number;
    if ((value = declared(cascade, P_WIDTH)))
        width = value->number;
    if ((value = declared(cascade, P_MAX_WIDTH)) && value->number < width)
        width = value->number;
    bool cuts = (value = declared(cascade, P_OVERFLOW)) && value->number;
    bool is_padded = (value = declared(cascade, P_PADDING)) && value->number;
    if (cuts && !is_padded && !is_page && /* what the page cuts off can be scrolled to */ (height <= SMALL_BOX || width <= SMALL_BOX))
        return true;
    if (((value = declared(cascade, P_MARGIN_LEFT)) && value->number <= FAR_AWAY) ||
        ((value = declared(cascade, P_MARGIN_TOP)) && value->number <= FAR_AWAY))
        return true;
    return (value = declared(cascade, P_POSITION)) && value->number &&
           (((value = declared(cascade, P_LEFT)) && value->number <= FAR_AWAY) ||
            ((value = declared(cascade, P_TOP)) && value->number <= FAR_AWAY));
}

static bool may_come_back(const struct cascade *cascade) {
    const struct declaration *value;
    bool may = cascade->may_come_back;
    for (enum property p = P_POSITION; p <= P_MOVED && !may; p++)
        may = (value = declared(cascade, p)) && brings_back(value);
    return may;
}

static void apply_cascade(struct style *style, const struct cascade *cascade, unsigned tag, bool *is_hidden, int *shape) {
    const struct declaration *value;
    if ((value = declared(cascade, P_DISPLAY)) && !is_doubted(cascade, P_DISPLAY)) {
        style->is_gone = style->is_gone || value->number == DISPLAY_NONE;
        *shape = value->number == DISPLAY_OTHER ? *shape : (int)value->number;
    }
    if ((value = declared(cascade, P_POSITION)) && value->number == 2)
        *shape = DISPLAY_BLOCK;
    if (may_come_back(cascade))
        style->is_away = false;
    if (declared(cascade, P_DISPLAY) || is_doubted(cascade, P_DISPLAY))
        *is_hidden = false;
    if (*shape == DISPLAY_BLOCK && is_box_away(cascade, tag == TAG_HTML || tag == TAG_BODY))
        style->is_away = true;
    if (is_doubted(cascade, P_VISIBILITY))
        style->is_unseen = false;
    else if ((value = declared(cascade, P_VISIBILITY)))
        style->is_unseen = value->number != 0;
    if (is_doubted(cascade, P_SIZE))
        style->size = MEDIUM;
    else if ((value = declared(cascade, P_SIZE)))
        style->size = value->is_share ? style->size * value->number : value->number;
    if (is_doubted(cascade, P_COLOR))
        style->color = UNKNOWN;
    else if ((value = declared(cascade, P_COLOR)))
        style->color = value->color;
    if (is_doubted(cascade, P_FILL) || (value = declared(cascade, P_FILL))) {
        style->has_fill = true;
        style->fill = is_doubted(cascade, P_FILL) ? UNKNOWN : value->color;
    }
    if ((value = declared(cascade, P_BACKGROUND)))
        style->background = over(value->color, style->background);
    if (is_doubted(cascade, P_BACKGROUND) || is_doubted(cascade, P_PICTURE) ||
        ((value = declared(cascade, P_PICTURE)) && value->number))
        style->background = UNKNOWN;
    if (!is_doubted(cascade, P_OPACITY) && (value = declared(cascade, P_OPACITY)))
        style->opacity *= value->number;
    if ((value = declared(cascade, P_SHADOW)) || is_doubted(cascade, P_SHADOW))
        style->has_shadow = is_doubted(cascade, P_SHADOW) || value->number != 0;
}

static bool is_named(unsigned tag, const char *names) {
    return is_one_of(span_of_name(TAGS[tag].name), names);
}

/* The style that elements of a tag have of their own. */
static void apply_tag(struct style *style, unsigned tag, const struct presentation *presentation, bool in_closed) {
    if (tag == TAG_A)
        style->color = presentation->has_href ? style->link : style->color;
    else if (tag == TAG_MARK) {
        style->color = BLACK;
        style->background = (struct color){255, 255, 0, 1};
    } else if (is_named(tag, " button select textarea ")) {
        style->color = BLACK;
        style->has_fill = false;
        style->background = (struct color){239, 239, 239, 1};
        style->size = 13;
    } else if (is_named(tag, " audio canvas video "))
        style->is_gone = true; /* what stands in them is for browsers without them */
    else if (tag == TAG_DIALOG) {
        style->color = BLACK;
        style->background = WHITE;
    } else if (tag == TAG_DETAILS)
        style->folded += !presentation->is_open;
    else if (tag == TAG_SUMMARY)
        style->folded -= in_closed;
}

struct style inherited_style(const struct style *above, unsigned tag, const struct presentation *presentation,
                             const struct cascade *cascade, bool in_closed, bool in_old_table) {
    struct style style = *above;
    bool is_inline = TAGS[tag].flags & IS_INLINE, is_hidden = presentation->is_hidden;
    int shape = is_inline ? DISPLAY_INLINE : TAGS[tag].kind >= TABLE && TAGS[tag].kind <= CELL ? DISPLAY_TABLE : DISPLAY_BLOCK;
    /* Of an inline element that holds a block the background is not painted behind it. */
    if (!is_inline && !is_same_color(style.background, style.under))
        style.background = UNKNOWN;
    if (in_old_table) {
        style.size = MEDIUM;
        style.color = style.page;
    }
    if (TAGS[tag].flags & IS_STYLED) {
        apply_tag(&style, tag, presentation, in_closed);
        is_hidden = is_hidden || (tag == TAG_DIALOG && !presentation->is_open) || is_named(tag, " datalist ");
    }
    struct color color;
    if (read_attribute_color(presentation->background_color, &color))
        style.background = color;
    if (presentation->has_background)
        style.background = UNKNOWN;
    if (read_attribute_color(presentation->color, &color))
        style.color = color;
    if (read_attribute_color(presentation->link, &color))
        style.link = color;
    if (cascade)
        apply_cascade(&style, cascade, tag, &is_hidden, &shape);
    if (tag == TAG_HTML || tag == TAG_BODY)
        style.page = style.color;
    if (shape != DISPLAY_INLINE)
        style.under = style.background;
    style.is_gone = style.is_gone || is_hidden;
    return style;
}

unsigned why_hidden(const struct style *style) {
    if (style->is_gone)
        return HIDDEN_DISPLAY;
    if (style->is_away)
        return HIDDEN_OFF_SCREEN;
    if (style->size < TINY)
        return HIDDEN_TINY;
    if (style->is_unseen || style->folded > 0 || style->opacity < MIN_SEEN)
        return HIDDEN_OTHERWISE;
    struct color color = style->has_fill ? style->fill : style->color;
    bool is_seen = style->has_shadow || !is_unreadable(color, style->background, style->opacity);
    return is_seen ? 0 : HIDDEN_COLOR;
}
