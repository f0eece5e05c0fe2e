# cython: language_level=3, annotation_typing=False
"""Style sheets of a document: which of their rules that say something of visibility match an element."""

from __future__ import annotations

import functools
import re
from typing import Any

from .css import COMMENT, parse_declarations
from .selectors import Compound, compare, parse_selector

MAX_SHEETS = 50
MAX_SHEET = 262_144  # bytes of one
MAX_RULES = 3000  # of one sheet, that matter; and so many selectors
MAX_DECLARATIONS = 4000  # characters of one rule
MAX_SELECTOR = 200  # characters
MAX_STEPS = 100_000  # comparisons with elements in one document
MAX_KNOWN = 1000  # combinations of tag, class and id whose rules are remembered
MAX_MATCHES = 100  # rules that count for one element, the strongest ones
SCREEN_WIDTH = 1280  # pixels

TOKEN = re.compile(r"[{};]|\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?", re.DOTALL)
FEATURE = re.compile(r"\(\s*+(min|max)-(?:device-)?width\s*+:\s*+([0-9.]++)\s*+(px|em|rem)\s*+\)")
RATIO = re.compile(r"\(\s*+-webkit-min-device-pixel-ratio\s*+:\s*+(?:0|1|0?\.[0-9]++)\s*+\)")
AT = re.compile(r"\s*+@")
MEDIA = re.compile(rb"\smedia\s{0,9}=\s{0,9}(?:\"([^\">]*)|'([^'>]*)|([^\s>]+))")

# Its weight, compounds and combinators from the right to the left, and declarations.
Rule = tuple[tuple[int, int, int], tuple[Any, ...], str]


class Sheet:
    """The rules of a document's style sheets, by what the element that they are for has."""

    def __init__(self, low: bytes = b"") -> None:
        self.rules: dict[str, list[tuple[tuple[int, int, int, int], tuple[Any, ...], str]]] = {}
        self.links: list[Compound] = []  # of elements around the one that a rule is for
        self.by_tag = self.by_url = self.by_parent = self.cut = False
        self.steps = MAX_STEPS
        self.declared_for: dict[tuple[str, str | None, str | None], tuple[str, ...]] = {}  # by tag, class and id
        self.link_for: dict[tuple[str, str | None, str | None], bool] = {}
        count = 0
        for text, media in _sheets(low):
            self.cut = self.cut or len(text) > MAX_SHEET
            if not applies(media):
                continue
            for weight, parts, declarations in sheet_rules(text[:MAX_SHEET]):
                tag, name, classes, _ = parts[0]
                key = "#" + name if name else "." + classes[0] if classes else tag
                self.rules.setdefault(key, []).append(((*weight, count), parts, declarations))
                count += 1
                self.by_tag = self.by_tag or key[0] not in "#."
                for at, part in enumerate(parts):
                    if at % 2:
                        self.by_parent = self.by_parent or part == ">"
                        continue
                    self.by_url = self.by_url or any(found[0] in ("href", "src", "action") for found in part[3])
                    if at:
                        self.links.append(part)
        del self.links[500:]
        self.by_parent = self.by_parent or len(self.links) == 500

    def declared(self, element: Any) -> tuple[str, ...]:
        """The declarations for an element, the strongest last."""
        if self.steps < 0:
            return ()
        attributes = element.attributes
        key = (element.tag.name, attributes.get("class"), attributes.get("id"))
        if (known := self.declared_for.get(key)) is not None:
            return known
        rules = self.rules
        candidates = [*rules.get(element.tag.name, ()), *rules.get("*", ())]
        if value := attributes.get("class"):
            for name in dict.fromkeys(value[:1000].lower().split()[:20]):
                candidates += rules.get("." + name, ())
        if value := attributes.get("id"):
            candidates += rules.get("#" + value[:100].lower(), ())
        found = [rule for rule in candidates if self._matches(rule[1], 0, element)]
        found.sort(key=lambda rule: rule[0])
        declared = tuple([rule[2] for rule in found[-MAX_MATCHES:]])
        # Where neither what stands around nor other attributes decide, the next such element is spared the rules.
        simple = all([len(parts) == 1 and not parts[0][3] for _, parts, _ in candidates])
        if simple and self.steps >= 0 and len(self.declared_for) < MAX_KNOWN:
            self.declared_for[key] = declared
        return declared

    def is_link(self, element: Any) -> bool:
        """Does a rule for elements inside ask for this one?"""
        if self.by_parent or not self.links:
            return self.by_parent
        key = (element.tag.name, element.attributes.get("class"), element.attributes.get("id"))
        if (known := self.link_for.get(key)) is not None:
            return known
        found = False
        for part in self.links:
            if self._fits(part, element):
                found = True
                break
        if self.steps >= 0 and len(self.link_for) < MAX_KNOWN and not any([part[3] for part in self.links]):
            self.link_for[key] = found
        return found

    def _matches(self, parts: tuple[Any, ...], at: int, element: Any) -> bool:
        if not self._fits(parts[at], element):
            return False
        if at + 1 == len(parts):
            return True
        combinator = parts[at + 1]
        element = element.parent
        while element is not None and self.steps > 0:
            if self._matches(parts, at + 2, element):
                return True
            if combinator == ">":
                return False
            element = element.parent
        return False

    def _fits(self, compound: Compound, element: Any) -> bool:
        self.steps -= 1
        if self.steps < 0:
            self.cut = True
            return False
        tag, name, classes, attributes = compound
        has = element.attributes
        if tag != "*" and tag != element.tag.name:
            return False
        if name and has.get("id", "").lower() != name:
            return False
        if classes and not set(classes).issubset(has.get("class", "")[:1000].lower().split()):
            return False
        return not attributes or all([compare(has.get(key), how, value) for key, how, value in attributes])


def _sheets(low: bytes) -> list[tuple[bytes, str]]:
    """The document's style sheets and the media that they are for; the document is in lower case."""
    sheets: list[tuple[bytes, str]] = []
    at = low.find(b"<style")
    commented = 0  # up to where comments are known
    while at >= 0 and len(sheets) < MAX_SHEETS:
        comment = low.find(b"<!--", commented, at)
        if comment >= 0:  # a sheet in a comment is none
            end = low.find(b"-->", comment + 2)
            if end < 0:
                break
            commented = end + 3
            if commented > at:
                at = low.find(b"<style", commented)
            continue
        start = low.find(b">", at)
        if start < 0:
            break
        stop = low.find(b"</style", start)
        stop = len(low) if stop < 0 else stop
        media = MEDIA.search(low, at, min(start, at + 500))
        groups = [group for group in media.groups() if group is not None] if media else [b""]
        sheets.append((low[start + 1 : stop], groups[0].decode("ascii", "replace")))
        commented = stop
        at = low.find(b"<style", stop)
    return sheets


@functools.lru_cache(maxsize=256)
def applies(media: str) -> bool:
    """Does a list of media queries hold on a screen of ``SCREEN_WIDTH`` pixels?

    >>> applies(""), applies("print"), applies("only screen and (max-width: 600px)"), applies("print, all")
    (True, False, False, True)
    """
    return not media.strip() or any(_query_applies(query.strip()) for query in media[:1000].split(","))


def _query_applies(query: str) -> bool:
    negated = query.startswith("not ")
    query = query.removeprefix("not ").removeprefix("only ").strip()
    holds = True
    for term in [term.strip() for term in re.split(r"\band\b", query)]:
        if term in ("screen", "all"):
            continue
        if found := FEATURE.fullmatch(term):
            try:
                width = float(found.group(2)) * (1 if found.group(3) == "px" else 16)
            except ValueError:
                return False
            holds = holds and (width <= SCREEN_WIDTH) == (found.group(1) == "min")
        elif not RATIO.fullmatch(term):
            holds = False
    return holds != negated


@functools.lru_cache(maxsize=64)  # senders use the same sheet again and again
def sheet_rules(sheet: bytes) -> tuple[Rule, ...]:
    """The rules of one style sheet, in lower case, that say something of visibility.

    >>> sheet_rules(b"p, .a {color: #fff} .b {border: 0} @media print {.b {display: none}}")
    (((0, 0, 1), (('p', '', (), ()),), 'color: #fff'), ((0, 1, 0), (('*', '', ('a',), ()),), 'color: #fff'))
    """
    text = sheet.decode("utf-8", "replace").replace("<!--", " ").replace("-->", " ")
    if "/*" in text:
        text = COMMENT.sub(" ", text)
    rules: list[Rule] = []
    skipped: list[bool] = []  # of the blocks that are open around, whether they say nothing
    start = 0
    at_start, is_statement = -1, False
    selectors: str | None = None
    for found in TOKEN.finditer(text):
        token = found.group()
        if token == "{":
            prelude = text[start : found.start()].strip()
            if selectors is not None:
                skipped.append(True)  # rules in rules
            elif prelude.startswith("@"):
                skipped.append(not _is_open(prelude))
            else:
                selectors = prelude
                start = found.end()
                continue
        elif token == "}":
            if selectors is not None:
                body = text[start : found.start()]
                if True not in skipped and len(body) <= MAX_DECLARATIONS and parse_declarations(body) != ((), ()):
                    _add(rules, selectors, body)
                selectors = None
            elif skipped:
                skipped.pop()
            else:
                continue  # what follows is no rule
        elif token == ";":
            if at_start != start:
                at_start, is_statement = start, AT.match(text, start) is not None
            if selectors is not None or not is_statement:
                continue
        else:
            continue
        start = found.end()
        if len(rules) >= MAX_RULES:
            break
    if selectors is not None and True not in skipped and len(text) - start <= MAX_DECLARATIONS:
        _add(rules, selectors, text[start:])  # what is not ended ends with the sheet
    return tuple(rules)


def _is_open(prelude: str) -> bool:
    """Do the rules in this block count?"""
    name, _, rest = prelude.partition(" ")
    name, _, more = name.partition("(")
    if name == "@media":
        return applies(f"({more} {rest}" if more else rest)
    return name == "@layer" or (name == "@supports" and not rest.startswith("not"))


def _add(rules: list[Rule], selectors: str, body: str) -> None:
    if "(" in selectors and ":" in selectors:
        names = re.split(r",(?![^()]*+\))", selectors[:4000])
    else:
        names = selectors[:20_000].split(",")
    for selector in names[:200]:
        if len(selector) <= MAX_SELECTOR and (found := parse_selector(selector.strip())) and len(rules) < MAX_RULES:
            rules.append((*found, body))
