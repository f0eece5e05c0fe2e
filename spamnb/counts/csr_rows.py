"""Messages as ragged rows over their own tokens: one message and ten thousand are scored the same way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from spamnb.tokens.token_array import Numbered, Numbers


class Batch(NamedTuple):
    """n messages; the tokens of message i are ``columns[indptr[i]:indptr[i+1]]``.

    >>> batch = Batch.of([{"a": 2, "b": 1}, {"b": 3}])
    >>> batch.tokens, batch.columns.tolist(), batch.repeats.tolist(), batch.indptr.tolist()
    (['a', 'b'], [0, 1, 1], [2, 1, 3], [0, 2, 3])
    """

    tokens: Sequence[str]  # the k distinct tokens of all of them
    columns: np.ndarray  # (nnz,) positions in ``tokens``
    repeats: np.ndarray  # (nnz,) occurrences in the message
    indptr: np.ndarray  # (n+1,)

    @classmethod
    def of(cls, messages: Sequence[Mapping[str, int]]) -> Batch:
        """From {token: occurrences} of each message."""
        if len(messages) == 1:  # most often; nothing to look up
            (only,) = messages
            k = len(only)
            return cls(list(only), np.arange(k), np.fromiter(only.values(), np.int64, k), np.array([0, k]))
        number: dict[str, int] = {}
        columns = [number.setdefault(token, len(number)) for message in messages for token in message]
        repeats = [count for message in messages for count in message.values()]
        indptr = np.cumsum([0, *map(len, messages)])
        return cls(list(number), np.array(columns, np.int64), np.array(repeats, np.int64), indptr)

    @classmethod
    def numbered(cls, numbers: Numbers, at: np.ndarray, repeats: np.ndarray, lengths: Sequence[int]) -> Batch:
        """From rows of token numbers ``at`` (nnz,), of so many tokens each."""
        distinct, columns = np.unique(at, return_inverse=True)
        indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        return cls(Numbered(numbers, distinct), columns, repeats.astype(np.int64), indptr)

    @classmethod
    def among(cls, tokens: Sequence[str], columns: np.ndarray, repeats: np.ndarray, indptr: np.ndarray) -> Batch:
        """From rows of ``columns``, which are of all ``tokens`` there are: the messages over their own."""
        distinct, places = np.unique(columns, return_inverse=True)
        return cls([tokens[column] for column in distinct.tolist()], places, repeats, indptr)

    @property
    def rows(self) -> np.ndarray:
        """(nnz,) the message that each token is of."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    def sorted(self) -> Batch:
        """The same messages, the tokens of each in the order of ``tokens``."""
        order = np.lexsort((self.columns, self.rows))
        return self._replace(columns=self.columns[order], repeats=self.repeats[order])

    def text(self, cells: np.ndarray) -> Iterable[str]:
        """The tokens of some of the nnz cells."""
        columns = self.columns[cells]
        if isinstance(self.tokens, Numbered):
            return self.tokens.some(columns)
        return map(self.tokens.__getitem__, columns.tolist())

    def only(self, known: np.ndarray) -> Batch:
        """The same messages without the tokens that are not among ``known``, positions in ``tokens``."""
        place = np.full(len(self.tokens), -1)
        place[known] = np.arange(len(known))
        columns = place[self.columns]
        use = columns >= 0
        lengths = np.bincount(self.rows[use], minlength=len(self.indptr) - 1)
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        tokens = self.tokens
        some = tokens.some(known) if isinstance(tokens, Numbered) else [tokens[i] for i in known]
        return Batch(some, columns[use], self.repeats[use], indptr)
