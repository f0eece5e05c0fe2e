# cython: language_level=3, annotation_typing=False
"""Selectors of style sheets, taken apart.

Tags, classes and ids are read, in the elements around and in the parent (``div p``, ``div > p``). Of other selectors it
is in doubt what they match.
"""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

from .css import unescape

# Signs of names: letters, digits, "_", "-" and all that is not ASCII. The flag IGNORECASE would take 10 ms at import.
SIGN = r"[^\0-,./:-@\[-^`{-\x7f]"
PART = re.compile(
    rf"(?P<and>\s*+[>+~]\s*+|\s++)|(?P<name>[.#]?(?![0-9]|-[0-9])(?:{SIGN}|\\[0-9A-Fa-f]{{1,6}}\s?|\\.)++)|(?P<any>\*)"
    r"|(?P<doubt>\[[^\]]*+\]|&)|:(?P<pseudo>:?[A-Za-z-]++)(?P<opens>\()?",
    re.DOTALL,
)
ALWAYS = frozenset(["link", "any-link", "root", "enabled"])  # of what matters here
# Nothing is so before somebody acts, and these are no elements.
NEVER = frozenset("""
    hover active focus focus-within focus-visible visited target before after first-line first-letter :before :after
    :first-line :first-letter :selection :placeholder :marker""".split())
MAX_COMPOUNDS = 20  # of one selector
# Tag, id and classes.
Compound = tuple[str, str, tuple[str, ...]]
Weight = tuple[int, int, int]


class Selector(NamedTuple):
    """A selector's weight, and its compounds and combinators from the right to the left. ``in_doubt``: it may match
    fewer elements than these do."""

    weight: Weight
    parts: tuple[Any, ...]
    in_doubt: bool


# It may match anything.
UNKNOWN = Selector((0, 0, 0), (("*", "", ()),), True)


def split_list(selectors: str) -> list[str]:
    """A list at its commas; those in parentheses and brackets are none of its own.

    >>> split_list("a, b:not(.c, .d)")
    ['a', ' b:not(.c, .d)']
    """
    if "(" not in selectors and "[" not in selectors:
        return selectors.split(",")
    found, start, depth = [], 0, 0
    for at, letter in enumerate(selectors):
        if letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        elif letter == "," and depth <= 0:
            found.append(selectors[start:at])
            start = at + 1
    return [*found, selectors[start:]]


@functools.lru_cache(maxsize=1024)
def parse_selector(selector: str, old: bool = False) -> Selector | None:
    """A selector; None for one that matches nothing. On ``old`` pages the case of classes and ids does not matter.

    >>> parse_selector("div > p.a")
    Selector(weight=(0, 1, 2), parts=(('p', '', ('a',)), '>', ('div', '', ())), in_doubt=False)
    >>> parse_selector("i + p:first-child").parts, parse_selector("p:hover")
    ((('p', '', ()),), None)
    """
    parts: list[Any] = []
    tag, name = "*", ""
    classes: list[str] = []
    in_doubt = False
    ids = others = tags = at = begin = 0
    while at < len(selector):
        found = PART.match(selector, at)
        if not found:
            return UNKNOWN
        at, start = found.end(), at
        if combinator := found["and"]:
            if at == len(selector) or len(parts) >= 2 * MAX_COMPOUNDS:
                return UNKNOWN
            combinator = combinator.strip()
            if begin == start or combinator in ("+", "~"):  # what stands before it is not known
                in_doubt = True
                parts = []
            else:
                parts += [(tag, name, tuple(classes)), combinator]
            begin = at
            tag, name, classes = "*", "", []
        elif word := found["name"]:
            word = unescape(word) if "\\" in word else word
            if word[0] not in ".#":
                tag = word.lower()
                tags += 1
                continue
            word = word.lower() if old else word
            if word[0] == "#":
                name = word[1:]
                ids += 1
            else:
                classes.append(word[1:])
                others += 1
        elif found["doubt"]:
            in_doubt = True
        elif (pseudo := found["pseudo"]) is not None:
            if found["opens"]:
                at = closing(selector, at) + 1
                if not at:
                    return UNKNOWN
            pseudo = pseudo.lower()
            if pseudo in NEVER:
                return None
            others += 1
            if pseudo == "root":
                tag = "html"
            in_doubt = in_doubt or pseudo not in ALWAYS
    if begin == at:
        return UNKNOWN
    parts.append((tag, name, tuple(classes)))
    return Selector((ids, others, tags), tuple(reversed(parts)), in_doubt)


def closing(text: str, at: int) -> int:
    """Where the parenthesis closes that opened right before; -1 where it does not.

    >>> closing("(a (b)) c", 1)
    6
    """
    depth = 1
    for place in range(at, len(text)):
        letter = text[place]
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return place
    return -1
