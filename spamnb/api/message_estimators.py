"""The base of estimators whose samples are messages, and checks of their parameters, messages and labels."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spamnb.api.arguments import settings_of, threads_of
from spamnb.api.progress import progress as shown
from spamnb.class_names import check_class_name
from spamnb.counts.training_set import TrainingSet
from spamnb.engines.counting import count_parallel
from spamnb.errors import SpamnbError
from spamnb.estimators.base import Parameters
from spamnb.estimators.validation import check_labels, is_missing
from spamnb.reader.options import TokenOptions
from spamnb.setting_fields import settings_in
from spamnb.settings import Settings
from spamnb.sources.entries import Entry, to_raw_message

_HEADER = re.compile(r"(?:[!-9;-~]+:.*\n|[ \t]+\S.*\n|From .*\n)++\r?\n")
_FROM = re.compile(r"^From:", re.IGNORECASE | re.MULTILINE)


class ParameterError(SpamnbError, ValueError):
    """A parameter of an estimator has a wrong value."""


@contextmanager
def name_errors(estimator: Parameters) -> Iterator[None]:
    """Convert errors about parameters in this block to ParameterError with the name of the estimator."""
    try:
        yield
    except (SpamnbError, ValueError) as error:
        raise ParameterError(f"{type(estimator).__name__}: {error}") from None


def set_parameters(estimator: Parameters, arguments: Mapping[str, Any]) -> None:
    """Set the constructor's parameters; ``arguments`` are its ``locals()``."""
    vars(estimator).update((name, arguments[name]) for name in inspect.signature(type(estimator)).parameters)


def as_mail(message: Any, mail: bool | str = "auto") -> bytes:
    """Return a message as raw mail. Raises TypeError if it is neither bytes nor str.

    ``mail`` is True for raw mail and False for text without headers. With "auto", bytes are raw mail, and so is a str
    that begins with a header: lines of fields, one of them From, and an empty line.

    >>> as_mail("Subject: tea"), as_mail("From: a@b.example\\nSubject: tea\\n\\nAt four?")
    (b'\\nSubject: tea\\n', b'From: a@b.example\\nSubject: tea\\n\\nAt four?')
    >>> as_mail(b"<p>tea</p>", mail=False)
    b'\\n<p>tea</p>'
    """
    if isinstance(message, str):
        header = _HEADER.match(message) if mail == "auto" else None
        if mail is True or (header and _FROM.search(header[0])):
            return message.encode("utf-8", "replace")
    return b"\n" * (mail is False and not isinstance(message, str)) + to_raw_message(message)


def raw_messages(X: Iterable[str | bytes], mail: bool | str = "auto") -> Iterator[bytes]:
    """Yield each message in X as raw mail, which ``as_mail`` makes.

    Raises TypeError if X is no list of messages or an item is no message, and ParameterError if ``mail`` has a wrong
    value.

    >>> [*raw_messages(["Subject: tea", b"Subject: tea"])]
    [b'\\nSubject: tea\\n', b'Subject: tea']
    """
    if not (isinstance(mail, bool) or mail == "auto"):
        raise ParameterError(f"mail is {mail!r:.60}: give True, False or 'auto'")
    if isinstance(X, (str, bytes, bytearray)):
        raise TypeError("X is a single message: give a list of messages")
    if isinstance(X, (Set, Mapping)):
        raise TypeError(f"X is a {type(X).__name__}, which has no order that labels could go by: give a list")
    if hasattr(X, "columns"):
        raise TypeError("X is a table: give the one column that holds the messages, as table['text']")
    return _convert_messages(X, mail)


def _convert_messages(X: Iterable[str | bytes], mail: bool | str) -> Iterator[bytes]:
    for number, item in enumerate(X):
        try:
            yield as_mail(item, mail)
        except TypeError as error:
            hint = "; an empty cell: leave its row out, as by table.dropna()" if is_missing(item) else ""
            raise TypeError(f"X[{number}]: {error}{hint}") from None


class MessageEstimator(Parameters):
    """Base of estimators whose samples are messages: it reads the messages and counts their tokens."""

    mail: bool | str
    n_jobs: int | None
    progress: bool

    def _input_tags(self) -> dict[str, bool]:
        return {"string": True, "two_d_array": False}

    def _raw(self, X: Iterable[str | bytes]) -> Iterator[bytes]:
        with name_errors(self):
            return raw_messages(X, self.mail)

    def _entries(self, X: Iterable[str | bytes], labels: Sequence[str] | None = None) -> Iterator[Entry]:
        """Return X as entries, with their classes ("" without ``labels``)."""
        return (Entry(labels[i] if labels else "", f"X[{i}]", "", content=raw) for i, raw in enumerate(self._raw(X)))

    def _make_settings(self, *dataclasses: type, **overrides: Any) -> Settings:
        """Make settings from the parameters of the estimator that are settings of these dataclasses."""
        with name_errors(self):
            return settings_of(
                {name: getattr(self, name) for each in dataclasses for name in settings_in(each)} | overrides
            )

    def _threads(self) -> int:
        with name_errors(self):
            return threads_of(self.n_jobs)

    def _count(
        self, X: Iterable[str | bytes], options: TokenOptions, labels: Sequence[str] | None = None
    ) -> TrainingSet:
        entries, threads = self._entries(X, labels), self._threads()
        with shown("Reading", self.progress) as show:
            return count_parallel(entries, options, raise_unreadable, show, threads)


def raise_unreadable(name: str, error: Exception) -> None:
    """Raise SpamnbError, because an unreadable message in memory is not skipped as an unreadable file is."""
    raise SpamnbError(f"{name}: {error}")


class Labels(NamedTuple):
    """The classes of n messages."""

    classes: NDArray[Any]  # (C,) the labels of y, sorted as numbers or texts
    names: list[str]  # (C,) their names in a model file
    of: list[str]  # (n,) the name of each message's class


def check_labelled(
    X: Iterable[str | bytes], y: Any, estimator: str, earlier: Sequence[Any]
) -> tuple[Sequence[str | bytes], Labels]:
    """Return X as a list, and the labels in y. Their classes are those in y and in ``earlier``, the previous classes.

    Raises ValueError if a label cannot name a class, if there are more or fewer labels than messages, and if there are
    no messages.
    """
    raw_messages(X)  # raises TypeError for a single str, whose length would be compared with the number of labels
    messages, label_array = X if isinstance(X, (list, tuple)) else list(X), check_labels(y, estimator)
    if len(messages) != len(label_array):
        raise ValueError(f"{len(messages)} messages but {len(label_array)} labels")
    if not messages:
        raise ValueError("X holds no message")
    labels = [*earlier, *np.unique(label_array).tolist()] if len(earlier) else np.unique(label_array)
    classes = np.unique(check_labels(labels, estimator))
    names = [class_name(label) for label in classes.tolist()]
    return messages, Labels(classes, names, [class_name(label) for label in label_array.tolist()])


def class_name(label: Any) -> str:
    """Return the name of a class in a model file.

    >>> class_name("spam"), class_name(1), class_name(1.0), class_name(True)
    ('spam', '1', '1', 'True')
    """
    if isinstance(label, float):
        label = int(label)
    return check_class_name(str(label))


def parse_labels(names: Sequence[str], kind: object) -> NDArray[Any]:
    """Convert the class names of a model file to a sorted array of labels with this ``dtype.kind``.

    If a name cannot be converted, all labels are texts.

    >>> parse_labels(["0", "1"], "i"), parse_labels(["0", "ham"], "i")
    (array([0, 1]), array(['0', 'ham'], dtype='<U3'))
    """
    converters: dict[object, Callable[[str], Any]] = {"i": int, "u": int, "f": float, "b": lambda name: name == "True"}
    try:
        labels = [converters.get(kind, str)(name) for name in names]
    except ValueError:
        labels = []
    return np.array(sorted(labels if [class_name(label) for label in labels] == list(names) else names))
