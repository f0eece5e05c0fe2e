"""Messages as rows in compressed sparse row (CSR) form: the tokens of each message and their counts.

Ids are indices of a vocabulary, of a training set's columns, or of a list of tokens that accompanies the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np


class CsrRows(NamedTuple):
    """n messages; message i has the tokens ``ids[indptr[i]:indptr[i+1]]`` with the same slice of ``counts``.

    >>> tokens, rows = CsrRows.of([{"a": 2, "b": 1}, {"b": 3}])
    >>> tokens, rows.indptr.tolist(), rows.ids.tolist(), rows.counts.tolist()
    (['a', 'b'], [0, 2, 3], [0, 1, 1], [2, 1, 3])
    """

    indptr: np.ndarray  # (n+1,) the position of each row's first cell, and the number of cells
    ids: np.ndarray  # (nnz,) the token of each cell; the tokens of a message are distinct
    counts: np.ndarray  # (nnz,) occurrences of the token in the message

    @classmethod
    def of(cls, messages: Sequence[Mapping[str, int]]) -> tuple[list[str], CsrRows]:
        """Return the distinct tokens of messages ({token: occurrences}), and rows with indices of these tokens."""
        id_of: dict[str, int] = {}
        ids = [id_of.setdefault(token, len(id_of)) for message in messages for token in message]
        counts = [count for message in messages for count in message.values()]
        indptr = np.cumsum([0, *map(len, messages)])
        return list(id_of), cls(indptr, np.array(ids, np.int64), np.array(counts, np.int64))

    @property
    def row_numbers(self) -> np.ndarray:
        """The row (nnz,) of each cell."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    def renumbered(self) -> tuple[np.ndarray, CsrRows]:
        """Return the distinct ids (k,), ascending, and the rows with each id replaced by its index in this array."""
        size = int(self.ids.max(initial=-1)) + 1
        if size > 16 * len(self.ids):  # if few messages have ids of a large vocabulary, sorting the ids is faster
            distinct, ids = np.unique(self.ids, return_inverse=True)
            return distinct, self._replace(ids=ids)
        occurs = np.zeros(size, bool)
        occurs[self.ids] = True
        return np.flatnonzero(occurs), self._replace(ids=(np.cumsum(occurs) - 1)[self.ids])

    def sorted(self) -> CsrRows:
        """Return the same messages, each with its ids ascending."""
        order = np.lexsort((self.ids, self.row_numbers))
        return self._replace(ids=self.ids[order], counts=self.counts[order])

    def select(self, selected: np.ndarray, size: int) -> CsrRows:
        """Return the cells whose id is in ``selected`` (k,); its index is the new id. All ids are < ``size``."""
        new_id = np.full(size, -1)
        new_id[selected] = np.arange(len(selected))
        ids = new_id[self.ids]
        return self._replace(ids=ids).only(ids >= 0)

    def only(self, mask: np.ndarray) -> CsrRows:
        """Return the cells where ``mask`` (nnz,) is true."""
        if mask.all():
            return self
        return CsrRows(np.append(0, np.cumsum(mask))[self.indptr], self.ids[mask], self.counts[mask])

    def matrix(self, n_columns: int) -> Any:
        """Return a scipy CSR array (n, n_columns) that shares the rows' memory."""
        from scipy.sparse import csr_array

        return csr_array((self.counts, self.ids, self.indptr), shape=(len(self.indptr) - 1, n_columns))


class ReadRows(NamedTuple):
    """The results of reading n messages.

    rows: the messages as rows of a vocabulary's ids, the tokens of each in the order of their first occurrence
    digests: 16 bytes of each message that identify it, however it is stored; zeros if digests were not read
    dates: (n,) when each message was received, as ``message.parse_date`` reads it; empty if dates were not read
    truncations: (n,) the parts of each message that were not read, as bits in the order of ``TRUNCATIONS``
    """

    rows: CsrRows
    digests: bytes
    dates: np.ndarray
    truncations: np.ndarray


def take_tokens(tokens: Any, indices: np.ndarray) -> Any:
    """Return the tokens at ``indices`` (k,) of a list, or of a sequence with numpy's ``take``."""
    return tokens.take(indices) if hasattr(tokens, "take") else [tokens[index] for index in indices.tolist()]
