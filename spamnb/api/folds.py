"""The folds of ``spamnb evaluate``, for scikit-learn's cross-validation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spamnb.api.given import as_list, check_count, labels_of, raw_messages
from spamnb.errors import SpamnbError
from spamnb.evaluation.protocols import folds_of
from spamnb.reader.message import digest


class MessageFolds:
    """The folds of ``spamnb evaluate --folds``, as ``cv`` of scikit-learn's functions: of equal size and mixture of
    classes, and copies of a message never stand on both sides.

    ``seed`` deals the messages out, ``input`` says what X holds, as in ``SpamClassifier``. Raises ValueError where so
    many folds cannot be made.

    >>> folds = MessageFolds(2)
    >>> [test.tolist() for _, test in folds.split(["tea", "tea", "no", "yes"], ["a", "a", "b", "b"])]
    [[0, 1, 2], [3]]
    >>> folds.get_n_splits()
    2
    """

    def __init__(self, n_splits: int = 10, *, seed: int = 0, input: str = "auto") -> None:
        self.n_splits = n_splits
        self.seed = seed
        self.input = input

    def __repr__(self) -> str:
        return f"MessageFolds({self.n_splits}, seed={self.seed}, input={self.input!r})"

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """The number of folds; nothing given is looked at."""
        return self.n_splits

    def split(
        self, X: Iterable[str | bytes], y: ArrayLike, groups: object = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """For each fold the places in X of the messages to learn, and of those to judge."""
        given = as_list(X, self.input)
        labels = labels_of(y, type(self).__name__)
        check_count(given, labels.of)
        names = sorted(labels.names)
        numbers = np.array([names.index(name) for name in labels.of], np.intp)
        digests = np.array([digest(raw) for raw in raw_messages(given, self.input)], "V16")
        try:
            fold = folds_of(digests, numbers, self.n_splits, self.seed)
        except SpamnbError as error:
            raise ValueError(str(error)) from None
        for number in range(self.n_splits):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)
