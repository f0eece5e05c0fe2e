"""Errors that a person can act on: one line that says what, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class SpamnbError(Exception):
    """Bad input or a refused request, told in one line; the command line prints it and exits 1.

    >>> raise SpamnbError("inbox.mbox: no such file")
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: inbox.mbox: no such file
    """


class _Arguments:
    """Names of arguments as Python's callers write them."""

    FLAGS = ("by_date", "everything", "force", "leave_one_out", "one_class", "online", "recursive")

    def __getattr__(self, name: str) -> str:
        return f"{name}=True" if name in self.FLAGS else name


class _Options:
    """The same as options of the command line."""

    def __getattr__(self, name: str) -> str:
        return "--all" if name == "everything" else "--" + name.replace("_", "-")


_option: _Arguments | _Options = _Arguments()


@contextmanager
def naming_options() -> Iterator[None]:
    """Inside, which is where the command line runs, ``in_callers_words`` names options."""
    global _option
    before, _option = _option, _Options()
    try:
        yield
    finally:
        _option = before


def in_callers_words(template: str, **values: object) -> str:
    """A line with the names of what its reader may choose: arguments in Python, options on the command line.

    >>> in_callers_words("{path}: exists already; {option.force} replaces it", path="mail.spamnb")
    'mail.spamnb: exists already; force=True replaces it'
    >>> with naming_options():
    ...     in_callers_words("{path}: exists already; {option.force} replaces it", path="mail.spamnb")
    'mail.spamnb: exists already; --force replaces it'
    """
    return template.format(option=_option, **values)


class ArgumentError(SpamnbError):
    """What a caller chose cannot be."""

    def __init__(self, template: str, **values: object) -> None:
        super().__init__(in_callers_words(template, **values))


def check_kind(name: str, value: object, kind: Any, wanted: str) -> None:
    """SpamnbError where the argument ``name`` is of another kind.

    >>> check_kind("model", 5, str, "the path of a file")
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: model is 5: give the path of a file
    """
    if not isinstance(value, kind):
        raise SpamnbError(f"{name} is {value!r:.60}: give {wanted}")


class SpamnbWarning(UserWarning):
    """What a function tells on the way and goes on: a file that was left out, a folder that may not be what was meant.

    >>> import warnings
    >>> warnings.filterwarnings("ignore", category=SpamnbWarning)
    """


def reason(error: Exception) -> str:
    """What an error says; of the system's own only the reason, without number and file.

    >>> reason(FileNotFoundError(2, "No such file or directory", "inbox")), reason(ValueError("no text"))
    ('No such file or directory', 'no text')
    """
    return getattr(error, "strerror", None) or str(error)


def fault(error: Exception, where: str = "") -> str:
    """Return in one line what went wrong, whatever was raised; a SpamnbError says ``where`` itself.

    >>> fault(SpamnbError("a full disk")), fault(MemoryError()), fault(ValueError("no codec"), "ann.eml")
    ('a full disk', 'failed (MemoryError)', 'ann.eml: failed (ValueError: no codec)')
    """
    if isinstance(error, SpamnbError):
        return str(error)
    said = ascii(" ".join(reason(error).split()))[1:-1][:200]
    return f"{where}{where and ': '}failed ({type(error).__name__}{said and ': '}{said})"


class Outdated(SpamnbError):
    """A model of an older format: it can be replaced, not read."""


class InTheWay(ArgumentError):
    """There is a model already, and nobody asked to replace it."""


class Damaged(Exception):
    """Parts of a file that do not fit together; whoever knows the file makes a SpamnbError of it."""
