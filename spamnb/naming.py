"""What names a class and this machine; how names and numbers are shown to people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spamnb.errors import SpamnbError

MAX_CLASS_NAME = 100
MAX_SHOWN = 1_000  # characters: more than any terminal has columns for
MAX_MARKS = 3  # combining marks on one letter: no script needs more, and heaps of them cover the lines above
SYNONYMS = {"spam", "junk", "bad"}, {"ham", "good", "nonspam", "legit", "inbox"}


def is_loopback(host: str) -> bool:
    """Is that an address of this machine that others cannot reach?

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("192.0.2.1"), is_loopback("localhost")
    (True, True, False, True)
    """
    import ipaddress  # 1.5 ms, which few commands need

    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_class_name(name: str) -> str:
    """``name`` itself; ValueError where no class can have it: empty, blank at an end, unprintable, over 100 characters,
    or "unsure".

    >>> check_class_name("talk.politics.misc")
    'talk.politics.misc'
    """
    if not isinstance(name, str) or not name or name != name.strip() or not name.isprintable():
        raise ValueError(f"{str(name)[:MAX_CLASS_NAME]!r} cannot name a class")
    if len(name) > MAX_CLASS_NAME:
        raise ValueError(f"{name[:MAX_CLASS_NAME]!r}… cannot name a class: it is too long")
    if name == "unsure":
        raise ValueError("'unsure' cannot name a class: it is the verdict when none is sure enough")
    return name


def check_has_class(name: str, classes: Sequence[str], where: str = "", advice: str = "") -> None:
    """SpamnbError where none of the classes has this name, with the one that was meant where that is clear; it begins
    with ``where``, which names the model.

    >>> check_has_class("spma", ["ham", "spam"])
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: 'spma' is none of the classes ham, spam; did you mean spam?
    """
    if name not in classes:
        near = nearest(name, classes)
        meant = f"; did you mean {near}?" if near else ";" if advice else ""
        known = ", ".join(classes) or "(there is none)"
        raise SpamnbError(f"{where}{name!r} is none of the classes {known}{meant}{advice}")


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The one of the names that is spelt most like ``name``, if one is spelt much like it, or means the same.

    >>> nearest("spma", ["ham", "spam"]), nearest("good", ["ham", "spam"]), nearest("list", ["ham", "spam"])
    ('spam', 'ham', None)
    """
    from difflib import get_close_matches  # 4 ms, which only a name that is not there costs

    same = next((words for words in SYNONYMS if name.casefold() in words), set())
    meant = [*get_close_matches(name.casefold(), known, 1), *(other for other in known if other.casefold() in same)]
    return next(iter(meant), None)


def check_known_class(name: str, classes: Sequence[str], spam: str, new: bool = False, where: str = "") -> None:
    """SpamnbError where a message is to be learned as a class that the model's ``classes`` lack, unless ``new``.

    A mistyped class would be one of its own: with one message of it a filter says unsure where it would say spam. No
    leave is needed for what a model still lacks, its spam or a first class of good mail, unless that is spelt much like
    what there is.

    >>> check_known_class("spam", [], "spam"), check_known_class("ham", ["spam"], "spam")
    (None, None)
    >>> check_known_class("spma", ["ham", "spam"], "spam")
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: 'spma' is none of the classes ham, spam; did you mean spam? --new-class makes a new one
    """
    known = sorted({*classes, spam})
    if name in known:
        return
    is_first = all(other == spam for other in classes) and not nearest(name, known)
    if not new and not is_first:
        check_has_class(name, known if classes else ["ham", *known], where, " --new-class makes a new one")


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
