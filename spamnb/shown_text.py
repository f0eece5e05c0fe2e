"""Text that is shown to people: names, numbers and values as a terminal can bear them."""

from __future__ import annotations

from typing import Any

MAX_SHOWN = 1_000  # characters: more than any terminal has columns for
MAX_MARKS = 3  # combining marks on one letter: no script needs more, and heaps of them cover the lines above


def escape(text: str) -> str:
    """A path or token for a terminal: bytes that are no UTF-8 and control characters as escapes.

    >>> escape("caf\\x1b[2J")
    'caf\\\\x1b[2J'
    """
    return text if text.isprintable() else ascii(text)[1:-1]


def printable(text: str, most: int = MAX_SHOWN, lines: bool = False) -> str:
    """The beginning of what a stranger wrote, in one line unless ``lines``: what is not printable, or turns the
    direction of writing, as escapes, and no heaps of marks on one letter.

    >>> printable(" a\\tb\\x1b[2J\\u202e\\u4e2d\\u3000\\u6587 "), printable("one\\ntwo", 5, lines=True)
    ('a b\\\\x1b[2J\\\\u202e中 文', 'one\\nt…')
    """
    from unicodedata import combining  # that most commands do without

    kept: list[str] = []
    marks = 0
    for letter in text[:most] if lines else " ".join(text[:most].split()):
        marks = marks + 1 if combining(letter) else 0
        if marks <= MAX_MARKS:
            fine = letter.isprintable() or letter in "\n\t"
            kept.append(letter if fine else " " if letter.isspace() else ascii(letter)[1:-1])
    return "".join(kept) + ("…" if len(text) > most else "")


def pluralize(number: int, what: str) -> str:
    """A number of things.

    >>> pluralize(1, "message"), pluralize(1200, "message")
    ('1 message', '1,200 messages')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def escape_json(value: Any) -> str:
    """A value as one line of JSON for a terminal: JSON itself escapes control characters of ASCII alone.

    >>> escape_json("café"), escape_json("\\x9b2J")
    ('"café"', '"\\\\u009b2J"')
    """
    import json  # --help does without

    line = json.dumps(value, ensure_ascii=False)
    return line if line.isprintable() else json.dumps(value)
