# cython: language_level=3, annotation_typing=False
"""Selectors of style sheets, taken apart."""

from __future__ import annotations

import functools
import re
from typing import Any

from .css import unescape

# Signs of names: letters, digits, "_", "-" and all that is not ASCII. The flag IGNORECASE would take 10 ms at import.
SIGN = r"[^\0-,./:-@\[-^`{-\x7f]"
PART = re.compile(
    rf"(?P<and>\s*+[>+~]\s*+|\s++)|(?P<name>[.#]?(?![0-9]|-[0-9])(?:{SIGN}|\\[0-9A-Fa-f]{{1,6}}\s?|\\.)++)|(?P<any>\*)"
    rf"|\[\s*+(?P<attribute>(?![0-9]){SIGN}++)\s*+(?:(?P<how>[~|^$*]?=)\s*+"
    r"(?:\"(?P<quoted>[^\"]*+)\"|'(?P<single>[^']*+)'|(?P<value>[^\]\"'\s]++))\s*+(?P<flag>[iIsS]?)\s*+)?\]"
    r"|:(?P<pseudo>:?[A-Za-z-]++)(?P<opens>\()?",
    re.DOTALL,
)
FORMULA = re.compile(r"(?:([+-]?[0-9]{0,6})n(?:\s{0,9}([+-])\s{0,9}([0-9]{1,6}))?|([+-]?[0-9]{1,6}))")
ALWAYS = frozenset(["link", "any-link", "root", "enabled"])  # of what matters here
PLACES = {"first-child": (0, 1, False), "first-of-type": (0, 1, True)}
COUNTS = {"nth-child": False, "nth-of-type": True}  # whether only elements of the same name count
LISTS = {"not": ":not", "is": ":is", "where": ":is", "matches": ":is", "-webkit-any": ":is"}
# Nothing is so before somebody acts.
NEVER = frozenset("""
    hover active focus focus-within focus-visible visited target target-within fullscreen -webkit-full-screen playing
    disabled""".split())
# What else browsers know. What they do not know spoils the whole rule.
OTHERS = frozenset("""
    last-child only-child last-of-type only-of-type nth-last-child nth-last-of-type empty has lang dir checked default
    defined indeterminate in-range out-of-range invalid valid user-invalid user-valid optional required read-only
    read-write placeholder-shown local-link scope host host-context autofill paused modal open popover-open
    picture-in-picture -webkit-autofill -webkit-any-link before after first-line first-letter :before :after
    :first-line :first-letter :selection :placeholder :marker :backdrop :cue :file-selector-button :slotted :part
    :target-text :details-content :view-transition :highlight :spelling-error :grammar-error""".split())
# Attributes of which browsers compare the values without regard to case.
WITHOUT_CASE = frozenset("bgcolor color dir http-equiv link text".split())
MAX_COMPOUNDS = 20  # of one selector
MAX_NESTED = 5  # pseudo-classes inside one another
# Tag, id, classes, and what else is asked: attributes with how they are compared and with what; ":not" and ":is" with
# a tuple of compounds; ":nth" with a formula.
Compound = tuple[str, str, tuple[str, ...], tuple[tuple[str, str, Any], ...]]
# The element is number a·n + b for an n of 0 or more; of all in its parent, or of those of the same name.
Formula = tuple[int, int, bool]
Weight = tuple[int, int, int]


class Undecided(ValueError):
    """Not a selector that can be decided here; ``spoils`` where browsers leave out the whole rule."""

    def __init__(self, spoils: bool) -> None:
        super().__init__()
        self.spoils = spoils


def compare(has: str | None, how: str, value: str) -> bool:
    """Is an attribute as a selector asks? An "i" in ``how`` means: without regard to case.

    >>> compare("a bc", "~=", "bc"), compare("a bc", "^=", "b"), compare("A", "=i", "a"), compare(None, "", "")
    (True, False, True, False)
    """
    if has is None:
        return False
    has = has[:4000]
    if how == "":
        return True
    if how[-1] == "i":
        has, how = has.lower(), how[:-1]
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
def parse_selector(selector: str, old: bool = False) -> tuple[Weight, tuple[Any, ...]] | tuple[()] | None:
    """A selector's weight and its compounds from the right to the left; on ``old`` pages the case of classes and ids
    does not matter.

    None for one that cannot be decided here; () for one that browsers do not understand: they leave out its whole rule.

    >>> parse_selector("div > p.a[hidden]")
    ((0, 2, 2), (('p', '', ('a',), (('hidden', '', ''),)), '>', ('div', '', (), ())))
    >>> parse_selector("p::after"), parse_selector("p::no-such")
    (None, ())
    """
    try:
        return _parse(selector, old, 0)
    except Undecided as undecided:
        return () if undecided.spoils else None


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


def _parse(selector: str, old: bool, nested: int) -> tuple[Weight, tuple[Any, ...]]:
    parts: list[Any] = []
    tag, name = "*", ""
    classes: list[str] = []
    asked: list[tuple[str, str, Any]] = []
    ids = others = tags = at = begin = 0
    while at < len(selector):
        found = PART.match(selector, at)
        if not found:
            raise Undecided(selector[at] not in "&|")  # which stand in nested rules, and for namespaces
        at, start = found.end(), at
        if combinator := found["and"]:
            if begin == start or at == len(selector):
                raise Undecided(True)
            begin = at
            if len(parts) >= 2 * MAX_COMPOUNDS:
                raise Undecided(False)
            parts += [(tag, name, tuple(classes), tuple(asked)), combinator.strip()]
            tag, name, classes, asked = "*", "", [], []
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
        elif key := found["attribute"]:
            asked.append(_attribute(key.lower(), found))
            others += 1
        elif (pseudo := found["pseudo"]) is not None:
            pseudo = pseudo.lower()
            inside = ""
            if found["opens"]:
                end = closing(selector, at)
                if end < 0:
                    raise Undecided(True)
                inside, at = selector[at:end].strip(), end + 1
            if pseudo in LISTS:
                weight, condition = _list(LISTS[pseudo], inside, old, nested)
                asked.append(condition)
                if pseudo != "where":
                    ids, others, tags = ids + weight[0], others + weight[1], tags + weight[2]
                continue
            others += 1
            if pseudo == "root":
                tag = "html"
            elif pseudo in ("link", "any-link"):
                asked.append(("href", "", ""))
            elif pseudo in NEVER and nested:
                asked.append((":is", "", ()))
            elif pseudo in PLACES or pseudo in COUNTS:
                asked.append((":nth", "", PLACES.get(pseudo) or (*_formula(inside.lower()), COUNTS[pseudo])))
            elif pseudo not in ALWAYS:
                is_known = pseudo in NEVER or pseudo in OTHERS or pseudo.startswith(":-webkit-")
                raise Undecided(not is_known)
    if begin == at:
        raise Undecided(True)
    parts.append((tag, name, tuple(classes), tuple(asked)))
    return (ids, others, tags), tuple(reversed(parts))


def _attribute(key: str, found: re.Match[str]) -> tuple[str, str, str]:
    how, value = found["how"] or "", found["quoted"] or found["single"] or found["value"] or ""
    value = unescape(value) if "\\" in value else value
    if how and (found["flag"] in ("i", "I") or (key in WITHOUT_CASE and not found["flag"])):
        return key, how + "i", value.lower()
    return key, how, value


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


def _list(what: str, inside: str, old: bool, nested: int) -> tuple[Weight, tuple[str, str, Any]]:
    """The weight and the condition of a pseudo-class that has a list of compounds."""
    if nested == MAX_NESTED:
        raise Undecided(False)
    weight, compounds = (0, 0, 0), []
    for selector in split_list(inside):
        found, parts = _parse(selector.strip(), old, nested + 1)
        if len(parts) > 1:
            raise Undecided(False)  # elements around are not known here
        weight = max(weight, found)
        compounds.append(parts[0])
    return weight, (what, "", tuple(compounds))


def _formula(text: str) -> tuple[int, int]:
    if text in ("odd", "even"):
        return 2, int(text == "odd")
    found = FORMULA.fullmatch(text)
    if not found:
        raise Undecided(" of " not in text)
    if found[4]:
        return 0, int(found[4])
    step = int(found[1] + "1") if found[1] in ("", "+", "-") else int(found[1])
    return step, int((found[2] or "") + (found[3] or "0"))
