"""Names of classes: what can be one, and which one was meant."""

from __future__ import annotations

from collections.abc import Sequence

from spamnb.errors import SpamnbError

MAX_CLASS_NAME = 100
SYNONYMS = {"spam", "junk", "bad"}, {"ham", "good", "nonspam", "legit", "inbox"}


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
