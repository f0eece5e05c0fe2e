"""Messages as rows in compressed sparse row form: which tokens each holds, and how often.

One message and ten thousand have the same form, so they are scored by the same code. What the ids number is the
business of whoever holds the rows: a vocabulary, a training set's columns, or a list of tokens beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np


class CsrRows(NamedTuple):
    """n messages; message i holds the tokens ``ids[indptr[i]:indptr[i+1]]``, each as often as ``counts`` says.

    >>> tokens, rows = CsrRows.of([{"a": 2, "b": 1}, {"b": 3}])
    >>> tokens, rows.indptr.tolist(), rows.ids.tolist(), rows.counts.tolist()
    (['a', 'b'], [0, 2, 3], [0, 1, 1], [2, 1, 3])
    """

    indptr: np.ndarray  # (n+1,) where the rows begin and end
    ids: np.ndarray  # (nnz,) the distinct tokens of each message
    counts: np.ndarray  # (nnz,) occurrences of the token in the message

    @classmethod
    def of(cls, messages: Sequence[Mapping[str, int]]) -> tuple[list[str], CsrRows]:
        """From {token: occurrences} of each message: the distinct tokens of all, and rows of indices in that list."""
        id_of: dict[str, int] = {}
        ids = [id_of.setdefault(token, len(id_of)) for message in messages for token in message]
        counts = [count for message in messages for count in message.values()]
        indptr = np.cumsum([0, *map(len, messages)])
        return list(id_of), cls(indptr, np.array(ids, np.int64), np.array(counts, np.int64))

    @property
    def row_numbers(self) -> np.ndarray:
        """The row of each of the nnz cells, (nnz,)."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    def renumbered(self) -> tuple[np.ndarray, CsrRows]:
        """The k distinct ids that occur, ascending, and the same rows with indices among them for ids."""
        size = int(self.ids.max(initial=-1)) + 1
        if size > 16 * len(self.ids):  # a message of a large vocabulary
            distinct, ids = np.unique(self.ids, return_inverse=True)
            return distinct, self._replace(ids=ids)
        occurs = np.zeros(size, bool)
        occurs[self.ids] = True
        return np.flatnonzero(occurs), self._replace(ids=(np.cumsum(occurs) - 1)[self.ids])

    def sorted(self) -> CsrRows:
        """The same messages, the ids of each ascending."""
        order = np.lexsort((self.ids, self.row_numbers))
        return self._replace(ids=self.ids[order], counts=self.counts[order])

    def select(self, kept: np.ndarray, size: int) -> CsrRows:
        """Only the ids in ``kept`` (k,), of ``size`` there are; their indices in ``kept`` become the ids."""
        new_id = np.full(size, -1)
        new_id[kept] = np.arange(len(kept))
        ids = new_id[self.ids]
        return self._replace(ids=ids).only(ids >= 0)

    def only(self, chosen: np.ndarray) -> CsrRows:
        """Only the cells where ``chosen`` (nnz,) is true."""
        if chosen.all():
            return self
        return CsrRows(np.append(0, np.cumsum(chosen))[self.indptr], self.ids[chosen], self.counts[chosen])

    def matrix(self, n_columns: int) -> Any:
        """The rows as a scipy CSR array, messages × columns, which shares their memory."""
        from scipy.sparse import csr_array

        return csr_array((self.counts, self.ids, self.indptr), shape=(len(self.indptr) - 1, n_columns))


class ReadRows(NamedTuple):
    """n messages that were read.

    rows: the messages as rows of a vocabulary's ids, the tokens of each as they were first met
    digests: 16 bytes of each, the same however the message is stored; 0 where nobody asked
    dates: (n,) when each was received, as it says: see ``message.seconds``; empty where nobody asked
    cuts: (n,) what was left out of each, as bits in the order of ``CUTS``: see ``cuts_in_words``
    """

    rows: CsrRows
    digests: bytes
    dates: np.ndarray
    cuts: np.ndarray


def take_tokens(tokens: Any, indices: np.ndarray) -> Any:
    """Those of ``tokens``, a list or something with numpy's ``take``, at ``indices`` (k,)."""
    return tokens.take(indices) if hasattr(tokens, "take") else [tokens[index] for index in indices.tolist()]
