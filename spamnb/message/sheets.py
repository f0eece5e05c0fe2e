# cython: language_level=3, annotation_typing=False
"""Style sheets of a document: which of their rules that say something of visibility match an element."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

from .css import COMMENT, parse_declarations
from .rule_index import Rule, RuleIndex, States, match
from .selectors import parse_selector

MAX_SHEETS = 50
MAX_SHEET = 262_144  # bytes of one
MAX_RULES = 3000  # of one document, that matter; a rule for several selectors counts for as many
MAX_DECLARATIONS = 4000  # characters of one rule
MAX_SELECTOR = 200  # characters
MAX_STEPS = 100_000  # of these that are asked whether they match an element, in one document
MAX_REMEMBERED = 100_000  # bytes of the sheets of one document that are remembered for the next one
MAX_STYLES = 5000  # that are made for elements of one document; the rest have the style of what they stand in
SCREEN_WIDTH = 1280  # pixels

STRING = r"\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?"
TOKEN, BRACE = re.compile("[{};]|" + STRING, re.DOTALL), re.compile("[{}]|" + STRING, re.DOTALL)
FEATURE = re.compile(
    r"\(\s*+(?:(min|max)-(?:device-)?width\s*+:|(?:device-)?width\s*+([<>])=?)\s*+([0-9.]++)\s*+(px|em|rem)\s*+\)"
)
LIGHT = re.compile(r"\(\s*+prefers-color-scheme\s*+:\s*+light\s*+\)")
RATIO = re.compile(r"\(\s*+-webkit-min-device-pixel-ratio\s*+:\s*+(?:0|1|0?\.[0-9]++)\s*+\)")
AT = re.compile(r"\s*+@")
MEDIA = re.compile(rb"\smedia\s{0,9}=\s{0,9}(?:\"([^\">]*)|'([^'>]*)|([^\s>]+))")

NO_RULES = RuleIndex([], False)


class Sheet:
    """The rules of a document's style sheets, and how much they may still be asked."""

    def __init__(self, low: bytes = b"") -> None:
        sheets = [text for text, media in _sheets(low) if applies(media)]
        self.cut = any([len(text) > MAX_SHEET for text in sheets])
        self.index = _index(tuple([text[:MAX_SHEET] for text in sheets])) if sheets else NO_RULES
        self.cut = self.cut or self.index.cut
        self.steps = MAX_STEPS
        self.styles_left = MAX_STYLES
        self.contexts: dict[Any, Any] = {}  # of the document's elements: many inherit the same

    def match(self, tag: str, attributes: Mapping[str, str], around: States) -> tuple[tuple[str, ...], int]:
        """The declarations for an element, the strongest last, and the states that it reaches."""
        if self.steps <= 0:
            return (), 0
        candidates = self.index.candidates(tag, attributes)
        self.steps -= candidates.steps
        self.cut = self.cut or self.steps <= 0
        return match(candidates, attributes, around)


def _index(sheets: tuple[bytes, ...]) -> RuleIndex:
    """The rules of a document; senders use the same sheets again and again."""
    if sum([len(sheet) for sheet in sheets]) > MAX_REMEMBERED:
        return _new_index(sheets)
    return _known_index(sheets)


def _new_index(sheets: tuple[bytes, ...]) -> RuleIndex:
    rules: list[Rule] = []
    for sheet in sheets:
        if len(rules) <= MAX_RULES:
            rules += sheet_rules(sheet)
    return RuleIndex(rules[:MAX_RULES], len(rules) > MAX_RULES)


_known_index = functools.lru_cache(maxsize=64)(_new_index)


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
                width = float(found.group(3)) * (1 if found.group(4) == "px" else 16)
            except ValueError:
                return False
            holds = holds and (width <= SCREEN_WIDTH) == ((found.group(1) or found.group(2)) in ("min", ">"))
        elif not (RATIO.fullmatch(term) or LIGHT.fullmatch(term)):
            holds = False
    return holds != negated


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
    start = at = stop = 0
    careful = -1  # up to where there are strings, or blocks in blocks
    at_start, is_statement = -1, False
    selectors: str | None = None
    while True:
        # Most rules hold no strings; to find their ends without a pattern takes a tenth of the time.
        if at >= careful:
            stop = text.find("{" if selectors is None else "}", at)
            careful = stop if stop >= 0 else len(text)
            before = text[at:careful]
            odd = "{" in before or "}" in before or '"' in before or "'" in before
            if stop >= 0 and not (odd or (selectors is None and ";" in before)):
                careful = -1
        if careful >= 0:
            may_end = selectors is None and (is_statement or at_start != start)  # with a semicolon
            if (found := (TOKEN if may_end else BRACE).search(text, at)) is None:
                break
            stop, at, token = found.start(), found.end(), found.group()
        else:
            at = stop + 1
            token = text[stop]
        if token == "{":
            prelude = text[start:stop].strip()
            if selectors is not None:
                skipped.append(True)  # rules in rules
            elif prelude.startswith("@"):
                skipped.append(not _is_open(prelude))
            else:
                selectors = prelude
                start = at
                continue
        elif token == "}":
            if selectors is not None:
                body = text[start:stop]
                if True not in skipped and len(body) <= MAX_DECLARATIONS and parse_declarations(body):
                    _add(rules, selectors, body)
                selectors = None
            elif skipped:
                skipped.pop()
            else:
                continue  # what follows is no rule
        elif token == ";":
            at_start, is_statement = start, AT.match(text, start) is not None
            if not is_statement:
                continue
        else:
            continue
        start = at
        if len(rules) > MAX_RULES:
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
        if len(selector) <= MAX_SELECTOR and (found := parse_selector(selector.strip())) and len(rules) <= MAX_RULES:
            rules.append((*found, body))
