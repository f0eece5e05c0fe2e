"""Errors that a person can act on: one line that says what, where, and what to do."""

from __future__ import annotations


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


class ArgumentError(SpamnbError):
    """What a caller chose cannot be: Python's callers are told of arguments, the command line's of options.

    >>> error = ArgumentError("{path}: exists already; {option.force} replaces it", path="mail.spamnb")
    >>> str(error), error.on_command_line()
    ('mail.spamnb: exists already; force=True replaces it', 'mail.spamnb: exists already; --force replaces it')
    """

    def __init__(self, template: str, **values: object) -> None:
        self._template, self._values = template, values
        super().__init__(template.format(option=_Arguments(), **values))

    def on_command_line(self) -> str:
        """The same line with the names of options."""
        return self._template.format(option=_Options(), **self._values)


class SpamnbWarning(UserWarning):
    """What a function tells on the way and goes on: a file that was left out, a folder that may not be what was meant.

    >>> import warnings
    >>> warnings.filterwarnings("ignore", category=SpamnbWarning)
    """


def command_line_error(error: Exception) -> str:
    """What an error says on the command line: it names options and no arguments."""
    return error.on_command_line() if isinstance(error, ArgumentError) else str(error)


def reason(error: Exception) -> str:
    """What an error says; of the system's own only the reason, without number and file.

    >>> reason(FileNotFoundError(2, "No such file or directory", "inbox")), reason(ValueError("no text"))
    ('No such file or directory', 'no text')
    """
    return getattr(error, "strerror", None) or str(error)


class Outdated(SpamnbError):
    """A model of an older format: it can be replaced, not read."""


class InTheWay(ArgumentError):
    """There is a model already, and nobody asked to replace it."""


class Damaged(Exception):
    """Parts of a file that do not fit together; whoever knows the file makes a SpamnbError of it."""
