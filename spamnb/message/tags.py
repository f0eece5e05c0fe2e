"""What the bytes of an HTML document say before it is parsed: its tags, and words that tell what to look for.

``_tags.pyx``, built where a C compiler is at hand, does the same in a quarter of the time; the Python here is its
specification (docs/experiments.md#compiled-and-plain-reading-of-tags).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

TAGS_VERSION = 4  # rises whenever what follows asks other things of what is compiled
MAX_TAG = 200  # bytes of the first tag of an empty pair

# Tags that end a word.
BLOCK = frozenset(b"""
    address article aside blockquote body br button caption center dd div dl dt fieldset footer form h1 h2 h3 h4 h5 h6
    header hr img input legend li main marquee nav ol option p pre section table td textarea th title tr ul""".split())
FORMATTING = frozenset(b"b big code em font i nobr s small strike strong tt u".split())
# Patterns that re makes, and keeps, when they are needed. A tag that follows white space needs no second look.
ENDS_WORD = rb"(?i)<(?<!\s<)(?=/?(?:%b)[\s/>])" % b"|".join(sorted(BLOCK))
TAG = rb"<([a-z][a-z0-9]*)"
# What a browser, and lexbor, takes for an attribute; and the tags that are made anew, with all they have, behind what
# ended them too early.
ATTRIBUTE = (
    rb"[\t\n\f\r /]*+(?:=[^\t\n\f\r />=]*+|[^\t\n\f\r />=]++)"
    rb"(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"[^\"]*+\"?|'[^']*+'?|[^\t\n\f\r >]++)?)?"
)
REOPENED = rb"<(a|%b)(?=[\t\n\f\r /])" % b"|".join(sorted(FORMATTING))
ATTRIBUTE_WEIGHT = 64  # bytes that one weighs beside its own
EMPTY_PAIR = rb"></([a-z][a-z0-9]*+)>(?=[a-z])"
# Words without which a page has no such URLs, styles or colors: 64 letters at most.
WORDS = (
    b"style", b" hidden", b" text", b"<body", b">http", b">www.", b"href", b"src", b"action", b"background", b"color",
)  # fmt: skip
COLOR_VALUE = rb"[\s=:\"']{1,9}(#?[a-z0-9]{3,20}(?:\([0-9,. ]{3,30})?)"
# A search for plain letters is quick, so what stands before them is looked at afterwards.
TEXT_COLOR = rb"color(?<![g-]color)" + COLOR_VALUE
BACKGROUND_COLOR = rb"color(?<=[g-]color)" + COLOR_VALUE
LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyz")


class Tags(NamedTuple):
    """The document with a line end before each tag that ends a word, the names of its tags, the facts of what splits
    words in it, how many tags it has at most, how many of them open formatting, and how much these and the heaviest
    link weigh."""

    marked: bytes
    names: set[bytes]
    splits: list[str]
    total: int
    formatting: int
    weight: int


def tags_of(html: bytes) -> Tags:
    """The tags of ``html``.

    >>> tags = tags_of(b"V<B></B>iagra<BR>now")
    >>> tags.marked, sorted(tags.names), tags.splits, tags.total, tags.formatting, tags.weight
    (b'V<B></B>iagra\\n<BR>now', [b'b', b'br'], ['tag-split'], 3, 1, 0)
    """
    low = html.lower()
    names = re.findall(TAG, low)
    formatting = sum([name in FORMATTING for name in names])
    return Tags(re.sub(ENDS_WORD, b"\n<", html), set(names), splits(low), html.count(b"<"), formatting, weigh(low))


def weigh(low: bytes) -> int:
    """Bytes and attributes of the tags that open formatting, and of the heaviest link.

    Each tag is read from where it may begin: what hides it, as a comment or a quoted value, is not known here. Where
    tags inside of others make that more than the document, it weighs as much as can be.

    >>> weigh(b"<font color='>'>V<b><a href=x>"), weigh(b"<b x='" * 9)
    (145, 3456)
    """
    attribute = re.compile(ATTRIBUTE)
    formatting = link = looked = 0
    for opening in re.finditer(REOPENED, low):
        stop, attributes = opening.end(), 0
        while found := attribute.match(low, stop):
            stop, attributes = found.end(), attributes + 1
        weight = stop - opening.end() + ATTRIBUTE_WEIGHT * attributes
        if opening.group(1) == b"a":
            link = max(link, weight)
        else:
            formatting += weight
        looked += stop - opening.end()
        if looked > len(low):
            return ATTRIBUTE_WEIGHT * len(low)
    return formatting + link


def find_words(html: bytes) -> tuple[set[bytes], set[bytes], set[bytes]]:
    """Those of ``WORDS`` that stand in ``html``, and the colors that it gives to text and to backgrounds.

    >>> words, colors, backgrounds = find_words(b"<Font Color=Red><td bgcolor='#FFF'>")
    >>> words, colors, backgrounds
    ({b'color'}, {b'red'}, {b'#fff'})
    """
    low = html.lower()
    words = {word for word in WORDS if word in low}
    return words, set(re.findall(TEXT_COLOR, low)), set(re.findall(BACKGROUND_COLOR, low))


def splits(low: bytes) -> list[str]:
    """Whether comments or empty elements stand inside words: readers see nothing of them, filters stumble."""
    found = []
    at = low.find(b"<!")
    while at >= 0:
        closing = b"-->" if low.startswith(b"--", at + 2) else b">"
        stop = low.find(closing, at + 2)
        if stop < 0:
            break
        stop += len(closing)
        if at and low[at - 1] in LETTERS and low[stop : stop + 1].isalpha():
            found.append("comment-split")
            break
        at = low.find(b"<!", stop)
    for pair in re.finditer(EMPTY_PAIR, low):
        start = low.rfind(b"<", max(0, pair.start() - MAX_TAG), pair.start())
        if start > 0 and low[start - 1] in LETTERS and low.startswith(pair.group(1), start + 1):
            found.append("tag-split")
            break
    return found


try:
    import spamnb.message._tags as compiled
except ImportError:
    compiled = None
else:
    if getattr(compiled, "MADE_FOR", None) != TAGS_VERSION:  # built of other source
        compiled = None

scan: Callable[[bytes], Tags]
words_of: Callable[[bytes], tuple[set[bytes], set[bytes], set[bytes]]]
scan, words_of = (tags_of, find_words) if compiled is None else (compiled.scan, compiled.words_of)
