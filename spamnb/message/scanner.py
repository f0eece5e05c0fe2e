# cython: language_level=3, annotation_typing=False, boundscheck=True, wraparound=False, initializedcheck=False
"""Where the tags, comments and attributes of an HTML document end, by the standard's tokenization rules.

Compiled or not, this file is the same (``scanner.pxd`` has its C types).
"""

from __future__ import annotations

import re

from .references import resolve_references
from .tags import ENDS_NAME, KIND, SPACE, Tag
from .url_attributes import KINDS, UNSTYLED

# For the letter that an attribute's name begins with: the lengths of the names that matter.
ATTRIBUTES = [*"class id color bgcolor text hidden open link http-equiv dir".split(), *KINDS]
NAMES = {name.encode(): name for name in ATTRIBUTES}
MAX_NAME = 11
LENGTHS = [0] * 256
for _name in ATTRIBUTES:
    for _letter in _name[0] + _name[0].upper():
        LENGTHS[ord(_letter)] |= 1 << len(_name)
NOTHING: dict[str, str] = {}

BEFORE_DOCTYPE = re.compile(rb"(?:\s++|\xef\xbb\xbf|<\?[^>]*+>|<!--(?:[^-]|-(?!->))*+-->)*+")
QUIRKS = re.compile(
    rb"""(?!<!doctype\s++html[\s>])|<!doctype\s++html\s++public\s*+["'](?:-//ietf|-//w3c//dtd\ (?:html\ [23]|w3\ html
    |html\ 4\.0\ (?:tr|fr))|-//w3c//dtd\ html\ 4\.01\ (?:tr|fr)[^"'>]{0,40}["']\s*+>)""",
    re.IGNORECASE | re.VERBOSE,
)


def is_old_page(html: bytes) -> bool:
    """Is it shown as pages of the time before style sheets were (https://html.spec.whatwg.org/#quirks)?

    >>> is_old_page(b"<p>old"), is_old_page(b"<!-- x --><!doctype html><p>new")
    (True, False)
    """
    found = BEFORE_DOCTYPE.match(html)
    return QUIRKS.match(html, found.end() if found else 0) is not None


class Scanner:
    """Finds ends in a document."""

    def __init__(self, html: bytes) -> None:
        self.html = html
        self.size = len(html)
        self.attributes: dict[str, str] = {}  # those that matter of the tag at hand
        self.source = b""  # of those of its attributes that say something of style
        self.may_hold_urls = False  # among them

    def name_end(self, i: int) -> int:
        """Where a tag's name ends that begins there."""
        data = self.html
        size = self.size
        while i < size and not KIND[data[i]] & ENDS_NAME:
            i += 1
        return i

    def comment_end(self, i: int) -> int:
        """Where a comment, or what is read as one, ends whose "!" or "?" stands there."""
        html = self.html
        if html.startswith(b"!--", i):
            if html.startswith((b">", b"->"), i + 3):
                return html.find(b">", i) + 1
            stop = html.find(b"--", i + 3)
            while stop >= 0:
                if html.startswith(b">", stop + 2):
                    return stop + 3
                if html.startswith(b"!>", stop + 2):
                    return stop + 4
                stop = html.find(b"--", stop + 1)
            return self.size
        return self.behind(b">", i)

    def behind(self, what: bytes, i: int) -> int:
        """The end of the next ``what``; that of the document where there is none."""
        stop = self.html.find(what, i)
        return self.size if stop < 0 else stop + len(what)

    def attributes_end(self, i: int) -> int:
        """Where the tag ends whose name ends there, −1 where it does not; fills in ``attributes`` those that matter."""
        data = self.html
        size = self.size
        attributes = None
        source = b""
        self.may_hold_urls = False
        while True:
            while i < size and KIND[data[i]] & ENDS_NAME and data[i] != 62:
                i += 1
            if i >= size:
                return -1
            if data[i] == 62:
                if attributes is None:
                    attributes = NOTHING
                self.attributes = attributes
                self.source = source
                return i + 1
            start = i
            i += 1
            while i < size and not (KIND[data[i]] & ENDS_NAME or data[i] == 61):
                i += 1
            name = None
            if i - start <= MAX_NAME and LENGTHS[data[start]] >> (i - start) & 1:
                name = NAMES.get(data[start:i])
                if name is None:
                    name = NAMES.get(data[start:i].lower())
            while i < size and KIND[data[i]] & SPACE:
                i += 1
            first = last = i
            if i < size and data[i] == 61:
                i += 1
                while i < size and KIND[data[i]] & SPACE:
                    i += 1
                if i < size and (data[i] == 34 or data[i] == 39):
                    first = i + 1
                    quote = data[i]
                    last = first
                    while last < size and data[last] != quote:
                        last += 1
                    if last == size:
                        return -1
                    i = last + 1
                else:
                    first = i
                    while i < size and data[i] != 62 and not KIND[data[i]] & SPACE:
                        i += 1
                    last = i
            if name is not None:
                if attributes is None:
                    attributes = {}
                if name not in attributes:
                    value = data[first:last]
                    if b"&" in value:
                        value = resolve_references(value, True)
                    attributes[name] = value.decode("utf-8", "replace")
                    if name in KINDS and (name != "style" or b"(" in value):
                        self.may_hold_urls = True
                    if name not in UNSTYLED:
                        source = source + b" " + data[start:i] if source else data[start:i]

    def raw_end(self, tag: Tag, at: int) -> int:
        """Where the end tag begins of an element whose text holds no other tags."""
        html = self.html
        name = tag.name.encode()
        while True:
            at = html.find(b"</", at)
            if at < 0:
                return self.size
            stop = at + 2 + len(name)
            if html[at + 2 : stop].lower() == name and (stop == self.size or KIND[html[stop]] & ENDS_NAME):
                return at
            at += 2
