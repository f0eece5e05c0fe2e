#include "style.h"

#include "hash.h"

#include <stdlib.h>

enum {
    MAX_SHEET_BYTES = 1 << 19, /* of all sheets of a document */
    MAX_RULES = 3000,
    MAX_STEPS = 1000000, /* rules that are compared with elements, in one document */
    MAX_DECLARATIONS = 4000, /* bytes of one rule or attribute */
    MAX_NESTED = 8, MAX_OPEN = 1024, /* blocks in blocks; brackets */
    MAX_SELECTOR = 4000,
    MAX_MATCHES = 100, /* rules of one element */
    MAX_CLASSES = 4, /* of one rule */
    MAX_OWN_CLASSES = 32, /* of one element */
    MAX_COLOR = 100,
};

#define MEDIUM 16.0f   /* pixels */
#define TINY 2.5f      /* smaller letters count as hidden */
#define LOW_BOX 3.0f   /* pixels; of a box that cuts off what is higher, nothing can be read */
#define MIN_SEEN 0.1f  /* fainter text is not read on anything */
#define TOO_NEAR 24.0f /* of two colors, the three channels' distance added up: nobody reads one on the other */

#define ESCAPED 1

#define CLEAR ((struct color){0, 0, 0, 0})
#define UNKNOWN ((struct color){-1, -1, -1, 1})

const struct style FIRST_STYLE = {
    .color = {0, 0, 0, 1}, .background = {255, 255, 255, 1}, .size = MEDIUM, .opacity = 1};

const struct style UNKNOWN_STYLE = {.color = UNKNOWN, .background = UNKNOWN, .size = MEDIUM, .opacity = 1};

/* What declarations switch on or off, beside the flags that are inherited. */
enum {
    IS_BLOCK = 1 << 8,
    CUTS = 1 << 9, IS_LOW = 1 << 10,
    HAS_ROOM = 1 << 11,   /* padding or the like */
    IS_OUTSIDE = 1 << 12, /* of the box around it, which does not cut it off */
    IS_RESET = 1 << 13,   /* what is read, and more */
    MAY_SHOW = HAS_EFFECTS | HAS_ROOM | IS_OUTSIDE | IS_RESET,
    INHERITED = IS_UNSEEN | HAS_EFFECTS | IS_UNDER_INLINE,
};

/* One selector: a compound of a tag, an id and classes, with the declarations of its rule. */
struct rule {
    struct rule *next;
    span name, id, classes[MAX_CLASSES];
    size_t n_classes;
    bool is_doubtful;
    uint64_t strength; /* its specificity, then its order */
    declaration_list declarations;
};

enum answer { NO, PERHAPS, YES };

/* States and pieces of an element that text is not in as it stands there. */
static const char PASSING_STATES[] =
    "hover focus active visited target focus-within before after first-line first-letter selection placeholder marker";

#define IS(text) is_same(value, LITERAL(text))

/* ---- Text ---- */

/* A style or a sheet with a space for each comment, without what stands in strings and URLs, and without escapes:
 * "d\69splay" is display. An escaped character that is no letter, digit or "-" becomes ESCAPED: it parts nothing, and
 * stands for any in a name. */
static span clean(struct arena *arena, span text) {
    if (!find_byte(text, '*') && !find_byte(text, '\\') && !find_byte(text, '"') && !find_byte(text, '\'') &&
        !find_byte(text, '('))
        return text;
    struct writer writer = writer_open(arena, size_of(text) + 1);
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
        } else if (c == '\\' && text.at < text.end) {
            uint32_t point = 0;
            int n = 0;
            for (; n < 6 && text.at < text.end && hex_value(*text.at) >= 0; n++)
                point = 16 * point + (uint32_t)hex_value(*text.at++);
            text.at += n ? text.at < text.end && is_space(*text.at) : 0;
            c = n ? (point < 0x80 ? (uint8_t)point : ESCAPED) : *text.at++;
            c = is_letter(c) || is_digit(c) || c == '-' || c >= 0x80 ? c : ESCAPED;
        }
        put_byte(&writer, c);
    }
    return writer_close(&writer);
}

/* Where one of two bytes stands that no bracket holds; the end where none does. */
static const uint8_t *find_outside(span text, uint8_t stop, uint8_t other) {
    static const uint8_t CLOSERS[256] = {['('] = ')', ['['] = ']', ['{'] = '}'};
    static const bool IS_PART[256] = {
        ['('] = true, ['['] = true, ['{'] = true, [')'] = true, [']'] = true, ['}'] = true, [';'] = true, [','] = true,
        [' '] = true};
    uint8_t closers[MAX_OPEN];
    size_t depth = 0;
    for (const uint8_t *at = text.at; at < text.end; at++) {
        uint8_t c = *at;
        if (!IS_PART[c])
            continue;
        if (!depth && (c == stop || c == other))
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

/* A number as style sheets write it, all of it: 2e1 is twenty; moves text behind it. */
static bool read_number(span *text, double *number) {
    enum { MAX_NUMBER = 40 };
    char written[MAX_NUMBER + 1] = "", *end;
    for (size_t i = 0; i < MAX_NUMBER && i < size_of(*text); i++) {
        uint8_t c = text->at[i];
        if (!is_digit(c) && c != '.' && c != 'e' && c != '+' && c != '-')
            break;
        written[i] = (char)c;
    }
    *number = strtod(written, &end);
    text->at += end - written;
    return end > written;
}

/* Of the colors with names those that hide text on white or on black, and the sixteen that HTML 4 has. */
static const char COLORS[] =
    "white#fff black#000 red#f00 blue#00f gray#808080 grey#808080 silver#c0c0c0 navy#000080 green#008000 yellow#ff0 "
    "maroon#800000 olive#808000 lime#0f0 aqua#0ff cyan#0ff teal#008080 fuchsia#f0f magenta#f0f purple#800080 "
    "orange#ffa500 snow#fffafa ivory#fffff0 ghostwhite#f8f8ff whitesmoke#f5f5f5 floralwhite#fffaf0 azure#f0ffff "
    "mintcream#f5fffa seashell#fff5ee honeydew#f0fff0 aliceblue#f0f8ff lavenderblush#fff0f5 lightyellow#ffffe0 "
    "gainsboro#dcdcdc lightgrey#d3d3d3 lightgray#d3d3d3 transparent#0000";

/* #rgb, #rgba, #rrggbb, #rrggbbaa, without the sign. */
static struct color color_of_digits(span digits) {
    size_t n = size_of(digits), step = n < 6 ? 1 : 2;
    int16_t channels[4] = {0, 0, 0, 255};
    if (n != 3 && n != 4 && n != 6 && n != 8)
        return UNKNOWN;
    for (size_t i = 0; i < n / step; i++) {
        int high = hex_value(digits.at[i * step]), low = hex_value(digits.at[i * step + step - 1]);
        if (high < 0 || low < 0)
            return UNKNOWN;
        channels[i] = (int16_t)(16 * high + low);
    }
    return (struct color){channels[0], channels[1], channels[2], (float)channels[3] / 255};
}

/* rgb(1 2 3 / 50%) and its older forms; behind the parenthesis. */
static struct color color_of_function(span text) {
    double channels[4] = {0, 0, 0, 1};
    size_t n = 0;
    while (text.at < text.end && *text.at != ')') {
        if (is_space(*text.at) || *text.at == ',' || *text.at == '/') {
            text.at++;
            continue;
        }
        if (n == 4 || !read_number(&text, &channels[n]))
            return UNKNOWN;
        if (text.at < text.end && *text.at == '%') {
            channels[n] *= n < 3 ? 2.55 : 0.01;
            text.at++;
        }
        double most = n < 3 ? 255 : 1;
        channels[n] = channels[n] < 0 ? 0 : channels[n] > most ? most : channels[n];
        n++;
    }
    if (n < 3)
        return UNKNOWN;
    return (struct color){(int16_t)(channels[0] + .5), (int16_t)(channels[1] + .5), (int16_t)(channels[2] + .5),
                          (float)channels[3]};
}

/* A color in lower case; one that is not understood is unknown. */
static struct color read_color(span value) {
    value = strip(value);
    if (starts_with(value, LITERAL("#")))
        return color_of_digits(skip_bytes(value, 1));
    if (starts_with(value, LITERAL("rgb")) && find_byte(value, '('))
        return color_of_function(span_between(find_byte(value, '(') + 1, value.end));
    span names = LITERAL(COLORS);
    for (span item = next_word(&names); !is_empty(item); item = next_word(&names))
        if (starts_with(item, value) && item.end > item.at + size_of(value) && item.at[size_of(value)] == '#')
            return color_of_digits(skip_bytes(item, size_of(value) + 1));
    return UNKNOWN;
}

/* The color of an attribute such as bgcolor, where the sign may be missing. */
static struct color read_attribute_color(struct arena *arena, span value) {
    value = lower_copy(arena, first_bytes(strip(value), MAX_COLOR));
    struct color found = read_color(value);
    return found.red < 0 ? color_of_digits(value) : found;
}

static bool is_unknown(struct color color) { return color.red < 0; }

static bool is_same_color(struct color a, struct color b) {
    return a.red == b.red && a.green == b.green && a.blue == b.blue && a.alpha == b.alpha;
}

/* What is seen of a color that lies over another one. */
static struct color over(struct color color, struct color below) {
    return color.alpha <= 0 ? below : color.alpha >= 1 ? color : UNKNOWN;
}

static float distance(int16_t a, int16_t b) { return (float)(a > b ? a - b : b - a); }

static bool is_unreadable(struct color color, struct color background, float opacity) {
    float share = opacity * color.alpha;
    if (share < MIN_SEEN || is_unknown(color) || is_unknown(background))
        return share < MIN_SEEN;
    float apart = distance(color.red, background.red) + distance(color.green, background.green) +
                  distance(color.blue, background.blue);
    return apart * share <= TOO_NEAR;
}

/* ---- Declarations ---- */

/* A size in pixels, or with is_share a share of the inherited one; false where it is none that is read. */
static bool read_size(span value, float *size, bool *is_share) {
    static const struct {
        const char *unit;
        float pixels;
        bool is_share;
    } UNITS[] = {{"px", 1, false}, {"pt", 4 / 3.f, false}, {"em", 1, true}, {"%", .01f, true}, {"rem", 16, false}};
    double number;
    *is_share = false;
    if (!read_number(&value, &number) || number < 0)
        return false;
    *size = (float)number;
    for (size_t i = 0; i < COUNT_OF(UNITS); i++)
        if (is_same(value, span_of_text(UNITS[i].unit))) {
            *size = (float)number * UNITS[i].pixels;
            *is_share = UNITS[i].is_share;
            return true;
        }
    return is_empty(value) && number == 0;
}

/* What is read of a declaration, and the properties that say it. */
enum property {
    P_COLOR, P_BACKGROUND, P_SIZE, P_FONT, P_OPACITY, P_DISPLAY, P_VISIBILITY, P_OVERFLOW, P_HEIGHT, P_ROOM, P_POSITION,
    P_EFFECT, P_ALL, N_PROPERTIES
};

static const char *const PROPERTIES[N_PROPERTIES] = {
    [P_COLOR] = "color", [P_BACKGROUND] = "background background-color background-image", [P_SIZE] = "font-size",
    [P_FONT] = "font", [P_OPACITY] = "opacity", [P_DISPLAY] = "display", [P_VISIBILITY] = "visibility",
    [P_OVERFLOW] = "overflow overflow-x overflow-y", [P_HEIGHT] = "height max-height",
    [P_ROOM] = "padding padding-top padding-bottom min-height", [P_POSITION] = "position",
    [P_EFFECT] = "text-shadow -webkit-text-stroke -webkit-text-fill-color filter background-clip "
                 "-webkit-background-clip mix-blend-mode",
    [P_ALL] = "all",
};

/* The color of a background; one with a picture, or with a word that is not understood, is unknown. */
static struct color read_background(span value) {
    struct color found = CLEAR;
    while (!is_empty(value = strip(value))) {
        span word = span_between(value.at, find_outside(value, ' ', ','));
        struct color color = read_color(word);
        bool is_place = !is_letter(*word.at) && *word.at != '#';
        if (!is_unknown(color))
            found = color;
        else if (!is_place && !is_one_of(word, " none no-repeat repeat repeat-x repeat-y scroll fixed center top left "
                                               "right bottom cover contain local padding-box border-box "))
            return UNKNOWN;
        value.at = word.end < value.end ? word.end + 1 : value.end;
    }
    return found;
}

/* [style] [weight] size[/line height] family */
static span size_in_font(span value) {
    float size;
    bool is_share;
    span word = next_word(&value);
    while (!is_empty(word) && !read_size(before_first(word, '/'), &size, &is_share))
        word = next_word(&value);
    return before_first(word, '/');
}

/* Whether any number in a value is more than 0. */
static bool has_number(span value) {
    for (; !is_empty(value); value.at++)
        if ((is_digit(*value.at) && *value.at != '0') || *value.at == '(')
            return true;
    return false;
}

static void set_flag(struct declaration *declaration, uint32_t flag, bool is_on) {
    *(is_on ? &declaration->on : &declaration->off) |= flag;
}

/* What a value in lower case says. */
static struct declaration understood(enum property property, span value) {
    struct declaration found = {.property = (uint8_t)property, .number = 1};
    span word = before_first(value, ' ');
    double opacity;
    switch (property) {
    case P_COLOR:
        found.color = read_color(value);
        break;
    case P_BACKGROUND:
        found.color = read_background(value);
        break;
    case P_FONT:
        value = size_in_font(value); /* fall through */
    case P_SIZE:
        if (!read_size(value, &found.number, &found.is_share)) {
            found.is_share = IS("smaller") || IS("larger");
            found.number = found.is_share ? 1 : MEDIUM;
        }
        break;
    case P_OPACITY:
        if (read_number(&value, &opacity) && (is_empty(value) || IS("%")))
            found.number = (float)(opacity < 0 ? 0 : opacity) * (is_empty(value) ? 1 : .01f);
        found.number = found.number > 1 ? 1 : found.number;
        break;
    case P_DISPLAY:
        set_flag(&found, IS_GONE, is_same(word, LITERAL("none")));
        set_flag(&found, IS_BLOCK, is_one_of(word, "block inline-block flex inline-flex list-item flow-root none"));
        break;
    case P_VISIBILITY:
        set_flag(&found, IS_UNSEEN, is_one_of(word, "hidden collapse"));
        break;
    case P_OVERFLOW:
        set_flag(&found, CUTS, is_one_of(word, "hidden clip scroll auto"));
        break;
    case P_HEIGHT:
        set_flag(&found, IS_LOW, read_size(value, &found.number, &found.is_share) && !found.is_share &&
                                     found.number <= LOW_BOX);
        break;
    case P_ROOM:
        set_flag(&found, HAS_ROOM, has_number(value));
        break;
    case P_POSITION:
        set_flag(&found, IS_OUTSIDE, is_one_of(word, "absolute fixed"));
        break;
    case P_EFFECT:
        set_flag(&found, HAS_EFFECTS, !is_one_of(value, "none 0 initial"));
        break;
    default:
        set_flag(&found, IS_RESET, true);
    }
    return found;
}

static float larger(float a, float b) { return a > b ? a : b; }

/* Applies a declaration. One that may apply or not can show text, and hide none. */
static void apply(struct style *style, const struct style *above, const struct declaration *one, bool is_doubtful) {
    float size = one->number * (one->is_share ? above->size : 1), opacity = one->number * above->opacity;
    switch (one->property) {
    case P_COLOR:
        style->color = is_doubtful ? UNKNOWN : one->color;
        break;
    case P_BACKGROUND:
        style->background = is_doubtful ? UNKNOWN : over(one->color, above->background);
        break;
    case P_FONT: case P_SIZE:
        style->size = is_doubtful ? larger(size, style->size) : size;
        break;
    case P_OPACITY:
        style->opacity = is_doubtful ? larger(opacity, style->opacity) : opacity;
        break;
    default:
        style->flags = (style->flags | (is_doubtful ? one->on & MAY_SHOW : one->on)) & (~one->off | MAY_SHOW);
    }
}

static struct name_table property_table;

void style_begin(void) {
    for (int property = 0; property < N_PROPERTIES; property++)
        add_names(&property_table, PROPERTIES[property], (uint8_t)property, 0);
}

/* The declarations that are read, of a clean text in lower case. */
static declaration_list read_declarations(struct arena *arena, span text) {
    declaration_list found = {0};
    while (!is_empty(text)) {
        const uint8_t *end = find_outside(text, ';', ';'), *colon = find_byte(span_between(text.at, end), ':');
        span name = colon ? strip(span_between(text.at, colon)) : (span){0};
        int property = number_of(&property_table, name);
        text = skip_bytes(span_between(end, text.end), 1);
        if (property < 0)
            continue;
        span value = span_between(colon + 1, end);
        const uint8_t *mark = find_byte(value, '!');
        bool is_important = mark && is_same(strip(span_between(mark + 1, value.end)), LITERAL("important"));
        value = strip(span_between(value.at, mark ? mark : value.end));
        if (is_empty(value) || (mark && !is_important))
            continue;
        struct declaration *declaration = LIST_ADD(arena, &found);
        *declaration = understood((enum property)property, value);
        declaration->is_important = is_important;
    }
    return found;
}

/* The declarations of a style attribute. The text must stay where it is. */
static const declaration_list *own_declarations(struct sheet *sheet, span text) {
    struct known_text *known = &sheet->known_texts[fast_hash(SECRET, text) % COUNT_OF(sheet->known_texts)];
    if (!is_same(known->text, text))
        *known = (struct known_text){text, read_declarations(sheet->arena, clean(sheet->arena, lower_copy(sheet->arena, text)))};
    return &known->declarations;
}

/* Applies declarations: those alone that are important, or those that are not. */
static void apply_all(struct style *style, const struct style *above, const declaration_list *list, bool important,
                      bool is_doubtful) {
    for (const struct declaration *one = list->items; one < list->items + list->count; one++)
        if (one->is_important == important)
            apply(style, above, one, is_doubtful);
}

/* ---- Rules and the elements that they match ---- */

/* Whether a name is the one that is asked for: perhaps where the case differs, which pages without a type ignore. */
static enum answer is_named(span asked, span name) {
    if (size_of(asked) != size_of(name))
        return NO;
    for (size_t i = 0; i < size_of(asked); i++)
        if (to_lower(asked.at[i]) != to_lower(name.at[i]) && asked.at[i] != ESCAPED)
            return NO;
    return is_same(asked, name) ? YES : PERHAPS;
}

static enum answer has_class(span classes, span asked) {
    enum answer answer = NO;
    for (span class = next_word(&classes); answer < YES && !is_empty(class); class = next_word(&classes)) {
        enum answer one = is_named(asked, class);
        answer = one > answer ? one : answer;
    }
    return answer;
}

static enum answer matches(const struct rule *rule, span name, const struct attributes *attributes) {
    enum answer answer = rule->is_doubtful ? PERHAPS : YES, one = YES;
    if (!is_empty(rule->name) && !is_named(rule->name, name))
        return NO;
    if (rule->id.at)
        answer = (one = is_named(rule->id, value_of_attribute(attributes, A_ID))) < answer ? one : answer;
    for (size_t i = 0; i < rule->n_classes && answer; i++)
        answer = (one = has_class(value_of_attribute(attributes, A_CLASS), rule->classes[i])) < answer ? one : answer;
    return answer;
}

struct match {
    const struct rule *rule;
    bool is_doubtful;
};

/* The rules that match an element, the strongest last. */
struct matches {
    struct match items[MAX_MATCHES];
    size_t count;
};

/* The bucket of a key, in any case. */
static uint8_t bucket_of(uint8_t kind, span key) {
    uint32_t hash = kind;
    for (const uint8_t *at = key.at; at < key.end; at++)
        hash = hash * 31 + to_lower(*at);
    return (uint8_t)(hash ^ hash >> 8 ^ hash >> 16);
}

/* Adds the rules of a bucket that match. */
static void add_matches(struct sheet *sheet, const struct rule *rule, span name, const struct attributes *attributes,
                        struct matches *found) {
    for (; rule; rule = rule->next) {
        size_t steps = 1 + rule->declarations.count;
        if (sheet->steps_left < steps || found->count == MAX_MATCHES) {
            sheet->is_cut = true;
            return;
        }
        sheet->steps_left -= steps;
        enum answer answer = matches(rule, name, attributes);
        if (answer == NO)
            continue;
        size_t at = found->count++;
        for (; at > 0 && found->items[at - 1].rule->strength > rule->strength; at--)
            found->items[at] = found->items[at - 1];
        found->items[at] = (struct match){rule, answer == PERHAPS};
    }
}

static void find_matches(struct sheet *sheet, span name, const struct attributes *attributes, struct matches *found) {
    span classes = value_of_attribute(attributes, A_CLASS), id = value_of_attribute(attributes, A_ID);
    size_t n_classes = 0;
    add_matches(sheet, sheet->of_any, name, attributes, found);
    add_matches(sheet, sheet->buckets[bucket_of('t', name)], name, attributes, found);
    if (id.at)
        add_matches(sheet, sheet->buckets[bucket_of('#', id)], name, attributes, found);
    for (span class = next_word(&classes); !is_empty(class); class = next_word(&classes)) {
        sheet->is_cut = sheet->is_cut || n_classes++ == MAX_OWN_CLASSES;
        if (sheet->is_cut)
            return;
        add_matches(sheet, sheet->buckets[bucket_of('.', class)], name, attributes, found);
    }
}

/* ---- Sheets ---- */

void sheet_begin(struct sheet *sheet, struct arena *arena) {
    *sheet = (struct sheet){.arena = arena, .steps_left = MAX_STEPS};
}

static bool is_name_byte(uint8_t c) {
    return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c >= 0x80 || c == ESCAPED;
}

/* A name at the beginning of a selector; moves text behind it. */
static span take_name(span *text) {
    span name = *text;
    while (text->at < text->end && is_name_byte(*text->at))
        text->at++;
    name.end = text->at;
    return name;
}

/* Reads one selector; false where it matches nothing that stands still. What is more than a compound is doubtful. */
static bool read_selector(struct sheet *sheet, span text, struct rule *rule, bool *is_doubtful) {
    *rule = (struct rule){0};
    text = strip(text);
    if (is_empty(text) || size_of(text) > MAX_SELECTOR) {
        sheet->is_cut = sheet->is_cut || !is_empty(text);
        *is_doubtful = true;
        return false;
    }
    while (!is_empty(text)) {
        uint8_t c = *text.at;
        if (is_name_byte(c) && !is_digit(c)) {
            rule->name = lower_copy(sheet->arena, take_name(&text));
            rule->strength += UINT64_C(1) << 32;
            continue;
        }
        do
            text.at++;
        while (c == ':' && starts_with(text, LITERAL(":")));
        span name = take_name(&text);
        bool is_name = !is_empty(name) && !is_digit(*name.at);
        if (c == '#' && is_name) {
            rule->id = name;
            rule->strength += UINT64_C(1) << 48;
        } else if (c == '.' && is_name && rule->n_classes < MAX_CLASSES) {
            rule->classes[rule->n_classes++] = name;
            rule->strength += UINT64_C(1) << 40;
        } else if (c == ':' && is_one_of(lower_copy(sheet->arena, name), PASSING_STATES)) {
            return false;
        } else if (c == '(' || c == '[') {
            uint8_t closer = c == '(' ? ')' : ']';
            text.at = find_outside(span_between(name.at, text.end), closer, closer);
            *is_doubtful = true;
        } else if (c != '*' || !is_empty(name)) {
            *is_doubtful = true;
            if (is_space(c) || c == '>' || c == '+' || c == '~' || c == '|') { /* what stands before it is not looked at */
                text.at = name.at;
                *rule = (struct rule){0};
            }
        }
    }
    return true;
}

/* Adds the rules of a list of selectors. */
static void add_rule(struct sheet *sheet, span selectors, span body, bool is_doubtful) {
    sheet->is_cut = sheet->is_cut || size_of(body) > MAX_DECLARATIONS || find_byte(body, '{'); /* rules in a rule */
    body = lower_copy(sheet->arena, first_bytes(body, MAX_DECLARATIONS));
    declaration_list declarations = read_declarations(sheet->arena, body);
    struct rule *added = NULL, rule;
    is_doubtful = is_doubtful || ends_with(strip(selectors), LITERAL(",")); /* browsers leave such a rule out */
    while (declarations.count && !is_empty(selectors)) {
        const uint8_t *end = find_outside(selectors, ',', ',');
        sheet->is_cut = sheet->is_cut || sheet->n_rules == MAX_RULES;
        if (read_selector(sheet, span_between(selectors.at, end), &rule, &is_doubtful) && sheet->n_rules < MAX_RULES) {
            rule.declarations = declarations;
            rule.strength += ++sheet->n_rules;
            rule.next = added;
            added = arena_room(sheet->arena, 1, sizeof *added);
            *added = rule;
        }
        selectors.at = end < selectors.end ? end + 1 : selectors.end;
    }
    while (added) {
        struct rule *rule = added;
        added = rule->next;
        rule->is_doubtful = rule->is_doubtful || is_doubtful;
        if (rule->is_doubtful) /* it may be stronger than what is read of it */
            rule->strength |= UINT64_MAX << 32;
        span key = rule->id.at ? rule->id : rule->n_classes ? rule->classes[0] : rule->name;
        uint8_t kind = rule->id.at ? '#' : rule->n_classes ? '.' : 't';
        bool is_any = is_empty(key) || find_byte(key, ESCAPED);
        struct rule **bucket = is_any ? &sheet->of_any : &sheet->buckets[bucket_of(kind, key)];
        rule->next = *bucket;
        *bucket = rule;
    }
}

/* Whether a sheet for these media is one for a screen. */
static enum answer is_for_screen(struct arena *arena, span media) {
    span value = lower_copy(arena, strip(media));
    return is_empty(value) || IS("screen") || IS("all") ? YES : IS("print") ? NO : PERHAPS;
}

/* The rules of a sheet, or of a block in it. */
static void add_rules(struct sheet *sheet, span text, bool is_doubtful, int depth) {
    while (!is_empty(text = strip(text))) {
        if (sheet->n_rules >= MAX_RULES || depth > MAX_NESTED) {
            sheet->is_cut = true;
            return;
        }
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
        if (!is_at_rule) {
            add_rule(sheet, prelude, body, is_doubtful);
            continue;
        }
        prelude.at++;
        span value = lower_copy(sheet->arena, take_name(&prelude));
        enum answer holds = IS("media") ? is_for_screen(sheet->arena, prelude)
                            : is_one_of(value, "supports layer container scope") ? PERHAPS : NO;
        if (holds != NO)
            add_rules(sheet, body, is_doubtful || holds == PERHAPS, depth + 1);
    }
}

void sheet_add(struct sheet *sheet, span text, span media) {
    enum answer holds = is_for_screen(sheet->arena, first_bytes(media, MAX_SELECTOR));
    size_t left = MAX_SHEET_BYTES - sheet->n_bytes;
    sheet->is_cut = sheet->is_cut || size_of(text) > left;
    text = first_bytes(text, left);
    sheet->n_bytes += size_of(text);
    if (holds != NO)
        add_rules(sheet, clean(sheet->arena, text), holds == PERHAPS, 0);
}

/* ---- What an element's children inherit ---- */

static void apply_attributes(struct style *style, struct arena *arena, unsigned tag,
                             const struct attributes *attributes) {
    if (TAGS[tag].flags & IS_CONTROL || tag == TAG_MARK || (tag == TAG_A && has(attributes, A_HREF)))
        style->color = UNKNOWN; /* browsers give them colors of their own */
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
    return style->flags & (IS_GONE | IS_UNSEEN | IS_CUT_OFF) || style->size < TINY || style->opacity < MIN_SEEN ||
           (!(style->flags & HAS_EFFECTS) && is_unreadable(style->color, style->background, style->opacity));
}

static struct style make_style(struct sheet *sheet, const struct style *above, unsigned tag, span name,
                               const struct attributes *attributes) {
    struct style style = *above;
    bool is_inline = TAGS[tag].flags & IS_INLINE, is_cell = TAGS[tag].kind >= TABLE && TAGS[tag].kind <= CELL;
    style.flags = (above->flags & INHERITED) | (is_inline || is_cell ? 0 : IS_BLOCK);
    if (!is_inline && style.flags & IS_UNDER_INLINE) {
        style.background = UNKNOWN;
        style.flags &= ~(uint32_t)IS_UNDER_INLINE;
    }
    if (tag == TAG_TABLE) { /* in old pages tables do not inherit letters */
        style.color = sheet->page->color;
        style.size = MEDIUM;
    }
    apply_attributes(&style, sheet->arena, tag, attributes);
    struct matches found;
    found.count = 0;
    if (sheet->n_rules)
        find_matches(sheet, name, attributes, &found);
    span text = value_of_attribute(attributes, A_STYLE);
    const declaration_list *own = own_declarations(sheet, first_bytes(text, MAX_DECLARATIONS));
    for (int important = 0; important < 2; important++) {
        for (size_t i = 0; i < found.count; i++)
            apply_all(&style, above, &found.items[i].rule->declarations, important, found.items[i].is_doubtful);
        apply_all(&style, above, own, important, false);
    }
    uint32_t flags = style.flags;
    if (size_of(text) > MAX_DECLARATIONS || flags & IS_RESET)
        return FIRST_STYLE;
    bool is_page = tag == TAG_HTML || tag == TAG_BODY; /* what the page cuts off can be scrolled to */
    bool is_low = flags & IS_BLOCK && flags & CUTS && flags & IS_LOW && !(flags & HAS_ROOM) && !is_page;
    bool is_in_low = above->flags & IS_CUT_OFF && !(flags & IS_OUTSIDE);
    style.flags = (flags & (INHERITED | IS_GONE)) | (above->flags & IS_GONE) | (is_low || is_in_low ? IS_CUT_OFF : 0);
    if (is_inline && !(flags & IS_BLOCK) && !is_same_color(style.background, above->background))
        style.flags |= IS_UNDER_INLINE;
    return style;
}

static const struct style *keep_style(struct sheet *sheet, struct style style) {
    struct style *kept = arena_room(sheet->arena, 1, sizeof *kept);
    style.is_hidden = hides_text(&style);
    *kept = style;
    return kept;
}

const struct style *style_in_doubt(struct sheet *sheet, const struct style *style) {
    struct style doubtful = *style;
    doubtful.color = doubtful.background = UNKNOWN;
    doubtful.size = MEDIUM;
    doubtful.flags &= ~(uint32_t)IS_UNSEEN;
    return keep_style(sheet, doubtful);
}

const struct style *style_in(struct sheet *sheet, const struct style *above, unsigned tag, span name,
                             const struct attributes *attributes) {
    static const struct attributes NONE;
    struct style made = make_style(sheet, above, tag, name, attributes ? attributes : &NONE);
    if (is_same_color(made.color, above->color) && is_same_color(made.background, above->background) &&
        made.size == above->size && made.opacity == above->opacity && made.flags == above->flags)
        return above;
    return keep_style(sheet, made);
}
