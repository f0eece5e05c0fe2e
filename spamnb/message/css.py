"""Enough of style sheets to tell whether text can be seen: display, visibility, size, and color against background."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Set
from typing import Any, NamedTuple

Color = tuple[int, int, int]
WHITE: Color = (255, 255, 255)
BLACK: Color = (0, 0, 0)
NAMED_COLORS: dict[str, Color] = {
    "white": WHITE, "black": BLACK, "red": (255, 0, 0), "lime": (0, 255, 0), "blue": (0, 0, 255),
    "yellow": (255, 255, 0), "aqua": (0, 255, 255), "cyan": (0, 255, 255), "fuchsia": (255, 0, 255),
    "magenta": (255, 0, 255), "silver": (192, 192, 192), "gray": (128, 128, 128), "grey": (128, 128, 128),
    "maroon": (128, 0, 0), "green": (0, 128, 0), "navy": (0, 0, 128), "olive": (128, 128, 0),
    "purple": (128, 0, 128), "teal": (0, 128, 128), "orange": (255, 165, 0), "whitesmoke": (245, 245, 245),
    "snow": (255, 250, 250), "ivory": (255, 255, 240), "ghostwhite": (248, 248, 255), "darkblue": (0, 0, 139),
    "lightgrey": (211, 211, 211), "lightgray": (211, 211, 211), "floralwhite": (255, 250, 240),
    "darkred": (139, 0, 0),
}  # fmt: skip

MAX_UNREADABLE_DISTANCE = 24  # of color and background, the three channels' added up: nobody reads such text
TINY_PIXELS = 2.5  # smaller letters count as hidden
MAX_COLORS = 60

UNSEEN_TAGS = ("script", "style", "noembed", "noframes", "template", "iframe", "object", "applet")
STYLE_ATTRIBUTES = frozenset(["style", "color", "bgcolor", "background", "text", "class", "id", "hidden"])
BACKGROUND_ATTRIBUTES = frozenset(["style", "bgcolor", "background"])

DECLARATION = re.compile(r"([a-z-]{1,40})\s*+:\s*+([^;]*+)")
LENGTH = re.compile(r"(-?[0-9]{0,6}\.?[0-9]{0,6})\s{0,3}(px|pt|em|rem|ex|%|in|cm|mm)?")
RGB = re.compile(r"rgba?\(\s{0,9}([0-9]{1,3})\s{0,9}[, ]\s{0,9}([0-9]{1,3})\s{0,9}[, ]\s{0,9}([0-9]{1,3})")
PIXELS_OF_UNIT = {"px": 1, "pt": 4 / 3, "em": 16, "rem": 16, "ex": 8, "%": 0.16, "in": 96, "cm": 37.8, "mm": 3.78}
SELECTOR = re.compile(r"\s*+[a-z0-9]*+([.#][a-z0-9_-]{1,60})\s*+\Z")

_TINY = (
    rb"(?:0?\.[01][0-9]{0,9}|0?\.[0-9]{1,9}p[xt]|0(?![.0-9])|[12](?:\.[0-9]{1,9})?(?:p[xt]|(?![.0-9a-z% ])))"
)
TINY_SIZE = re.compile(rb"font-size\s{0,9}:\s{0,9}" + _TINY)
TINY_FONT = re.compile(rb"font:[^;\"'}]{0,60}?(?<![0-9.])" + _TINY)

STYLE_ATTRIBUTE = re.compile(rb"style\s{0,9}=\s{0,9}(?:\"[^\"]{0,4000}|'[^']{0,4000}|[^\s>\"']{1,400})")

# What a document that hides text must contain, each behind a word that is cheap to look for.
HIDING = [
    (b"transparent", re.compile(rb"(?<!-)color\s{0,9}:\s{0,9}transparent")),
    (b"display", re.compile(rb"display\s{0,9}:\s{0,9}none")),
    (b"visibility", re.compile(rb"visibility\s{0,9}:\s{0,9}(?:hidden|collapse)")),
    (b"opacity", re.compile(rb"opacity\s{0,9}:\s{0,9}(?:0?\.0|0(?![0-9.]))")),
    (b"overflow", re.compile(rb"overflow(?:-[xy])?\s{0,9}:\s{0,9}hidden")),
    (b"font-size", TINY_SIZE),
    (b"font:", TINY_FONT),
    (b"text-indent", re.compile(rb"text-indent\s{0,9}:\s{0,9}-[0-9]{3}")),
    (b"absolute", re.compile(rb"(?:left|top)\s{0,9}:\s{0,9}-[0-9]{3}")),
]
HIDDEN_ATTRIBUTE = re.compile(rb"\shidden[\s>=]")
BACKGROUND = re.compile(rb"background\s{0,9}:\s{0,9}(#?[a-z0-9]{3,20}(?:\([0-9,. ]{3,30})?)")
BODY_TEXT = re.compile(rb"<body[^>]{0,300}?\stext\s{0,9}=[\s\"']{0,9}(#?[a-z0-9]{3,20})")


class Style(NamedTuple):
    """Inherited style; ``background`` is None where a picture or a gradient lies under the text."""

    visible: bool = True
    gone: bool = False
    tiny: bool = False
    color: Color = BLACK
    background: Color | None = WHITE


class StyleChange(NamedTuple):
    """What one style attribute or rule changes; None leaves the inherited value."""

    gone: bool
    tiny: bool | None
    color: Color | None
    background: Color | None
    picture: bool


@functools.lru_cache(maxsize=4096)
def near(one: Color, other: Color) -> bool:
    """Is text of one color on the other hard to see?"""
    return abs(one[0] - other[0]) + abs(one[1] - other[1]) + abs(one[2] - other[2]) <= MAX_UNREADABLE_DISTANCE


@functools.lru_cache(maxsize=2048)
def parse_color(text: str) -> Color | None:
    """Red, green and blue of a color as HTML and style sheets write it; None when it is none.

    >>> parse_color("#fff"), parse_color("FF0000"), parse_color("rgb(1, 2, 3)"), parse_color("no such")
    ((255, 255, 255), (255, 0, 0), (1, 2, 3), None)
    """
    text = text.strip().lower()
    if text in NAMED_COLORS:
        return NAMED_COLORS[text]
    digits = text.removeprefix("#")
    if len(digits) in (3, 6) and all(digit in "0123456789abcdef" for digit in digits):
        if len(digits) == 3:
            digits = "".join([2 * digit for digit in digits])
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
    if found := RGB.match(text):
        return int(found.group(1)), int(found.group(2)), int(found.group(3))
    return None


def may_hide_text(low: bytes, words: Set[bytes]) -> bool:
    """Whether a document, in lower case, has a style or attribute that hides text, colors aside."""
    if b"style" in words:
        styles = STYLE_ATTRIBUTE.findall(low)
        if b"<style" in low:
            styles += [sheet.partition(b"</style")[0] for sheet in low.split(b"<style")[1:]]
        # Ten words sought in the distinct styles alone: 15 µs a page, in the whole page 26.
        css = b"\n".join(set(styles))
        if b"&" in css:  # a word may be spelt with character references
            return True
        for word, pattern in HIDING:
            if word in css and pattern.search(css):
                return True
    return b" hidden" in words and any(
        low.rfind(b"<", max(0, at - 500), at) > low.rfind(b">", max(0, at - 500), at)
        for at in (found.start() for found in HIDDEN_ATTRIBUTE.finditer(low))
    )


def suspect_colors(low: bytes, words: Set[bytes], colors: Set[bytes], backgrounds: Set[bytes]) -> dict[str, Color]:
    """Colors that a document, in lower case, gives to text and that are near white or a background it uses."""
    if b" text" in words and b"<body" in words and (found := BODY_TEXT.search(low)):
        colors = colors | {found.group(1)}
    if not colors:
        return {}
    if b"background" in words:
        backgrounds = backgrounds | set(BACKGROUND.findall(low))
    return near_a_background(tuple(sorted(colors)[:MAX_COLORS]), tuple(sorted(backgrounds)[:MAX_COLORS]))


@functools.lru_cache(maxsize=512)
def near_a_background(colors: tuple[bytes, ...], names: tuple[bytes, ...]) -> dict[str, Color]:
    """Those of ``colors`` that are near white or near one of the backgrounds ``names``."""
    backgrounds = {value for name in names if (value := parse_color(name.decode())) is not None} | {WHITE}
    suspect = {}
    for name in colors:
        value = parse_color(name.decode())
        if value is not None and any([near(value, background) for background in backgrounds]):
            suspect[name.decode()] = value
    return suspect


def on_like_background(tree: Any, suspect: Mapping[str, Color], rules: Mapping[str, StyleChange], styled: bool) -> bool:
    """Whether some text of a suspect color seems to stand on a background like it; white on dark is common."""
    colors = set(suspect.values())
    if any(rule.color in colors for rule in rules.values()):
        return True
    backgrounds: dict[int, Color | None] = {}
    page = page_style(rules).background
    selectors = [f'[color="{name}" i],body[text="{name}" i]' for name in suspect]
    if styled:
        selectors += [f'[style*="{name}" i]' for name in suspect]
    for node in tree.css(",".join(selectors)):
        attributes = node.attributes
        style = attributes.get("style")
        color = parse_declarations(style[:2000].lower()).color if style else None
        color = color or parse_color((attributes.get("color") or attributes.get("text") or "")[:40])
        if color is not None and color in colors:
            background = _background_of(node, backgrounds, page)
            if background is not None and near(color, background):
                return True
    return False


def _background_of(node: Any, known: dict[int, Color | None], background: Color | None) -> Color | None:
    """The background of a node by its ancestors' attributes, else that of the page; None where it is a picture."""
    path: list[int] = []
    while node is not None:
        key = node.mem_id
        if key in known:
            background = known[key]
            break
        path.append(key)
        attributes = node.attributes
        if not BACKGROUND_ATTRIBUTES.isdisjoint(attributes):
            style = inherited_style(NO_STYLE, node.tag or "", attributes, {})
            if style.background is not NO_STYLE.background:
                background = style.background
                break
        node = node.parent
    known.update(dict.fromkeys(path, background))
    return background


NO_STYLE = Style(background=(-999, -999, -999))


@functools.lru_cache(maxsize=4096)
def parse_declarations(style: str) -> StyleChange:
    """What a list of declarations (in lower case) changes.

    >>> parse_declarations("color: #fff; font-size: 1px")
    StyleChange(gone=False, tiny=True, color=(255, 255, 255), background=None, picture=False)
    """
    found = {name: value.strip() for name, value in DECLARATION.findall(style)}
    get = found.get
    gone = get("display", "").startswith("none") or get("visibility", "").startswith(("hidden", "collapse"))
    gone = gone or get("color", "").startswith("transparent") or _length(get("opacity", "")) == 0
    if not gone and any(get(name, "").startswith("hidden") for name in ("overflow", "overflow-x", "overflow-y")):
        gone = any(_length(get(name, "")) == 0 for name in ("height", "max-height", "width", "max-width"))
    if not gone and ("text-indent" in found or "absolute" in get("position", "")):
        gone = any((_length(get(name, "")) or 0) < -500 for name in ("text-indent", "left", "top"))
    size = _length(get("font-size", ""))
    if size is None and "font" in found:  # font: [style] [weight] size[/line height] family
        sizes = [_length(word) for word in found["font"].split() if not word.isdigit() or word == "0"]
        size = next((it for it in sizes if it is not None), None)
    background, picture = None, False
    for value in (get("background", ""), get("background-color", ""), get("background-image", "")):
        if value:
            words = [value[value.find("rgb") :]] if "rgb" in value else value.split()
            background = next((it for word in words if (it := parse_color(word)) is not None), background)
            picture = picture or "url(" in value or "gradient" in value
    tiny = None if size is None else size < TINY_PIXELS
    return StyleChange(gone, tiny, parse_color(get("color", "")), background, picture)


def _length(text: str) -> float | None:
    """A length in pixels, taking 16 for a letter's height."""
    found = LENGTH.match(text)
    if not found or not found.group(1).strip("-."):
        return None
    return float(found.group(1)) * PIXELS_OF_UNIT.get(found.group(2) or "px", 1)


def style_rules(low: bytes) -> dict[str, StyleChange]:
    """Rules of the document's style sheets for single classes and ids, and for the page itself, outside ``@media``.

    >>> sorted(style_rules(b"<style>p, .a {color: #fff} body {margin: 0} @media print {.b {display: none}}</style>"))
    ['.a', 'body']
    """
    rules: dict[str, StyleChange] = {}
    of_page = ""
    if b"<style" not in low:
        return rules
    for sheet in low.split(b"<style")[1:21]:
        text = sheet[:65536].partition(b"</style")[0].partition(b">")[2].decode("utf-8", "replace")
        for rule in text.partition("@media")[0].split("}")[:2000]:
            selectors, _, body = rule.partition("{")
            for selector in selectors[-2000:].rpartition("*/")[2].split(",")[:50]:
                if (found := SELECTOR.match(selector)) and len(rules) < 1000:
                    rules[found.group(1)] = parse_declarations(body[:2000])
                elif selector.strip() == "body" and len(of_page) < 2000:
                    of_page += body[:2000] + ";"
    return rules | {"body": parse_declarations(of_page)} if of_page else rules


def page_style(rules: Mapping[str, StyleChange]) -> Style:
    """What the page itself gives to all that is on it.

    >>> page_style(style_rules(b"<style>body {background: #000; color: #eee}</style>"))
    Style(visible=True, gone=False, tiny=False, color=(238, 238, 238), background=(0, 0, 0))
    """
    page = rules.get("body")
    if page is None:
        return Style()
    color, background = page.color or BLACK, None if page.picture else page.background or WHITE
    return Style(visible=background is None or not near(color, background), color=color, background=background)


def inherited_style(
    inherited: Style, tag: str, attributes: Mapping[str, str | None], rules: Mapping[str, StyleChange]
) -> Style:
    """The style that an element's children inherit."""
    if STYLE_ATTRIBUTES.isdisjoint(attributes):
        return inherited
    _, gone, tiny, color, background = inherited
    if "hidden" in attributes:
        gone = True
    if value := attributes.get("bgcolor"):
        background = parse_color(value[:40]) or background
    if attributes.get("background"):
        background = None
    if value := attributes.get("text" if tag == "body" else "color"):
        color = parse_color(value[:40]) or color
    changes = []
    if rules:
        names = ["." + name for name in (attributes.get("class") or "").lower().split()[:20]]
        names.append("#" + (attributes.get("id") or "").lower())
        changes = [rules[name] for name in names if name in rules]
    if value := attributes.get("style"):
        changes.append(parse_declarations(value[:2000].lower()))
    for found in changes:
        gone = gone or found.gone
        tiny = tiny if found.tiny is None else found.tiny
        color = found.color or color
        background = found.background or background
        if found.picture:
            background = None
    visible = not (gone or tiny or (background is not None and near(color, background)))
    return Style(visible, gone, tiny, color, background)
