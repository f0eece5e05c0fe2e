"""Conditions in style sheets: whether the rules behind ``@media`` and ``@supports`` count."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from .css import parse_declaration
from .selectors import closing

SCREEN_WIDTH, SCREEN_HEIGHT = 1280, 800  # pixels
MAX_MEDIA = 1000  # characters of a list of conditions
MAX_NESTED = 8  # conditions in parentheses

NUMBER = r"([0-9]{0,9}\.?[0-9]{1,9})\s{0,9}(px|em|rem|cm|mm|in|pt|pc|dppx|dpi|dpcm|x|)"
PIXELS = {"px": 1, "em": 16, "rem": 16, "cm": 37.8, "mm": 3.78, "in": 96, "pt": 4 / 3, "pc": 16, "": 1}
DOTS = {"dppx": 1, "x": 1, "dpi": 1 / 96, "dpcm": 2.54 / 96, "": 1}  # of a pixel
MEASURES = {"width": SCREEN_WIDTH, "height": SCREEN_HEIGHT, "resolution": 1, "device-pixel-ratio": 1, "color": 8,
            "monochrome": 0}  # fmt: skip
MEASURE = r"(?:device-|-webkit-)?(width|height|resolution|device-pixel-ratio|color|monochrome)"
BOUND = re.compile(rf"(?:-webkit-)?(?:(min|max)-)?{MEASURE}\s*:\s*{NUMBER}")
RANGE = re.compile(rf"(?:{NUMBER}\s*([<>]=?)\s*)?{MEASURE}(?:\s*([<>]=?|=)\s*{NUMBER})?")
# Of a window that is wider than high, with a mouse, of a person who has asked for nothing else.
HOLD = frozenset("""
    orientation:landscape hover:hover any-hover:hover pointer:fine any-pointer:fine prefers-color-scheme:light
    prefers-reduced-motion:no-preference prefers-contrast:no-preference forced-colors:none inverted-colors:none
    color-gamut:srgb grid:0 update:fast scan:progressive display-mode:browser overflow-block:scroll hover any-hover
    pointer any-pointer update overflow-block scripting prefers-color-scheme""".split())
FAIL = frozenset("""
    orientation:portrait hover:none any-hover:none pointer:coarse pointer:none any-pointer:coarse any-pointer:none
    prefers-color-scheme:dark prefers-reduced-motion:reduce prefers-reduced-motion prefers-contrast:more
    prefers-contrast:less prefers-contrast forced-colors:active forced-colors inverted-colors:inverted inverted-colors
    grid:1 grid""".split())
MEDIUM = re.compile(r"(?:(not|only)\s+)?(?!(?:not|and|or)\b)([a-z-]+)\s*(?:and\b|$)")
# Properties beside those that hide which sheets ask for.
KNOWN = frozenset("""
    align-items animation appearance aspect-ratio backdrop-filter border border-radius box-shadow column-count
    columns contain flex flex-basis flex-direction flex-flow flex-wrap font-variation-settings gap grid grid-area
    grid-gap grid-template grid-template-areas grid-template-columns grid-template-rows hyphens justify-content
    margin-right margin-bottom mask mask-image mix-blend-mode object-fit object-position order pointer-events row-gap
    scroll-behavior shape-outside text-align text-decoration text-overflow transition vertical-align white-space
    will-change word-break writing-mode z-index -webkit-animation -webkit-appearance -webkit-backdrop-filter
    -webkit-box-orient -webkit-box-shadow -webkit-hyphens -webkit-line-clamp -webkit-mask -webkit-mask-image
    -webkit-text-stroke -webkit-transition""".split())
COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": lambda one, other: one < other, "<=": lambda one, other: one <= other, "=": lambda one, other: one == other,
    ">": lambda one, other: one > other, ">=": lambda one, other: one >= other,
}  # fmt: skip


@functools.lru_cache(maxsize=256)
def applies(media: str) -> bool:
    """Does a list of media queries, in lower case, hold on a screen of ``SCREEN_WIDTH`` times ``SCREEN_HEIGHT`` pixels?

    >>> applies(""), applies("print"), applies("only screen and (max-width: 600px)"), applies("print, all")
    (True, False, False, True)
    """
    return not media.strip() or any([_query_applies(query.strip()) for query in media[:MAX_MEDIA].split(",")])


def _query_applies(query: str) -> bool:
    negated, found = False, MEDIUM.match(query)
    holds: bool | None = True
    if found:
        negated, holds = found[1] == "not", found[2] in ("screen", "all")
        query = query[found.end() :]
    if holds and (query or not found):
        holds = _condition(query, _feature, 0)
    return holds is not None and holds != negated


@functools.lru_cache(maxsize=256)
def supported(condition: str) -> bool:
    """Do browsers support what ``@supports`` asks for, in lower case?

    >>> supported("(display: grid)"), supported("not (display: grid)"), supported("(no: such) or (color: #fff)")
    (True, False, True)
    """
    return _condition(condition[:MAX_MEDIA], _declaration, 0) is True


def _condition(text: str, holds: Callable[[str], bool | None], nested: int) -> bool | None:
    """What conditions in parentheses come to; None for what nobody knows, which does not hold negated either."""
    text = text.strip()
    negated = text.startswith("not")
    text = text[3:].strip() if negated else text
    found: list[bool | None] = []
    joint = ""
    while text.startswith("("):
        end = closing(text, 1)
        if end < 0:
            return None
        inside = text[1:end].strip()
        is_nested = inside.startswith(("(", "not ", "not("))
        if is_nested and nested < MAX_NESTED:
            found.append(_condition(inside, holds, nested + 1))
        else:
            found.append(None if is_nested else holds(inside))
        text = text[end + 1 :].strip()
        word = text[: 3 - text.startswith("or")]
        if word in ("and", "or") and joint in ("", word):
            joint, text = word, text[len(word) :].strip()
    if text or not found or (negated and len(found) > 1):
        return None
    decides = joint == "or"
    result = decides if decides in found else None if None in found else not decides
    return result if result is None or not negated else not result


def _feature(text: str) -> bool | None:
    """Does a feature of the screen hold?"""
    if bound := BOUND.fullmatch(text):
        edge, name, number, unit = bound.groups()
        size = _size(name, number, unit)
        return None if size is None else COMPARE[{"min": ">=", "max": "<="}.get(edge or "", "=")](MEASURES[name], size)
    if found := RANGE.fullmatch(text):
        low, low_unit, low_sign, name, sign, number, unit = found.groups()
        has = MEASURES[name]
        if not (low_sign or sign):
            return has > 0
        sizes = [_size(name, low or "0", low_unit or ""), _size(name, number or "0", unit or "")]
        if sizes[0] is None or sizes[1] is None:
            return None
        return (not low_sign or COMPARE[low_sign](sizes[0], has)) and (not sign or COMPARE[sign](has, sizes[1]))
    text = text.replace(" ", "")
    return True if text in HOLD else False if text in FAIL else None


def _size(name: str, number: str, unit: str) -> float | None:
    """A size as the screen's is measured; None where the unit is another one's."""
    units = PIXELS if name in ("width", "height") else DOTS
    return float(number) * units[unit] if unit in units else None


def _declaration(text: str) -> bool | None:
    """Is this declaration understood?"""
    name, colon, value = text.partition(":")
    if not colon or not value.strip():
        return None
    return name.strip().startswith("--") or name.strip() in KNOWN or parse_declaration(text) is not None
