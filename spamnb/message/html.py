# cython: language_level=3, annotation_typing=False, boundscheck=True, wraparound=False, initializedcheck=False
"""HTML → what its reader sees, what he does not see, and the facts of its structure that betray a sender.

One pass over the bytes by the HTML standard's tokenization rules; ``elements.py`` knows what is open
(docs/experiments.md#one-pass-over-html). Compiled or not, this file is the same, and ``html.pxd`` has its C types
(docs/experiments.md#one-source-compiled).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from .elements import OpenElements, flat
from .link_mismatch import is_link_mismatch
from .references import resolve_references
from .scanner import Scanner, is_old_page
from .sheets import Sheet
from .tags import (
    FACTS,
    KIND,
    KNOWN,
    LETTER,
    NORMAL,
    NOWHERE,
    RAW,
    REFERENCES,
    REST,
    SHOWN_RAW,
    SPACE,
    UNKNOWN,
    Tag,
)
from .url_attributes import FORMS, KINDS, LINKS, MAX_URLS, add_url, urls_of

MAX_TAGS = 50_000  # in one message; 40 times what one of 391 phishing messages has at most
TAIL = 8192  # bytes of the end of what has more, which are read too
MAX_LINK_TEXT = 300  # bytes of a link's text that are compared with where it leads
MAX_EMPTY_PAIR = 200  # bytes of the first tag of an empty pair

META_CHARSET = re.compile(rb"charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
NAMES_INSIDE = re.compile(rb"<([a-z][a-z0-9]*)", re.IGNORECASE)


class Html(NamedTuple):
    """What one HTML part says, and its number of tags."""

    text: str
    hidden: str
    links: list[str]
    images: list[str]
    forms: list[str]
    facts: set[str]
    tags: int


def read_html(html: bytes, truncations: list[str], before: Sequence[Html] = ()) -> Html:
    """Visible and hidden text, URLs and structural facts of ``html`` (UTF-8); ``before`` are the message's earlier HTML
    parts, which the bounds include.

    >>> page = read_html(b"<p>V<b></b>iagra<br><a href=http://a.example>here</a><i style='display:none'>zq</i>", [])
    >>> page.text, page.hidden, page.links, sorted(page.facts)
    ('Viagra\\nhere', 'zq', ['http://a.example'],
     ['hidden', 'tag-split', 'tag:a', 'tag:b', 'tag:br', 'tag:i', 'tag:p'])
    """
    html = html.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\0", b"")
    reader = Reader(html, MAX_TAGS - sum([page.tags for page in before]))
    reader.read()
    if reader.cut_tags:
        truncations.append(f"HTML after {MAX_TAGS} tags")
    if reader.cut_urls:
        truncations.append(f"HTML's links between the first {MAX_URLS // 2} and the last")
    if reader.sheet.cut:
        truncations.append("HTML's style sheets beyond their bounds")
    elements = reader.elements
    text = flat(elements.shown).decode("utf-8", "replace")
    hidden = b"".join(elements.hidden).decode("utf-8", "replace")
    hidden = "" if hidden.isspace() else hidden.replace("\r", "\n")
    facts = reader.facts
    if hidden:
        facts.add("hidden")
    if reader.mismatch:
        facts.add("link-mismatch")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return Html(text, hidden, reader.links, reader.images, reader.forms, facts, reader.tags)


def declared_charset(octets: bytes) -> str:
    """The charset that a document's ``meta`` element declares, as far as it matters: ISO 2022 is ASCII with escapes."""
    found = None if octets.isascii() and b"\x1b" not in octets else META_CHARSET.search(octets, 0, 2048)
    return found.group(1).decode("ascii") if found else ""


class Reader(Scanner):
    """One pass over a document."""

    def __init__(self, html: bytes, max_tags: int) -> None:
        super().__init__(html)
        low = html.lower()
        old = is_old_page(html)
        self.sheet = Sheet(html, low, old)
        self.elements = OpenElements(self.sheet, old)
        self.known: dict[bytes, Tag] = {}
        self.met: set[Tag] = set()
        self.facts: set[str] = set()
        self.links: list[str] = []
        self.images: list[str] = []
        self.forms: list[str] = []
        self.max_tags = max_tags
        self.tags = 0
        self.begun = False  # blanks before the page are none of its text
        self.reference = -1  # where the next one may be
        self.linked = ""  # the host that the link at hand leads to
        self.link_text: list[bytes] = []
        self.link_left = 0
        self.mismatch = self.cut_tags = self.cut_urls = False
        self.in_title = False
        # The colours of the page are those of all that stands in it, before them too.
        body = low.find(b"<body")
        in_comment = body >= 0 and low.rfind(b"<!--", 0, body) > low.rfind(b"-->", 0, body)
        if body >= 0 and not in_comment and self.attributes_end(body + 5) >= 0:
            self.elements.start(KNOWN[b"body"], self.attributes, self.source)

    def read(self) -> None:
        """Read it all."""
        html = self.html
        data = html
        size = self.size
        at = search = 0  # where text begins, and from where on a tag is looked for
        opened = opened_end = -1  # the start tag before
        opened_tag = None
        while True:
            if self.tags >= self.max_tags:
                self.max_tags = self.tags + size
                tail = max(html.find(b"<", max(0, size - TAIL)), size - TAIL)
                if tail > search:
                    self.cut_tags = True
                    at = search = tail
            found = html.find(b"<", search)
            if found < 0:
                break
            i = found + 1
            if i >= size:
                break
            is_end = data[i] == 47
            if is_end:
                i += 1
                if i >= size:
                    break
            if KIND[data[i]] & LETTER:
                stop = self.name_end(i)
                tag = self.known.get(data[i:stop])
                if tag is None:
                    tag = self.tag_of(data[i:stop])
                end = self.attributes_end(stop)
                self.tags += 1
                self.text_before(at, found, tag)
                if end < 0:
                    at = size  # a tag that never ends is no tag
                    break
                if is_end:
                    at = end
                    is_pair = tag is opened_tag and opened_end == found and end == stop + 1 and end < size
                    if is_pair and opened > 0 and found - 1 - opened <= MAX_EMPTY_PAIR:
                        is_pair = KIND[data[opened - 1]] & KIND[data[end]] & LETTER != 0
                        if is_pair:
                            self.facts.add("tag-split")
                    if tag.name == "a":
                        self.end_link()
                    self.elements.end(tag)
                else:
                    at = self.start(tag, end)
                    opened, opened_end, opened_tag = found, end, tag
            elif is_end:
                self.text_before(at, found, None)
                at = self.behind(b">", i)
            elif data[i] == 33 or data[i] == 63:
                self.text_before(at, found, None)
                at = self.comment_end(i)
                self.skip(found, at)
                if data[i] == 33 and found > 0 and at < size and KIND[data[found - 1]] & KIND[data[at]] & LETTER:
                    self.facts.add("comment-split")
            else:
                search = i
                continue
            search = at
        if at < size and self.tags < self.max_tags:
            self.text_before(at, size, None)
        self.end_link()
        self.facts.update([FACTS.get(tag.name, UNKNOWN) for tag in self.met])

    def tag_of(self, name: bytes) -> Tag:
        """What is known of the elements of this name."""
        low = name.lower()
        tag = KNOWN.get(low) or self.known.get(low)
        if tag is None:
            tag = Tag(low.decode("utf-8", "replace"), len(KNOWN) + len(self.known))
            self.known[low] = tag
        self.known[name] = tag
        return tag

    def skip(self, start: int, stop: int) -> None:
        """What is not shown: of the tags in it only the names count."""
        if self.html.find(b"<", start + 1, stop) >= 0:
            for name in set(NAMES_INSIDE.findall(self.html, start + 1, stop)):
                self.facts.add(FACTS.get(name.lower().decode(), UNKNOWN))

    def text_before(self, start: int, stop: int, tag: Tag | None) -> None:
        """The text that ends where ``tag`` begins."""
        html = self.html
        data = html
        breaks = tag is not None and tag.ends_word and (
            stop == 0 or not (KIND[data[stop - 1]] & SPACE or data[stop - 1] == 11)
        )
        if start < stop:
            piece = data[start:stop]
            if self.reference < start:
                self.reference = html.find(b"&", start)
                if self.reference < 0:
                    self.reference = self.size
            if self.reference < stop:
                piece = resolve_references(piece, False)
            if breaks:
                piece += b"\n"
        elif breaks:
            piece = b"\n"
        else:
            return
        if not self.begun:
            piece = piece.lstrip()
            if not piece:
                return
            self.begun = True
        if self.link_left > 0:
            self.link_text.append(piece)
            self.link_left -= len(piece)
        self.elements.add_text(piece, self.in_title)

    def start(self, tag: Tag, at: int) -> int:
        """A start tag that ends there; returns from where on to read."""
        attributes = self.attributes
        self.met.add(tag)
        if not self.begun and tag.name != "html":
            self.begun = True
        if tag.text == NORMAL or tag.text == NOWHERE:
            shown = self.elements.start(tag, attributes, self.source)
            if shown and self.may_hold_urls:
                self.collect(tag, attributes)
            return at
        if tag.text == REST:
            self.text_before(at, self.size, None)
            return self.size
        if self.may_hold_urls:
            self.collect(tag, attributes)
        # The text of these ends with their end tag alone.
        stop = self.raw_end(tag, at)
        if tag.text == REFERENCES or tag.name in SHOWN_RAW:
            self.in_title = tag.name == "title"
            if not self.in_title:
                self.elements.start(tag, attributes, self.source)
            self.text_before(at, stop, None)
            self.in_title = False
            self.elements.end(tag)
        elif tag.text == RAW:
            self.skip(at, stop)
        return stop

    def collect(self, tag: Tag, attributes: dict[str, str]) -> None:
        """The URLs of a tag, and where a link leads."""
        for name, value in attributes.items():
            no_refresh = name == "content" and attributes.get("http-equiv", "").lower() != "refresh"
            if name not in KINDS or no_refresh or (name == "style" and "(" not in value):
                continue
            kind, urls = urls_of(tag.name, name, value)
            into = self.links if kind == LINKS else self.forms if kind == FORMS else self.images
            for url in urls:
                self.cut_urls = add_url(into, url) or self.cut_urls
        if tag.name == "a" and (found := attributes.get("href") or attributes.get("xlink:href")):
            self.end_link()
            self.linked = found
            self.link_left = MAX_LINK_TEXT

    def end_link(self) -> None:
        """A link ends: does it show another host than it leads to?"""
        if self.linked:
            text = b"".join(self.link_text).decode("utf-8", "replace")
            self.mismatch = self.mismatch or is_link_mismatch(text, self.linked)
            self.linked = ""
        self.link_text = []
        self.link_left = 0
