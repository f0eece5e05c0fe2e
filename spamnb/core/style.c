#include "style.h"

#include <math.h>
#include <stdlib.h>

enum {
    MAX_SHEET_BYTES = 1 << 19, /* of all sheets of a document; ordinary mail: 188,223 */
    MAX_RULES = 3000, /* of a document; ordinary mail: 291. A list of 240,000 selectors would take 28 MB */
    MAX_STEPS = 1000000, /* in a document: one for each class of an element and each rule that is compared with it, and for
                          * each byte of the names that are searched for x of [class*=x]; ordinary mail: 20,093. Without this bound a page
                          * of 60 kB would take 11 seconds */
    MAX_MARK = 8, /* bytes of a string and its quotes, such as "\2713" */
    MAX_PART = 64, /* bytes of x in the selector [class*=x] */
    MAX_NESTED = 8,  /* levels of blocks in blocks, such as "@media {...}", because of recursion; ordinary mail: 3 */
    MAX_OPEN = 1024, /* levels of brackets in brackets, each a byte of the stack; ordinary mail: 2 */
    COMMENT = '\f', /* a space in declarations, and nothing in a selector: with a comment before .b, .a.b is not .a .b */
};

/* Text beyond these bounds is doubtful. */
#define TOO_SMALL .1f
#define MAX_MARGIN 150 /* pixels; text beyond may be outside of a box around it */
#define MIN_LETTER 5.0f /* pixels */
#define MIN_LINE .7f /* of the letters' size; lines that are less high cover one another */
#define INHERITED -1000.0f /* the height of lines of the parent */
#define CONTENT_AREA 1.17f /* height of the background of a line, in sizes of its letters */
#define MAX_SIZE 320.0f
#define MIN_DISTANCE 64 /* between colors: the sum of the differences of three channels of 0 to 255 */

enum { WHITE = 0xFFFFFF, BLACK = 0, LINK = 0x0000EE, BUTTON = 0xEFEFEF, YELLOW = 0xFFFF00 };

const struct style FIRST_STYLE = {.pairs = {{BLACK, WHITE}}, .n_pairs = 1, .size = 16, .largest = 16, .lines = -1.2f};
const struct style DOUBTFUL_STYLE = {
    .pairs = {{UNKNOWN, UNKNOWN}}, .n_pairs = 1, .size = 16, .largest = 16, .lines = -1.2f, .flags = MAY_HIDE,
    .is_doubtful = true};

/* What declarations of a block do. A color or a size that they give two values is not known. */
struct effect {
    rgb color, background; /* or UNSET */
    float size, lines;     /* size: pixels, or less than 0: a multiple of the parent's size; lines: as in a style; 0: unset */
    float shift, above;    /* as in a style */
    uint32_t flags;
    bool has_important_lines;
    uint8_t color_kinds, ground_kinds; /* bits of the declarations of the color and the background: 1 ordinary, 2
                                        * important, 4 maybe unread. If they differ, another rule may set one of the two */
    span text; /* a value that shows strings or attributes */
};

static const struct effect NO_EFFECT = {.color = UNSET, .background = UNSET};

/* What an element's own declarations do, and those of them that browsers may not read. */
struct own_effects {
    struct effect read, unread;
};

/* The kinds of selectors. */
enum key_kind { OF_ANY, OF_TAG, OF_CLASS, OF_ID };

/* A rule for the last simple selector of a selector. ancestors: the bits of classes and ids that ancestors must have. key
 * is a class, an id or a tag; if key is a class or an id, tag may be a tag that the element must also have. */
struct rule {
    struct rule *next;
    enum key_kind kind, part_kind;
    span key, tag, part; /* part: a text in the class or id, by part_kind, if key is none */
    uint64_t hash, tag_hash, ancestors; /* hash: of kind and key; tag_hash: of tag */
    const struct effect *effect;
    bool is_part, is_first; /* is_first: it is for the first line or letter of the element; is_part: for this, or for a box
                             * before or after its text */
};

#define VALUE_IS(text) is_same(value, LITERAL(text)) /* of the variable value */

/* ---- Text ---- */

static bool is_name_byte(uint8_t c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c >= 0x80; }

/* Reads the name at the beginning of a text, and moves text after the name. */
static span read_name(span *text) {
    span name = *text;
    while (text->at < text->end && is_name_byte(*text->at))
        text->at++;
    name.end = text->at;
    return name;
}

bool can_be_light(span scheme) {
    for (span word = next_word(&scheme); !is_empty(word); word = next_word(&scheme))
        if (is_same_any_case(strip_any(word, ","), LITERAL("light")) || is_same_any_case(word, LITERAL("normal")))
            return true;
    return false;
}

bool has_inner_url(span text) {
    return find_any_case(text, LITERAL("data:")) || find_any_case(text, LITERAL("cid:"));
}

/* Writes the text of a string or a URL, with "?" for each byte that has a meaning outside of it. */
static void put_quoted(struct writer *writer, span text) {
    for (; text.at < text.end; text.at++)
        put_byte(writer, is_name_byte(*text.at) || *text.at == '.' || *text.at == ':' || *text.at == '/' ? *text.at : '?');
}

/* Writes the letter of an escape such as "\69", and moves text after it. Other escapes are "\"; that of a digit is none of
 * a number. */
static void put_escaped(struct writer *writer, span *text) {
    uint32_t number = 0;
    int n = 0;
    for (; n < 6 && text->at < text->end && hex_value(*text->at) >= 0; n++)
        number = number << 4 | (uint32_t)hex_value(*text->at++);
    if (!n && !is_empty(*text))
        number = *text->at++;
    else if (!is_empty(*text) && is_space(*text->at))
        text->at++;
    put_byte(writer, number < 0x80 && is_letter((uint8_t)number) ? (uint8_t)number : '\\');
}

/* Returns declarations or a sheet with COMMENT in place of each comment, and without the syntax in strings and URLs. */
static span simplify(struct arena *arena, span text) {
    bool is_simple = true;
    for (const char *c = "*\\\"'(\f"; *c; c++)
        is_simple = is_simple && !find_byte(text, (uint8_t)*c);
    if (is_simple)
        return text;
    struct writer writer = writer_open(arena, size_of(text) + 1);
    while (text.at < text.end) {
        uint8_t c = *text.at++;
        const uint8_t *begin = text.at;
        if (c == '/' && starts_with(text, LITERAL("*"))) {
            const uint8_t *end = find(skip_bytes(text, 1), LITERAL("*/"));
            text.at = end ? end + 2 : text.end;
            put_byte(&writer, COMMENT);
        } else if (c == '"' || c == '\'') {
            for (; text.at < text.end && *text.at != c && *text.at != '\n'; text.at++)
                text.at += *text.at == '\\' && size_of(text) > 1;
            put_byte(&writer, '"');
            put_quoted(&writer, span_between(begin, text.at));
            put_byte(&writer, '"');
            text.at += text.at < text.end && *text.at == c;
        } else if (c == '\\')
            put_escaped(&writer, &text);
        else if (c == '(' && writer.at - writer.begin >= 3 &&
                 is_same_any_case(span_between(writer.at - 3, writer.at), LITERAL("url"))) {
            span url = before_first(text, ')');
            put_byte(&writer, c);
            put_quoted(&writer, strip_any(url, " \t\r\n\f\"'"));
            text.at = url.end;
        } else
            put_byte(&writer, c == COMMENT ? ' ' : c);
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

/* Returns whether a text may have more brackets in brackets than find_outside follows. */
static bool may_be_too_deep(span text) {
    size_t n = 0;
    for (; text.at < text.end; text.at++)
        n += *text.at == '(' || *text.at == '[' || *text.at == '{';
    return n > MAX_OPEN;
}

/* ---- Numbers and colors ---- */

/* Reads a number of a style sheet, which may have an exponent (2e1 is 20), and moves text after the number. */
static bool read_number(span *text, double *number) {
    enum { MAX_NUMBER = 40 }; /* bytes; numbers of style sheets have a few digits */
    char digits[MAX_NUMBER + 1] = "", *end;
    for (size_t i = 0; i < MAX_NUMBER && i < size_of(*text); i++) {
        uint8_t c = text->at[i];
        bool is_exponent = c == 'e' && i + 1 < size_of(*text) && !is_letter(text->at[i + 1]);
        bool is_point = c == '.' && i + 1 < size_of(*text) && is_digit(text->at[i + 1]);
        if (!is_digit(c) && !is_point && c != '+' && c != '-' && !is_exponent)
            break;
        digits[i] = (char)c;
    }
    *number = strtod(digits, &end);
    text->at += end - digits;
    return end > digits;
}

/* Returns a length in pixels; NAN if it is not understood. em, percent: pixels of these units. */
static double read_length(span value, double em, double percent) {
    static const struct {
        const char *name;
        double pixels;
    } UNITS[] = {{"", 1}, {"px", 1}, {"pt", 4 / 3.}, {"rem", 16}, {"in", 96}, {"cm", 37.8}, {"mm", 3.78}, {"pc", 16},
                 {"vw", 6}, {"vh", 6}};
    double number;
    if (!read_number(&value, &number))
        return NAN;
    if (is_one_of(value, "em ex ch %"))
        return number * (VALUE_IS("%") ? percent : VALUE_IS("em") ? em : em / 2);
    for (size_t i = 0; i < COUNT_OF(UNITS); i++)
        if (is_same(value, span_of_text(UNITS[i].name)))
            return number * UNITS[i].pixels;
    return NAN;
}

static bool begins_number(span word) {
    return !is_empty(word) && (is_digit(*word.at) || find_byte(LITERAL("+-."), *word.at));
}

static float smaller(float a, float b) { return a < b ? a : b; }

static float larger(float a, float b) { return a > b ? a : b; }

struct range {
    double least, most, spread; /* spread: the largest fourth length, as in a shadow */
    double lowest, vertical;   /* the least and the largest of the first and the third length, as in a margin */
};

/* Returns the range of the lengths in a value: an endless one if a length is not understood, an empty one if it has none.
 * blur: the number of the length that does not count, from 1 on, in each part of the value between commas; 0: all count. */
static struct range read_range(span value, unsigned blur) {
    const struct range endless = {-INFINITY, INFINITY, INFINITY, -INFINITY, INFINITY};
    struct range range = {INFINITY, -INFINITY, 0, 0, 0};
    unsigned n = 0;
    for (span word = next_word(&value); !is_empty(word); word = next_word(&value)) {
        if (starts_with(word, LITERAL("rgb"))) { /* a color, which may have blanks */
            const uint8_t *end = find_byte(span_between(word.at, value.end), ')');
            value.at = end ? end + 1 : value.end;
            continue;
        }
        span length = strip_any(word, ",");
        if (find_byte(length, '('))
            return endless;
        if (begins_number(length) && ++n != blur) {
            double pixels = read_length(length, 16, 6); /* of a window of 600 pixels */
            if (isnan(pixels))
                return endless;
            range.least = pixels < range.least ? pixels : range.least;
            range.most = pixels > range.most ? pixels : range.most;
            range.lowest = n & 1 && pixels < range.lowest ? pixels : range.lowest;
            range.vertical = n & 1 && pixels > range.vertical ? pixels : range.vertical;
            range.spread = n == 4 && pixels > range.spread ? pixels : range.spread;
        }
        n = word.end[-1] == ',' ? 0 : n;
    }
    return range;
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

/* Reads "0, 0, 0)" or "0 0 0)", the rest of rgb(...). Colors that are not opaque are not understood. */
static rgb color_of_numbers(span value) {
    rgb color = 0;
    bool has_commas = false;
    for (int n = 0; n < 3; n++) {
        double number;
        value = strip(value);
        if (!read_number(&value, &number) || !(number >= 0 && number <= 255))
            return UNKNOWN;
        color = color << 8 | (rgb)number;
        value = strip(value);
        bool is_comma = starts_with(value, LITERAL(","));
        if (n == 1 && is_comma != has_commas)
            return UNKNOWN;
        has_commas = n < 2 ? is_comma : has_commas;
        value = skip_bytes(value, is_comma && n < 2);
    }
    return VALUE_IS(")") || (has_commas && (VALUE_IS(", 1)") || VALUE_IS(",1)"))) ? color : UNKNOWN;
}

/* The color names that ordinary mail has. */
static const struct {
    const char *name;
    rgb color;
} COLORS[] = {
    {"white", WHITE}, {"black", BLACK}, {"windowtext", BLACK}, {"red", 0xFF0000}, {"blue", 0xFF}, {"navy", 0x80},
    {"green", 0x8000}, {"maroon", 0x800000}, {"gray", 0x808080}, {"grey", 0x808080}, {"silver", 0xC0C0C0},
    {"yellow", YELLOW}, {"purple", 0x800080}, {"teal", 0x8080}, {"orange", 0xFFA500}, {"lime", 0xFF00},
    {"aqua", 0xFFFF}, {"cyan", 0xFFFF}, {"fuchsia", 0xFF00FF}, {"magenta", 0xFF00FF}, {"olive", 0x808000},
    {"darkblue", 0x8B}, {"darkred", 0x8B0000}, {"brown", 0xA52A2A}, {"darkgreen", 0x6400}, {"dimgray", 0x696969},
    {"darkgray", 0xA9A9A9}, {"lightgrey", 0xD3D3D3}, {"lightgray", 0xD3D3D3}, {"whitesmoke", 0xF5F5F5},
    {"transparent", CLEAR}, {"none", CLEAR}, {"inherit", INHERIT}, {"currentcolor", INHERIT}, {"unset", INHERIT},
    {"initial", CLEAR},
};

static struct name_table color_table, property_table;

/* Returns a color in lower case. */
static rgb read_color(span value) {
    if (starts_with(value, LITERAL("#")))
        return color_of_digits(skip_bytes(value, 1));
    if (starts_with(value, LITERAL("rgb(")) || starts_with(value, LITERAL("rgba(")))
        return color_of_numbers(skip_bytes(find_byte(value, '(') ? span_between(find_byte(value, '('), value.end) : value, 1));
    int number = number_of(&color_table, value);
    return number < 0 ? UNKNOWN : COLORS[number].color;
}

/* Returns whether a word is a URL and nothing else. */
static bool is_url(span word) { return starts_with(word, LITERAL("url(")) && before_first(word, ')').end + 1 == word.end; }

/* Returns the color of a background; CLEAR if it has none. Pictures on the web do not count, because mail readers do not
 * show them unasked. */
static rgb read_background(span value) {
    rgb color = CLEAR;
    if (starts_with(value, LITERAL("rgb")) || is_one_of(value, "inherit unset initial"))
        return starts_with(value, LITERAL("rgb")) ? read_color(value) : CLEAR;
    for (span word = next_word(&value); !is_empty(word); word = next_word(&value)) {
        if (is_url(word)) {
            if (has_inner_url(word))
                return UNKNOWN;
            continue;
        }
        while (!is_empty(word)) {
            span part = before_first(word, '/');
            word = skip_bytes(span_between(part.end, word.end), 1);
            if (is_empty(part) || begins_number(part) ||
                is_one_of(part, "left right top bottom center auto cover contain none transparent scroll fixed repeat "
                                "repeat-x repeat-y no-repeat"))
                continue;
            color = color == CLEAR && read_color(part) >= 0 ? read_color(part) : UNKNOWN;
            if (color == UNKNOWN)
                return UNKNOWN;
        }
    }
    return color;
}

/* Returns the color of an attribute such as bgcolor, in which six digits need no "#". */
static rgb read_attribute_color(struct arena *arena, span value) {
    value = copy_lower(arena, strip(value));
    return size_of(value) == 6 && color_of_digits(value) >= 0 ? color_of_digits(value) : read_color(value);
}

/* Returns whether letters may be hard to tell from their background. */
static bool is_near(struct colors pair) {
    int distance = 0;
    if (pair.letters < 0 || pair.background < 0)
        return true;
    for (int shift = 0; shift < 24; shift += 8)
        distance += abs((pair.letters >> shift & 255) - (pair.background >> shift & 255));
    return distance <= MIN_DISTANCE;
}

/* ---- Declarations ---- */

/* The kinds of properties with values of their own. */
enum { P_COLOR, P_BACKGROUND, P_BACKGROUND_COLOR, P_PICTURE, P_SIZE, P_FONT, P_LINE, P_TEXT, P_CONTENT, P_SCHEME, P_DISPLAY, P_FLOAT,
       P_SHADOW, P_MARGIN, P_MARGIN_BELOW, P_TOP, P_BOTTOM, P_PADDING, P_BORDER, P_POSITION };

/* The values that hide nothing of a property of which only is known what it may hide. */
#define HARMLESS "none auto normal inherit initial unset visible"

/* The properties by which a browser may hide text, separated by blanks, without prefixes of vendors. Their values that hide
 * nothing: these words, and if there are bounds, all values whose lengths in pixels are within them. flags: what another
 * value may do. */
static const struct property {
    const char *names, *harmless;
    double least, most;
    uint32_t flags;
    unsigned blur; /* of read_range */
} PROPERTIES[] = {
    [P_COLOR] = {"color"}, [P_BACKGROUND] = {"background"}, [P_BACKGROUND_COLOR] = {"background-color"},
    [P_PICTURE] = {"background-image"}, [P_SIZE] = {"font-size"}, [P_FONT] = {"font"}, [P_LINE] = {"line-height"},
    [P_TEXT] = {"quotes list-style list-style-type"}, [P_CONTENT] = {"content"}, [P_SCHEME] = {"color-scheme"},
    [P_DISPLAY] = {"display", "block inline inline-block table inline-table table-cell table-row table-row-group "
                              "table-caption list-item flex inline-flex inherit initial", .flags = MAY_HIDE},
    [P_FLOAT] = {"float", ""},
    [P_SHADOW] = {"box-shadow", "", -12, 12, MOVES, .blur = 3},
    [P_MARGIN] = {"margin-left margin-right margin-top margin-inline margin-inline-start margin-inline-end "
                  "margin-block-start margin-before margin-start margin-end", "", -12, 700, MOVES},
    [P_MARGIN_BELOW] = {"margin margin-bottom margin-block margin-block-end margin-after", "", -12, 700, MOVES},
    [P_TOP] = {"top", "", -12, 4, MOVES},
    [P_BOTTOM] = {"bottom", "", -4, 12, MOVES},
    [P_PADDING] = {"padding padding-top padding-bottom padding-block padding-block-start padding-block-end "
                   "padding-before padding-after", "", -INFINITY, 700, MOVES}, /* not read below 0 */
    [P_BORDER] = {"border border-top border-bottom border-width border-top-width border-bottom-width border-block "
                  "border-block-start border-block-end border-block-width border-block-start-width border-block-end-width "
                  "border-before border-before-width border-after border-after-width", "", 0, 50, MAY_HIDE},
    [P_POSITION] = {"position", "static relative inherit initial", .flags = MOVES},
    {"opacity", "1 100% inherit initial", .flags = MAY_HIDE | IS_ABOVE},
    /* A box with the value "clip" does not grow with the boxes that float in it. */
    {"overflow overflow-x overflow-y overflow-block overflow-inline", "visible hidden auto scroll inherit initial",
     .flags = OVERFLOWS},
    {"height max-height block-size max-block-size inline-size max-inline-size min-inline-size logical-height "
     "max-logical-height logical-width max-logical-width min-logical-width aspect-ratio white-space white-space-collapse "
     "text-wrap text-wrap-mode flex flex-basis flex-grow flex-shrink box-flex",
     "auto none 100% normal pre-wrap pre-line wrap balance pretty stable collapse inherit initial", .flags = OVERFLOWS},
    {"width", "", 150, 800, OVERFLOWS},
    {"max-width", "", 150, INFINITY, OVERFLOWS},
    {"min-width", "", 0, 800, OVERFLOWS},
    {"letter-spacing", "normal inherit initial", -1, 20, MAY_HIDE},
    {"all", "", .flags = MAY_HIDE},
    {"flex-direction flex-flow unicode-bidi", "row column normal embed isolate plaintext inherit initial",
     .flags = MAY_HIDE | REVERSES},
    {"table-layout", "auto inherit initial", .flags = FIXED},
    {"transform translate scale rotate", "none inherit initial", .flags = MOVES},
    {"padding-right padding-left padding-inline padding-inline-start padding-inline-end padding-start "
     "padding-end", "", -INFINITY, 700, MOVES},
    {"text-indent word-spacing vertical-align baseline-shift", "", -4, 100, MAY_HIDE},
    {"border-spacing border-horizontal-spacing border-vertical-spacing gap column-gap row-gap grid-gap grid-column-gap grid-row-gap border-left border-right border-left-width "
     "border-right-width border-inline border-inline-start border-inline-end border-inline-width border-inline-start-width "
     "border-inline-end-width border-start border-end border-start-width border-end-width", "", 0, 50, MAY_HIDE},
    {"outline outline-width text-decoration text-decoration-thickness text-stroke-width", "",
     0, 3, MOVES},
    {"left right inset inset-block inset-block-start inset-block-end inset-inline inset-inline-start inset-inline-end",
     "", -4, 4, MOVES},
    {"z-index", "auto inherit initial", 0, INFINITY, MAY_HIDE},
    {"zoom", "1 100% normal inherit initial", .flags = MAY_HIDE | MOVES},
    {"text-shadow", "", -3, 3, MOVES, .blur = 3},
    /* What these do is done to their own element. */
    {"visibility clip content-visibility text-fill-color text-security line-clamp max-lines background-clip "
     "background-blend-mode font-size-adjust font-variation-settings font-optical-sizing font-palette font-variant-numeric "
     "font-variant-east-asian font-variant-alternates object-fit object-position color-filter",
     HARMLESS " border-box padding-box", .flags = MAY_HIDE},
    /* With these, it is also painted above later text. */
    {"clip-path mask mask-image mask-border mask-border-source mask-box-image mask-box-image-source mix-blend-mode", HARMLESS,
     .flags = MAY_HIDE | IS_ABOVE},
    {"isolation view-transition-name will-change", HARMLESS " contents scroll-position", .flags = IS_ABOVE},
    /* What these do may be done to any text of the page. */
    {"alignment-baseline animation animation-name appearance backdrop-filter border-image border-image-outset "
     "border-image-slice border-image-source border-image-width border-shape box-decoration-break box-direction "
     "box-ordinal-group box-reflect column-count column-height column-rule column-rule-width column-span column-width "
     "column-wrap columns contain container container-type dominant-baseline filter initial-letter line-box-contain line-grid "
     "line-height-step line-snap offset offset-path order perspective row-rule row-rule-width rtl-ordering rule rule-width "
     "scroll-initial-target scroll-snap-type shape-margin shape-outside stroke stroke-width text-box text-box-trim "
     "text-combine text-combine-upright text-fit text-stroke writing-mode", HARMLESS, .flags = MAY_HIDE | MOVES},
    /* Of fonts. */
    {"size-adjust ascent-override descent-override line-gap-override", "100% normal", .flags = MAY_HIDE},
};

void style_begin(void) {
    for (size_t property = 0; property < COUNT_OF(PROPERTIES); property++)
        add_names(&property_table, PROPERTIES[property].names, (uint8_t)property, 0);
    for (size_t i = 0; i < COUNT_OF(COLORS); i++)
        add_names(&color_table, COLORS[i].name, (uint8_t)i, 0);
}

static void set_color(rgb *color, rgb value) { *color = *color == UNSET || *color == value ? value : UNKNOWN; }

/* How a size is read. words: those that stand for medium; em, percent, unitless: pixels of these units; less than 0: a
 * multiple of the parent's size, or for a height of lines, of the size of the letters. */
struct scale {
    const char *words;
    double medium, em, percent, unitless;
};

static const struct scale
    LETTERS = {"xx-small x-small small medium large x-large xx-large initial", 10, -1, -.01, 1},
    LINES = {"normal initial", -1.2, -1, -.01, -1};

/* Returns a size of letters, or a height of lines; TOO_SMALL if it is too small, too large or not understood. */
static float read_size(span value, const struct scale *scale) {
    bool is_number = begins_number(value) && *value.at != '-', has_unit = is_number && !is_digit(value.end[-1]);
    bool is_of_window = has_unit && size_of(value) > 1 && value.end[-2] == 'v'; /* vw or vh: windows have any size */
    double pixels = is_one_of(value, "inherit unset") ? -1 : VALUE_IS("smaller") ? -.83 : VALUE_IS("larger") ? -1.2 : 0;
    if (is_one_of(value, scale->words))
        pixels = scale->medium;
    else if (is_number && !is_of_window)
        pixels = read_length(value, scale->em, scale->percent) * (has_unit ? 1 : scale->unitless);
    return pixels != 0 && pixels <= MAX_SIZE ? (float)pixels : TOO_SMALL;
}

static void set_size(float *size, float value) { *size = *size == 0 || *size == value ? value : TOO_SMALL; }

/* Reads a height of lines. */
static void set_lines(struct effect *effect, span value) {
    set_size(&effect->lines, is_one_of(value, "inherit unset") ? INHERITED : read_size(value, &LINES));
    effect->flags |= begins_number(value) && !is_digit(value.end[-1]) ? HAS_UNIT : 0;
}

/* Reads the size of letters and the height of lines in a value of the property font. */
static void set_font(struct effect *effect, span value) {
    if (find_byte(value, '('))
        effect->size = TOO_SMALL;
    for (span word = next_word(&value); !is_empty(word); word = next_word(&value)) {
        span size = before_first(word, '/');
        bool is_number = begins_number(word) && is_digit(word.end[-1]) && size.end == word.end;
        bool is_weight = is_number && read_length(word, 1, 1) != 0; /* a size has a unit, or is 0 */
        if (is_weight || !(begins_number(word) || is_one_of(size, "smaller larger xx-small x-small small medium large "
                                                                  "x-large xx-large")))
            continue;
        set_size(&effect->size, read_size(starts_with(strip(value), LITERAL("/")) ? (span){0} : size, &LETTERS));
        if (size.end < word.end)
            set_lines(effect, skip_bytes(span_between(size.end, word.end), 1));
        return;
    }
}

/* Returns whether browsers may not read a value. Of a color or a size they have a grammar, of which only single words are
 * understood here, and not all pages read a size without a unit. */
static bool may_be_unread(int number, span value) {
    bool has_unit = !begins_number(value) || !is_digit(value.end[-1]);
    return number == P_FONT || (number == P_SIZE && !has_unit) ||
           (number == P_BACKGROUND && read_color(value) == UNKNOWN && !is_url(value));
}

/* Adds a declaration, in lower case, to a block. */
static void add_declaration(struct effect *effect, int number, span value) {
    const struct property *property = &PROPERTIES[number];
    struct range range = read_range(value, property->blur);
    switch (number) {
    case P_COLOR:
        set_color(&effect->color, read_color(value));
        return;
    case P_BACKGROUND:
        set_color(&effect->background, read_background(value));
        return;
    case P_BACKGROUND_COLOR: /* browsers do not read none */
        if (!VALUE_IS("none"))
            set_color(&effect->background, read_color(value) == UNKNOWN ? UNKNOWN : read_background(value));
        return;
    case P_PICTURE:
        effect->background = read_background(value) == CLEAR ? effect->background : UNKNOWN;
        return;
    case P_SIZE:
        set_size(&effect->size, read_size(value, &LETTERS));
        return;
    case P_FONT:
        set_font(effect, value);
        return;
    case P_LINE:
        set_lines(effect, value);
        return;
    case P_CONTENT: /* a picture replaces the text of its element */
        effect->flags |= find_byte(value, '(') ? MAY_HIDE : 0;
        /* fall through */
    case P_TEXT:
        effect->text = find_byte(value, '"') || find(value, LITERAL("attr(")) ? value : effect->text;
        return;
    case P_SCHEME: /* letters are black on white in a scheme that can be light */
        effect->flags |= can_be_light(value) ? 0 : MAY_HIDE;
        return;
    case P_DISPLAY:
    case P_FLOAT:
        effect->flags |= is_one_of(value, "inline initial inherit unset") ? IS_IN_LINES : 0;
        effect->flags |= starts_with(value, LITERAL("table")) || VALUE_IS("none") ? 0 : IS_BOX;
        break;
    case P_SHADOW: /* it may cover the background beneath letters */
        effect->flags |= range.spread + fmax(range.most, -range.least) > property->most ? MOVES : 0;
        effect->flags |= find(value, LITERAL("inset")) && fmax(range.most, -range.least) > 3 ? MAY_HIDE : 0;
        effect->shift += (float)(fmax(-range.least, 0) + range.spread);
        break;
    case P_MARGIN_BELOW: /* what follows may cover the element */
        effect->flags |= range.lowest < -MAX_COVERED ? MAY_HIDE : 0;
        /* fall through */
    case P_MARGIN:
        effect->flags |= range.least < -MAX_COVERED ? REACHES : 0;
        effect->shift += (float)fmax(-range.least, 0);
        break;
    case P_TOP:
    case P_BOTTOM:
        effect->shift += (float)fmax(number == P_TOP ? -range.least : range.most, 0);
        break;
    case P_BORDER:
        effect->flags |= range.vertical > 1 ? HAS_GROUND : 0;
        /* fall through */
    case P_PADDING:
        effect->above += (float)range.vertical;
        break;
    case P_POSITION:
        effect->flags |= is_one_of(value, "static inherit initial") ? 0 : IS_ABOVE;
        break;
    default:
        break;
    }
    bool has_bounds = property->least < property->most;
    bool is_within = has_bounds && range.least >= property->least && range.most <= property->most;
    effect->flags |= is_within || is_one_of(value, property->harmless) ? 0 : property->flags;
    effect->flags |= property->flags & MOVES && range.most > MAX_MARGIN ? OVERFLOWS : 0;
}

/* Returns the number of a property by which a browser may hide text; -1 of others. */
static int number_of_property(span name) {
    static const char *const PREFIXES[] = {"-webkit-", "-moz-", "-apple-"};
    for (size_t i = 0; i < COUNT_OF(PREFIXES); i++)
        if (starts_with(name, span_of_text(PREFIXES[i])))
            return number_of(&property_table, skip_bytes(name, strlen(PREFIXES[i])));
    return number_of(&property_table, name);
}

/* Reads the declarations in a text in lower case that simplify returned; those that browsers may not read into another
 * effect. */
static void read_declarations(span text, struct effect *effect, struct effect *unread) {
    effect->flags |= may_be_too_deep(text) ? MAY_HIDE | MOVES : 0;
    while (!is_empty(text)) {
        text = strip(text);
        bool is_at_rule = starts_with(text, LITERAL("@")); /* declarations follow its block */
        const uint8_t *end = find_outside(text, ';', is_at_rule ? '{' : ';');
        span declaration = span_between(text.at, end);
        text = skip_bytes(span_between(end, text.end), 1);
        if (is_at_rule && !is_empty(text) && *end == '{')
            text.at = skip_bytes(span_between(find_outside(text, '}', '}'), text.end), 1).at;
        const uint8_t *colon = find_byte(declaration, ':');
        int number = number_of_property(strip(span_between(declaration.at, colon ? colon : declaration.at)));
        if (number < 0)
            continue;
        span value = strip(span_between(colon + 1, end)), rest = value;
        rest.at = before_first(value, '!').end;
        bool is_important = is_same(strip(skip_bytes(rest, 1)), LITERAL("important"));
        value.end = is_important ? strip(span_between(value.at, rest.at)).end : value.end;
        if (is_empty(value))
            continue;
        bool is_unread = may_be_unread(number, value);
        uint8_t kind = is_unread ? 4 : is_important ? 2 : 1;
        effect->color_kinds |= number == P_COLOR ? kind : 0;
        effect->ground_kinds |= number == P_BACKGROUND || number == P_BACKGROUND_COLOR ? kind : 0;
        add_declaration(is_unread ? unread : effect, number, value);
        effect->has_important_lines = effect->has_important_lines || (is_important && number == P_LINE);
    }
}

/* ---- Sheets ---- */

/* Reads a block of declarations, and notes the text that it shows. */
static void read_block(struct sheet *sheet, span text, struct effect *effect, struct effect *unread) {
    read_declarations(text, effect, unread);
    if (!is_empty(effect->text))
        *LIST_ADD(sheet->arena, &sheet->texts) = effect->text;
}

static uint64_t hash_of_key(enum key_kind kind, span key) { return hash_any_case(SECRET, key) + kind; }

static struct rule **bucket_of(struct sheet *sheet, uint64_t hash) {
    return &sheet->buckets[hash % COUNT_OF(sheet->buckets)];
}

void sheet_begin(struct sheet *sheet, struct arena *arena) {
    *sheet = (struct sheet){.arena = arena, .page = &FIRST_STYLE, .link = LINK, .steps_left = MAX_STEPS};
}

/* A class, an id, or the name of an unknown attribute that the page has. */
struct name {
    struct name *next, *next_in_bucket;
    span text;
    uint64_t hash;
};

/* Returns where the sheet has a name, or where it would be added. */
static struct name **find_name(struct sheet *sheet, uint64_t hash) {
    struct name **at = &sheet->name_buckets[hash % COUNT_OF(sheet->name_buckets)];
    while (*at && (*at)->hash != hash)
        at = &(*at)->next_in_bucket;
    return at;
}

void sheet_note_name(struct sheet *sheet, span text) {
    uint64_t hash = hash_any_case(SECRET, text);
    struct name **at = find_name(sheet, hash);
    if (*at || sheet->n_names == MAX_NAMES)
        return;
    *at = arena_allocate(sheet->arena, 1, sizeof **at);
    **at = (struct name){.next = sheet->names, .text = text, .hash = hash};
    sheet->names = *at;
    sheet->n_names++;
    sheet->n_name_bytes += size_of(text);
}

/* After MAX_NAMES names, the page may have any name. */
static bool has_name(struct sheet *sheet, span text) {
    return sheet->n_names == MAX_NAMES || *find_name(sheet, hash_any_case(SECRET, text));
}

/* Returns the first of these names that contains a text in lower case; NULL if none does. */
static const struct name *find_part(const struct name *name, span part) {
    while (name && !find_any_case(name->text, part))
        name = name->next;
    return name;
}

static bool is_combinator(uint8_t c) { return (is_space(c) && c != COMMENT) || c == '>' || c == '+' || c == '~' || c == '|'; }

/* Returns the bit of a class or an id that an ancestor must have, by a rule; 0 if no rule needs it. is_needed: the rule
 * that is read needs it. After MAX_KEYS classes and ids, it has no bit, and the rule is for all elements. */
static uint64_t bit_of_key(struct sheet *sheet, enum key_kind kind, span key, bool is_needed) {
    uint64_t hash = hash_of_key(kind, key);
    size_t i = 0;
    while (i < sheet->n_keys && sheet->keys[i] != hash)
        i++;
    if (i == sheet->n_keys && is_needed && i < MAX_KEYS)
        sheet->keys[sheet->n_keys++] = hash;
    return i < sheet->n_keys ? UINT64_C(1) << i : 0;
}

/* Sets the key and the tag of a rule by another condition for its elements. */
static void add_condition(struct rule *rule, enum key_kind kind, span name) {
    rule->tag = kind == OF_TAG ? name : rule->tag;
    rule->kind = kind > rule->kind ? kind : rule->kind;
    rule->key = kind >= rule->kind ? name : rule->key;
}

/* Reads "name=value" of a selector of attributes. Returns false if no element of the page has such an attribute. */
static bool read_attribute_selector(struct sheet *sheet, span text, struct rule *rule) {
    span name = read_name(&text);
    bool is_class = is_same_any_case(name, LITERAL("class")), is_id = is_same_any_case(name, LITERAL("id"));
    if (!is_class && !is_id) {
        bool has_namespace = is_empty(name) || starts_with(text, LITERAL("|")) || starts_with(text, LITERAL("\\"));
        return has_namespace || attribute_of(name) >= 0 || has_name(sheet, name);
    }
    bool is_whole = starts_with(text, LITERAL("=")) || (is_class && starts_with(text, LITERAL("~="))); /* else ^= *= */
    text = skip_bytes(text, !starts_with(text, LITERAL("=")));
    span value = strip_any(skip_bytes(text, 1), " \""), word = value;
    word = read_name(&word);
    if (!starts_with(text, LITERAL("=")) || is_empty(word) || word.end < value.end || size_of(word) > MAX_PART ||
        sheet->n_names == MAX_NAMES || sheet->steps_left <= sheet->n_name_bytes)
        return true;
    if (is_whole) {
        add_condition(rule, is_class ? OF_CLASS : OF_ID, word);
        return has_name(sheet, word);
    }
    sheet->steps_left -= sheet->n_name_bytes;
    rule->part = copy_lower(sheet->arena, word);
    rule->part_kind = is_class ? OF_CLASS : OF_ID;
    return find_part(sheet->names, rule->part);
}

/* Reads the last simple selector of a selector. Returns false if the selector matches nothing: links that the mouse is
 * over, text that a sheet adds, and selectors with a class, an id or an attribute that the page does not have. */
static bool read_selector(struct sheet *sheet, span text, struct rule *rule) {
    *rule = (struct rule){.kind = OF_ANY};
    bool is_shown = true, has_names = true;
    while (!is_empty(text)) {
        uint8_t c = *text.at;
        text.at += !is_name_byte(c);
        const uint8_t *begin = text.at;
        span name = read_name(&text);
        enum key_kind kind = c == '#' ? OF_ID : c == '.' ? OF_CLASS : is_name_byte(c) ? OF_TAG : OF_ANY;
        if (kind != OF_ANY && !is_empty(name)) {
            add_condition(rule, kind, name);
            has_names = has_names && (kind == OF_TAG || starts_with(text, LITERAL("\\")) || has_name(sheet, name));
        } else if (c == ':') {
            rule->is_first = rule->is_first || is_one_of(name, "first-line first-letter");
            rule->is_part = rule->is_part || rule->is_first || is_one_of(name, "before after");
            is_shown = is_shown && !is_one_of(name, "hover active focus visited selection");
        } else if (c == '(' || c == '[') {
            uint8_t closer = c == '(' ? ')' : ']';
            const uint8_t *end = find_outside(span_between(begin, text.end), closer, closer);
            has_names = (c == '(' || read_attribute_selector(sheet, span_between(begin, end), rule)) && has_names;
            text.at = end + (end < text.end);
        } else if (is_combinator(c)) { /* a combinator ends the selector */
            bool is_inside = c != '+' && c != '~' && c != '|';
            for (text.at = begin; text.at < text.end && is_combinator(*text.at); text.at++)
                is_inside = is_inside && !find_byte(LITERAL("+~|"), *text.at);
            uint64_t key = is_inside && rule->kind > OF_TAG ? bit_of_key(sheet, rule->kind, rule->key, true) : 0;
            *rule = (struct rule){.kind = OF_ANY, .ancestors = rule->ancestors | key};
            is_shown = true;
        } else if (c == '\\' || c == '&') /* a name, or an element, of which at most the beginning is known */
            *rule = (struct rule){.kind = OF_ANY, .ancestors = rule->ancestors};
    }
    return is_shown && has_names;
}

static void insert_rule(struct sheet *sheet, const struct rule *rule) {
    if (sheet->n_rules++ >= MAX_RULES) {
        sheet->is_lost = true;
        return;
    }
    struct rule *copy = arena_allocate(sheet->arena, 1, sizeof *copy);
    *copy = *rule;
    copy->hash = hash_of_key(rule->kind, rule->key);
    copy->tag_hash = hash_any_case(SECRET, rule->tag);
    struct rule **bucket = bucket_of(sheet, copy->hash);
    copy->next = *bucket;
    *bucket = copy;
}

/* Adds a rule for each selector of a list. */
static void add_rule(struct sheet *sheet, span selectors, span body) {
    struct effect new_effect = NO_EFFECT, *effect;
    read_block(sheet, copy_lower(sheet->arena, body), &new_effect, &new_effect);
    sheet->is_lost = sheet->is_lost || find_byte(body, '{'); /* a rule in a rule */
    if (new_effect.color == UNSET && new_effect.background == UNSET && new_effect.size == 0 && new_effect.lines == 0 &&
        !new_effect.flags)
        return;
    effect = arena_allocate(sheet->arena, 1, sizeof *effect);
    *effect = new_effect;
    for (bool is_last = false; !is_last;) {
        const uint8_t *end = find_outside(selectors, ',', ',');
        struct rule rule;
        bool matches = read_selector(sheet, strip(span_between(selectors.at, end)), &rule);
        rule.effect = effect;
        is_last = end == selectors.end;
        selectors = skip_bytes(span_between(end, selectors.end), 1);
        if (matches && (is_empty(rule.part) || rule.kind > OF_TAG))
            insert_rule(sheet, &rule);
        else if (matches) /* a rule for each class or id that has the part */
            for (const struct name *name = sheet->names; (name = find_part(name, rule.part)); name = name->next) {
                rule.kind = rule.part_kind;
                rule.key = name->text;
                insert_rule(sheet, &rule);
            }
    }
}

/* Returns whether a condition holds for no window of a mail reader with light colors. */
static bool is_never_shown(struct arena *arena, span condition) {
    condition = strip_any(copy_lower(arena, strip(condition)), " ()");
    return is_same(condition, LITERAL("print")) || is_same(condition, LITERAL("prefers-color-scheme: dark")) ||
           is_same(condition, LITERAL("prefers-color-scheme:dark"));
}

/* Adds the rules of a sheet, or of a block in a sheet, such as "@media screen {...}". */
static void add_rules(struct sheet *sheet, span text, int depth) {
    if (depth > MAX_NESTED)
        sheet->is_lost = true;
    while (!is_empty(text = strip(text)) && depth <= MAX_NESTED) {
        if (starts_with(text, LITERAL("<!--")) || starts_with(text, LITERAL("-->"))) {
            text.at += *text.at == '<' ? 4 : 3;
            continue;
        }
        bool is_at_rule = *text.at == '@';
        const uint8_t *open = find_outside(text, '{', is_at_rule ? ';' : '{');
        span prelude = span_between(text.at, open), body = skip_bytes(span_between(open, text.end), 1);
        span tail = skip_bytes(prelude, 1), at_rule = read_name(&tail);
        text = body;
        if (may_be_too_deep(prelude) || (starts_with_any_case(prelude, LITERAL("@import")) && has_inner_url(prelude)))
            sheet->is_lost = true;
        if (open == text.end || *open == ';')
            continue;
        body.end = find_outside(body, '}', '}');
        text = skip_bytes(span_between(body.end, text.end), 1);
        if (!is_at_rule)
            add_rule(sheet, prelude, body);
        else if (starts_with_any_case(prelude, LITERAL("@scope"))) /* its declarations may be of any element */
            sheet->is_lost = true;
        else if (starts_with_any_case(prelude, LITERAL("@font-face"))) { /* its letters may be blank */
            struct effect effect = NO_EFFECT;
            read_declarations(copy_lower(sheet->arena, body), &effect, &effect);
            sheet->is_lost = sheet->is_lost || has_inner_url(body) || effect.flags;
        } else if (starts_with_any_case(prelude, LITERAL("@media")) ? !is_never_shown(sheet->arena, skip_bytes(prelude, 6))
                 : !is_one_of(copy_lower(sheet->arena, at_rule), "page keyframes -webkit-keyframes -moz-keyframes"))
            add_rules(sheet, body, depth + 1);
    }
}

void sheet_add(struct sheet *sheet, span text, span media) {
    size_t left = MAX_SHEET_BYTES - sheet->n_bytes;
    sheet->is_lost = sheet->is_lost || size_of(text) > left;
    text = first_bytes(text, left);
    sheet->n_bytes += size_of(text);
    if (!is_never_shown(sheet->arena, media))
        *LIST_ADD(sheet->arena, &sheet->sources) = text;
}

void sheet_read(struct sheet *sheet) {
    for (size_t i = 0; i < sheet->sources.count; i++)
        add_rules(sheet, simplify(sheet->arena, sheet->sources.items[i]), 0);
}

/* ---- The style of an element ---- */

static void add_pair(struct style *style, rgb letters, rgb background) {
    for (size_t i = 0; i < style->n_pairs; i++)
        if (style->pairs[i].letters == letters && style->pairs[i].background == background)
            return;
    if (style->n_pairs == MAX_PAIRS) { /* the colors are not known */
        letters = background = UNKNOWN;
        style->n_pairs = 0;
    }
    style->pairs[style->n_pairs++] = (struct colors){letters, background};
}

/* Adds each pair of colors of the style as it would be with these colors. replaces: the style loses the other pairs. */
static void set_colors(struct style *style, const struct style *parent, rgb letters, rgb background, bool replaces) {
    struct style before = *style;
    if (letters == UNSET && background == UNSET)
        return;
    style->n_pairs = replaces ? 0 : style->n_pairs;
    for (size_t i = 0; i < before.n_pairs; i++)
        for (size_t k = 0; k < parent->n_pairs; k++) {
            rgb other = letters == INHERIT ? parent->pairs[k].letters : letters;
            rgb ground = background == CLEAR || background == INHERIT ? parent->pairs[k].background : background;
            add_pair(style, letters == UNSET ? before.pairs[i].letters : other,
                     background == UNSET ? before.pairs[i].background : ground);
        }
}

/* Returns a size of letters; other: that of the parent. */
static float number_in(float other, float number) { return number < 0 ? -number * other : number; }

/* Returns the pixels of the height of lines of letters of this size. */
static float height_of(float lines, float size) { return lines < 0 ? -lines * size : lines; }

float line_height(const struct style *style) { return height_of(style->lines, style->size); }

/* Applies the height of lines. A rule with the height of the parent replaces no other height, unless it is important. */
static void apply_lines(struct style *style, const struct style *parent, const struct effect *effect, bool counts) {
    float lines = effect->lines == INHERITED ? parent->lines : effect->lines;
    if (lines < 0 && effect->flags & HAS_UNIT) /* elements inside inherit the pixels */
        lines = height_of(lines, style->size);
    if (effect->lines == 0 || (!counts && effect->lines == INHERITED && !effect->has_important_lines))
        return;
    if (counts || height_of(lines, style->size) < line_height(style))
        style->lines = lines;
}

/* Applies declarations that count for an element, or that may count. */
static void apply_effect(struct style *style, const struct style *parent, const struct effect *effect, bool counts) {
    float size = number_in(parent->size, effect->size), largest = number_in(parent->largest, effect->size);
    set_colors(style, parent, effect->color, effect->background, counts);
    if (effect->size != 0) {
        style->size = counts ? size : smaller(style->size, size);
        style->largest = counts ? largest : larger(style->largest, largest);
    }
    apply_lines(style, parent, effect, counts);
    style->flags |= effect->flags | (effect->background == UNSET || effect->background == CLEAR ? 0 : HAS_GROUND);
    style->shift = larger(style->shift, effect->shift);
    if (effect->flags & IS_BOX)
        style->above_of_box = larger(style->above_of_box, effect->above);
    else
        style->above = larger(style->above, effect->above);
}

/* Returns by how many pixels the background of a box covers text before it. is_inline: the box is within lines of text, where
 * its padding and letters that are larger than the line reach over the line before. */
static float above_of(const struct style *style, bool is_inline) {
    float above = style->flags & IS_IN_LINES ? larger(style->above, style->above_of_box) : style->above;
    bool has_ground = style->flags & HAS_GROUND && (is_inline || style->flags & IS_IN_LINES);
    float size = has_ground ? style->largest : style->size; /* without a background, letters cover text */
    float outside = larger(0, (CONTENT_AREA * size - height_of(style->lines, size)) / 2);
    return has_ground ? above + outside : outside > 3 * MAX_COVERED ? outside : 0;
}

static bool has_near_pair(const struct style *style) {
    bool is_any_near = false;
    for (size_t i = 0; i < style->n_pairs; i++)
        is_any_near = is_any_near || is_near(style->pairs[i]);
    return is_any_near;
}

/* Applies the rules that match by this key. A color of the element's own declarations may replace one of a rule's two. */
static void apply_rules(struct sheet *sheet, struct style *style, const struct style *parent, const struct effect *own,
                        enum key_kind kind, span key, uint64_t tag_hash) {
    uint64_t hash = hash_of_key(kind, key);
    for (const struct rule *rule = *bucket_of(sheet, hash); rule && !sheet->is_lost; rule = rule->next) {
        sheet->is_lost = !--sheet->steps_left;
        if (rule->hash != hash || (!is_empty(rule->tag) && rule->tag_hash != tag_hash) || rule->ancestors & ~parent->keys)
            continue;
        rgb letters = rule->effect->color, background = rule->effect->background;
        if (rule->is_part) { /* what it does to other text */
            struct style part = *style;
            apply_effect(&part, parent, rule->effect, false);
            style->shift = part.shift;
            style->above_of_part = larger(style->above_of_part, above_of(&part, !(rule->effect->flags & IS_BOX)));
            bool is_mark = size_of(rule->effect->text) <= MAX_MARK && part.largest <= 32 && !has_near_pair(&part);
            if (!is_mark || part.flags & (HAS_GROUND | MAY_HIDE)) /* a mark may be moved, such as that of a list */
                style->flags |= part.flags & (MOVES | REACHES | IS_ABOVE);
            if (!rule->is_first)
                continue;
        }
        apply_effect(style, parent, rule->effect, false);
        if (letters != UNSET && background != UNSET && rule->effect->color_kinds != rule->effect->ground_kinds) {
            set_colors(style, parent, letters, UNSET, false);
            set_colors(style, parent, UNSET, background, false);
        }
        if (own->color != UNSET && background != UNSET)
            set_colors(style, parent, own->color, background, false);
        if (own->background != UNSET && letters != UNSET)
            set_colors(style, parent, letters, own->background, false);
    }
}

static void apply_all_rules(struct sheet *sheet, struct style *style, const struct style *parent, const struct effect *own,
                            span name, const struct attributes *attributes) {
    uint64_t tag_hash = hash_any_case(SECRET, name);
    span classes = value_of_attribute(attributes, A_CLASS);
    apply_rules(sheet, style, parent, own, OF_ANY, (span){0}, tag_hash);
    apply_rules(sheet, style, parent, own, OF_TAG, name, tag_hash);
    if (has(attributes, A_ID))
        apply_rules(sheet, style, parent, own, OF_ID, strip(attributes->values[A_ID]), tag_hash);
    for (span class = next_word(&classes); !is_empty(class) && !sheet->is_lost; class = next_word(&classes)) {
        sheet->is_lost = !--sheet->steps_left;
        apply_rules(sheet, style, parent, own, OF_CLASS, class, tag_hash);
    }
}

/* Returns whether an unknown tag may be one that browsers hide. They have no tag with another sign in its name, such as
 * <o:p> of Word and <name@host.example> of programs that do not write references. */
static bool may_be_tag(span name) {
    while (name.at < name.end && (is_letter(*name.at) || is_digit(*name.at)))
        name.at++;
    return is_empty(name);
}

/* Applies what browsers do by the tag and its attributes. */
static void apply_tag(struct sheet *sheet, struct style *style, const struct style *parent, unsigned tag, span name,
                      const struct attributes *attributes) {
    unsigned flags = TAGS[tag].flags, kind = TAGS[tag].kind;
    rgb color = UNSET, background = UNSET;
    if (flags & IS_DOUBTFUL || (tag == TAG_UNKNOWN && may_be_tag(name)) || has(attributes, A_HIDDEN) || has(attributes, A_POPOVER))
        style->flags |= MAY_HIDE;
    style->flags |= tag == TAG_BDO ? REVERSES : 0;
    if (tag == TAG_SMALL || tag == TAG_SUB || tag == TAG_SUP)
        style->size *= .83f;
    if (tag == TAG_TABLE) /* on pages without a doctype, tables do not inherit color */
        for (size_t i = 0; i < sheet->page->n_pairs; i++)
            set_colors(style, parent, sheet->page->pairs[i].letters, UNSET, false);
    if (flags & IS_CONTROL || tag == TAG_MARK)
        set_colors(style, parent, BLACK, tag == TAG_MARK ? YELLOW : BUTTON, true);
    if (tag == TAG_A && has(attributes, A_HREF))
        color = sheet->link;
    if (tag == TAG_FONT && has(attributes, A_COLOR))
        color = read_attribute_color(sheet->arena, attributes->values[A_COLOR]);
    if (tag == TAG_BODY && has(attributes, A_TEXT))
        color = read_attribute_color(sheet->arena, attributes->values[A_TEXT]);
    if (tag == TAG_BODY && has(attributes, A_LINK))
        sheet->link = read_attribute_color(sheet->arena, attributes->values[A_LINK]);
    if (has(attributes, A_BGCOLOR) && (tag == TAG_BODY || tag == TAG_COL || (kind >= TABLE && kind <= CELL)))
        background = read_attribute_color(sheet->arena, attributes->values[A_BGCOLOR]);
    if (starts_with_any_case(strip(value_of_attribute(attributes, A_BACKGROUND)), LITERAL("data:")))
        background = UNKNOWN;
    set_colors(style, parent, color, background, true);
}

/* Returns the bits of the classes and the id of an element that rules need. */
static uint64_t keys_of(struct sheet *sheet, const struct attributes *attributes) {
    span classes = value_of_attribute(attributes, A_CLASS);
    uint64_t keys = has(attributes, A_ID) ? bit_of_key(sheet, OF_ID, strip(attributes->values[A_ID]), false) : 0;
    for (span class = next_word(&classes); !is_empty(class) && !sheet->is_lost; class = next_word(&classes))
        keys |= bit_of_key(sheet, OF_CLASS, class, false);
    return keys;
}

/* Returns what a style attribute does. Formatting that blocks close and open again has many nodes, but its attribute is read
 * only once: 300 kB of declarations, opened again by 1,500 paragraphs, would take more memory than a message may. */
static const struct own_effects *effects_of(struct sheet *sheet, struct attributes *attributes) {
    static const struct own_effects NONE = {NO_EFFECT, NO_EFFECT};
    if (!has(attributes, A_STYLE))
        return &NONE;
    if (!attributes->effects) {
        struct own_effects *effects = arena_allocate(sheet->arena, 1, sizeof *effects);
        *effects = NONE;
        span declarations = simplify(sheet->arena, copy_lower(sheet->arena, attributes->values[A_STYLE]));
        read_block(sheet, declarations, &effects->read, &effects->unread);
        attributes->effects = effects;
    }
    return attributes->effects;
}

static struct style make_style(struct sheet *sheet, const struct style *parent, unsigned tag, span name,
                               struct attributes *attributes) {
    struct style style = *parent;
    style.flags = 0;
    style.shift = style.above = style.above_of_box = style.above_of_part = 0;
    style.keys |= sheet->n_keys ? keys_of(sheet, attributes) : 0;
    apply_tag(sheet, &style, parent, tag, name, attributes);
    const struct own_effects *own = effects_of(sheet, attributes);
    apply_effect(&style, parent, &own->read, true);
    apply_effect(&style, parent, &own->unread, false);
    for (size_t n_pairs = 0; sheet->n_rules && style.n_pairs > n_pairs;) { /* the colors of a rule may join another's */
        n_pairs = style.n_pairs;
        apply_all_rules(sheet, &style, parent, &own->read, name, attributes);
    }
    apply_lines(&style, parent, &own->read, false); /* of letters as small as a rule makes them */
    style.flags |= tag == TAG_MARK ? HAS_GROUND : 0;
    style.above = larger(style.above_of_part, above_of(&style, TAGS[tag].flags & IS_INLINE && !(own->read.flags & IS_BOX)));
    style.shift *= larger(1, style.largest / 16); /* its lengths may be multiples of the letters' size */
    if (tag == TAG_IMG && !(style.flags & HAS_GROUND) && !has_inner_url(value_of_attribute(attributes, A_SRC)))
        style.flags &= ~(uint32_t)MOVES; /* good mail moves pictures of one pixel, which count readers */
    uint32_t inherited = parent->flags & ~(uint32_t)(tag == TAG_TABLE ? FIXED : 0);
    bool is_table_part = TAGS[tag].kind >= TABLE && TAGS[tag].kind <= CELL && !(style.flags & IS_BOX);
    style.flags |= TAGS[tag].kind >= TABLE && TAGS[tag].kind <= CELL && style.flags & IS_BOX ? FIXED : 0;
    if (is_table_part && !((style.flags | inherited) & FIXED)) /* it grows with its text */
        style.flags &= ~(uint32_t)OVERFLOWS;
    bool is_inline = TAGS[tag].flags & IS_INLINE || style.flags & IS_IN_LINES;
    uint32_t above_text = (style.flags | parent->flags) & (is_inline ? IS_ABOVE : 0);
    sheet->flags |= style.flags & (REACHES | IS_ABOVE);
    style.flags |= above_text && style.above > MAX_COVERED ? MOVES : 0; /* it covers later text, too */
    style.flags = (style.flags & ~(uint32_t)OF_ELEMENT) | (inherited & ~(uint32_t)IS_ABOVE) | above_text;
    /* The box may cover other text, or move it. Or text that is moved comes beneath a box before it. */
    sheet->is_lost = sheet->is_lost || style.flags & MOVES || sheet->flags == (REACHES | IS_ABOVE);
    bool is_readable = style.size >= MIN_LETTER && line_height(&style) >= MIN_LINE * style.size;
    style.is_doubtful = style.flags & (MAY_HIDE | OVERFLOWS | MOVES) || !is_readable || has_near_pair(&style);
    return style;
}

const struct style *element_style(struct sheet *sheet, const struct style *parent, unsigned tag, span name,
                                  struct attributes *attributes) {
    struct attributes none = {0};
    struct style style = make_style(sheet, parent, tag, name, attributes ? attributes : &none);
    bool is_same_style = style.flags == parent->flags && style.keys == parent->keys && style.size == parent->size &&
                         style.largest == parent->largest && style.lines == parent->lines && style.shift == 0 &&
                         style.above == 0 && style.n_pairs == parent->n_pairs &&
                         !memcmp(style.pairs, parent->pairs, style.n_pairs * sizeof *style.pairs);
    if (is_same_style)
        return parent;
    struct style *copy = arena_allocate(sheet->arena, 1, sizeof *copy);
    *copy = style;
    return copy;
}
