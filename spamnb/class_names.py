"""Names of classes: check them, and find the class that a mistyped name means."""

from __future__ import annotations

from collections.abc import Sequence

from spamnb.errors import SpamnbError

MAX_CLASS_NAME = 100  # characters, so that a line of output stays readable
SYNONYMS = {"spam", "junk", "bad"}, {"ham", "good", "nonspam", "legit", "inbox"}


def check_class_name(name: str) -> str:
    """Return ``name``. Raise ValueError if it cannot name a class.

    A name has 1 to 100 printable characters, no blank at the beginning or the end, and is not "unsure".

    >>> check_class_name("talk.politics.misc")
    'talk.politics.misc'
    """
    if not isinstance(name, str) or not name or name != name.strip() or not name.isprintable():
        raise ValueError(f"{str(name)[:MAX_CLASS_NAME]!r} cannot name a class")
    if len(name) > MAX_CLASS_NAME:
        raise ValueError(f"{name[:MAX_CLASS_NAME]!r}… cannot name a class: it is too long")
    if name == "unsure":
        raise ValueError("'unsure' cannot name a class: it is the verdict if no class is likely enough")
    return name


def check_has_class(name: str, classes: Sequence[str], where: str = "", advice: str = "") -> None:
    """Raise SpamnbError if no class has this name. The error begins with ``where`` and ends with ``advice``.

    >>> check_has_class("spma", ["ham", "spam"])
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: 'spma' is none of the classes ham, spam; did you mean spam?
    """
    if name not in classes:
        similar_name = nearest_name(name, classes)
        suggestion = f"; did you mean {similar_name}?" if similar_name else ";" if advice else ""
        names = ", ".join(classes) or "(there is none)"
        raise SpamnbError(f"{where}{name!r} is none of the classes {names}{suggestion}{advice}")


def nearest_name(name: str, names: Sequence[str]) -> str | None:
    """Return the name with the most similar spelling, or else a name with the same meaning, or None.

    >>> [nearest_name(name, ["ham", "spam"]) for name in ("spma", "good", "list")]
    ['spam', 'ham', None]
    """
    from difflib import get_close_matches  # the import takes 4 ms, and only a wrong name needs it

    synonyms = next((words for words in SYNONYMS if name.casefold() in words), set())
    similar_names = get_close_matches(name.casefold(), names, 1)
    return next(iter([*similar_names, *(other for other in names if other.casefold() in synonyms)]), None)


def check_known_class(name: str, classes: Sequence[str], spam: str, new: bool = False, where: str = "") -> None:
    """Raise SpamnbError if a message would be learned as a new class, unless ``new``.

    The reason is that a mistyped name would become a class, and even a class of one message takes probability from
    spam. The class of spam is allowed, and so is the first other class if its name is not similar or a synonym.

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
