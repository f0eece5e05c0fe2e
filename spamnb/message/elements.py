# cython: language_level=3, annotation_typing=False, boundscheck=True, wraparound=False, initializedcheck=False
"""What start tags and end tags of HTML open and close.

What the HTML standard's tree construction does to the place and the style of text is done on a stack, without a tree:
implied end tags, formatting that is opened again in the next paragraph, text that stands between the cells of a table
(https://html.spec.whatwg.org/#parsing). Compiled or not, this file is the same (``elements.pxd`` has its C types).
"""

from __future__ import annotations

from typing import Any

from .stack import Stack
from .tags import (
    BLOCK,
    BODY,
    CELL,
    FORM,
    FORMATTING,
    HEADING,
    IGNORED,
    ITEM,
    KNOWN,
    OPTION,
    ORDINARY,
    ROW,
    ROWS,
    TABLE,
    VOID,
    Tag,
)  # fmt: skip

BODY_TAG, BUTTON, TABLE_TAG, P, LI = (KNOWN[name] for name in (b"body", b"button", b"table", b"p", b"li"))
FRAMESET, A, NOBR, DD, DT = KNOWN[b"frameset"], KNOWN[b"a"], KNOWN[b"nobr"], KNOWN[b"dd"], KNOWN[b"dt"]
ITEMS_INSIDE = frozenset(["address", "div", "p"])  # do not keep an item from being ended by the next


class OpenElements(Stack):
    """The open elements, as tags open and close them."""

    def start(self, tag: Tag, attributes: dict[str, str], source: bytes) -> bool:
        """A start tag; whether it makes an element."""
        kind = tag.kind
        if kind in (VOID, IGNORED):
            if tag is FRAMESET and not self.has_content:
                body = self.stack[1]
                body.into = None  # of such a page frames are shown, and none of its text
            return True
        if kind in (TABLE, ROWS, ROW, CELL):
            return self.start_of_table(tag, attributes, source)
        if kind == BODY:
            self.merge(self.stack[1 if tag is BODY_TAG else 0], attributes)
            return True
        if kind == BLOCK:
            self.end_paragraph()
        elif kind == HEADING:
            self.end_paragraph()
            if self.top.tag.kind == HEADING:
                self.pop()
        elif kind == ITEM:
            self.end_item(tag)
            self.end_paragraph()
        elif kind == FORM:
            if self.form_is_open:
                return False
            self.form_is_open = True
            self.end_paragraph()
            if self.top.in_table:
                return True
        elif kind == OPTION:
            while self.top.tag.kind == OPTION and (self.top.tag is tag or tag.name == "optgroup"):
                self.pop()
        elif kind == FORMATTING and (tag is A or tag is NOBR) and self.counts[tag.number]:
            self.end_formatting(tag)
        elif tag is BUTTON and self.counts[tag.number]:
            self.pop_to(self.find(tag, False))
        if kind != BLOCK and kind != HEADING and kind != ITEM:
            self.open_formatting_again()
        element = self.push(tag, attributes, source)
        if element is not None:
            if kind == FORMATTING:
                self.remember(element)
            elif tag.marker:
                self.formatting.append(None)
        return True

    def start_of_table(self, tag: Tag, attributes: dict[str, str], source: bytes) -> bool:
        """A table or one of its parts; the latter say nothing outside of one."""
        kind = tag.kind
        if kind == TABLE:
            if self.top.in_table:
                self.pop_to(self.table_index())
            elif not self.quirks:
                self.end_paragraph()
            parent = self.top
            element = self.push(tag, attributes, source)
            if element is not None:
                element.in_table = True
                if parent.into is not None:
                    element.before = []
                    # What is shown before the table stands before it in the text.
                    parent.into.append(element.before)
            return True
        if not self.counts[TABLE_TAG.number]:
            return False
        while self.top.tag is not TABLE_TAG and not (
            (kind >= ROW and self.top.tag.kind == ROWS and self.top.tag.holds_rows)
            or (kind == CELL and self.top.tag.kind == ROW)
        ):
            if len(self.stack) == 2:
                return False
            self.pop()
        element = self.push(tag, attributes, source)
        if element is not None:
            element.in_table = tag.holds_rows or tag.name == "colgroup"
            if tag.marker:
                self.formatting.append(None)
        return True

    def end_paragraph(self) -> None:
        """What begins ends an open paragraph."""
        self.pop_to(self.top.paragraph)

    def end_item(self, tag: Tag) -> None:
        """An item begins: the one before it ends."""
        if not (self.counts[tag.number] or (tag is not LI and (self.counts[DD.number] or self.counts[DT.number]))):
            return
        at = len(self.stack) - 1
        while at > 1:
            element = self.stack[at]
            other = element.tag
            if other is tag or (tag is not LI and (other is DD or other is DT)):
                self.pop_to(at)
                return
            if other.special and other.name not in ITEMS_INSIDE:
                return
            at -= 1

    def end(self, tag: Tag) -> None:
        """An end tag."""
        kind = tag.kind
        if kind == FORMATTING:
            self.end_formatting(tag)
        elif kind in (BODY, VOID):
            pass
        elif kind == HEADING:
            at = len(self.stack) - 1
            while at > 1:
                element = self.stack[at]
                if element.tag.barrier:
                    return
                if element.tag.kind == HEADING:
                    self.pop_to(at)
                    return
                at -= 1
        elif kind == FORM:
            self.form_is_open = False
            if self.counts[tag.number] and (at := self.find(tag, False)):
                if at == len(self.stack) - 1:
                    self.pop()
                else:  # it alone is closed
                    element = self.stack.pop(at)
                    self.close(element)
                    self.inherit_again(at)
        elif tag is P:
            self.end_paragraph()
        elif self.counts[tag.number]:
            self.pop_to(self.find(tag, kind in (ORDINARY, OPTION)))

    def end_formatting(self, tag: Tag) -> None:
        """The end tag of a formatting element, which may have blocks inside (the standard's adoption agency)."""
        number = len(self.formatting) - 1
        element = None
        while number >= 0:
            element = self.formatting[number]
            if element is None or element.tag is tag:
                break
            number -= 1
        if number < 0 or element is None:
            if self.counts[tag.number]:
                self.pop_to(self.find(tag, True))
            return
        del self.formatting[number]
        if not element.open:
            return
        at = len(self.stack) - 1
        block = 0
        other = self.stack[at]
        while other is not element:
            if other.tag.barrier:
                self.formatting.insert(number, element)
                return
            if other.tag.special:
                block = at
            at -= 1
            other = self.stack[at]
        if not block:
            self.pop_to(at)
            return
        # Blocks inside stay open, without the formatting; so does formatting between that is not ended.
        while not self.top.tag.special:
            self.pop()
        inside = self.stack[at + 1 :]
        del self.stack[at:]
        self.close(element)
        for other in inside:
            if other.tag.special or other in self.formatting:
                self.stack.append(other)
            else:
                self.close(other)
        self.top = self.stack[len(self.stack) - 1]
        self.inherit_again(at)


def flat(pieces: list[Any]) -> bytes:
    """The text in a list of pieces and lists."""
    out: list[bytes] = []
    left = [iter(pieces)]
    while left:
        for piece in left[len(left) - 1]:
            if type(piece) is list:
                left.append(iter(piece))
                break
            out.append(piece)
        else:
            left.pop()
    return b"".join(out)
