# cython: language_level=3, annotation_typing=False
"""The style that an element's children inherit, and whether text of that style can be seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .boxes import is_squeezed
from .colors import BLACK, BLUE, UNKNOWN, WHITE, Color, over, parse_attribute_color, unreadable
from .css import MEDIUM, NO_CHANGE, change_of, declared_values
from .tags import BLOCK, HEADING, ITEM, KINDS, STYLED, TABLE

TINY_PIXELS = 2.5  # smaller letters count as hidden
MIN_OPACITY = 0.1

INLINE_TAGS = frozenset("""
    a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp small span strike
    strong sub sup time tt u var""".split())
# Of an inline element that holds one of these the background is not painted behind it.
BLOCK_TAGS = frozenset(" ".join([KINDS[BLOCK], KINDS[HEADING], KINDS[ITEM], KINDS[TABLE], "form hr"]).split())
TABLE_TAGS = frozenset("table tbody thead tfoot tr td th caption".split())  # they grow with what they hold
CONTROLS = frozenset(["button", "select", "textarea"])
CONTROL: Color = (239, 239, 239, 1.0)
NOT_SHOWN = frozenset(["audio", "canvas", "datalist", "video"])  # what stands in them is for browsers without them
# A box cuts text off, and what the page places escapes it, or what the window places alone.
FREE_OF_BOX, FREE_OF_WINDOW = 1, 2
PLACED = ("absolute", "fixed", "relative", "sticky")
PAGE_TAGS = ("html", "body")
PRESENTATION = frozenset(["hidden", "bgcolor", "background", "text", "color", "link"])  # attributes that are style
new_tuple = tuple.__new__  # a third of what Style(...) takes


class Style(NamedTuple):
    """Inherited style; ``background`` is UNKNOWN where a picture or a gradient lies under the text."""

    visible: bool = True
    gone: bool = False
    unseen: bool = False
    folded: int = 0
    size: float = MEDIUM
    color: Color = BLACK
    fill: Color | None = None
    background: Color = WHITE
    opacity: float = 1.0
    link: Color = BLUE
    page: Color = BLACK  # the color of the page's text, which tables of old pages have
    under: Color = WHITE  # the background of the innermost element that is not inline
    shadow: Color | None = None  # of letters, or their outline
    cut: int = 0  # by a box: FREE_OF_BOX or FREE_OF_WINDOW


def inherited_style(
    inherited: Style,
    tag: str,
    attributes: Mapping[str, str],
    declared: tuple[str, ...],
    in_closed: bool,
    in_old_table: bool,
) -> Style:
    """The style that an element's children inherit: its attributes change it, the style sheets' declarations, and its
    own. ``in_closed``: it stands directly in a closed ``details``; ``in_old_table``: letters have
    the size and color of the page's."""
    _, gone, unseen, folded, size, color, fill, background, opacity, link, page, under, shadow, cut = inherited
    split = background != under and tag in BLOCK_TAGS
    if not (attributes or declared or in_old_table or split or tag in STYLED or cut):
        return inherited
    if value := attributes.get("style"):
        declared = (*declared, value[:4000])
    if tag == "dialog":
        declared = ("position: absolute; left: 0", *declared)
    found = change_of(declared) if declared else NO_CHANGE
    is_special = in_old_table or split or tag in STYLED or tag in PAGE_TAGS or cut > 0
    if found is NO_CHANGE and not is_special and PRESENTATION.isdisjoint(attributes):
        return inherited  # as most elements with a style do
    if split and found.shape != "inline":
        background = under
    if in_old_table:
        size, color = MEDIUM, page
    if tag in STYLED:
        if tag == "a":
            color = link if "href" in attributes else color
        elif tag == "mark":
            color, background = BLACK, (255, 255, 0, 1.0)
        elif tag in CONTROLS:
            color, fill, background, size = BLACK, None, CONTROL, 13.0
        elif tag in NOT_SHOWN:
            gone = True
        elif tag == "dialog":
            color, background, gone = BLACK, WHITE, gone or "open" not in attributes
        elif tag == "details" and "open" not in attributes:
            folded += 1
        elif tag == "summary" and in_closed:
            folded -= 1
    hidden = "hidden" in attributes
    if value := attributes.get("bgcolor"):
        background = parse_attribute_color(value[:200]) or background
    if attributes.get("background"):
        background = UNKNOWN
    if value := attributes.get("text" if tag == "body" else "color"):
        color = parse_attribute_color(value[:200]) or color
    if tag == "body" and (value := attributes.get("link")):
        link = parse_attribute_color(value[:200]) or link
    if found is not NO_CHANGE:
        gone = gone or found.gone
        hidden = hidden and not found.shape
        if found.lost and not gone:
            gone = _shape(tag, found.shape) == "block"
        unseen = unseen if found.unseen is None else found.unseen
        if found.size is not None:
            size = found.size
        elif found.share is not None:
            size = size * found.share
        color = found.color or color
        fill = found.fill or fill
        background = over(found.background, background) if found.background else background
        opacity *= found.opacity
        shadow = found.shadow or shadow
    if cut or found.cuts:
        cut = _cut(cut, declared, _shape(tag, found.shape))
    if tag in PAGE_TAGS:
        page = color
    if tag not in INLINE_TAGS or found.shape in ("block", "table"):
        under = background
    gone = gone or hidden
    changed = (gone, unseen, folded, size, color, fill, background, opacity, link, page, under, shadow, cut)
    return inherited if changed == inherited[1:] else _style(changed)


def _shape(tag: str, declared: str) -> str:
    return declared or ("inline" if tag in INLINE_TAGS else "table" if tag in TABLE_TAGS else "block")


def _cut(cut: int, declared: tuple[str, ...], shape: str) -> int:
    """Whether a box cuts off an element's text, where ``cut`` says it of the element that it stands in."""
    found = declared_values(declared)
    position = found.get("position", "")
    if position.startswith("fixed" if cut == FREE_OF_WINDOW else ("absolute", "fixed")):
        cut = 0
    if cut or (shape == "block" and is_squeezed(found)):
        cut = max(cut, FREE_OF_WINDOW if position.startswith(PLACED) else FREE_OF_BOX)
    return cut


def _style(inside: tuple[Any, ...]) -> Style:
    """A style, of all but whether its text is seen."""
    gone, unseen, folded, size, color, fill, background, opacity, _, _, _, shadow, cut = inside
    visible = not (gone or unseen or folded > 0 or size < TINY_PIXELS or opacity < MIN_OPACITY or cut)
    if visible and unreadable(fill or color, background, opacity):
        visible = shadow is not None and not unreadable(shadow, background, opacity)
    return new_tuple(Style, (visible, *inside))
