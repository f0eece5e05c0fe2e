"""Enough of style sheets to tell whether text can be seen: display, visibility, size, colour and ground."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import NamedTuple

Colour = tuple[int, int, int]
WHITE: Colour = (255, 255, 255)
NAMED: dict[str, Colour] = {
    "white": WHITE, "black": (0, 0, 0), "red": (255, 0, 0), "lime": (0, 255, 0), "blue": (0, 0, 255),
    "yellow": (255, 255, 0), "aqua": (0, 255, 255), "cyan": (0, 255, 255), "fuchsia": (255, 0, 255),
    "magenta": (255, 0, 255), "silver": (192, 192, 192), "gray": (128, 128, 128), "grey": (128, 128, 128),
    "maroon": (128, 0, 0), "green": (0, 128, 0), "navy": (0, 0, 128), "olive": (128, 128, 0),
    "purple": (128, 0, 128), "teal": (0, 128, 128), "orange": (255, 165, 0), "whitesmoke": (245, 245, 245),
    "snow": (255, 250, 250), "ivory": (255, 255, 240), "ghostwhite": (248, 248, 255), "lightgrey": (211, 211, 211),
    "lightgray": (211, 211, 211), "darkblue": (0, 0, 139), "darkred": (139, 0, 0), "floralwhite": (255, 250, 240),
}  # fmt: skip

NEAR = 24  # sum of the three channels' distances below which nobody reads text on its ground
TINY = 2.5  # pixels

SKIPPED = ("script", "style", "noembed", "noframes", "template", "iframe", "object", "applet")

DECLARATION = re.compile(r"([a-z-]{1,40})\s*+:\s*+([^;]*+)")
LENGTH = re.compile(r"(-?[0-9]{0,6}\.?[0-9]{0,6})\s{0,3}(px|pt|em|rem|ex|%|in|cm|mm)?")
RGB = re.compile(r"rgba?\(\s*([0-9]{1,3})\s*[, ]\s*([0-9]{1,3})\s*[, ]\s*([0-9]{1,3})\s*(?:[,/]\s*([0-9.]{1,8}))?")
TINY_SIZE = re.compile(rb"font-size\s{0,9}:\s{0,9}(?:[0-2]?\.[0-9]|[0-2](?![0-9]))|font\s{0,9}:[^;}\"']{0,40}?\b0(?![.0-9])")
COLOUR_USE = re.compile(rb"color[\s=:\"']{0,9}(#?[a-z0-9]{3,20}(?:\([0-9,. ]{3,30})?)")
GROUND_USE = re.compile(rb"background\s{0,9}:\s{0,9}(#?[a-z0-9]{3,20}(?:\([0-9,. ]{3,30})?)")
BODY_TEXT = re.compile(rb"<body[^>]{0,300}?\stext\s*=[\s\"']{0,9}(#?[a-z0-9]{3,20})")
STYLE_SHEET = re.compile(r"<style[^>]*+>(.*?)(?:</style|\Z)", re.DOTALL)
RULE = re.compile(r"([^{}]{1,200})\{([^{}]{0,2000})\}")
SELECTOR = re.compile(r"\s*([a-z0-9]*)([.#])([a-z0-9_-]{1,60})\s*\Z")
PIXELS = {"px": 1.0, "pt": 4 / 3, "em": 16.0, "rem": 16.0, "ex": 8.0, "%": 0.16, "in": 96.0, "cm": 37.8, "mm": 3.78}


class State(NamedTuple):
    """Inherited style; ``ground`` is None where a picture or a gradient lies under the text."""

    gone: bool = False
    tiny: bool = False
    colour: Colour = (0, 0, 0)
    ground: Colour | None = WHITE

    @property
    def visible(self) -> bool:
        return not (self.gone or self.tiny or (self.ground is not None and near(self.colour, self.ground)))


class Change(NamedTuple):
    """What one style attribute or rule changes; None leaves the inherited value."""

    gone: bool = False
    tiny: bool | None = None
    colour: Colour | None = None
    ground: Colour | None = None
    picture: bool = False
    clear: bool = False


def near(one: Colour, other: Colour) -> bool:
    return abs(one[0] - other[0]) + abs(one[1] - other[1]) + abs(one[2] - other[2]) <= NEAR


def may_hide(low: bytes) -> bool:
    """Whether a document in lower case can hide text at all; nine of ten cannot, and need no walk."""
    if b"none" in low and b"display" in low:
        return True
    if b"visibility" in low or b"opacity" in low or b"overflow" in low or b"text-indent" in low or b" hidden" in low:
        return True
    if b"transparent" in low or b"absolute" in low or (b"font" in low and TINY_SIZE.search(low)):
        return True
    if b"color" not in low and b" text" not in low:
        return False
    colours, grounds = set(), {b"white"}
    for use in COLOUR_USE.finditer(low):
        (grounds if low[use.start() - 1] in b"g-" else colours).add(use.group(1))
    if found := BODY_TEXT.search(low):
        colours.add(found.group(1))
    if not colours:
        return False
    grounds.update(GROUND_USE.findall(low))
    known = [value for ground in list(grounds)[:50] if (value := colour(ground.decode("ascii"))) is not None]
    for name in list(colours)[:200]:
        value = colour(name.decode("ascii"))
        if value is not None and any(near(value, ground) for ground in known):
            return True
    return len(colours) > 200 or len(grounds) > 50


@functools.lru_cache(maxsize=2048)
def colour(text: str) -> Colour | None:
    """Red, green and blue of a colour as HTML and style sheets write it; None when it is none.

    >>> colour("#fff"), colour("FF0000"), colour("rgb(1, 2, 3)"), colour("no such")
    ((255, 255, 255), (255, 0, 0), (1, 2, 3), None)
    """
    text = text.strip().lower()
    if text in NAMED:
        return NAMED[text]
    digits = text.removeprefix("#")
    if len(digits) in (3, 6) and all(digit in "0123456789abcdef" for digit in digits):
        if len(digits) == 3:
            digits = "".join(2 * digit for digit in digits)
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
    if found := RGB.match(text):
        return int(found.group(1)), int(found.group(2)), int(found.group(3))
    return None


@functools.lru_cache(maxsize=4096)
def change(style: str) -> Change:
    """What a list of declarations (in lower case) changes."""
    found = {name: value.strip() for name, value in DECLARATION.findall(style)}
    gone = found.get("display", "").startswith("none") or found.get("visibility", "").startswith(("hidden", "collapse"))
    gone = gone or found.get("mso-hide", "").startswith("all") or found.get("opacity", "").rstrip("% !important") in ("0", "0.0", ".0", "0.00")
    if not gone and "overflow" in found and found["overflow"].startswith("hidden"):
        gone = any(_pixels(found.get(name, "")) == 0 for name in ("height", "max-height", "width", "max-width"))
    if not gone and ("text-indent" in found or "absolute" in found.get("position", "")):
        gone = any((_pixels(found.get(name, "")) or 0) < -500 for name in ("text-indent", "left", "top"))
    size = _pixels(found.get("font-size", ""))
    if size is None and "font" in found:
        sizes = [value for word in found["font"].split() if (value := _pixels(word.partition("/")[0])) is not None]
        size = sizes[0] if sizes and sizes[0] < 100 else None
    ground = picture = None
    for name in ("background", "background-color"):
        if value := found.get(name):
            words = [value] if "(" in value else value.split()
            ground = next((it for word in words if (it := colour(word)) is not None), ground)
            picture = picture or "url(" in value or "gradient" in value
    own = found.get("color", "")
    clear = own.startswith("transparent")
    return Change(gone, None if size is None else size < TINY, colour(own), ground, bool(picture), clear)


def _pixels(text: str) -> float | None:
    found = LENGTH.match(text)
    if not found or not found.group(1).strip("-."):
        return None
    return float(found.group(1)) * PIXELS.get(found.group(2) or "px", 1.0)


def hiding_rules(low: bytes) -> dict[str, Change]:
    """Rules of the document's style sheets for single classes and ids, outside ``@media``."""
    rules: dict[str, Change] = {}
    if b"<style" not in low:
        return rules
    for sheet in STYLE_SHEET.findall(low.decode("utf-8", "replace"))[:20]:
        sheet = sheet[:65536].split("@media", 1)[0]
        for selectors, body in RULE.findall(sheet):
            for selector in selectors.rpartition("*/")[2].split(",")[:50]:
                if (found := SELECTOR.match(selector)) and len(rules) < 1000:
                    rules[found.group(2) + found.group(3)] = change(body)
    return rules


def child_state(state: State, tag: str, attributes: Mapping[str, str | None], rules: dict[str, Change]) -> State:
    """The style that an element's children inherit."""
    if not attributes:
        return state
    gone, tiny, ink, ground = state
    if "hidden" in attributes:
        gone = True
    if value := attributes.get("bgcolor"):
        ground = colour(value) or ground
    if attributes.get("background"):
        ground = None
    if value := attributes.get("text" if tag == "body" else "color"):
        ink = colour(value) or ink
    changes = []
    if rules:
        changes = [rules["." + name] for name in (attributes.get("class") or "").lower().split()[:20] if "." + name in rules]
        if (name := "#" + (attributes.get("id") or "").lower()) in rules:
            changes.append(rules[name])
    if value := attributes.get("style"):
        changes.append(change(value[:2000].lower()))
    for found in changes:
        gone = gone or found.gone or found.clear
        tiny = tiny if found.tiny is None else found.tiny
        ink = found.colour or ink
        if found.ground is not None:
            ground = found.ground
        if found.picture:
            ground = None
    return State(gone, tiny, ink, ground)
