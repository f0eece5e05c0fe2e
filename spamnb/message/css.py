# cython: language_level=3, annotation_typing=False
"""Enough of declarations of style to tell whether text can be seen: display, size, place, and color on background."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .boxes import LENGTH, PERHAPS_FAR, PIXELS_OF_UNIT, is_moved_away, is_squeezed
from .colors import UNKNOWN, Color, parse_color, shadow_color

MEDIUM = 16.0  # pixels

NUMBER = re.compile(r"[+-]?[0-9]{0,9}\.?[0-9]{1,9}%?")
RELATIVE = {"em": 1.0, "%": 0.01, "ex": 0.5, "ch": 0.5}  # units of the inherited size, for sizes
SIZES = {
    "xx-small": 9.0, "x-small": 10.0, "small": 13.0, "medium": MEDIUM, "large": 18.0, "x-large": 24.0, "xx-large": 32.0,
    "xxx-large": 48.0, "initial": MEDIUM,
}  # fmt: skip
BLOCK_DISPLAYS = frozenset("block inline-block flex inline-flex grid inline-grid list-item flow-root".split())
TABLE_DISPLAYS = frozenset("table inline-table table-cell table-row table-row-group".split())
OTHER_DISPLAYS = frozenset("none inline contents initial inherit unset revert -webkit-box".split())
DISPLAYS = BLOCK_DISPLAYS | TABLE_DISPLAYS | OTHER_DISPLAYS
# Other declarations say nothing of whether text is seen.
PROPERTIES = frozenset("""
    display visibility color opacity overflow overflow-x overflow-y height max-height width max-width min-height
    min-width padding padding-top padding-bottom padding-left padding-right left top right position float
    font-size font background background-color background-image background-clip -webkit-background-clip
    margin margin-left margin-top bottom inset -webkit-text-fill-color text-shadow -webkit-text-stroke""".split())
# What a declaration can change. One that is far from the page's edges, or of a box's size, changes nothing by itself.
BOX, SHAPE, VISIBILITY, SIZE, COLORS, OPACITY, FLOW, SHADOW = 1, 2, 4, 8, 16, 32, 64, 128
SAYS = {
    **dict.fromkeys("height max-height width max-width min-height min-width".split(), 0),
    **dict.fromkeys("overflow overflow-x overflow-y".split(), FLOW),
    **dict.fromkeys(["text-shadow", "-webkit-text-stroke"], SHADOW),
    **dict.fromkeys("display float position".split(), SHAPE),
    "font-size": SIZE, "font": SIZE,
    **dict.fromkeys("""
        color -webkit-text-fill-color background background-color background-image background-clip
        -webkit-background-clip""".split(), COLORS),
    "visibility": VISIBILITY, "opacity": OPACITY,
}  # fmt: skip
OF_EDGES = frozenset("""
    margin margin-left margin-top padding padding-top padding-bottom padding-left padding-right""".split())
IS_IMPORTANT = operator.attrgetter("is_important")
MAX_REMEMBERED = 100  # characters of a declaration that is kept for the next messages, and so many of them
MAX_KNOWN = 20_000
COLORED = frozenset(["color", "background-color", "-webkit-text-fill-color"])
COLOR_FUNCTION = re.compile(r"\b(?:rgba?|hsla?|hwb|(?:ok)?l(?:ab|ch)|color|color-mix|light-dark)\(")
COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)")
CALCULATED = re.compile(r"calc\(\s*+([0-9a-z.%-]++)\s*+\)")  # of one number
ESCAPE = re.compile(r"\\(?:([0-9A-Fa-f]{1,6})\s?|(.))", re.DOTALL)


class StyleChange(NamedTuple):
    """What declarations change; None leaves the inherited value."""

    gone: bool = False
    lost: bool = False  # if it is a box
    shape: str = ""  # "block", "inline" or "table"; empty as the tag says
    unseen: bool | None = None
    size: float | None = None
    share: float | None = None  # of the inherited size
    color: Color | None = None
    fill: Color | None = None
    background: Color | None = None
    opacity: float = 1.0
    cuts: bool = False  # a box cuts off what is in it
    shadow: Color | None = None


NO_CHANGE = StyleChange()
KEYWORDS = frozenset(["inherit", "unset", "currentcolor"])
new_tuple = tuple.__new__  # a third of what Declaration(...) takes


class Declaration(NamedTuple):
    """One declaration that matters; ``says`` tells what it can change when no other stands beside it."""

    name: str
    value: str
    is_important: bool
    says: int


UNREAD: Any = object()
KNOWN: dict[str, Declaration | None] = {}  # by the text of one declaration; None says nothing of visibility


def parse_declarations(style: str) -> tuple[Declaration, ...]:
    """The declarations that matter, in lower case, the important ones last.

    >>> [found[:2] for found in parse_declarations("font-size: 1px!important; margin: 0; color: #fff; color: none")]
    [('margin', '0'), ('color', '#fff'), ('font-size', '1px')]
    """
    if "/*" in style:
        style = COMMENT.sub(" ", style)
    normal: list[Declaration] = []
    important: list[Declaration] = []
    known = KNOWN
    for text in style.split(";"):
        # Senders repeat their declarations: a look into what is known takes a tenth of the time of reading one anew.
        found = known.get(text, UNREAD)
        if found is UNREAD:
            found = parse_declaration(text)
            if len(text) <= MAX_REMEMBERED:
                if len(known) >= MAX_KNOWN:
                    known.clear()
                known[text] = found
        if found is not None:
            (important if found[2] else normal).append(found)
    return (*normal, *important)


def parse_declaration(declaration: str) -> Declaration | None:
    """A declaration; None for one that says nothing of whether text is seen, or that browsers leave out.

    >>> parse_declaration(" Color: white !important")[:3], parse_declaration("margin-bottom: 0")
    (('color', 'white', True), None)
    """
    name, _, value = declaration.lower().partition(":")
    if "\\" in declaration:
        name, value = unescape(name).lower(), unescape(value).lower()
    if (name := name.strip()) not in PROPERTIES:
        return None
    is_important = False
    if "!" in value:
        value, _, mark = value.rpartition("!")
        if mark.strip() != "important":
            return None
        is_important = True
    value = (CALCULATED.sub(r"\1", value) if "calc(" in value else value).strip()
    if name in COLORED and parse_color(value) is None and value not in KEYWORDS:
        return None  # browsers leave out what they do not understand, and what stood before remains
    if name == "display" and value not in DISPLAYS:
        value = "block" if value.startswith(("table", "ruby", "-", "block", "inline-")) else ""
    return new_tuple(Declaration, (name, value, is_important, _says(name, value))) if value else None


def _says(name: str, value: str) -> int:
    """What a declaration can change by itself."""
    if name in OF_EDGES:
        return BOX if PERHAPS_FAR.search(value) else 0
    return SAYS.get(name, BOX)


def unescape(text: str) -> str:
    r"""A name or value without the escapes of style sheets.

    >>> unescape(r"\64 isp\lay")
    'display'
    """
    return ESCAPE.sub(lambda found: chr(min(int(found[1], 16), 0xFFFF)) if found[1] else found[2], text)


@functools.lru_cache(maxsize=4096)
def change_of(styles: tuple[str, ...]) -> StyleChange:
    """What lists of declarations change, the strongest last.

    >>> change_of(("color: red; display: none", "display: block")).gone
    False
    """
    declarations = _cascaded(styles)
    says = 0
    for declaration in declarations:
        says |= declaration[3]
    if not says:
        return NO_CHANGE
    found = _values(declarations)
    size, share = _size(found) if says & SIZE else (None, None)
    color, fill, background = _colors(found) if says & COLORS else (None, None, None)
    change = new_tuple(StyleChange, (
        found.get("display") == "none",
        says & BOX != 0 and is_moved_away(found),
        _shape(found) if says & SHAPE else "",
        _unseen(found) if says & VISIBILITY else None,
        size, share, color, fill, background,
        _opacity(found) if says & OPACITY else 1.0,
        says & FLOW != 0 and is_squeezed(found),
        shadow_color(found.get("text-shadow"), found.get("-webkit-text-stroke")) if says & SHADOW else None,
    ))  # fmt: skip
    return NO_CHANGE if change == NO_CHANGE else change


def declared_values(styles: tuple[str, ...]) -> dict[str, str]:
    """What lists of declarations come to, the strongest last.

    >>> declared_values(("height: 0; color: red", "height: 3px"))
    {'color': 'red', 'height': '3px'}
    """
    return _values(_cascaded(styles))


def _values(declarations: Sequence[Declaration]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value, _, _ in declarations:
        found.pop(name, None)  # what comes later is read later
        found[name] = value
    return found


def _cascaded(styles: tuple[str, ...]) -> Sequence[Declaration]:
    """The declarations of lists, the strongest last."""
    if len(styles) == 1:
        return parse_declarations(styles[0])
    parsed = [declaration for style in styles for declaration in parse_declarations(style)]
    parsed.sort(key=IS_IMPORTANT)  # keeps the order of the others
    return parsed


def _shape(found: Mapping[str, str]) -> str:
    display = found.get("display", "")
    placed = found.get("position", "").startswith(("absolute", "fixed")) or found.get("float") in ("left", "right")
    if placed or display in BLOCK_DISPLAYS:
        return "block"
    if display in TABLE_DISPLAYS:
        return "table"
    return "inline" if display == "inline" else ""


def _unseen(found: Mapping[str, str]) -> bool | None:
    value = found.get("visibility", "inherit")
    return None if value in ("inherit", "unset") else value in ("hidden", "collapse")


def _opacity(found: Mapping[str, str]) -> float:
    number = NUMBER.match(found.get("opacity", ""))
    if not number:
        return 1.0
    text = number.group()
    return min(1.0, max(0.0, float(text[:-1]) / 100 if text.endswith("%") else float(text)))


def _size(found: Mapping[str, str]) -> tuple[float | None, float | None]:
    size, share = None, None
    for name, value in found.items():
        if name == "font-size":
            words = [value]
        elif name == "font":  # [style] [weight] size[/line height] family
            words = [word.partition("/")[0] for word in value.split() if not (word.isdigit() and len(word) == 3)]
        else:
            continue
        for word in words:
            if word in SIZES:
                size, share = SIZES[word], None
            elif word in ("smaller", "larger"):
                size, share = None, 1.0
            elif (length := LENGTH.match(word)) and length.group(1).strip("+-."):
                unit = length.group(2) or "px"
                if unit in RELATIVE:
                    size, share = None, float(length.group(1)) * RELATIVE[unit]
                else:
                    size, share = float(length.group(1)) * PIXELS_OF_UNIT[unit], None
            else:
                continue
            break
    return size, share


def _colors(found: Mapping[str, str]) -> tuple[Color | None, Color | None, Color | None]:
    """Color, fill and background."""
    color = fill = background = None
    picture = False
    if (value := found.get("color", "")) and value not in ("inherit", "unset", "currentcolor"):
        color = parse_color(value)
    if value := found.get("-webkit-text-fill-color", ""):
        fill = parse_color(value)
    for name, value in found.items():
        if name == "background-color":
            background = parse_color(value) or background
        elif name in ("background", "background-image"):
            shows = "url(" in value or "gradient" in value or "var(" in value
            picture = shows or (picture and name == "background" and "none" not in value)
            if name == "background":
                function = COLOR_FUNCTION.search(value) if "(" in value else None
                start = function.start() if function else len(value)
                words = [value[start:], *value[:start].split()]
                background = next((it for word in words if (it := parse_color(word)) is not None), None)
    if picture:
        background = UNKNOWN
    if "text" in (found.get("background-clip"), found.get("-webkit-background-clip")) and picture:
        color = fill = UNKNOWN  # the picture shows through the letters
    return color, fill, background
