# cython: language_level=3, annotation_typing=False
"""Style sheets of a document: which of their rules that say something of visibility match an element.

Where it is in doubt whether a rule counts or what it matches, it hides nothing, and it may show what others hide.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

from .css import COLORED, COMMENT, parse_declarations
from .rule_index import Rule, RuleIndex, States, match
from .selectors import UNKNOWN, Weight, parse_selector, split_list

MAX_SHEETS = 50
MAX_SHEET = 262_144  # bytes of one
MAX_ALL = 524_288  # bytes of all that a document has
MAX_AROUND = 8  # blocks that a rule counts in
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
QUERY = re.compile(r"(not\s+)?(?:only\s+)?([a-z]+)?(.*)", re.DOTALL)
IN_DOUBT: Weight = (1000, 0, 0)  # stronger than rules that are sure
MEDIA = re.compile(rb"\smedia\s{0,9}=\s{0,9}(?:\"([^\">]*)|'([^'>]*)|([^\s>]+))")

NO_RULES = RuleIndex([], False, False)


class Sheet:
    """The rules of a document's style sheets, and how much they may still be asked."""

    def __init__(self, html: bytes, low: bytes, old: bool) -> None:
        sheets = []
        left = MAX_ALL
        self.cut = False
        for text, media in _sheets(html, low):
            counts = applies(media)
            if counts is not False:
                self.cut = self.cut or len(text) > min(left, MAX_SHEET)
                sheets.append((text[: min(left, MAX_SHEET)], counts is None))
                left -= len(sheets[-1][0])
        self.index = _index(tuple(sheets), old) if sheets else NO_RULES
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
        return match(candidates, around)


def _index(sheets: tuple[tuple[bytes, bool], ...], old: bool) -> RuleIndex:
    """The rules of a document; senders use the same sheets again and again."""
    if sum([len(sheet) for sheet, _ in sheets]) > MAX_REMEMBERED:
        return _new_index(sheets, old)
    return _known_index(sheets, old)


def _new_index(sheets: tuple[tuple[bytes, bool], ...], old: bool) -> RuleIndex:
    rules: list[Rule] = []
    cut = False
    for sheet, in_doubt in sheets:
        if not cut:
            found, cut = sheet_rules(sheet, old, in_doubt)
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


def sheet_rules(sheet: bytes, old: bool = False, in_doubt: bool = False) -> tuple[list[Rule], bool]:
    """The rules of one style sheet that say something of visibility, and whether there are more.

    >>> sheet_rules(b"p, .a {color: #fff} .b {border: 0} @media print {.b {display: none}}")[0]
    [((0, 0, 1), (('p', '', ()),), 'color: #fff'), ((0, 1, 0), (('*', '', ('a',)),), 'color: #fff')]
    >>> sheet_rules(b".a {display: none; b {display: block}}")[0]
    [((0, 1, 0), (('*', '', ('a',)),), 'display: none'), ((1000, 0, 0), (('b', '', ()),), 'display: initial')]
    """
    text = sheet.decode("utf-8", "replace").replace("<!--", " ").replace("-->", " ")
    if "/*" in text:
        text = COMMENT.sub(" ", text)
    rules: list[Rule] = []
    # The blocks that are open around: the selectors of the rule that each stands in ("": in none), whether it counts,
    # and whether that is in doubt.
    blocks: list[tuple[str, bool, bool]] = []
    around = ""  # the selectors of the rule at hand
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
            blocks.append((around, counts, in_doubt))
            prelude = text[start:stop]
            if around and ";" in prelude:  # declarations of the rule in which this one stands
                body, _, prelude = prelude.rpartition(";")
                if counts:
                    tried += _add(rules, around, body, old, in_doubt)
            prelude = prelude.strip()
            in_doubt = in_doubt or around != ""
            if prelude.startswith("@"):
                is_open = _is_open(prelude.lower())
                counts = counts and is_open is not False
                in_doubt = in_doubt or is_open is None
            else:
                counts = counts and len(blocks) <= MAX_AROUND
                around = prelude or "&"
        elif token == "}":
            if around and counts:
                tried += _add(rules, around, text[start:stop], old, in_doubt)
            if not blocks:
                continue  # what follows is no rule
            around, counts, in_doubt = blocks.pop()
        elif token == ";":
            at_start, is_statement = start, AT.match(text, start) is not None
            if not is_statement:
                continue
        else:
            continue
        start = at
        if len(rules) > MAX_RULES or tried > MAX_TRIED:
            return rules, True
    if around and counts:
        _add(rules, around, text[start:], old, in_doubt)  # what is not ended ends with the sheet
    return rules, False


def _is_open(prelude: str) -> bool | None:
    """Do the rules in this block count? None where that is in doubt."""
    if prelude.startswith("@media"):
        return applies(prelude[6:])
    return True if prelude.startswith("@layer") else None


@functools.lru_cache(maxsize=256)
def applies(media: str) -> bool | None:
    """Does a list of media, in lower case, hold on a screen? None where it asks for more than a medium.

    >>> applies(""), applies("print"), applies("print, screen"), applies("only screen and (max-width: 600px)")
    (True, False, True, None)
    """
    found = {_query_applies(query.strip()) for query in media[:1000].split(",")}
    return True if True in found else None if None in found else False


def _query_applies(query: str) -> bool | None:
    matched = QUERY.match(query)
    assert matched is not None
    negated, medium, condition = matched.groups()
    holds = medium in (None, "all", "screen")
    if condition.strip() and (holds or negated):
        return None
    return holds != bool(negated)


def _add(rules: list[Rule], around: str, body: str, old: bool, in_doubt: bool) -> int:
    """The rules for these selectors; how many of these were tried."""
    if len(body) > MAX_DECLARATIONS or not parse_declarations(body):
        return 0
    selectors = split_list(around[:20_000])[:200]
    parsed = [
        parse_selector(selector.strip(), old) if len(selector) <= MAX_SELECTOR else UNKNOWN for selector in selectors
    ]
    found = [selector for selector in parsed if selector is not None]
    # A selector that browsers do not know spoils the whole rule.
    if in_doubt or any([selector.in_doubt for selector in found]):
        if body := showing(body):
            rules += [(IN_DOUBT, selector.parts, body) for selector in found][: MAX_RULES + 1 - len(rules)]
    else:
        rules += [(selector.weight, selector.parts, body) for selector in found][: MAX_RULES + 1 - len(rules)]
    return len(selectors)


def showing(body: str) -> str:
    """Declarations that show whatever these may show.

    >>> showing("display: block; color: red!important; visibility: hidden")
    'display: initial; color: var(--doubt)!important'
    """
    shown: dict[str, None] = {}
    for name, value, is_important, _ in parse_declarations(body):
        if name in ("display", "visibility") and value in ("none", "hidden", "collapse"):
            continue
        declared = f"{name}: initial"
        if name in COLORED or name.startswith("background"):
            declared = f"{name}: var(--doubt)"
        elif name in ("text-shadow", "-webkit-text-stroke"):
            declared = "color: var(--doubt)"
        elif name.startswith(("margin", "padding", "min-")):  # what does not fit is shown, too
            declared += "; overflow: initial; overflow-x: initial; overflow-y: initial"
        mark = "!important" * is_important
        shown[declared.replace(";", f"{mark};") + mark] = None
    return "; ".join(shown)
