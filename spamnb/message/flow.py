"""How text comes to lie beyond what a box shows: boxes that cut off, and far indents.

Both are undone inside: by what is placed by the page instead of the box, by another indent or the next line.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from .boxes import is_far, is_squeezed
from .css import declared_values

# How a box that cuts off holds what is in it: what the page places (or the window alone, or nothing) escapes.
FREE_OF_BOX, FREE_OF_WINDOW, HELD = 1, 2, 3
PLACED = ("absolute", "fixed", "relative", "sticky")
new_tuple = tuple.__new__


class Flow(NamedTuple):
    """Where text lies: ``displaced`` that on the first line of a block is, as far as ``indent`` says it for those
    inside."""

    hides: bool = False
    cut: int = 0
    indent: bool = False
    displaced: bool = False


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
    _, cut, indent, displaced = above
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
    flow = new_tuple(Flow, (cut > 0 or displaced, cut, indent, displaced))
    return PLAIN if flow == PLAIN else flow


def next_line(flow: Flow) -> Flow:
    """Where text lies behind the first line.

    >>> next_line(Flow(True, 0, True, True))
    Flow(hides=False, cut=0, indent=True, displaced=False)
    """
    _, cut, indent, _ = flow
    return new_tuple(Flow, (cut > 0, cut, indent, False))
