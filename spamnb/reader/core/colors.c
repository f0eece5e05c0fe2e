#include "colors.h"

#include "arena.h"

/* In the order of their names. */
static const struct {
    const char *name;
    uint32_t rgb;
} NAMES[] = {
    {"aliceblue", 0xF0F8FF}, {"antiquewhite", 0xFAEBD7}, {"aqua", 0x00FFFF}, {"aquamarine", 0x7FFFD4},
    {"azure", 0xF0FFFF}, {"beige", 0xF5F5DC}, {"bisque", 0xFFE4C4}, {"black", 0x000000}, {"blanchedalmond", 0xFFEBCD},
    {"blue", 0x0000FF}, {"blueviolet", 0x8A2BE2}, {"brown", 0xA52A2A}, {"burlywood", 0xDEB887},
    {"cadetblue", 0x5F9EA0}, {"chartreuse", 0x7FFF00}, {"chocolate", 0xD2691E}, {"coral", 0xFF7F50},
    {"cornflowerblue", 0x6495ED}, {"cornsilk", 0xFFF8DC}, {"crimson", 0xDC143C}, {"cyan", 0x00FFFF},
    {"darkblue", 0x00008B}, {"darkcyan", 0x008B8B}, {"darkgoldenrod", 0xB8860B}, {"darkgray", 0xA9A9A9},
    {"darkgreen", 0x006400}, {"darkgrey", 0xA9A9A9}, {"darkkhaki", 0xBDB76B}, {"darkmagenta", 0x8B008B},
    {"darkolivegreen", 0x556B2F}, {"darkorange", 0xFF8C00}, {"darkorchid", 0x9932CC}, {"darkred", 0x8B0000},
    {"darksalmon", 0xE9967A}, {"darkseagreen", 0x8FBC8F}, {"darkslateblue", 0x483D8B}, {"darkslategray", 0x2F4F4F},
    {"darkslategrey", 0x2F4F4F}, {"darkturquoise", 0x00CED1}, {"darkviolet", 0x9400D3}, {"deeppink", 0xFF1493},
    {"deepskyblue", 0x00BFFF}, {"dimgray", 0x696969}, {"dimgrey", 0x696969}, {"dodgerblue", 0x1E90FF},
    {"firebrick", 0xB22222}, {"floralwhite", 0xFFFAF0}, {"forestgreen", 0x228B22}, {"fuchsia", 0xFF00FF},
    {"gainsboro", 0xDCDCDC}, {"ghostwhite", 0xF8F8FF}, {"gold", 0xFFD700}, {"goldenrod", 0xDAA520},
    {"gray", 0x808080}, {"green", 0x008000}, {"greenyellow", 0xADFF2F}, {"grey", 0x808080}, {"honeydew", 0xF0FFF0},
    {"hotpink", 0xFF69B4}, {"indianred", 0xCD5C5C}, {"indigo", 0x4B0082}, {"ivory", 0xFFFFF0}, {"khaki", 0xF0E68C},
    {"lavender", 0xE6E6FA}, {"lavenderblush", 0xFFF0F5}, {"lawngreen", 0x7CFC00}, {"lemonchiffon", 0xFFFACD},
    {"lightblue", 0xADD8E6}, {"lightcoral", 0xF08080}, {"lightcyan", 0xE0FFFF}, {"lightgoldenrodyellow", 0xFAFAD2},
    {"lightgray", 0xD3D3D3}, {"lightgreen", 0x90EE90}, {"lightgrey", 0xD3D3D3}, {"lightpink", 0xFFB6C1},
    {"lightsalmon", 0xFFA07A}, {"lightseagreen", 0x20B2AA}, {"lightskyblue", 0x87CEFA}, {"lightslategray", 0x778899},
    {"lightslategrey", 0x778899}, {"lightsteelblue", 0xB0C4DE}, {"lightyellow", 0xFFFFE0}, {"lime", 0x00FF00},
    {"limegreen", 0x32CD32}, {"linen", 0xFAF0E6}, {"magenta", 0xFF00FF}, {"maroon", 0x800000},
    {"mediumaquamarine", 0x66CDAA}, {"mediumblue", 0x0000CD}, {"mediumorchid", 0xBA55D3}, {"mediumpurple", 0x9370DB},
    {"mediumseagreen", 0x3CB371}, {"mediumslateblue", 0x7B68EE}, {"mediumspringgreen", 0x00FA9A},
    {"mediumturquoise", 0x48D1CC}, {"mediumvioletred", 0xC71585}, {"midnightblue", 0x191970}, {"mintcream", 0xF5FFFA},
    {"mistyrose", 0xFFE4E1}, {"moccasin", 0xFFE4B5}, {"navajowhite", 0xFFDEAD}, {"navy", 0x000080},
    {"oldlace", 0xFDF5E6}, {"olive", 0x808000}, {"olivedrab", 0x6B8E23}, {"orange", 0xFFA500},
    {"orangered", 0xFF4500}, {"orchid", 0xDA70D6}, {"palegoldenrod", 0xEEE8AA}, {"palegreen", 0x98FB98},
    {"paleturquoise", 0xAFEEEE}, {"palevioletred", 0xDB7093}, {"papayawhip", 0xFFEFD5}, {"peachpuff", 0xFFDAB9},
    {"peru", 0xCD853F}, {"pink", 0xFFC0CB}, {"plum", 0xDDA0DD}, {"powderblue", 0xB0E0E6}, {"purple", 0x800080},
    {"rebeccapurple", 0x663399}, {"red", 0xFF0000}, {"rosybrown", 0xBC8F8F}, {"royalblue", 0x4169E1},
    {"saddlebrown", 0x8B4513}, {"salmon", 0xFA8072}, {"sandybrown", 0xF4A460}, {"seagreen", 0x2E8B57},
    {"seashell", 0xFFF5EE}, {"sienna", 0xA0522D}, {"silver", 0xC0C0C0}, {"skyblue", 0x87CEEB},
    {"slateblue", 0x6A5ACD}, {"slategray", 0x708090}, {"slategrey", 0x708090}, {"snow", 0xFFFAFA},
    {"springgreen", 0x00FF7F}, {"steelblue", 0x4682B4}, {"tan", 0xD2B48C}, {"teal", 0x008080}, {"thistle", 0xD8BFD8},
    {"tomato", 0xFF6347}, {"turquoise", 0x40E0D0}, {"violet", 0xEE82EE}, {"wheat", 0xF5DEB3}, {"white", 0xFFFFFF},
    {"whitesmoke", 0xF5F5F5}, {"yellow", 0xFFFF00}, {"yellowgreen", 0x9ACD32},
};

/* Those of the reader's system, as browsers have them on a light desktop. */
static const struct {
    const char *name;
    struct color color;
} SYSTEM[] = {
    {"transparent", {0, 0, 0, 0}}, {"canvas", {255, 255, 255, 1}}, {"window", {255, 255, 255, 1}},
    {"canvastext", {0, 0, 0, 1}}, {"windowtext", {0, 0, 0, 1}}, {"text", {0, 0, 0, 1}}, {"initial", {0, 0, 0, 1}},
    {"linktext", {0, 0, 238, 1}},
};

enum {
    MAX_NUMBER = 40,          /* bytes */
    UNREADABLE_DISTANCE = 24, /* of color and background, the three channels' added up: nobody reads such text */
    LONGEST_LEGACY = 128,
};
#define MIN_ALPHA 0.1f /* fainter text is not read on anything */

bool read_number(span *text, double *number) {
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
    if (size_of(rest) > 1 + sign && (*rest.at | 32) == 'e' && is_digit(rest.at[1 + sign])) {
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

static bool find_name(span text, struct color *color) {
    size_t low = 0, high = COUNT_OF(NAMES);
    while (low < high) {
        size_t middle = (low + high) / 2;
        span name = span_of(NAMES[middle].name, strlen(NAMES[middle].name));
        size_t shorter = size_of(name) < size_of(text) ? size_of(name) : size_of(text);
        int order = memcmp(text.at, name.at, shorter);
        if (!order)
            order = (size_of(text) > size_of(name)) - (size_of(text) < size_of(name));
        if (!order) {
            uint32_t rgb = NAMES[middle].rgb;
            *color = (struct color){(int16_t)(rgb >> 16), (int16_t)(rgb >> 8 & 255), (int16_t)(rgb & 255), 1};
            return true;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

static bool read_digits(span digits, struct color *color) {
    size_t n = size_of(digits), step = n < 6 ? 1 : 2;
    int channels[4] = {0, 0, 0, 255};
    if (n != 3 && n != 4 && n != 6 && n != 8)
        return false;
    for (size_t i = 0; i < n / step; i++) {
        int high = hex_value(digits.at[i * step]), low = hex_value(digits.at[i * step + step - 1]);
        if (high < 0 || low < 0)
            return false;
        channels[i] = 16 * high + low;
    }
    *color = (struct color){(int16_t)channels[0], (int16_t)channels[1], (int16_t)channels[2], (float)channels[3] / 255};
    return true;
}

/* rgb(1 2 3 / 50%) and its older forms; behind the parenthesis. Of words that are no numbers the color is unknown. */
static struct color rgb_function(span text) {
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
        n++;
    }
    if (n < 3)
        return UNKNOWN;
    for (size_t i = 0; i < 4; i++) {
        double most = i < 3 ? 255 : 1;
        channels[i] = channels[i] < 0 ? 0 : channels[i] > most ? most : channels[i];
    }
    return (struct color){(int16_t)(channels[0] + .5), (int16_t)(channels[1] + .5), (int16_t)(channels[2] + .5),
                          (float)channels[3]};
}

bool read_color(span text, bool is_old_page, struct color *color) {
    text = strip(text);
    if (is_empty(text))
        return false;
    if (*text.at == '#')
        return read_digits(skip_bytes(text, 1), color);
    if (find_name(text, color) || (is_old_page && read_digits(text, color)))
        return true;
    for (size_t i = 0; i < COUNT_OF(SYSTEM); i++)
        if (is_same(text, span_of(SYSTEM[i].name, strlen(SYSTEM[i].name)))) {
            *color = SYSTEM[i].color;
            return true;
        }
    const uint8_t *open = find_byte(text, '(');
    if (!open)
        return false;
    span name = span_between(text.at, open);
    bool is_rgb = is_same(name, LITERAL("rgb")) || is_same(name, LITERAL("rgba"));
    *color = is_rgb ? rgb_function(span_between(open + 1, text.end)) : UNKNOWN; /* and what is computed */
    return true;
}

bool read_attribute_color(span text, struct color *color) {
    uint8_t digits[LONGEST_LEGACY + 3];
    text = first_bytes(strip(text), LONGEST_LEGACY);
    if (is_empty(text) || is_same_any_case(text, LITERAL("transparent")))
        return false;
    for (size_t i = 0; i < size_of(text); i++)
        digits[i] = to_lower(text.at[i]);
    span lower = span_of(digits, size_of(text));
    if (find_name(lower, color) || (size_of(lower) == 4 && *lower.at == '#' && read_digits(skip_bytes(lower, 1), color)))
        return true;
    if (*lower.at == '#')
        lower.at++;
    size_t n = size_of(lower);
    memmove(digits, lower.at, n);
    for (size_t i = 0; i < n; i++)
        if (hex_value(digits[i]) < 0)
            digits[i] = '0';
    while (!n || n % 3)
        digits[n++] = '0';
    /* Three numbers of the same length: their last eight digits, without zeros that all three begin with. */
    size_t length = n / 3, skipped = length > 8 ? length - 8 : 0;
    while (length - skipped > 2 && digits[skipped] == '0' && digits[length + skipped] == '0' &&
           digits[2 * length + skipped] == '0')
        skipped++;
    int16_t channels[3];
    for (size_t i = 0; i < 3; i++) {
        const uint8_t *at = digits + i * length + skipped;
        int first = hex_value(at[0]);
        channels[i] = (int16_t)(length - skipped > 1 ? 16 * first + hex_value(at[1]) : first);
    }
    *color = (struct color){channels[0], channels[1], channels[2], 1};
    return true;
}

static int16_t mixed(int16_t above, int16_t below, float alpha) {
    return (int16_t)((float)below + alpha * (float)(above - below) + .5f);
}

struct color over(struct color color, struct color below) {
    if (color.alpha <= 0)
        return below;
    if (color.alpha >= 1)
        return color;
    if (color.red < 0 || below.red < 0)
        return UNKNOWN;
    return (struct color){mixed(color.red, below.red, color.alpha), mixed(color.green, below.green, color.alpha),
                          mixed(color.blue, below.blue, color.alpha), 1};
}

static int distance(int a, int b) { return a > b ? a - b : b - a; }

bool is_unreadable(struct color color, struct color background, float opacity) {
    float share = opacity * color.alpha;
    if (share < MIN_ALPHA)
        return true;
    if (color.red < 0 || background.red < 0)
        return false;
    int apart = distance(color.red, background.red) + distance(color.green, background.green) +
                distance(color.blue, background.blue);
    return (float)apart * share <= UNREADABLE_DISTANCE;
}
