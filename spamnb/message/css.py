# cython: language_level=3, annotation_typing=False
"""Enough of style sheets to tell whether text can be seen: display, visibility, size, and color against background."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import NamedTuple

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
STYLE_ATTRIBUTES = frozenset(["style", "color", "bgcolor", "background", "text", "class", "id", "hidden"])

LENGTH = re.compile(r"(-?[0-9]{0,6}\.?[0-9]{0,6})\s{0,3}(px|pt|em|rem|ex|%|in|cm|mm)?")
RGB = re.compile(r"rgba?\(\s{0,9}([0-9]{1,3})\s{0,9}[, ]\s{0,9}([0-9]{1,3})\s{0,9}[, ]\s{0,9}([0-9]{1,3})")
PIXELS_OF_UNIT = {"px": 1, "pt": 4 / 3, "em": 16, "rem": 16, "ex": 8, "%": 0.16, "in": 96, "cm": 37.8, "mm": 3.78}
SELECTOR = re.compile(r"\s*+[a-z0-9]*+([.#][a-z0-9_-]{1,60})\s*+\Z")

# Other declarations say nothing of whether text is seen.
PROPERTIES = frozenset("""
    display visibility color opacity overflow overflow-x overflow-y height max-height width max-width text-indent left
    top position font-size font background background-color background-image""".split())


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


NO_CHANGE = StyleChange(False, None, None, None, False)


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


@functools.lru_cache(maxsize=4096)
def parse_declarations(style: str) -> StyleChange:
    """What a list of declarations (in lower case) changes.

    >>> parse_declarations("color: #fff; font-size: 1px")
    StyleChange(gone=False, tiny=True, color=(255, 255, 255), background=None, picture=False)
    """
    found = {}
    for declaration in style.split(";"):
        name, _, value = declaration.partition(":")
        if (name := name.strip()) in PROPERTIES:
            found[name] = value.strip()
    if not found:
        return NO_CHANGE
    gone = clips = empty = moved = away = picture = False
    size, color, background = None, None, None
    for name, value in found.items():
        if name == "display":
            gone = gone or value.startswith("none")
        elif name == "visibility":
            gone = gone or value.startswith(("hidden", "collapse"))
        elif name == "color":
            gone = gone or value.startswith("transparent")
            color = parse_color(value)
        elif name == "opacity":
            gone = gone or _length(value) == 0
        elif name.startswith("overflow"):
            clips = clips or value.startswith("hidden")
        elif name.endswith(("height", "width")):
            empty = empty or _length(value) == 0
        elif name == "position":
            moved = moved or "absolute" in value
        elif name in ("text-indent", "left", "top"):
            moved = moved or name == "text-indent"
            away = away or (_length(value) or 0) < -500
    if "font-size" in found:
        size = _length(found["font-size"])
    if size is None and "font" in found:  # font: [style] [weight] size[/line height] family
        sizes = [_length(word) for word in found["font"].split() if not word.isdigit() or word == "0"]
        size = next((it for it in sizes if it is not None), None)
    for name in ("background", "background-color", "background-image"):
        if value := found.get(name, ""):
            words = [value[value.find("rgb") :]] if "rgb" in value else value.split()
            background = next((it for word in words if (it := parse_color(word)) is not None), background)
            picture = picture or "url(" in value or "gradient" in value
    gone = gone or (clips and empty) or (moved and away)
    change = StyleChange(gone, None if size is None else size < TINY_PIXELS, color, background, picture)
    return NO_CHANGE if change == NO_CHANGE else change


@functools.lru_cache(maxsize=2048)
def _length(text: str) -> float | None:
    """A length in pixels, taking 16 for a letter's height."""
    found = LENGTH.match(text)
    if not found or not found.group(1).strip("-."):
        return None
    return float(found.group(1)) * PIXELS_OF_UNIT.get(found.group(2) or "px", 1)


def style_rules(low: bytes) -> dict[str, str]:
    """The declarations of the document's style sheets for single classes and ids, and for the page itself, outside
    ``@media``; the document is in lower case.

    >>> style_rules(b"<style>p, .a {color: #fff} body {margin: 0} @media print {.b {display: none}}</style>")
    {'.a': 'color: #fff', 'body': 'margin: 0;'}
    """
    rules: dict[str, str] = {}
    for sheet in low.split(b"<style")[1:21]:
        found = sheet_rules(sheet[:65536].partition(b"</style")[0].partition(b">")[2])
        if "body" in rules and "body" in found:
            found = {**found, "body": rules["body"] + found["body"]}
        rules.update(found)
    return rules


@functools.lru_cache(maxsize=64)  # senders use the same sheet again and again
def sheet_rules(sheet: bytes) -> dict[str, str]:
    """The same of one style sheet."""
    rules: dict[str, str] = {}
    of_page = ""
    for rule in sheet.decode("utf-8", "replace").partition("@media")[0].split("}")[:2000]:
        selectors, _, body = rule.partition("{")
        for selector in selectors[-2000:].rpartition("*/")[2].split(",")[:50]:
            if (found := SELECTOR.match(selector)) and len(rules) < 1000:
                rules[found.group(1)] = body[:2000]
            elif selector.strip() == "body" and len(of_page) < 2000:
                of_page += body[:2000] + ";"
    return rules | {"body": of_page} if of_page else rules


def page_style(rules: Mapping[str, str]) -> Style:
    """What the page itself gives to all that is on it.

    >>> page_style(style_rules(b"<style>body {background: #000; color: #eee}</style>"))
    Style(visible=True, gone=False, tiny=False, color=(238, 238, 238), background=(0, 0, 0))
    """
    if "body" not in rules:
        return Style()
    page = parse_declarations(rules["body"])
    color, background = page.color or BLACK, None if page.picture else page.background or WHITE
    return Style(visible=background is None or not near(color, background), color=color, background=background)


def inherited_style(inherited: Style, tag: str, attributes: Mapping[str, str], rules: Mapping[str, str]) -> Style:
    """The style that an element's children inherit."""
    if STYLE_ATTRIBUTES.isdisjoint(attributes):
        return inherited
    changes = []
    if rules and ("class" in attributes or "id" in attributes):
        names = ["." + name for name in attributes.get("class", "").lower().split()[:20]]
        names.append("#" + attributes.get("id", "").lower())
        changes = [parse_declarations(rules[name]) for name in names if name in rules]
    if value := attributes.get("style"):
        changes.append(parse_declarations(value[:2000].lower()))
        if len(attributes) == 1 and changes[-1] is NO_CHANGE:
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
    for found in changes:
        gone = gone or found.gone
        tiny = tiny if found.tiny is None else found.tiny
        color = found.color or color
        background = found.background or background
        if found.picture:
            background = None
    visible = not (gone or tiny or (background is not None and near(color, background)))
    return Style(visible, gone, tiny, color, background)
