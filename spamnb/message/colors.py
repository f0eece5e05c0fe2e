# cython: language_level=3, annotation_typing=False
"""Colors as HTML and style sheets write them, and whether text of one can be read on another."""

from __future__ import annotations

import functools
import re

Color = tuple[int, int, int, float]  # red, green and blue up to 255, alpha up to 1
WHITE: Color = (255, 255, 255, 1.0)
BLACK: Color = (0, 0, 0, 1.0)
BLUE: Color = (0, 0, 238, 1.0)  # of links in every browser
CLEAR: Color = (0, 0, 0, 0.0)
UNKNOWN: Color = (-1, -1, -1, 1.0)  # a color that depends on what is not read: a variable, a picture

_NAMES = """
    aliceblue f0f8ff antiquewhite faebd7 aqua 00ffff aquamarine 7fffd4 azure f0ffff beige f5f5dc bisque ffe4c4
    black 000000 blanchedalmond ffebcd blue 0000ff blueviolet 8a2be2 brown a52a2a burlywood deb887 cadetblue 5f9ea0
    chartreuse 7fff00 chocolate d2691e coral ff7f50 cornflowerblue 6495ed cornsilk fff8dc crimson dc143c cyan 00ffff
    darkblue 00008b darkcyan 008b8b darkgoldenrod b8860b darkgray a9a9a9 darkgreen 006400 darkgrey a9a9a9
    darkkhaki bdb76b darkmagenta 8b008b darkolivegreen 556b2f darkorange ff8c00 darkorchid 9932cc darkred 8b0000
    darksalmon e9967a darkseagreen 8fbc8f darkslateblue 483d8b darkslategray 2f4f4f darkslategrey 2f4f4f
    darkturquoise 00ced1 darkviolet 9400d3 deeppink ff1493 deepskyblue 00bfff dimgray 696969 dimgrey 696969
    dodgerblue 1e90ff firebrick b22222 floralwhite fffaf0 forestgreen 228b22 fuchsia ff00ff gainsboro dcdcdc
    ghostwhite f8f8ff gold ffd700 goldenrod daa520 gray 808080 green 008000 greenyellow adff2f grey 808080
    honeydew f0fff0 hotpink ff69b4 indianred cd5c5c indigo 4b0082 ivory fffff0 khaki f0e68c lavender e6e6fa
    lavenderblush fff0f5 lawngreen 7cfc00 lemonchiffon fffacd lightblue add8e6 lightcoral f08080 lightcyan e0ffff
    lightgoldenrodyellow fafad2 lightgray d3d3d3 lightgreen 90ee90 lightgrey d3d3d3 lightpink ffb6c1
    lightsalmon ffa07a lightseagreen 20b2aa lightskyblue 87cefa lightslategray 778899 lightslategrey 778899
    lightsteelblue b0c4de lightyellow ffffe0 lime 00ff00 limegreen 32cd32 linen faf0e6 magenta ff00ff maroon 800000
    mediumaquamarine 66cdaa mediumblue 0000cd mediumorchid ba55d3 mediumpurple 9370db mediumseagreen 3cb371
    mediumslateblue 7b68ee mediumspringgreen 00fa9a mediumturquoise 48d1cc mediumvioletred c71585 midnightblue 191970
    mintcream f5fffa mistyrose ffe4e1 moccasin ffe4b5 navajowhite ffdead navy 000080 oldlace fdf5e6 olive 808000
    olivedrab 6b8e23 orange ffa500 orangered ff4500 orchid da70d6 palegoldenrod eee8aa palegreen 98fb98
    paleturquoise afeeee palevioletred db7093 papayawhip ffefd5 peachpuff ffdab9 peru cd853f pink ffc0cb plum dda0dd
    powderblue b0e0e6 purple 800080 rebeccapurple 663399 red ff0000 rosybrown bc8f8f royalblue 4169e1
    saddlebrown 8b4513 salmon fa8072 sandybrown f4a460 seagreen 2e8b57 seashell fff5ee sienna a0522d silver c0c0c0
    skyblue 87ceeb slateblue 6a5acd slategray 708090 slategrey 708090 snow fffafa springgreen 00ff7f steelblue 4682b4
    tan d2b48c teal 008080 thistle d8bfd8 tomato ff6347 turquoise 40e0d0 violet ee82ee wheat f5deb3 white ffffff
    whitesmoke f5f5f5 yellow ffff00 yellowgreen 9acd32""".split()
NAMED_COLORS: dict[str, Color] = {
    name: (int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16), 1.0)
    for name, digits in zip(_NAMES[::2], _NAMES[1::2], strict=True)
}
# Those of the reader's system, as browsers have them on a light desktop.
SYSTEM_COLORS = {
    "transparent": CLEAR, "canvas": WHITE, "window": WHITE, "canvastext": BLACK, "windowtext": BLACK,
    "text": BLACK, "initial": BLACK, "linktext": BLUE,
}  # fmt: skip

MAX_UNREADABLE_DISTANCE = 24  # of color and background, the three channels' added up: nobody reads such text
MIN_ALPHA = 0.1  # fainter text is not read on anything
FUNCTION = re.compile(r"(rgb|hsl)a?\(([^()]{1,80})\)")
IN_GRADIENT = re.compile(
    r"(?:rgba?|hsla?|hwb|(?:ok)?l(?:ab|ch)|color)\([^()]{1,80}\)|#[0-9a-f]{3,8}|[a-z]{3,20}(?![a-z(-])"
)
UNREAD = (
    "var(", "env(", "calc(", "rgb(from", "rgba(from", "hsl(from", "hsla(from", "hwb(", "lab(", "lch(", "oklab(",
    "oklch(", "color(", "color-mix(", "light-dark(",
)  # fmt: skip
ANGLE = re.compile(r"([+-]?[0-9]{0,9}\.?[0-9]{1,9})(deg|turn|rad|grad)?")
TURNS = {"deg": 360.0, "turn": 1.0, "rad": 6.283185307179586, "grad": 400.0}
LAYER = re.compile(r"(?:[^,()]|\([^()]*+\))++")
PIXELS = re.compile(r"[+-]?[0-9]{0,6}\.?[0-9]{1,6}(?=px|em|rem|pt|\s|$)")
MAX_SHADOW = 20  # pixels; one that is farther away, or more blurred, shows no letters
MIN_STROKE = 0.3
HEX = frozenset("0123456789abcdef")


@functools.lru_cache(maxsize=4096)
def unreadable(color: Color, background: Color, opacity: float) -> bool:
    """Is text of this color on this background hard to see?

    >>> unreadable((250, 250, 250, 1), (255, 255, 255, 1), 1), unreadable((0, 0, 0, 0.01), (255, 255, 255, 1), 1)
    (True, True)
    """
    share = opacity * color[3]
    if share < MIN_ALPHA:
        return True
    if color == UNKNOWN or background == UNKNOWN:
        return False
    distance = abs(color[0] - background[0]) + abs(color[1] - background[1]) + abs(color[2] - background[2])
    return distance * share <= MAX_UNREADABLE_DISTANCE


@functools.lru_cache(maxsize=4096)
def over(color: Color, below: Color) -> Color:
    """What is seen of a color that lies over another one, which is opaque.

    >>> over((0, 0, 0, 0.5), (255, 255, 255, 1.0)), over((0, 0, 0, 0.0), (9, 9, 9, 1.0))
    ((128, 128, 128, 1.0), (9, 9, 9, 1.0))
    """
    alpha = color[3]
    if alpha <= 0:
        return below
    if alpha >= 1:
        return color
    if below == UNKNOWN or color == UNKNOWN:
        return UNKNOWN
    red, green, blue = [round(other + alpha * (one - other)) for one, other in zip(color[:3], below[:3], strict=True)]
    return red, green, blue, 1.0


@functools.lru_cache(maxsize=2048)
def parse_color(text: str) -> Color | None:
    """Red, green, blue and alpha of a color of a style sheet; None when it is none.

    >>> parse_color("#fff"), parse_color("FF0000"), parse_color("rgb(1, 2, 3)"), parse_color("no such")
    ((255, 255, 255, 1.0), (255, 0, 0, 1.0), (1, 2, 3, 1.0), None)
    >>> parse_color("hsl(120 100% 25% / 50%)"), parse_color("var(--ink)") == UNKNOWN
    ((0, 128, 0, 0.5), True)
    """
    text = text.strip().lower()
    if text in NAMED_COLORS:
        return NAMED_COLORS[text]
    digits = text.removeprefix("#")
    if len(digits) in (3, 4, 6, 8) and HEX.issuperset(digits):
        if len(digits) < 6:
            digits = "".join([2 * digit for digit in digits])
        alpha = int(digits[6:], 16) / 255 if len(digits) == 8 else 1.0
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:6], 16), alpha
    if text in SYSTEM_COLORS:
        return SYSTEM_COLORS[text]
    if not text.startswith(UNREAD) and (found := FUNCTION.match(text)):
        return _of_function(found.group(1), re.split(r"[\s,/]+", found.group(2).strip()))
    return UNKNOWN if text.startswith(UNREAD) or "var(" in text else None


def turn(angle: str) -> float:
    """An angle as a part of a whole turn; a number alone is in degrees.

    >>> turn("90deg"), turn("0.25turn"), turn("450")
    (0.25, 0.25, 0.25)
    """
    found = ANGLE.fullmatch(angle)
    if not found:
        raise ValueError("no angle")
    return float(found[1]) / TURNS[found[2] or "deg"] % 1


def _of_function(name: str, words: list[str]) -> Color | None:
    try:
        alpha = min(1.0, max(0.0, _number(words[3], 1.0))) if len(words) > 3 else 1.0
        if name == "rgb":
            red, green, blue = [min(255, max(0, round(_number(word, 255)))) for word in words[:3]]
            return red, green, blue, alpha
        from colorsys import hls_to_rgb

        channels = hls_to_rgb(turn(words[0]), _number(words[2], 1), _number(words[1], 1))
        red, green, blue = [min(255, max(0, round(255 * channel))) for channel in channels]
        return red, green, blue, alpha
    except (ValueError, IndexError, OverflowError):  # no number, or too few
        return None


def shadow_color(shadow: str | None, stroke: str | None) -> Color:
    """The color in which letters can be read that have a shadow or an outline; CLEAR where these show none.

    >>> shadow_color("0 0 2px black", None), shadow_color("9999px 0 black", None), shadow_color("none", None)
    ((0, 0, 0, 1.0), (0, 0, 0, 0.0), (0, 0, 0, 0.0))
    """
    found = CLEAR
    for text in [*LAYER.findall((shadow or "")[:400]), stroke or ""]:
        function = IN_GRADIENT.search(text)
        color = parse_color(function.group()) if function else None
        sizes = [float(number) for number in PIXELS.findall(text.replace(function.group(), "") if function else text)]
        if color is None or not sizes or max(sizes) > MAX_SHADOW or min(sizes) < -MAX_SHADOW:
            continue
        if text == stroke and sizes[0] < MIN_STROKE:
            continue
        found = color if found in (CLEAR, color) else UNKNOWN
    return found


def _number(word: str, whole: float) -> float:
    return float(word[:-1]) * whole / 100 if word.endswith("%") else float(word)


@functools.lru_cache(maxsize=1024)
def parse_attribute_color(text: str) -> Color | None:
    """The color of an HTML attribute such as ``bgcolor``, where any word is one
    (https://html.spec.whatwg.org/#rules-for-parsing-a-legacy-colour-value).

    >>> parse_attribute_color("red"), parse_attribute_color("chucknorris")
    ((255, 0, 0, 1.0), (192, 0, 0, 1.0))
    """
    text = text.strip().lower()
    if not text or text == "transparent":
        return None
    if text in NAMED_COLORS:
        return NAMED_COLORS[text]
    digits = text[:128].removeprefix("#")
    if len(text) == 4 and text[0] == "#" and HEX.issuperset(digits):
        digits = "".join([2 * digit for digit in digits])
    digits = "".join([letter if letter in HEX else "0" for letter in digits]) or "0"
    digits += "0" * (-len(digits) % 3)
    size = len(digits) // 3
    parts = [digits[:size], digits[size : 2 * size], digits[2 * size :]]
    parts = [part[-8:] for part in parts]
    while len(parts[0]) > 2 and all(part[0] == "0" for part in parts):
        parts = [part[1:] for part in parts]
    red, green, blue = [int(part[:2], 16) for part in parts]
    return red, green, blue, 1.0
