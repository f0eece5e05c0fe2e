#include "style.h"

enum {
    MAX_SHEET_BYTES = 1 << 19, /* of all sheets of a document */
    MAX_RULES = 3000,
    MAX_STEPS = 200000, /* rules that are compared with elements, in one document */
    MAX_DECLARATIONS = 4000, /* bytes of one rule or attribute */
    MAX_NESTED = 8, MAX_OPEN = 1024, /* blocks in blocks; brackets */
    MAX_SELECTOR = 4000,
    MAX_MATCHES = 100, /* rules of one element */
    MAX_CLASSES = 4, /* of one rule */
    MAX_OWN_CLASSES = 32, /* of one element */
    MAX_VALUE = 2000, MAX_COLOR = 100,
};

#define MEDIUM 16.0f    /* pixels */
#define TINY 2.5f       /* smaller letters count as hidden */
#define MIN_SEEN 0.1f   /* fainter text is not read on anything */
#define SMALL_BOX 3.0f  /* pixels; of a box that cuts off what is larger, nothing can be read */
#define FAR_AWAY 500.0f /* beyond the left or upper edge nobody looks */
#define NO_LENGTH 1e6f
#define TOO_NEAR 24.0f  /* of two colors, the three channels' distance added up: nobody reads one on the other */

#define ESCAPED 1

#define CLEAR ((struct color){0, 0, 0, 0})
#define UNKNOWN ((struct color){-1, -1, -1, 1})
#define BLACK ((struct color){0, 0, 0, 1})

const struct style FIRST_STYLE = {.color = {0, 0, 0, 1}, .background = {255, 255, 255, 1}, .size = MEDIUM, .opacity = 1};

enum property {
    P_DISPLAY, P_VISIBILITY, P_COLOR, P_BACKGROUND, P_SIZE, P_FONT, P_OPACITY, P_EFFECT, P_POSITION, P_OVERFLOW,
    P_HEIGHT, P_WIDTH, P_ROOM, P_OFFSET, P_MARGIN, P_MOVED,
    P_ALL /* resets what is read and more: then nothing counts as hidden */
};

/* One selector: a compound of a tag, an id and classes, with the declarations of its rule. */
struct rule {
    struct rule *next;
    span name, id, classes[MAX_CLASSES];
    size_t n_classes;
    bool is_doubtful;
    uint32_t specificity, order;
    span declarations;
};

/* An element while its declarations are applied, the weakest first. */
struct box {
    struct style style;
    const struct style *above;
    bool is_block, is_hidden, cuts, has_room, is_placed, is_moved, is_cut;
    float height, width, offset, margin;
};

#define IS(text) is_same(value, LITERAL(text))

static span next_word(span *text) {
    while (text->at < text->end && is_space(*text->at))
        text->at++;
    span word = *text;
    while (text->at < text->end && !is_space(*text->at))
        text->at++;
    word.end = text->at;
    return word;
}

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
    span rest = first_bytes(*text, MAX_NUMBER);
    bool is_negative = !is_empty(rest) && *rest.at == '-', any = false;
    rest.at += !is_empty(rest) && (*rest.at == '-' || *rest.at == '+');
    double value = 0, scale = 1;
    for (; rest.at < rest.end && is_digit(*rest.at); rest.at++, any = true)
        value = 10 * value + (*rest.at - '0');
    if (size_of(rest) > 1 && *rest.at == '.' && is_digit(rest.at[1]))
        for (rest.at++; rest.at < rest.end && is_digit(*rest.at); rest.at++, any = true)
            value += (*rest.at - '0') * (scale /= 10);
    if (!any)
        return false;
    size_t sign = size_of(rest) > 1 && (rest.at[1] == '-' || rest.at[1] == '+');
    if (size_of(rest) > 1 + sign && *rest.at == 'e' && is_digit(rest.at[1 + sign])) {
        bool shrinks = rest.at[1] == '-';
        int exponent = 0;
        for (rest.at += 1 + sign; rest.at < rest.end && is_digit(*rest.at); rest.at++)
            exponent = exponent > 300 ? exponent : 10 * exponent + (*rest.at - '0');
        for (; exponent > 0 && value != 0 && value < 1e30; exponent--)
            value = shrinks ? value / 10 : value * 10;
    }
    *number = is_negative ? -value : value;
    text->at = rest.at;
    return true;
}

/* Of the colors with names those that hide text on white or on black, and the sixteen that HTML 4 has. */
static const struct {
    struct name name;
    uint32_t rgb;
} COLORS[] = {
    {NAME("white"), 0xFFFFFF}, {NAME("black"), 0}, {NAME("snow"), 0xFFFAFA}, {NAME("ivory"), 0xFFFFF0},
    {NAME("ghostwhite"), 0xF8F8FF}, {NAME("whitesmoke"), 0xF5F5F5}, {NAME("floralwhite"), 0xFFFAF0},
    {NAME("azure"), 0xF0FFFF}, {NAME("mintcream"), 0xF5FFFA}, {NAME("seashell"), 0xFFF5EE},
    {NAME("honeydew"), 0xF0FFF0}, {NAME("aliceblue"), 0xF0F8FF}, {NAME("lavenderblush"), 0xFFF0F5},
    {NAME("lightyellow"), 0xFFFFE0}, {NAME("gainsboro"), 0xDCDCDC}, {NAME("lightgrey"), 0xD3D3D3},
    {NAME("lightgray"), 0xD3D3D3}, {NAME("silver"), 0xC0C0C0}, {NAME("gray"), 0x808080}, {NAME("grey"), 0x808080},
    {NAME("red"), 0xFF0000}, {NAME("maroon"), 0x800000}, {NAME("yellow"), 0xFFFF00}, {NAME("olive"), 0x808000},
    {NAME("lime"), 0x00FF00}, {NAME("green"), 0x008000}, {NAME("aqua"), 0x00FFFF}, {NAME("cyan"), 0x00FFFF},
    {NAME("teal"), 0x008080}, {NAME("blue"), 0x0000FF}, {NAME("navy"), 0x000080}, {NAME("fuchsia"), 0xFF00FF},
    {NAME("magenta"), 0xFF00FF}, {NAME("purple"), 0x800080}, {NAME("orange"), 0xFFA500},
};

static struct color color_of(uint32_t rgb, float alpha) {
    return (struct color){(int16_t)(rgb >> 16 & 255), (int16_t)(rgb >> 8 & 255), (int16_t)(rgb & 255), alpha};
}

/* #rgb, #rgba, #rrggbb, #rrggbbaa, without the sign. */
static struct color color_of_digits(span digits) {
    size_t n = size_of(digits), step = n < 6 ? 1 : 2;
    uint32_t channels[4] = {0, 0, 0, 255};
    if (n != 3 && n != 4 && n != 6 && n != 8)
        return UNKNOWN;
    for (size_t i = 0; i < n / step; i++) {
        int high = hex_value(digits.at[i * step]), low = hex_value(digits.at[i * step + step - 1]);
        if (high < 0 || low < 0)
            return UNKNOWN;
        channels[i] = (uint32_t)(16 * high + low);
    }
    return color_of(channels[0] << 16 | channels[1] << 8 | channels[2], (float)channels[3] / 255);
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
    uint32_t rgb = (uint32_t)(channels[0] + .5) << 16 | (uint32_t)(channels[1] + .5) << 8 | (uint32_t)(channels[2] + .5);
    return color_of(rgb, (float)channels[3]);
}

/* A color in lower case; one that is not understood is unknown. */
static struct color read_color(span value) {
    value = strip(value);
    if (starts_with(value, LITERAL("#")))
        return color_of_digits(skip_bytes(value, 1));
    for (size_t i = 0; i < COUNT_OF(COLORS); i++)
        if (is_same(value, span_of_name(COLORS[i].name)))
            return color_of(COLORS[i].rgb, 1);
    const uint8_t *open = find_byte(value, '(');
    if (open && starts_with(value, LITERAL("rgb")))
        return color_of_function(span_between(open + 1, value.end));
    return IS("transparent") ? CLEAR : UNKNOWN;
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

static int16_t mixed(int16_t above, int16_t below, float alpha) {
    return (int16_t)((float)below + alpha * (float)(above - below) + .5f);
}

/* What is seen of a color that lies over another one. */
static struct color over(struct color color, struct color below) {
    if (color.alpha <= 0)
        return below;
    if (color.alpha >= 1)
        return color;
    if (is_unknown(color) || is_unknown(below))
        return UNKNOWN;
    return (struct color){mixed(color.red, below.red, color.alpha), mixed(color.green, below.green, color.alpha),
                          mixed(color.blue, below.blue, color.alpha), 1};
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

/* A length in pixels, or with is_share a share of the inherited size; false where it is none that is read. */
static bool read_length(span value, float *pixels, bool *is_share) {
    static const struct {
        struct name unit;
        float pixels;
        bool is_share;
    } UNITS[] = {
        {NAME("px"), 1, false}, {NAME("pt"), 4 / 3.f, false}, {NAME("em"), 1, true}, {NAME("rem"), 16, false},
        {NAME("%"), .01f, true}, {NAME("in"), 96, false}, {NAME("cm"), 37.8f, false}, {NAME("mm"), 3.78f, false},
        {NAME("pc"), 16, false}, {NAME("ex"), .5f, true}, {NAME("ch"), .5f, true}, {NAME("vw"), 12, false},
        {NAME("vh"), 8, false},
    };
    double number;
    *is_share = false;
    if (!read_number(&value, &number))
        return false;
    *pixels = (float)number;
    if (is_empty(value))
        return number == 0;
    for (size_t i = 0; i < COUNT_OF(UNITS); i++)
        if (is_same(value, span_of_name(UNITS[i].unit))) {
            *pixels = (float)number * UNITS[i].pixels;
            *is_share = UNITS[i].is_share;
            return true;
        }
    return false;
}

/* A length in pixels; NO_LENGTH for auto and the like, and for shares of what is not known. */
static float length_of(span value) {
    float length;
    bool is_share;
    if (!read_length(value, &length, &is_share) || (is_share && ends_with(value, LITERAL("%"))))
        return NO_LENGTH;
    return is_share ? length * MEDIUM : length;
}

/* Whether any number in a value is more than 0. */
static bool has_number(span value) {
    bool any = false;
    for (const uint8_t *at = value.at; at < value.end; at++)
        any = any || (is_digit(*at) && *at != '0') || *at == '(';
    return any;
}

/* The names of declarations that are read. Those of P_MOVED may bring back text from beyond the edges, or move it. */
static const struct {
    struct name name;
    uint8_t property;
} PROPERTIES[] = {
    {NAME("display"), P_DISPLAY}, {NAME("visibility"), P_VISIBILITY}, {NAME("color"), P_COLOR},
    {NAME("background-color"), P_BACKGROUND}, {NAME("background"), P_BACKGROUND}, {NAME("background-image"), P_BACKGROUND},
    {NAME("font-size"), P_SIZE}, {NAME("font"), P_FONT}, {NAME("opacity"), P_OPACITY}, {NAME("text-shadow"), P_EFFECT},
    {NAME("-webkit-text-stroke"), P_EFFECT}, {NAME("-webkit-text-fill-color"), P_EFFECT}, {NAME("filter"), P_EFFECT},
    {NAME("background-clip"), P_EFFECT}, {NAME("-webkit-background-clip"), P_EFFECT}, {NAME("mix-blend-mode"), P_EFFECT},
    {NAME("position"), P_POSITION}, {NAME("overflow"), P_OVERFLOW}, {NAME("overflow-x"), P_OVERFLOW},
    {NAME("overflow-y"), P_OVERFLOW}, {NAME("height"), P_HEIGHT}, {NAME("max-height"), P_HEIGHT},
    {NAME("width"), P_WIDTH}, {NAME("max-width"), P_WIDTH}, {NAME("min-height"), P_ROOM}, {NAME("min-width"), P_ROOM},
    {NAME("padding"), P_ROOM}, {NAME("padding-top"), P_ROOM}, {NAME("padding-bottom"), P_ROOM},
    {NAME("padding-left"), P_ROOM}, {NAME("padding-right"), P_ROOM}, {NAME("left"), P_OFFSET}, {NAME("top"), P_OFFSET},
    {NAME("margin-left"), P_MARGIN}, {NAME("margin-top"), P_MARGIN}, {NAME("margin"), P_MARGIN},
    {NAME("transform"), P_MOVED}, {NAME("-webkit-transform"), P_MOVED}, {NAME("translate"), P_MOVED},
    {NAME("inset"), P_MOVED}, {NAME("inset-inline"), P_MOVED}, {NAME("inset-inline-start"), P_MOVED},
    {NAME("inset-block"), P_MOVED}, {NAME("inset-block-start"), P_MOVED}, {NAME("margin-inline"), P_MOVED},
    {NAME("margin-inline-start"), P_MOVED}, {NAME("margin-block"), P_MOVED}, {NAME("margin-block-start"), P_MOVED},
    {NAME("right"), P_MOVED}, {NAME("bottom"), P_MOVED}, {NAME("text-indent"), P_MOVED}, {NAME("all"), P_ALL},
    {NAME("float"), P_DISPLAY},
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
    float length;
    bool is_share;
    for (span word = next_word(&value); !is_empty(word); word = next_word(&value))
        if (read_length(before_first(word, '/'), &length, &is_share))
            return before_first(word, '/');
    return LITERAL("medium");
}

/* The least of the lengths in a value. */
static float least_length(span value) {
    float least = NO_LENGTH;
    for (span word = next_word(&value); !is_empty(word); word = next_word(&value)) {
        float length = length_of(word);
        least = length < least ? length : least;
    }
    return least;
}

/* A length of a box; of several the least counts, as of height and max-height. */
static void limit(float *length, float wanted, bool is_doubtful) {
    *length = is_doubtful ? NO_LENGTH : wanted < *length || wanted > SMALL_BOX ? wanted : *length;
}

/* Values of display and float that make a box with a height. */
#define BLOCKS " block inline-block flex inline-flex list-item flow-root left right "

/* Applies a declaration in lower case. One that may apply or not can show text, and hide none. */
static void apply(struct box *box, enum property property, span value, bool is_doubtful) {
    struct style *style = &box->style;
    const struct style *above = box->above;
    float number = 1;
    double opacity;
    bool is_share, is_on;
    switch (property) {
    case P_DISPLAY:
        is_on = IS("none");
        box->is_hidden = is_on && (!is_doubtful || box->is_hidden);
        box->is_block = !IS("inline") && !IS("contents") && (box->is_block || is_one_of(value, BLOCKS));
        break;
    case P_VISIBILITY:
        is_on = IS("hidden") || IS("collapse");
        style->is_unseen = is_on && (!is_doubtful || style->is_unseen);
        break;
    case P_COLOR:
        style->color = is_doubtful ? UNKNOWN : read_color(value);
        break;
    case P_BACKGROUND:
        style->background = is_doubtful ? UNKNOWN : over(read_background(value), above->background);
        break;
    case P_FONT:
        value = size_in_font(value); /* fall through */
    case P_SIZE:
        if (!read_length(value, &number, &is_share) || number < 0)
            number = IS("smaller") || IS("larger") ? above->size : MEDIUM;
        else
            number *= is_share ? above->size : 1;
        style->size = !is_doubtful || number > style->size ? number : style->size;
        break;
    case P_OPACITY:
        if (read_number(&value, &opacity) && (is_empty(value) || IS("%")))
            number = (float)(opacity < 0 ? 0 : opacity) * (is_empty(value) ? 1 : .01f);
        number = above->opacity * (number > 1 ? 1 : number);
        style->opacity = !is_doubtful || number > style->opacity ? number : style->opacity;
        break;
    case P_EFFECT:
        style->has_effects = !(IS("none") || IS("0") || IS("initial")) || (is_doubtful && style->has_effects);
        break;
    case P_POSITION:
        is_on = starts_with(value, LITERAL("absolute")) || starts_with(value, LITERAL("fixed"));
        box->is_placed = (is_on || starts_with(value, LITERAL("relative"))) && !is_doubtful;
        box->is_block = box->is_block || is_on;
        style->is_away = style->is_away && !is_on;
        break;
    case P_OVERFLOW:
        is_on = is_one_of(before_first(value, ' '), " hidden clip scroll auto ");
        box->cuts = is_on && (!is_doubtful || box->cuts);
        break;
    case P_HEIGHT:
        limit(&box->height, length_of(value), is_doubtful);
        break;
    case P_WIDTH:
        limit(&box->width, length_of(value), is_doubtful);
        break;
    case P_ROOM:
        box->has_room = box->has_room || has_number(value);
        break;
    case P_OFFSET: case P_MARGIN:
        number = least_length(value);
        if (property == P_OFFSET)
            box->offset = is_doubtful ? 0 : number < box->offset ? number : box->offset;
        else
            box->margin = is_doubtful ? 0 : number;
        style->is_away = style->is_away && !(number >= FAR_AWAY && number < NO_LENGTH);
        break;
    case P_MOVED:
        is_on = !(IS("none") || IS("initial"));
        box->is_moved = box->is_moved || is_on;
        style->is_away = style->is_away && !is_on;
        break;
    case P_ALL:
        box->is_cut = true;
        break;
    }
}

static struct name_table property_table;

void style_begin(void) { name_table_begin(&property_table, PROPERTIES, sizeof *PROPERTIES, COUNT_OF(PROPERTIES)); }

struct declaration {
    enum property property;
    bool is_important;
    span text, value;
};

/* The next declaration that is read; false where there is none. */
static bool next_declaration(span *text, struct declaration *found) {
    while (!is_empty(*text)) {
        const uint8_t *end = find_outside(*text, ';', ';'), *colon = find_byte(span_between(text->at, end), ':');
        span name = colon ? strip(span_between(text->at, colon)) : (span){0};
        size_t number = number_of(&property_table, name);
        found->text = span_between(text->at, end);
        text->at = end < text->end ? end + 1 : text->end;
        if (number == COUNT_OF(PROPERTIES))
            continue;
        span value = span_between(colon + 1, end);
        const uint8_t *mark = find_byte(value, '!');
        found->is_important = mark && is_same(strip(span_between(mark + 1, value.end)), LITERAL("important"));
        found->value = strip(span_between(value.at, mark ? mark : value.end));
        found->property = (enum property)PROPERTIES[number].property;
        if (!is_empty(found->value) && (found->is_important || !mark))
            return true;
    }
    return false;
}

/* Applies declarations: those alone that are important, or those that are not. */
static void apply_all(struct box *box, span text, bool important, bool is_doubtful) {
    struct declaration found;
    if (important && !find_byte(text, '!'))
        return;
    while (next_declaration(&text, &found))
        if (found.is_important == important)
            apply(box, found.property, found.value, is_doubtful);
}

/* ---- Rules and the elements that they match ---- */

/* The bucket of a key, in any case. */
static uint8_t bucket_of(uint8_t kind, span key) {
    uint32_t hash = kind;
    for (const uint8_t *at = key.at; at < key.end; at++)
        hash = hash * 31 + to_lower(*at);
    return (uint8_t)(hash ^ hash >> 8 ^ hash >> 16);
}

/* What selectors ask of an element. */
struct element_names {
    span name, id, classes[MAX_OWN_CLASSES];
    size_t n_classes;
    bool has_more_classes;
};

static bool is_same_in_any_case(span asked, span name) {
    bool is_so = size_of(asked) == size_of(name);
    for (size_t i = 0; is_so && i < size_of(asked); i++)
        is_so = to_lower(asked.at[i]) == to_lower(name.at[i]) || asked.at[i] == ESCAPED;
    return is_so;
}

/* Whether one of these names is the one asked for; in doubt where the case differs: pages without a type ask for none. */
static bool is_among(span asked, const span *names, size_t n, bool *is_doubtful) {
    bool found = false, is_exact = false;
    for (size_t i = 0; i < n && !is_exact; i++)
        if (is_same_in_any_case(asked, names[i])) {
            found = true;
            is_exact = is_same(asked, names[i]);
        }
    *is_doubtful = *is_doubtful || (found && !is_exact);
    return found;
}

static bool matches(const struct rule *rule, const struct element_names *element, bool *is_doubtful) {
    *is_doubtful = rule->is_doubtful;
    if (!is_empty(rule->name) && !is_same_in_any_case(rule->name, element->name))
        return false;
    if (rule->id.at && !is_among(rule->id, &element->id, 1, is_doubtful))
        return false;
    for (size_t i = 0; i < rule->n_classes; i++)
        if (!is_among(rule->classes[i], element->classes, element->n_classes, is_doubtful))
            return false;
    return true;
}

struct match {
    const struct rule *rule;
    bool is_doubtful;
};

/* Adds the rules of a bucket that match to those that do, the strongest last. */
static size_t add_matches(struct sheet *sheet, const struct rule *rule, const struct element_names *element,
                          struct match *found, size_t n) {
    for (; rule; rule = rule->next) {
        bool is_doubtful;
        size_t steps = 1 + size_of(rule->declarations) / 8;
        if (sheet->steps_left < steps || n == MAX_MATCHES) {
            sheet->is_cut = true;
            return n;
        }
        sheet->steps_left -= steps;
        if (!matches(rule, element, &is_doubtful))
            continue;
        size_t at = n++;
        for (; at > 0; at--) {
            const struct rule *other = found[at - 1].rule;
            if (other->specificity < rule->specificity ||
                (other->specificity == rule->specificity && other->order <= rule->order))
                break;
            found[at] = found[at - 1];
        }
        found[at] = (struct match){rule, is_doubtful};
    }
    return n;
}

static size_t matching_rules(struct sheet *sheet, span name, const struct attributes *attributes, struct match *found) {
    struct element_names element = {.name = name, .id = value_of_attribute(attributes, A_ID)};
    uint8_t seen[256 / 8] = {0}, keys[MAX_OWN_CLASSES + 2];
    size_t n_keys = 0, n = add_matches(sheet, sheet->of_any, &element, found, 0);
    span classes = value_of_attribute(attributes, A_CLASS);
    for (span class = next_word(&classes); !is_empty(class); class = next_word(&classes)) {
        if (element.n_classes == MAX_OWN_CLASSES) {
            sheet->is_cut = true;
            break;
        }
        element.classes[element.n_classes++] = class;
        keys[n_keys++] = bucket_of('.', class);
    }
    keys[n_keys++] = bucket_of('t', name);
    if (element.id.at)
        keys[n_keys++] = bucket_of('#', element.id);
    for (size_t i = 0; i < n_keys; i++) {
        if (seen[keys[i] / 8] >> keys[i] % 8 & 1)
            continue;
        seen[keys[i] / 8] |= (uint8_t)(1 << keys[i] % 8);
        n = add_matches(sheet, sheet->buckets[keys[i]], &element, found, n);
    }
    return n;
}

/* ---- Sheets ---- */

void sheet_begin(struct sheet *sheet, struct arena *arena) {
    *sheet = (struct sheet){.arena = arena, .steps_left = MAX_STEPS};
}

static bool is_name_byte(uint8_t c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c >= 0x80 || c == ESCAPED; }

/* A name at the beginning of a selector; moves text behind it. */
static span take_name(span *text) {
    span name = *text;
    while (text->at < text->end && is_name_byte(*text->at))
        text->at++;
    name.end = text->at;
    return name;
}

/* Reads one selector; false where it matches nothing that stands still. is_foreign: browsers that do not understand it
 * leave out the whole rule. */
static bool read_selector(struct sheet *sheet, span text, struct rule *rule, bool *is_foreign) {
    *rule = (struct rule){0};
    text = strip(text);
    if (is_empty(text) || size_of(text) > MAX_SELECTOR) {
        sheet->is_cut = sheet->is_cut || !is_empty(text);
        *is_foreign = true;
        return false;
    }
    while (!is_empty(text)) {
        uint8_t c = *text.at;
        if (is_space(c) || c == '>' || c == '+' || c == '~' || c == '|') { /* what stands before it is not looked at */
            text.at++;
            rule->is_doubtful = true;
            *is_foreign = *is_foreign || is_empty(strip(text));
            rule->name = rule->id = (span){0};
            rule->n_classes = 0;
        } else if (c == '*') {
            text.at++;
        } else if (c == '.' || c == '#') {
            text.at++;
            span name = take_name(&text);
            if (is_empty(name) || is_digit(*name.at))
                *is_foreign = true;
            else if (c == '#') {
                rule->id = name;
                rule->specificity += 1 << 16;
            } else if (rule->n_classes < MAX_CLASSES) {
                rule->classes[rule->n_classes++] = name;
                rule->specificity += 1 << 8;
            } else
                rule->is_doubtful = true;
        } else if (c == ':') {
            while (text.at < text.end && *text.at == ':')
                text.at++;
            span name = lower_copy(sheet->arena, take_name(&text));
            if (text.at < text.end && *text.at == '(') {
                const uint8_t *end = find_outside(skip_bytes(text, 1), ')', ')');
                text.at = end < text.end ? end + 1 : text.end;
            }
            if (is_one_of(name, " hover focus active visited target focus-within before after first-line first-letter "
                                "selection placeholder marker "))
                return false;
            *is_foreign = true; /* perhaps: what is meant by the others is not read */
        } else if (c == '[') {
            const uint8_t *end = find_outside(skip_bytes(text, 1), ']', ']');
            text.at = end < text.end ? end + 1 : text.end;
            *is_foreign = true;
        } else if (is_name_byte(c) && !is_digit(c)) {
            rule->name = lower_copy(sheet->arena, take_name(&text));
            rule->specificity++;
        } else {
            *is_foreign = true;
            return false;
        }
    }
    return true;
}

/* Adds the rules of a list of selectors. */
static void add_rule(struct sheet *sheet, span selectors, span body, bool is_doubtful) {
    sheet->is_cut = sheet->is_cut || size_of(body) > MAX_DECLARATIONS || find_byte(body, '{'); /* rules in a rule */
    body = lower_copy(sheet->arena, first_bytes(body, MAX_DECLARATIONS));
    struct rule *added = NULL, rule;
    struct declaration declaration;
    struct writer kept = writer_open(sheet->arena, size_of(body)); /* the declarations that are read */
    while (next_declaration(&body, &declaration)) {
        put_span(&kept, declaration.text);
        put_byte(&kept, ';');
    }
    body = writer_close(&kept);
    is_doubtful = is_doubtful || ends_with(strip(selectors), LITERAL(","));
    while (!is_empty(body) && !is_empty(selectors)) {
        const uint8_t *end = find_outside(selectors, ',', ',');
        sheet->is_cut = sheet->is_cut || sheet->n_rules == MAX_RULES;
        if (read_selector(sheet, span_between(selectors.at, end), &rule, &is_doubtful) && sheet->n_rules < MAX_RULES) {
            rule.declarations = body;
            rule.order = (uint32_t)++sheet->n_rules;
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
            rule->specificity = UINT32_MAX;
        span key = rule->id.at ? rule->id : rule->n_classes ? rule->classes[0] : rule->name;
        uint8_t kind = rule->id.at ? '#' : rule->n_classes ? '.' : 't';
        bool is_any = is_empty(key) || find_byte(key, ESCAPED);
        struct rule **bucket = is_any ? &sheet->of_any : &sheet->buckets[bucket_of(kind, key)];
        rule->next = *bucket;
        *bucket = rule;
    }
}

enum answer { NO, PERHAPS, YES };

/* Whether a sheet for these media, in a list, is one for a screen. */
static enum answer is_for_screen(struct arena *arena, span list) {
    enum answer answer = is_empty(strip(list)) ? YES : NO;
    list = lower_copy(arena, list);
    while (!is_empty(list)) {
        span value = strip(before_first(list, ','));
        list = skip_bytes(list, (size_t)(before_first(list, ',').end - list.at) + 1);
        enum answer one = IS("screen") || IS("all") || IS("only screen")                             ? YES
                          : IS("print") || IS("only print") || IS("speech") || is_empty(value) ? NO
                                                                                                : PERHAPS;
        answer = one > answer ? one : answer;
    }
    return answer;
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
                            : is_one_of(value, " supports layer container scope ") ? PERHAPS
                                                                                   : NO;
        if (holds != NO)
            add_rules(sheet, body, is_doubtful || holds == PERHAPS, depth + 1);
    }
}

void sheet_add(struct sheet *sheet, span text, span media) {
    enum answer holds = is_for_screen(sheet->arena, first_bytes(media, MAX_VALUE));
    size_t left = MAX_SHEET_BYTES - sheet->n_bytes;
    sheet->is_cut = sheet->is_cut || size_of(text) > left;
    text = first_bytes(text, left);
    sheet->n_bytes += size_of(text);
    if (holds != NO)
        add_rules(sheet, clean(sheet->arena, text), holds == PERHAPS, 0);
}

/* ---- What an element's children inherit ---- */

static void apply_attributes(struct box *box, struct arena *arena, unsigned tag, const struct attributes *attributes) {
    struct style *style = &box->style;
    if (TAGS[tag].flags & IS_CONTROL || tag == TAG_MARK || (tag == TAG_A && has(attributes, A_HREF)))
        style->color = UNKNOWN; /* browsers give them colors of their own */
    box->is_hidden = has(attributes, A_HIDDEN) || TAGS[tag].flags & IS_UNSHOWN;
    enum attribute color = tag == TAG_BODY ? A_TEXT : A_COLOR;
    if (has(attributes, color))
        style->color = read_attribute_color(arena, attributes->values[color]);
    if (has(attributes, A_BGCOLOR))
        style->background = read_attribute_color(arena, attributes->values[A_BGCOLOR]);
    if (!is_empty(value_of_attribute(attributes, A_BACKGROUND)))
        style->background = UNKNOWN;
}

struct style style_in(struct sheet *sheet, const struct style *above, unsigned tag, span name,
                      const struct attributes *attributes) {
    static const struct attributes NONE;
    struct box box = {.style = *above, .above = above, .height = NO_LENGTH, .width = NO_LENGTH};
    struct style *style = &box.style;
    bool is_inline = TAGS[tag].flags & IS_INLINE, is_cell = TAGS[tag].kind >= TABLE && TAGS[tag].kind <= CELL;
    box.is_block = !is_inline && !is_cell;
    attributes = attributes ? attributes : &NONE;
    if (!is_inline && style->is_under_inline) {
        style->background = UNKNOWN;
        style->is_under_inline = false;
    }
    apply_attributes(&box, sheet->arena, tag, attributes);
    struct match matches[MAX_MATCHES];
    size_t n = sheet->n_rules ? matching_rules(sheet, name, attributes, matches) : 0;
    span own = value_of_attribute(attributes, A_STYLE);
    box.is_cut = size_of(own) > MAX_DECLARATIONS;
    own = clean(sheet->arena, lower_copy(sheet->arena, first_bytes(own, MAX_DECLARATIONS)));
    for (int important = 0; important < 2; important++) {
        for (size_t i = 0; i < n; i++)
            apply_all(&box, matches[i].rule->declarations, important, matches[i].is_doubtful);
        apply_all(&box, own, important, false);
    }
    if (box.is_cut)
        return FIRST_STYLE;
    bool is_page = tag == TAG_HTML || tag == TAG_BODY; /* what the page cuts off can be scrolled to */
    bool is_small = box.is_block && box.cuts && !box.has_room && (box.height <= SMALL_BOX || box.width <= SMALL_BOX);
    bool is_far = (box.is_block && box.margin <= -FAR_AWAY) || (box.is_placed && box.offset <= -FAR_AWAY);
    style->is_away = style->is_away || (!is_page && (is_small || (is_far && !box.is_moved)));
    if (is_inline && !box.is_block)
        style->is_under_inline = style->is_under_inline || !is_same_color(style->background, above->background);
    style->is_gone = style->is_gone || box.is_hidden;
    return *style;
}

enum why_hidden why_hidden(const struct style *style) {
    if (style->is_gone)
        return HIDDEN_DISPLAY;
    if (style->is_away)
        return HIDDEN_OFF_SCREEN;
    if (style->size < TINY)
        return HIDDEN_TINY;
    if (style->is_unseen || style->opacity < MIN_SEEN)
        return HIDDEN_OTHERWISE;
    return !style->has_effects && is_unreadable(style->color, style->background, style->opacity) ? HIDDEN_COLOR : SEEN;
}
