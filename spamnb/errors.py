"""Errors for users. The text of an error is one line with the place, the problem and what to do."""

from __future__ import annotations

from typing import Any, Self


class SpamnbError(Exception):
    """Wrong input, or a request that is refused. The command line prints the text and exits with status 1.

    Examples
    --------
    >>> raise SpamnbError("inbox.mbox: no such file")
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: inbox.mbox: no such file
    """


class _Arguments:
    """Arguments in a template as Python writes them: {option.force} is "force=True", {option.top} is "top"."""

    FLAGS = ("accept_junk", "by_date", "everything", "force", "leave_one_out", "one_class", "online", "recursive")

    def __getattr__(self, name: str) -> str:
        return f"{name}=True" if name in self.FLAGS else name


class _Options:
    """Arguments in a template as the command line writes them: {option.force} is "--force"."""

    def __getattr__(self, name: str) -> str:
        return "--all" if name == "everything" else "--" + name.replace("_", "-")


class Wording(str):
    r"""A line in two wordings: the string names Python's arguments, ``option_wording`` names command-line options.

    >>> line = Wording("{path}: exists already; {option.force} replaces it", path="mail.spamnb")
    >>> print(line, line.option_wording, sep="\n")
    mail.spamnb: exists already; force=True replaces it
    mail.spamnb: exists already; --force replaces it
    """

    option_wording: str

    def __new__(cls, template: str, **values: object) -> Self:
        line = super().__new__(cls, template.format(option=_Arguments(), **values))
        as_options = {name: in_options(value) if isinstance(value, str) else value for name, value in values.items()}
        line.option_wording = template.format(option=_Options(), **as_options)
        return line


def in_options(text: str | Exception) -> str:
    """Return a line or the text of an error, with command-line options instead of Python's arguments.

    >>> in_options(Wording("{note}; or less", note=Wording("{option.workers} 1"))), in_options(SpamnbError("no mail"))
    ('--workers 1; or less', 'no mail')
    """
    line = text.args[0] if isinstance(text, ArgumentError) else text
    return line.option_wording if isinstance(line, Wording) else str(line)


class ArgumentError(SpamnbError):
    """An error about arguments. Its text is a `Wording`, which names them as arguments or as options."""

    def __init__(self, template: str, **values: object) -> None:
        super().__init__(Wording(template, **values))


def check_type(name: str, value: object, types: Any, expected: str) -> None:
    """Raise SpamnbError if the argument ``name`` has another type.

    >>> check_type("model", 5, str, "the path of a file")
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: model is 5: give the path of a file
    """
    if not isinstance(value, types):
        raise SpamnbError(f"{name} is {value!r:.60}: give {expected}")


class SpamnbWarning(UserWarning):
    """A warning of a function that continues, for example because a file was skipped.

    Examples
    --------
    >>> import warnings
    >>> warnings.filterwarnings("ignore", category=SpamnbWarning)
    """


def reason(error: Exception) -> str:
    """Return the text of an error, and for an OSError only the reason, without its number and its file.

    >>> reason(FileNotFoundError(2, "No such file or directory", "inbox")), reason(ValueError("no text"))
    ('No such file or directory', 'no text')
    """
    return getattr(error, "strerror", None) or str(error)


def describe_error(error: Exception, where: str = "") -> str:
    """Return one line about any exception, beginning with ``where`` unless the exception is a SpamnbError.

    >>> describe_error(SpamnbError("a full disk")), describe_error(ValueError("no codec"), "ann.eml")
    ('a full disk', 'ann.eml: failed (ValueError: no codec)')
    """
    if isinstance(error, SpamnbError):
        return error.args[0] if isinstance(error, ArgumentError) else str(error)
    text = ascii(" ".join(reason(error).split()))[1:-1][:200]
    return f"{where}{where and ': '}failed ({type(error).__name__}{text and ': '}{text})"


class Outdated(SpamnbError):
    """A model has an older format. The model can be replaced, but not read."""


class Locked(SpamnbError):
    """Another process keeps writing to a file."""


class ModelExists(ArgumentError):
    """A model exists already, and ``force`` is not set."""


class Damaged(Exception):
    """Parts of a file contradict each other. The caller raises SpamnbError with the name of the file."""
