# cython: language_level=3, annotation_typing=False
"""Boxes that show nothing of what they hold: squeezed, clipped, scaled to nothing, or far beyond the page's edges."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from .colors import is_clear

SMALL_BOX = 3.0  # pixels; of a box that cuts off what is larger, nothing can be read
FAR = 500  # pixels beyond the left or upper edge, and these beyond the others, nobody looks
FAR_RIGHT = 3000
FAR_DOWN = 10_000

LENGTH = re.compile(r"([+-]?[0-9]{0,9}\.?[0-9]{0,9})(?:e[0-9])?\s{0,3}(px|pt|pc|em|rem|ex|ch|%|in|cm|mm|q|vw|vh)?")
PIXELS_OF_UNIT = {
    "px": 1, "pt": 4 / 3, "pc": 16, "em": 16, "rem": 16, "ex": 8, "ch": 8, "in": 96, "cm": 37.8, "mm": 3.78, "q": 0.945,
    "%": 6, "vw": 12, "vh": 8,
}  # fmt: skip
SCALED_TO_NOTHING = re.compile(
    r"scale[xy3d]{0,2}\(\s{0,3}(?:[^(),]{1,9},\s{0,3})?0?(?:\.0[0-9]{0,9}|\.)?\s{0,3}[,)]|matrix\(\s{0,3}0?(?:\.0+)?\s{0,3},"
    r"|rotate[xy]\(\s{0,3}-?(?:90|270)deg"  # seen from its edge
)
MOVED_AWAY = re.compile(r"translate[xy3d]{0,2}\([^()-]{0,20}-\s?([0-9]{3,9})(px|%)?")
CLIPPED_TO_NOTHING = re.compile(
    r"circle\(\s{0,3}0(?:\.0{0,9})?(?:px|%)?[\s)]|polygon\([^(),]{0,40}(?:,[^(),]{0,40})?\)"  # no point, line or circle
)
CLIPPED_BY_SHARES = re.compile(r"inset\(([^()]{1,80})\)")
FADED = re.compile(r"opacity\(\s{0,3}(?:0?(?:\.0[0-9]{0,9})?|[0-9](?:\.[0-9]{1,9})?%)\s{0,3}\)")
CUTS = ("hidden", "clip", "scroll", "auto")  # values of overflow
PERHAPS_FAR = re.compile(r"[0-9]{3}|-\s?[0-9]{2}")
MASKS = ("mask", "mask-image", "-webkit-mask", "-webkit-mask-image")
EDGES = ("top", "right", "bottom", "left")
PLACES = frozenset(["margin", "padding", "inset", *EDGES])
PLACES |= {f"{name}-{edge}" for name in ("margin", "padding") for edge in EDGES}


def is_box_without_content(found: Mapping[str, str]) -> bool:
    """Do these declarations leave nothing to be seen of a box and of all that is in it?

    >>> is_box_without_content({"margin-left": "-9999px"}), is_box_without_content({"margin-left": "-9px"})
    (True, False)
    """
    if found.get("content-visibility") == "hidden":
        return True
    return _is_moved_away(found) or _is_transformed_away(found)


def _lengths(text: str) -> list[float | None]:
    return [length(word) for word in text.split()[:4]]


def _sides(text: str) -> list[float]:
    """Lengths of the four sides: top, right, bottom, left; empty where there are none."""
    found = [size or 0.0 for size in _lengths(text)]
    given = len(found)
    if 0 < given < 4:  # as the opposite side
        found += [found[0], found[0], found[min(1, given - 1)]][given - 1 :]
    return found


@functools.lru_cache(maxsize=2048)
def length(text: str) -> float | None:
    """A length in pixels, taking 16 for a letter's height and 600 for the page's width; None where there is none.

    >>> length("2em"), length("-9999px"), length("auto"), length("3auto")
    (32.0, -9999.0, None, None)
    """
    found = LENGTH.match(text)
    if not found or not found.group(1).strip("+-.") or text[found.end() : found.end() + 1].isalpha():
        return None
    return float(found.group(1)) * PIXELS_OF_UNIT[found.group(2) or "px"]


def _is_masked(found: Mapping[str, str]) -> bool:
    """Does a mask let nothing through?"""
    for name in MASKS:
        if value := found.get(name):
            size = found.get(name.removesuffix("-image") + "-size") or value.partition("/")[2] * ("(" in value)
            if is_clear(value) or (_lengths(size) or [None])[0] == 0.0:
                return True
    return False


def cuts_off(found: Mapping[str, str]) -> bool:
    """Does a box cut off what is larger?"""
    return any([found.get(name, "").startswith(CUTS) for name in ("overflow", "overflow-x", "overflow-y")])


def is_squeezed(found: Mapping[str, str]) -> bool:
    """Is what it holds cut off by a box of hardly any height or width?

    >>> is_squeezed({"max-height": "0", "overflow": "hidden"}), is_squeezed({"height": "0"})
    (True, False)
    """
    if not cuts_off(found):
        return False
    padding = sides_of(found, "padding")
    for side, edges in (("height", (0, 2)), ("width", (1, 3))):
        values = [found.get(name, "") for name in (side, "max-" + side)]
        if side == "height":  # a share of a height that is not set is none
            values = [value for value in values if "%" not in value]
        sizes = [size for value in values if (size := length(value)) is not None]
        if not sizes or min(sizes) > SMALL_BOX:
            continue
        room = length(found.get("min-" + side, "")) or 0.0
        if room + sum([padding[edge] for edge in edges]) <= SMALL_BOX:
            return True
    return False


def begins_flow(found: Mapping[str, str]) -> bool:
    """Do these declarations place text where it is not seen?

    >>> begins_flow({"height": "0", "overflow": "hidden"}), begins_flow({"text-indent": "2em"})
    (True, False)
    """
    return is_squeezed(found) or is_far(found) or is_flat(found, False)


def is_far(found: Mapping[str, str]) -> bool:
    """Does the first line begin beyond the page's edges?"""
    value = found.get("text-indent", "")
    indent = length(value) or 0.0
    across = "%" in value and indent >= 100 * PIXELS_OF_UNIT["%"]
    return indent <= -FAR or indent >= FAR_RIGHT or (across and cuts_off(found))


def is_flat(found: Mapping[str, str], flat: bool) -> bool:
    """Has a line no height? ``flat``: those around have none."""
    for name, value in found.items():
        if name == "line-height" and value not in ("inherit", "unset"):
            size = length(value)
            flat = size is not None and size < 0.1
        elif name == "font" and value not in ("inherit", "unset"):
            flat = "/0" in value.replace(" ", "")
    return flat


def sides_of(found: Mapping[str, str], name: str) -> list[float]:
    """What is said of the four sides, by one declaration or by one for each."""
    sides = _sides(found.get(name, "")) or [0.0] * 4
    for number, edge in enumerate(EDGES):
        one = edge if name == "inset" else f"{name}-{edge}"
        if one in found:
            sides[number] = length(found[one]) or 0.0
    return sides


def _is_moved_away(found: Mapping[str, str]) -> bool:
    """Is it far beyond the edges of the page?"""
    if not any([name in PLACES and PERHAPS_FAR.search(value) for name, value in found.items()]):
        return False
    margins, paddings, place = [sides_of(found, name) for name in ("margin", "padding", "inset")]
    top, left = margins[0] + paddings[0], margins[3] + paddings[3]
    if min(margins[0], margins[3]) <= -FAR or top >= FAR_DOWN or left >= FAR_RIGHT:
        return True
    if not found.get("position", "static").startswith(("absolute", "fixed", "relative")):
        return False
    top, right, bottom, left = place
    if _is_given(found, "left", 3):  # it wins over what is said of the opposite edge
        right = 0.0
    if _is_given(found, "top", 0):
        bottom = 0.0
    return min(top, left, right) <= -FAR or max(left, right, bottom) >= FAR_RIGHT or top >= FAR_DOWN


def _is_given(found: Mapping[str, str], edge: str, number: int) -> bool:
    """Is it said how far this edge is from that of the page?"""
    if edge in found:
        return length(found[edge]) is not None
    words = found.get("inset", "").split()[:4]
    if number >= len(words):  # as the opposite edge, or all
        number = int(number == 3 and len(words) > 1)
    return bool(words) and length(words[number]) is not None


def _is_transformed_away(found: Mapping[str, str]) -> bool:
    if "scale" in found and all(it is not None and it < 0.1 for it in _lengths(found["scale"])):
        return True
    if any((size or 0) <= -FAR for size in _lengths(found.get("translate", ""))):
        return True
    value = found.get("transform") or found.get("-webkit-transform", "")
    moved = MOVED_AWAY.search(value)
    return SCALED_TO_NOTHING.search(value) is not None or (moved is not None and int(moved.group(1)) >= FAR)


def is_clipped_away(found: Mapping[str, str]) -> bool:
    """Is all of it clipped away, a box or not?

    >>> is_clipped_away({"clip": "rect(0 0 0 0)", "position": "absolute"})
    True
    """
    if FADED.search(found.get("filter", "")) or 0 <= (length(found.get("zoom", "")) or 1.0) < 0.1:
        return True
    shape = found.get("clip-path") or found.get("-webkit-clip-path", "")
    if CLIPPED_TO_NOTHING.match(shape):
        return True
    if (inset := CLIPPED_BY_SHARES.match(shape)) and (shares := _sides(inset.group(1).partition("round")[0])):
        whole = 100 * PIXELS_OF_UNIT["%"] if "%" in shape else FAR
        if shares[0] + shares[2] >= whole or shares[1] + shares[3] >= whole:
            return True
    if _is_masked(found):
        return True
    clip = found.get("clip", "")
    if not clip.startswith("rect(") or not found.get("position", "").startswith(("absolute", "fixed")):
        return False
    edges = _lengths(clip[5:].rstrip(")").replace(",", " "))
    if len(edges) < 4:
        return False
    top, right, bottom, left = edges
    high = None if bottom is None else bottom - (top or 0)
    wide = None if right is None else right - (left or 0)
    return (high is not None and high <= SMALL_BOX) or (wide is not None and wide <= SMALL_BOX)
