"""What may name a class, and how names and numbers of things are shown to people."""

from __future__ import annotations

from typing import Any

MAX_CLASS_NAME = 100


def check_class_name(name: str) -> str:
    """``name`` itself; ValueError where no class can have it: empty, blank at an end, unprintable, over 100 characters,
    or "unsure".

    >>> check_class_name("talk.politics.misc")
    'talk.politics.misc'
    """
    if not name or name != name.strip() or not name.isprintable() or len(name) > MAX_CLASS_NAME:
        raise ValueError(f"{name[:MAX_CLASS_NAME]!r} cannot name a class")
    if name == "unsure":
        raise ValueError("'unsure' cannot name a class: it is the verdict when none is sure enough")
    return name


def escape(text: str) -> str:
    """A path or token for a terminal: bytes that are no UTF-8 and control characters as escapes.

    >>> escape("caf\\x1b[2J")
    'caf\\\\x1b[2J'
    """
    return text if text.isprintable() else ascii(text)[1:-1]


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
