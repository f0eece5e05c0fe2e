# cython: language_level=3, annotation_typing=False, boundscheck=True, wraparound=False, initializedcheck=False
"""An open element of an HTML document, and what it inherits from the one that it stands in.

Compiled or not, this file is the same (``inheritance.pxd`` has its C types).
"""

from __future__ import annotations

from typing import Any

from .css import MEDIUM
from .sheets import Sheet
from .style import Style, inherited_style
from .tags import KNOWN, Tag

TABLE_TAG, DETAILS, SUMMARY = KNOWN[b"table"], KNOWN[b"details"], KNOWN[b"summary"]


class Context:
    """What elements inside inherit: a style, and the states of selectors that those around them have reached."""

    def __init__(self, style: Style, around: int, parent: int) -> None:
        self.style = style
        # Blocks inside have another background, or another place.
        self.is_split = style.background != style.under or style.cut > 0
        self.around = around  # of selectors: of all elements up to here, and of the innermost alone
        self.parent = parent
        self.derived: dict[Any, Context] = {}  # by what elements inside are told apart by


NO_CONTEXT = Context(Style(), 0, 0)


class Element:
    """An open element: its own attributes, what its text inherits, and the list that its text goes into."""

    def __init__(self, tag: Tag, attributes: dict[str, str], source: bytes, into: list[Any] | None) -> None:
        self.tag = tag
        self.attributes = attributes
        self.source = source  # of those attributes that say something of style
        self.into = into
        self.before: list[Any] | None = None  # of a table: what stands in it and is shown before it
        self.in_table = False  # and in none of its cells
        self.paragraph = 0  # where in the stack the paragraph is that a block ends here
        self.open = True
        self.context = NO_CONTEXT
        self.visible = True

    def inherit(self, parent: Element, sheet: Sheet, quirks: bool) -> None:
        """The style of its parent, changed as the style sheets and its attributes say."""
        above = parent.context
        tag = self.tag
        index = sheet.index
        in_old_table = False  # there letters have the page's size and color
        if quirks and tag is TABLE_TAG:
            in_old_table = above.style.size != MEDIUM or above.style.color != above.style.page
        is_special = tag.styled or in_old_table or index.by_parent or (above.is_split and tag.special)
        if not (self.source or is_special or index.by_any or tag.name in index.tags):
            self.context, self.visible = above, parent.visible
            return
        attributes = self.attributes
        key: Any = (tag, self.source)  # what has no room hides a paragraph, and not the cell of a table
        if is_special:
            in_closed = tag is SUMMARY and parent.tag is DETAILS and "open" not in parent.attributes
            key = (key, "href" in attributes, in_closed)
        found = above.derived.get(key)
        if found is None:
            sheet.styles_left -= 1
            if sheet.styles_left < 0:  # as MAX_STYLES of one message say
                sheet.cut = True
                found = above
            else:
                found = above.derived[key] = self.derived_from(parent, sheet, in_old_table)
        self.context = found
        self.visible = found.style.visible

    def derived_from(self, parent: Element, sheet: Sheet, in_old_table: bool) -> Context:
        """What elements in it inherit."""
        above = parent.context
        tag = self.tag
        declared: tuple[str, ...] = ()
        reached = 0
        index = sheet.index
        if index.by_key:
            declared, reached = sheet.match(tag.name, self.attributes, (above.around, above.parent))
        in_closed = tag is SUMMARY and parent.tag is DETAILS and "open" not in parent.attributes
        style = inherited_style(above.style, tag.name, self.attributes, declared, in_closed, in_old_table)
        around = above.around | (reached & index.masks[0])
        own = reached & index.masks[1]
        if style is above.style and around == above.around and own == above.parent:
            return above
        contexts = sheet.contexts
        key = (style, around, own)
        context = contexts.get(key)
        if context is None:
            context = contexts[key] = Context(style, around, own)
        return context
