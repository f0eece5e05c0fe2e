"""Errors that a person can act on: one line that says what, where, and what to do."""

from __future__ import annotations


class SpamnbError(Exception):
    """Bad input or a refused request, told in one line; the command line prints it and exits 1.

    >>> raise SpamnbError("inbox.mbox: no such file")
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: inbox.mbox: no such file
    """


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


class Outdated(SpamnbError):
    """A model of an older format: it can be replaced, not read."""


class InTheWay(SpamnbError):
    """There is a model already, and nobody asked to replace it."""


class Damaged(Exception):
    """Parts of a file that do not fit together; whoever knows the file makes a SpamnbError of it."""
