"""Errors that a person can act on: one line that says what, where, and what to do."""

from __future__ import annotations

from typing import Any, Self


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


class Wording(str):
    """A line with the names of what its reader may choose: arguments of Python; ``in_options`` names options instead.

    >>> line = Wording("{path}: exists already; {option.force} replaces it", path="mail.spamnb")
    >>> print(line, line.in_options, sep="\\n")
    mail.spamnb: exists already; force=True replaces it
    mail.spamnb: exists already; --force replaces it
    """

    in_options: str

    def __new__(cls, template: str, **values: object) -> Self:
        line = super().__new__(cls, template.format(option=_Arguments(), **values))
        as_options = {name: in_options(value) if isinstance(value, str) else value for name, value in values.items()}
        line.in_options = template.format(option=_Options(), **as_options)
        return line


def in_options(said: str | Exception) -> str:
    """Return what a line or an error says where options are chosen, on the command line.

    >>> in_options(Wording("{note}; or less", note=Wording("{option.workers} 1"))), in_options(SpamnbError("no mail"))
    ('--workers 1; or less', 'no mail')
    """
    line = said.args[0] if isinstance(said, ArgumentError) else said
    return line.in_options if isinstance(line, Wording) else str(line)


class ArgumentError(SpamnbError):
    """What a caller chose cannot be."""

    def __init__(self, template: str, **values: object) -> None:
        super().__init__(Wording(template, **values))


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
        return error.args[0] if isinstance(error, ArgumentError) else str(error)
    said = ascii(" ".join(reason(error).split()))[1:-1][:200]
    return f"{where}{where and ': '}failed ({type(error).__name__}{said and ': '}{said})"


class Outdated(SpamnbError):
    """A model of an older format: it can be replaced, not read."""


class Locked(SpamnbError):
    """Another process keeps writing to a file."""


class InTheWay(ArgumentError):
    """There is a model already, and nobody asked to replace it."""


class Damaged(Exception):
    """Parts of a file that do not fit together; whoever knows the file makes a SpamnbError of it."""
