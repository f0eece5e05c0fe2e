# cython: language_level=3, annotation_typing=False
"""Selectors of style sheets, taken apart."""

from __future__ import annotations

import functools
import re
from typing import Any

from .css import unescape

PART = re.compile(
    r"(?P<and>\s*+[>+~,]\s*+|\s++)|(?P<name>[.#]?(?:[a-z0-9_\u0080-\U0010ffff-]|\\.)++)|(?P<any>\*)"
    r"|\[\s*+(?P<attribute>[a-z-]++)\s*+(?:(?P<how>[~|^$*]?=)\s*+[\"']?(?P<value>[^\]\"']*+)[\"']?\s*+i?\s*+)?\]"
    r"|(?P<pseudo>::?[a-z-]++(?:\([^()]*+\))?)",
    re.DOTALL,
)
ALWAYS = frozenset([":link", ":any-link", ":root", ":enabled"])  # of what matters here
MAX_COMPOUNDS = 20  # of one selector
# Tag, id, classes, and attributes with how they are compared and with what.
Compound = tuple[str, str, tuple[str, ...], tuple[tuple[str, str, str], ...]]


def compare(has: str | None, how: str, value: str) -> bool:
    """Is an attribute as a selector asks?

    >>> compare("a bc", "~=", "bc"), compare("a bc", "^=", "b"), compare(None, "", "")
    (True, False, False)
    """
    if has is None:
        return False
    has = has[:4000].lower()
    if how == "":
        return True
    if how == "=":
        return has == value
    if not value:
        return False
    if how == "~=":
        return value in has.split()
    if how == "|=":
        return has == value or has.startswith(value + "-")
    return value in has if how == "*=" else has.startswith(value) if how == "^=" else has.endswith(value)


@functools.lru_cache(maxsize=1024)
def parse_selector(selector: str) -> tuple[tuple[int, int, int], tuple[Any, ...]] | None:
    """A selector's weight and its compounds from the right to the left; None for one that is not understood.

    >>> parse_selector("div > p.a[hidden]")
    ((0, 2, 2), (('p', '', ('a',), (('hidden', '', ''),)), '>', ('div', '', (), ())))
    >>> parse_selector("p::after")
    """
    parts: list[Any] = []
    tag, name = "*", ""
    classes: list[str] = []
    attributes: list[tuple[str, str, str]] = []
    ids = others = tags = at = 0
    while at < len(selector):
        found = PART.match(selector, at)
        if not found:
            return None
        at = found.end()
        if combinator := found["and"]:
            combinator = combinator.strip()
            if combinator == "," or len(parts) >= 2 * MAX_COMPOUNDS:
                return None
            parts += [(tag, name, tuple(classes), tuple(attributes)), combinator]
            tag, name, classes, attributes = "*", "", [], []
        elif word := found["name"]:
            word = unescape(word) if "\\" in word else word
            if word[0] == "#":
                name = word[1:]
                ids += 1
            elif word[0] == ".":
                classes.append(word[1:])
                others += 1
            else:
                tag = word
                tags += 1
        elif key := found["attribute"]:
            attributes.append((key, found["how"] or "", (found["value"] or "").strip()))
            others += 1
        elif (pseudo := found["pseudo"]) is not None:
            if pseudo not in ALWAYS:
                return None
            if pseudo in (":link", ":any-link"):
                attributes.append(("href", "", ""))
            if pseudo == ":root":
                tag = "html"
            others += 1
    if not selector:
        return None
    parts.append((tag, name, tuple(classes), tuple(attributes)))
    return (ids, others, tags), tuple(reversed(parts))
