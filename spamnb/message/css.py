# cython: language_level=3, annotation_typing=False
"""Enough of declarations of style to tell whether text can be seen: display, size, place, and color on background."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import NamedTuple

from .boxes import LENGTH, PIXELS_OF_UNIT, is_box_without_content, is_clipped_away
from .colors import UNKNOWN, Color, parse_color

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
    min-width padding padding-top padding-bottom padding-left padding-right text-indent left top right position float
    font-size font line-height background background-color background-image background-clip -webkit-background-clip
    margin margin-left margin-top clip clip-path -webkit-clip-path transform -webkit-transform scale
    -webkit-text-fill-color""".split())
COLORED = frozenset(["color", "background-color", "-webkit-text-fill-color"])
COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)")
ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|(.))", re.DOTALL)


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


NO_CHANGE = StyleChange()
Declarations = tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]


@functools.lru_cache(maxsize=4096)
def parse_declarations(style: str) -> Declarations:
    """The declarations (in lower case) that matter, and those of them that are important.

    >>> parse_declarations("color: #fff; margin-bottom: 0; font-size: 1px!important; color: unheard-of")
    ((('color', '#fff'),), (('font-size', '1px'),))
    """
    if "/*" in style:
        style = COMMENT.sub(" ", style)
    normal: list[tuple[str, str]] = []
    important: list[tuple[str, str]] = []
    for declaration in style.split(";"):
        name, _, value = declaration.partition(":")
        if "\\" in declaration:
            name, value = unescape(name), unescape(value)
        if (name := name.strip()) not in PROPERTIES:
            continue
        found = normal
        if "!" in value:
            value, _, mark = value.rpartition("!")
            if mark.strip() != "important":
                continue
            found = important
        value = value.strip()
        keyword = value in ("inherit", "unset", "currentcolor")
        if name in COLORED and not keyword and parse_color(value) is None:
            continue  # browsers leave out what they do not understand, and what stood before remains
        if name == "display" and value not in DISPLAYS:
            value = "block" if value.startswith(("table", "ruby", "-", "block", "inline-")) else ""
        if value:
            found.append((name, value))
    return tuple(normal), tuple(important)


def unescape(text: str) -> str:
    r"""A name or value without the escapes of style sheets.

    >>> unescape(r"\64 isp\lay")
    'display'
    """
    return ESCAPE.sub(lambda found: chr(min(int(found[1], 16), 0xFFFF)) if found[1] else found[2], text).lower()


@functools.lru_cache(maxsize=4096)
def change_of(styles: tuple[str, ...]) -> StyleChange:
    """What lists of declarations change, the strongest last.

    >>> change_of(("color: red; display: none", "display: block")).gone
    False
    """
    parsed = [parse_declarations(style) for style in styles]
    found: dict[str, str] = {}
    for number in range(2):
        for declarations in parsed:
            for name, value in declarations[number]:
                found.pop(name, None)  # what comes later is read later
                found[name] = value
    if not found:
        return NO_CHANGE
    change = StyleChange(
        found.get("display") == "none" or is_clipped_away(found), is_box_without_content(found),
        _shape(found), _unseen(found), *_size(found), *_colors(found), _opacity(found),
    )  # fmt: skip
    return NO_CHANGE if change == NO_CHANGE else change


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
                start = max(value.find("rgb"), value.find("hsl"))
                words = [value[start:], *value[:start].split()] if start >= 0 else value.split()
                background = next((it for word in words if (it := parse_color(word)) is not None), None)
    if picture:
        background = UNKNOWN
    if "text" in (found.get("background-clip"), found.get("-webkit-background-clip")) and picture:
        color = fill = UNKNOWN  # the picture shows through the letters
    return color, fill, background
