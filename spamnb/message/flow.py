"""How text comes to lie beyond what a box shows: boxes that cut off, far indents, lines without height.

All three are undone inside: by what is placed by the page instead of the box, by another indent or the next line, by
another line height.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import NamedTuple

from .boxes import SMALL_BOX, cuts_off, is_far, is_flat, is_squeezed, length, sides_of
from .css import declared_values

# How a box that cuts off holds what is in it: what the page places (or the window alone, or nothing) escapes.
FREE_OF_BOX, FREE_OF_WINDOW, HELD = 1, 2, 3
# Lines of no height, and those in a box that is as high as they are and cuts off.
FLAT, FLAT_BOX = 1, 2
PLACED = ("absolute", "fixed", "relative", "sticky")
# Elements with margins of their own, above and below.
WITH_MARGINS = frozenset("blockquote dl figure h1 h2 h3 h4 h5 h6 ol p pre ul".split())
new_tuple = tuple.__new__


class Flow(NamedTuple):
    """Where text lies: ``displaced`` that on the first line of a block is, as far as ``indent`` says it for those
    inside."""

    hides: bool = False
    cut: int = 0
    indent: bool = False
    displaced: bool = False
    line: int = 0


PLAIN = Flow()


@functools.lru_cache(maxsize=1024)
def flow_inside(above: Flow, styles: tuple[str, ...], tag: str, shape: str) -> Flow:
    """Where the text of an element lies that stands in another one; ``shape`` is "block", "inline" or "table".

    >>> flow_inside(PLAIN, ("height: 0; overflow: hidden",), "div", "block").hides
    True
    >>> flow_inside(Flow(True, FREE_OF_BOX), ("position: absolute",), "p", "block").hides
    False
    """
    found = declared_values(styles)
    _, cut, indent, displaced, line = above
    position = found.get("position", "")
    if cut < HELD and position.startswith("fixed" if cut == FREE_OF_WINDOW else ("absolute", "fixed")):
        cut = 0
    holds = FREE_OF_WINDOW if position.startswith(PLACED) else FREE_OF_BOX
    if cut or (shape == "block" and is_squeezed(found)):
        cut = max(cut, holds)
    if "text-indent" in found:
        indent = is_far(found)
    elif tag == "table":
        indent = False
    if found.get("display", "").startswith("inline-"):
        if displaced:  # with all that is in it
            cut = HELD
        displaced = indent
    elif shape != "inline":
        displaced = indent
    flat = is_flat(found, line > 0)
    if not flat:
        line = 0
    elif shape == "block" and (line == FLAT_BOX or cuts_off(found)) and _height(found, tag) <= SMALL_BOX:
        line = FLAT_BOX
    elif line != FLAT_BOX or shape == "block":
        line = FLAT
    hides = cut > 0 or displaced or line == FLAT_BOX
    flow = new_tuple(Flow, (hides, cut, indent, displaced, line))
    return PLAIN if flow == PLAIN else flow


def _height(found: Mapping[str, str], tag: str) -> float:
    """The height that a box has beside its lines."""
    sides = sides_of(found, "padding")
    high = sides[0] + sides[2] + max([length(found.get(name, "")) or 0.0 for name in ("height", "min-height")])
    if not cuts_off(found):  # margins count in a box around
        sides = sides_of(found, "margin")
        has_own = tag in WITH_MARGINS and "margin" not in found and "margin-top" not in found
        high += max(16.0 if has_own else sides[0], 0.0)
    return high


def next_line(flow: Flow) -> Flow:
    """Where text lies behind the first line.

    >>> next_line(Flow(True, 0, True, True, 0))
    Flow(hides=False, cut=0, indent=True, displaced=False, line=0)
    """
    _, cut, indent, _, line = flow
    return new_tuple(Flow, (cut > 0 or line == FLAT_BOX, cut, indent, False, line))
