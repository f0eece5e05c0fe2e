"""The base of the estimators whose samples are messages, and checks of parameters, messages and labels."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spamnb.api.arguments import count_threads, make_settings
from spamnb.api.progress import show_progress
from spamnb.class_names import check_class_name
from spamnb.engines.counting import count_parallel
from spamnb.errors import SpamnbError
from spamnb.estimators.interface import BaseEstimator
from spamnb.estimators.validation import check_labels, is_missing
from spamnb.model.training_set import TrainingSet
from spamnb.settings import Settings
from spamnb.sources.entries import Entry, to_raw_message

# Header fields, continuation lines or an mbox's From line, and then an empty line.
_HEADER = re.compile(r"(?:[!-9;-~]+:.*\n|[ \t]+\S.*\n|From .*\n)++\r?\n")
_FROM = re.compile(r"^From:", re.IGNORECASE | re.MULTILINE)


class ParameterError(SpamnbError, ValueError):
    """A parameter of an estimator has a wrong value."""


@contextmanager
def name_errors(estimator: BaseEstimator) -> Iterator[None]:
    """Convert errors in this block to ParameterError with the name of the estimator."""
    try:
        yield
    except (SpamnbError, ValueError) as error:
        raise ParameterError(f"{type(estimator).__name__}: {error}") from None


def set_parameters(estimator: BaseEstimator, arguments: Mapping[str, Any]) -> None:
    """Store the constructor's arguments as attributes. ``arguments`` are the constructor's ``locals()``."""
    vars(estimator).update((name, arguments[name]) for name in inspect.signature(type(estimator)).parameters)


def as_mail(message: Any, mail: bool | str = "auto") -> bytes:
    """Return a message as raw mail. Raise TypeError if it is neither bytes nor str.

    ``mail`` is True for raw mail and False for text without headers. With "auto", bytes are raw mail, and a str is raw
    mail if it begins with header fields, one of them From, and an empty line.

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
    """Yield each message in X as raw mail.

    Raise TypeError if X or an item has a wrong type, and ParameterError if ``mail`` has a wrong value.

    >>> [*raw_messages(["Subject: tea", b"Subject: tea"])]
    [b'\\nSubject: tea\\n', b'Subject: tea']
    """
    if not (isinstance(mail, bool) or mail == "auto"):
        raise ParameterError(f"mail is {mail!r:.60}: give True, False or 'auto'")
    if isinstance(X, (str, bytes, bytearray)):
        raise TypeError("X is a single message: give a list of messages")
    if isinstance(X, (Set, Mapping)) or not isinstance(X, Iterable):
        raise TypeError(f"X is a {type(X).__name__}: give a list of messages")
    if hasattr(X, "columns"):
        raise TypeError("X is a table: give the column with the messages, such as table['text']")
    return _convert_messages(X, mail)


def _convert_messages(X: Iterable[str | bytes], mail: bool | str) -> Iterator[bytes]:
    for number, item in enumerate(X):
        try:
            yield as_mail(item, mail)
        except TypeError as error:
            hint = "; this is an empty cell: drop its row, for example with table.dropna()" if is_missing(item) else ""
            raise TypeError(f"X[{number}]: {error}{hint}") from None


class MessageEstimator(BaseEstimator):
    """The base of the estimators whose samples are messages: it reads messages and counts their tokens."""

    mail: bool | str
    n_jobs: int | None
    progress: bool

    def __sklearn_tags__(self) -> Any:
        """Return the estimator's tags, which scikit-learn's tools read."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags

    def _raw(self, X: Iterable[str | bytes]) -> Iterator[bytes]:
        with name_errors(self):
            return raw_messages(X, self.mail)

    def _entries(self, X: Iterable[str | bytes], labels: Sequence[str] | None = None) -> Iterator[Entry]:
        """Yield the messages in X as entries."""
        return (Entry(labels[i] if labels else "", f"X[{i}]", "", content=raw) for i, raw in enumerate(self._raw(X)))

    def _make_settings(self, names: Iterable[str], **overrides: Any) -> Settings:
        """Return settings with the estimator's parameters of these names."""
        with name_errors(self):
            return make_settings({name: getattr(self, name) for name in names} | overrides)

    def _threads(self) -> int:
        with name_errors(self):
            return count_threads(self.n_jobs)

    def _count(self, X: Iterable[str | bytes], settings: Settings, labels: Sequence[str] | None = None) -> TrainingSet:
        entries, threads = self._entries(X, labels), self._threads()
        with show_progress("Reading", self.progress) as show:
            return count_parallel(entries, settings, raise_unreadable, show, threads)


def raise_unreadable(name: str, error: Exception) -> None:
    """Raise SpamnbError for an unreadable message, because a skipped message would have no row in the result."""
    raise SpamnbError(f"{name}: {error}")


class Labels(NamedTuple):
    """The labels of n messages, and the classes that they name."""

    classes: NDArray[Any]  # (C,) ascending: texts, whole numbers or truth values
    class_names: list[str]  # (C,) names of the classes in a model file
    message_classes: list[str]  # (n,) name of each message's class


def check_labelled(
    X: Iterable[str | bytes], y: Any, estimator: str, previous_classes: Sequence[Any]
) -> tuple[Sequence[str | bytes], Labels]:
    """Return X as a list, and the labels. The classes are the classes in y and the previous classes.

    Raise ValueError if a label cannot name a class, if X and y have different lengths, or if they are empty.
    """
    raw_messages(X)  # raises TypeError for a single str, which ``list`` would split into letters
    messages, label_array = X if isinstance(X, (list, tuple)) else list(X), check_labels(y, estimator)
    if len(messages) != len(label_array):
        raise ValueError(f"{len(messages)} messages but {len(label_array)} labels")
    if not messages:
        raise ValueError("X has no messages")
    labels = np.unique(label_array)
    if len(previous_classes):
        labels = np.unique(check_labels([*previous_classes, *labels.tolist()], estimator))
    class_names, message_classes = ([class_name(label) for label in each.tolist()] for each in (labels, label_array))
    return messages, Labels(labels, class_names, message_classes)


def class_name(label: Any) -> str:
    """Return the name of a class in a model file.

    >>> class_name("spam"), class_name(1), class_name(1.0), class_name(True)
    ('spam', '1', '1', 'True')
    """
    if isinstance(label, float):
        label = int(label)
    return check_class_name(str(label))


def parse_labels(names: Sequence[str], kind: object) -> NDArray[Any]:
    """Convert the class names of a model file to labels, sorted. ``kind`` is the ``dtype.kind`` of the learned labels.

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
