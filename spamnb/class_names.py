"""Names of classes: which names are allowed, and which class a mistyped name means."""

from __future__ import annotations

from collections.abc import Sequence

from spamnb.errors import SpamnbError

MAX_CLASS_NAME = 100  # characters
SYNONYMS = {"spam", "junk", "bad"}, {"ham", "good", "nonspam", "legit", "inbox"}


def check_class_name(name: str) -> str:
    """Return ``name``. Raise ValueError if it cannot name a class.

    A name is printable, has 1 to 100 characters, no blank at its ends, and is not "unsure".

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
    """Raise SpamnbError if no class has this name. The error begins with ``where`` and suggests a similar name.

    >>> check_has_class("spma", ["ham", "spam"])
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: 'spma' is none of the classes ham, spam; did you mean spam?
    """
    if name not in classes:
        near = nearest_name(name, classes)
        suggestion = f"; did you mean {near}?" if near else ";" if advice else ""
        names = ", ".join(classes) or "(there is none)"
        raise SpamnbError(f"{where}{name!r} is none of the classes {names}{suggestion}{advice}")


def nearest_name(name: str, names: Sequence[str]) -> str | None:
    """Return the one of ``names`` that has the most similar spelling or the same meaning, or None.

    >>> [nearest_name(name, ["ham", "spam"]) for name in ("spma", "good", "list")]
    ['spam', 'ham', None]
    """
    from difflib import get_close_matches  # 4 ms, only for a name that does not exist

    synonyms = next((words for words in SYNONYMS if name.casefold() in words), set())
    similar = get_close_matches(name.casefold(), names, 1)
    return next(iter([*similar, *(other for other in names if other.casefold() in synonyms)]), None)


def check_known_class(name: str, classes: Sequence[str], spam: str, new: bool = False, where: str = "") -> None:
    """Raise SpamnbError if the model does not have the class that a message is to be learned as, unless ``new``.

    A mistyped name would become a new class. Even with one message, this class takes probability from spam, so that
    fewer messages get the verdict spam. No error is raised for the class of spam, nor for the first other class, unless
    its name is similar to that of a class.

    >>> check_known_class("spam", [], "spam"), check_known_class("ham", ["spam"], "spam")
    (None, None)
    >>> check_known_class("spma", ["ham", "spam"], "spam")
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: 'spma' is none of the classes ham, spam; did you mean spam? --new-class makes a new one
    """
    names = sorted({*classes, spam})
    if name in names:
        return
    is_first = all(other == spam for other in classes) and not nearest_name(name, names)
    if not new and not is_first:
        check_has_class(name, names if classes else ["ham", *names], where, " --new-class makes a new one")
