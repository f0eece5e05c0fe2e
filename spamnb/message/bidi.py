"""Text whose direction is overridden → the order in which a person reads it (the overrides of Unicode's UAX #9).

Letters of Latin that stand backwards behind U+202E are read forwards, "arga" as "agra". Letters of Hebrew and
Arabic are read from right to left with and without it.
"""

from __future__ import annotations

import re

MAX_MARKS = 10_000  # in one text; those behind them are left, as they have no width
MAX_NESTED = 16

_LEFT, _RIGHT, _END = "\u202d", "\u202e", "\u202c"
_MARK = re.compile("([\u202a-\u202e])")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe]")
_LETTER = re.compile(r"[^\W\d_]")
_ACCENT = re.compile("[\u0300-\u036f\ufe00-\ufe0f]")
_WITH_ACCENTS = re.compile("(?s:.)[\u0300-\u036f\ufe00-\ufe0f]*+")


def reading_order(text: str) -> str:
    """``text`` without overrides of direction, what they turn around in the order in which it is read. Line feeds end
    them.

    >>> reading_order("buy \u202eargaiV\u202c now")
    'buy Viagra now'
    """
    left = MAX_MARKS
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if left > 0 and (_RIGHT in line or _LEFT in line):
            pieces = _MARK.split(line, left)
            left -= len(pieces) // 2
            lines[i] = _line(pieces)
    return "\n".join(lines)


def _line(pieces: list[str]) -> str:
    """Text and marks in turn, as one line."""
    # Of each mark that is open its pieces: their text, and whether it is read as it stands.
    stack: list[tuple[str, list[tuple[str, bool]]]] = [("", [])]
    too_deep = 0
    for i, piece in enumerate(pieces):
        if i % 2 == 0:
            stack[-1][1].append((piece, False))
        elif piece != _END:
            if len(stack) > MAX_NESTED:
                too_deep += 1
            else:
                stack.append((piece, []))
        elif too_deep:
            too_deep -= 1
        elif len(stack) > 1:
            _close(stack)
    while len(stack) > 1:
        _close(stack)
    return "".join([text for text, _ in stack[0][1]])


def _close(stack: list[tuple[str, list[tuple[str, bool]]]]) -> None:
    """Put what the innermost mark holds, as it is read, into what is around it."""
    mark, pieces = stack.pop()
    texts = [text for text, _ in pieces]
    if mark in (_LEFT, _RIGHT) and _against(mark, "".join([text for text, fixed in pieces if not fixed])):
        texts = [text if fixed else _backwards(text) for text, fixed in reversed(pieces)]
    stack[-1][1].append(("".join(texts), True))


def _backwards(text: str) -> str:
    """``text`` from its end, each accent behind its letter."""
    return "".join(_WITH_ACCENTS.findall(text)[::-1]) if _ACCENT.search(text) else text[::-1]


def _against(mark: str, text: str) -> bool:
    """Whether a mark turns most letters of the beginning of ``text`` around."""
    text = text[:1000]
    right_to_left = len(_RIGHT_TO_LEFT.findall(text))
    return (2 * right_to_left > len(_LETTER.findall(text))) == (mark == _LEFT)
