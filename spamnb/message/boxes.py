# cython: language_level=3, annotation_typing=False
"""Boxes that show nothing of what they hold: squeezed, or far beyond the page's edges."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

SMALL_BOX = 3.0  # pixels; of a box that cuts off what is larger, nothing can be read
FAR = 500  # pixels beyond the left or upper edge, and these beyond the others, nobody looks
FAR_RIGHT = 3000
FAR_DOWN = 10_000

LENGTH = re.compile(r"([+-]?[0-9]{0,9}\.?[0-9]{0,9})(?:e[0-9])?\s{0,3}(px|pt|pc|em|rem|ex|ch|%|in|cm|mm|q|vw|vh)?")
PIXELS_OF_UNIT = {
    "px": 1, "pt": 4 / 3, "pc": 16, "em": 16, "rem": 16, "ex": 8, "ch": 8, "in": 96, "cm": 37.8, "mm": 3.78, "q": 0.945,
    "%": 6, "vw": 12, "vh": 8,
}  # fmt: skip
CUTS = ("hidden", "clip", "scroll", "auto")  # values of overflow
PERHAPS_FAR = re.compile(r"[0-9]{3}|-\s?[0-9]{2}")
EDGES = ("top", "right", "bottom", "left")
PLACES = frozenset(["margin", "padding", "inset", *EDGES])
PLACES |= {f"{name}-{edge}" for name in ("margin", "padding") for edge in EDGES}


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


def sides_of(found: Mapping[str, str], name: str) -> list[float]:
    """What is said of the four sides, by one declaration or by one for each."""
    sides = _sides(found.get(name, "")) or [0.0] * 4
    for number, edge in enumerate(EDGES):
        one = edge if name == "inset" else f"{name}-{edge}"
        if one in found:
            sides[number] = length(found[one]) or 0.0
    return sides


def is_moved_away(found: Mapping[str, str]) -> bool:
    """Is it far beyond the edges of the page?

    >>> is_moved_away({"margin-left": "-9999px"}), is_moved_away({"margin-left": "-9px"})
    (True, False)
    """
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
