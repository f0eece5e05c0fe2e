# cython: language_level=3, annotation_typing=False, boundscheck=True, wraparound=False, initializedcheck=False
"""The stack of open elements of an HTML document, and where their text goes.

Compiled or not, this file is the same (``stack.pxd`` has its C types).
"""

from __future__ import annotations

from typing import Any

from .inheritance import Context, Element
from .sheets import Sheet
from .style import Style
from .tags import CELL, KNOWN, NOWHERE, TABLE, Tag

MAX_DEPTH = 512  # of open elements; those inside are not opened, as in browsers
MAX_FORMATTING = 64  # formatting elements that wait to be opened again
MAX_TITLE = 200  # bytes of a page's title, and of an input field, that are taken for seen
MAX_SAME = 3  # of these, with the same name and attributes

HTML, BODY_TAG, BUTTON, TEXTAREA = KNOWN[b"html"], KNOWN[b"body"], KNOWN[b"button"], KNOWN[b"textarea"]
P, TABLE_TAG, LI = KNOWN[b"p"], KNOWN[b"table"], KNOWN[b"li"]
LISTS = frozenset(["ol", "ul"])


class Stack:
    """The open elements. ``shown`` and ``hidden`` are the text that was read (pieces of bytes, and lists)."""

    def __init__(self, sheet: Sheet, quirks: bool) -> None:
        self.sheet = sheet
        self.quirks = quirks  # a table inside a paragraph ends it not
        self.shown: list[Any] = []
        self.hidden: list[bytes] = []
        self.stack = [Element(tag, {}, b"", self.shown) for tag in (HTML, BODY_TAG)]
        self.inherit_again(0)
        self.top = self.stack[1]
        self.counts = [0] * 200  # MAX_COUNTED
        self.formatting: list[Element | None] = []  # None: what stands before it is not opened again
        self.form_is_open = False
        self.has_content = False  # beside its head

    def add_text(self, piece: bytes, in_head: bool) -> None:
        """Text where the document has come to, or of its head."""
        top = self.top
        self.has_content = self.has_content or not (in_head or piece.isspace())
        if in_head or top.tag is TEXTAREA:
            piece = self.beginning(piece)
        if in_head and len(self.stack) == 2:
            top = self.stack[0]
        else:
            stray = top.in_table and top.tag.holds_rows and not piece.isspace()  # in a table and in none of its cells
            if stray or not (top.in_table and top.tag.holds_rows):
                self.open_formatting_again()
                top = self.top
            if stray and top.tag.holds_rows:
                self.foster(piece)
                return
        if top.into is not None:
            if top.visible:
                top.into.append(piece)
            else:
                self.hidden.append(piece)
                if piece.isspace():  # it parts words all the same
                    last = top.into[len(top.into) - 1] if top.into else None
                    if type(last) is bytes and not last[len(last) - 1 :].isspace():
                        top.into.append(b" ")

    def beginning(self, title: bytes) -> bytes:
        """As much of a title or an input field as a window may show; the rest is hidden."""
        if len(title) <= MAX_TITLE:
            return title
        stop = title.rfind(b" ", 0, MAX_TITLE)
        if stop <= 0:
            stop = MAX_TITLE
            while title[stop] & 0xC0 == 0x80:  # not within a character
                stop -= 1
        self.hidden.append(title[stop:])
        return title[:stop] + b"\n"

    def foster(self, piece: bytes) -> None:
        """Text in a table and in none of its cells."""
        at = self.table_index()
        table, parent = self.stack[at], self.stack[at - 1]
        into = table.before
        if into is not None:
            if parent.visible:
                into.append(piece)
            else:
                self.hidden.append(piece)

    def table_index(self) -> int:
        """Where in the stack the innermost table is; there is one."""
        at = len(self.stack) - 1
        while at > 1:
            element = self.stack[at]
            if element.tag is TABLE_TAG:
                break
            at -= 1
        return at

    def push(self, tag: Tag, attributes: dict[str, str], source: bytes) -> Element | None:
        """Open an element."""
        if len(self.stack) >= MAX_DEPTH:
            return None
        top = parent = self.top
        into = top.into
        fostered = top.in_table and top.tag.holds_rows and not (TABLE <= tag.kind <= CELL)
        if fostered:
            at = self.table_index()
            table, parent = self.stack[at], self.stack[at - 1]
            into = table.before
        element = Element(tag, attributes, source, None if tag.text == NOWHERE else into)
        element.inherit(parent, self.sheet, self.quirks)
        element.in_table = top.in_table and not tag.marker
        if tag is P:
            element.paragraph = len(self.stack)
        elif not (tag.barrier or tag is BUTTON):
            element.paragraph = top.paragraph
        self.has_content = True
        self.counts[tag.number] += 1
        self.stack.append(element)
        self.top = element
        return element

    def pop(self) -> None:
        """Close the innermost element."""
        element = self.stack.pop()
        element.open = False
        self.counts[element.tag.number] -= 1
        self.top = self.stack[len(self.stack) - 1]
        if element.tag.marker:
            while self.formatting and self.formatting.pop() is not None:
                pass

    def pop_to(self, at: int) -> None:
        """Close the element at this index of the stack, and all inside; nothing where there is none (0)."""
        if at > 1:
            while len(self.stack) > at:
                self.pop()

    def find(self, tag: Tag, stops_at_special: bool) -> int:
        """The index of the innermost such element; 0 where another one stands between that bars the way."""
        in_table = TABLE <= tag.kind <= CELL  # its parts are looked for in the innermost table alone
        at = len(self.stack) - 1
        while at > 1:
            element = self.stack[at]
            other = element.tag
            if other is tag:
                return at
            if other is TABLE_TAG if in_table else other.barrier or (stops_at_special and other.special):
                return 0
            if tag is LI and other.name in LISTS:
                return 0
            at -= 1
        return 0

    def remember(self, element: Element) -> None:
        """Formatting is opened again where something else than its own end tag closed it."""
        same = 0
        at = len(self.formatting) - 1
        while at >= 0:
            other = self.formatting[at]
            if other is None:
                break
            if other.tag is element.tag and other.source == element.source:
                same += 1
                if same == MAX_SAME:
                    del self.formatting[at]
                    break
            at -= 1
        if len(self.formatting) >= MAX_FORMATTING:
            del self.formatting[0]
        self.formatting.append(element)

    def open_formatting_again(self) -> None:
        """Open formatting that was closed together with what it stood in."""
        size = at = len(self.formatting)
        while at > 0:
            closed = self.formatting[at - 1]
            if closed is None or closed.open:
                break
            at -= 1
        while at < size:
            closed = self.formatting[at]
            assert closed is not None
            element = self.push(closed.tag, closed.attributes, closed.source)
            if element is None:
                return
            self.formatting[at] = element
            at += 1

    def close(self, element: Element) -> None:
        """An element that left the stack."""
        element.open = False
        self.counts[element.tag.number] -= 1

    def merge(self, element: Element, attributes: dict[str, str]) -> None:
        """Give the page attributes that it has not yet."""
        if attributes:
            element.attributes = {**attributes, **element.attributes}
            element.source = repr(element.attributes).encode()
            self.inherit_again(0)

    def inherit_again(self, at: int) -> None:
        """The styles of the open elements from this one on."""
        if at:
            above = self.stack[at - 1]
        else:
            above = Element(HTML, {}, b"", None)
            above.context = Context(Style(), 0, 0)
        while at < len(self.stack):
            element = self.stack[at]
            element.inherit(above, self.sheet, self.quirks)
            if element.tag is P:
                element.paragraph = at
            elif at and not (element.tag.barrier or element.tag is BUTTON):
                element.paragraph = above.paragraph
            above = element
            at += 1
