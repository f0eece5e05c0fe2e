# cython: language_level=3, annotation_typing=False
"""Style sheets of a document: which of their rules that say something of visibility match an element."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

from .css import COMMENT, parse_declarations
from .rule_index import Rule, RuleIndex, States, match
from .selectors import Formula, parse_selector, split_list

MAX_SHEETS = 50
MAX_SHEET = 262_144  # bytes of one
MAX_ALL = 524_288  # bytes of all that a document has
MAX_AROUND = 8  # rules and blocks that a rule counts in
MAX_RULES = 3000  # of one document, that matter; a rule for several selectors counts for as many
MAX_TRIED = 20_000  # selectors of one style sheet, of rules that matter
MAX_DECLARATIONS = 4000  # characters of one rule
MAX_SELECTOR = 200  # characters
MAX_STEPS = 100_000  # of these that are asked whether they match an element, in one document
MAX_REMEMBERED = 100_000  # bytes of the sheets of one document that are remembered for the next one
MAX_STYLES = 5000  # that are made for elements of one document; the rest have the style of what they stand in

STRING = r"\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?"
TOKEN, BRACE = re.compile("[{};]|" + STRING, re.DOTALL), re.compile("[{}]|" + STRING, re.DOTALL)
AT = re.compile(r"\s*+@")
MEDIA = re.compile(rb"\smedia\s{0,9}=\s{0,9}(?:\"([^\">]*)|'([^'>]*)|([^\s>]+))")

NO_RULES = RuleIndex([], False, False)


class Sheet:
    """The rules of a document's style sheets, and how much they may still be asked."""

    def __init__(self, html: bytes, low: bytes, old: bool) -> None:
        sheets = []
        left = MAX_ALL
        self.cut = False
        for text, media in _sheets(html, low):
            if not media or _is_open("@media " + media):
                self.cut = self.cut or len(text) > min(left, MAX_SHEET)
                sheets.append(text[: min(left, MAX_SHEET)])
                left -= len(sheets[-1])
        self.index = _index(tuple(sheets), old) if sheets else NO_RULES
        self.cut = self.cut or self.index.cut
        self.steps = MAX_STEPS
        self.styles_left = MAX_STYLES
        self.contexts: dict[Any, Any] = {}  # of the document's elements: many inherit the same

    def match(
        self, tag: str, attributes: Mapping[str, str], around: States, place: tuple[Formula, ...]
    ) -> tuple[tuple[str, ...], int]:
        """The declarations for an element, the strongest last, and the states that it reaches."""
        if self.steps <= 0:
            return (), 0
        candidates = self.index.candidates(tag, attributes)
        self.steps -= candidates.steps
        self.cut = self.cut or self.steps <= 0
        return match(candidates, tag, attributes, around, place, self.index.old)


def _index(sheets: tuple[bytes, ...], old: bool) -> RuleIndex:
    """The rules of a document; senders use the same sheets again and again."""
    if sum([len(sheet) for sheet in sheets]) > MAX_REMEMBERED:
        return _new_index(sheets, old)
    return _known_index(sheets, old)


def _new_index(sheets: tuple[bytes, ...], old: bool) -> RuleIndex:
    rules: list[Rule] = []
    cut = False
    for sheet in sheets:
        if not cut:
            found, cut = sheet_rules(sheet, old)
            rules += found
            cut = cut or len(rules) > MAX_RULES
    return RuleIndex(rules[:MAX_RULES], cut, old)


_known_index = functools.lru_cache(maxsize=64)(_new_index)


def _sheets(html: bytes, low: bytes) -> list[tuple[bytes, str]]:
    """The style sheets of a document and the media that they are for; ``low`` is the document in lower case."""
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
        sheets.append((html[start + 1 : stop], groups[0].decode("ascii", "replace")))
        commented = stop
        at = low.find(b"<style", stop)
    return sheets


def sheet_rules(sheet: bytes, old: bool = False) -> tuple[list[Rule], bool]:
    """The rules of one style sheet that say something of visibility, and whether there are more.

    >>> sheet_rules(b"p, .a {color: #fff} .b {border: 0} @media print {.b {display: none}}")[0]
    [((0, 0, 1), (('p', '', (), ()),), 'color: #fff'), ((0, 1, 0), (('*', '', ('a',), ()),), 'color: #fff')]
    >>> sheet_rules(b".a {color: red; & b {color: white}}") == sheet_rules(b".a {color: red} .a b {color: white}")
    True
    """
    text = sheet.decode("utf-8", "replace").replace("<!--", " ").replace("-->", " ")
    if "/*" in text:
        text = COMMENT.sub(" ", text)
    rules: list[Rule] = []
    # The blocks that are open around: the selectors of the rule that each stands in (None: in none), and whether the
    # block says something.
    blocks: list[tuple[tuple[str, ...], bool]] = []
    around: tuple[str, ...] = ()  # the selectors of the rules around, and of the one at hand
    counts = True
    tried = start = at = stop = 0
    careful = -1  # up to where there are strings, or blocks in blocks
    at_start, is_statement = -1, False
    while True:
        # Most rules hold no strings; to find their ends without a pattern takes a tenth of the time.
        if at >= careful:
            stop = text.find("}" if around else "{", at)
            careful = stop if stop >= 0 else len(text)
            before = text[at:careful]
            odd = "{" in before or "}" in before or '"' in before or "'" in before
            if stop >= 0 and not (odd or (not around and ";" in before)):
                careful = -1
        if careful >= 0:
            may_end = not around and (is_statement or at_start != start)  # with a semicolon
            if (found := (TOKEN if may_end else BRACE).search(text, at)) is None:
                break
            stop, at, token = found.start(), found.end(), found.group()
        else:
            at = stop + 1
            token = text[stop]
        if token == "{":
            blocks.append((around, counts))
            prelude = text[start:stop]
            if around and ";" in prelude:  # declarations of the rule in which this one stands
                body, _, prelude = prelude.rpartition(";")
                if counts and len(body) <= MAX_DECLARATIONS and parse_declarations(body):
                    tried += _add(rules, around, body, old)
            prelude = prelude.strip()
            if prelude.startswith("@"):
                counts = counts and _is_open(prelude.lower())
            else:
                counts = counts and len(blocks) <= MAX_AROUND
                around = (*around, prelude) if len(around) < MAX_AROUND else around
        elif token == "}":
            if around and counts:
                body = text[start:stop]
                if len(body) <= MAX_DECLARATIONS and parse_declarations(body):
                    tried += _add(rules, around, body, old)
            if not blocks:
                continue  # what follows is no rule
            around, counts = blocks.pop()
        elif token == ";":
            at_start, is_statement = start, AT.match(text, start) is not None
            if not is_statement:
                continue
        else:
            continue
        start = at
        if len(rules) > MAX_RULES or tried > MAX_TRIED:
            return rules, True
    if around and counts and len(text) - start <= MAX_DECLARATIONS:
        _add(rules, around, text[start:], old)  # what is not ended ends with the sheet
    return rules, False


def _is_open(prelude: str) -> bool:
    """Do the rules in this block count?"""
    from .media import applies, supported

    name, _, rest = prelude.partition(" ")
    name, _, more = name.partition("(")
    if name == "@media":
        return applies(f"({more} {rest}" if more else rest)
    return name == "@layer" or (name == "@supports" and supported(f"({more} {rest}" if more else rest))


def _add(rules: list[Rule], around: tuple[str, ...], body: str, old: bool) -> int:
    """The rules for these selectors, each within those before it; how many selectors were tried."""
    selectors = split_list(around[0][:20_000])[:200]
    tried = len(selectors)
    for inner in around[1:]:
        nested = split_list(inner[:4000])[:200]
        selectors = [nested_in(outer, selector.strip()) for outer in selectors for selector in nested][:200]
        tried += len(selectors)
    found = []
    for selector in selectors:
        if len(selector) <= MAX_SELECTOR:
            parsed = parse_selector(selector.strip(), old)
            if parsed == ():
                return tried
            if parsed:
                found.append((*parsed, body))
    rules += found[: MAX_RULES + 1 - len(rules)]
    return tried


def nested_in(outer: str, selector: str) -> str:
    """A selector of a rule within another rule.

    >>> nested_in(".a", "b"), nested_in(".a", "> b"), nested_in(".a", "&.b"), nested_in(".a", "b &")
    ('.a b', '.a > b', '.a.b', 'b .a')
    """
    outer = outer.strip()
    return selector.replace("&", outer)[: MAX_SELECTOR + 1] if "&" in selector else f"{outer} {selector}"
