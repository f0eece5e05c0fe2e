"""Messages → rows of a sparse matrix whose columns are told by the tokens' hashes, on all of this machine's cores.

No list of tokens is needed for that, so what maps hashes to columns may be the vocabulary of a fit, or arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spamnb.engines.executor import of_chunks
from spamnb.reader.message import Reader
from spamnb.reader.options import TokenOptions
from spamnb.reader.rows import CsrRows
from spamnb.reader.vocabulary import Vocabulary
from spamnb.sources.entries import Entry

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_TOKENS = 1 << 20  # different tokens that are kept with their columns: a stream may bring any number


class SignedColumns(NamedTuple):
    """Where each of k tokens counts."""

    columns: NDArray[np.int64]  # (k,), −1 for one that does not
    signs: NDArray[np.int64]  # (k,) 1, or −1 where its occurrences are subtracted


ColumnsOf = Callable[[NDArray[np.int64]], SignedColumns]  # of tokens by their hashes


class _Reader:
    """Reads messages by the chunk, and keeps the cells of the tokens that it has met."""

    def __init__(self, options: TokenOptions, columns_of: ColumnsOf) -> None:
        self._reader = Reader(options)
        self._columns_of = columns_of
        self._begin()

    def _begin(self) -> None:
        self._vocabulary = Vocabulary()
        self._cells = self._columns_of(np.zeros(0, np.int64))

    def read(self, chunk: Sequence[Entry]) -> CsrRows:
        """The rows of the messages; a column may stand in one more than once."""
        if len(self._vocabulary) > MAX_TOKENS:
            self._begin()
        rows = self._reader.read([entry.read() for entry in chunk], self._vocabulary, identify=False).rows
        new = np.arange(len(self._cells.columns), len(self._vocabulary))
        found = self._columns_of(self._vocabulary.take(new).hashes)
        self._cells = SignedColumns(*(np.concatenate(both) for both in zip(self._cells, found)))
        columns = self._cells.columns[rows.ids]
        use = columns >= 0
        ends = np.concatenate([[0], np.cumsum(use)])[rows.indptr]
        counts = rows.counts * self._cells.signs[rows.ids]
        return CsrRows(ends, columns[use].astype(np.int32), counts[use].astype(np.int32))


def rows_by_hash(
    entries: Iterator[Entry], options: TokenOptions, columns_of: ColumnsOf, workers: int
) -> Iterator[CsrRows]:
    """The rows of the messages in their order, some at a time. Few messages are read here, many by ``workers``
    threads; what they find is the same."""
    yield from of_chunks(entries, partial(_reader, options, columns_of), workers)


def _reader(options: TokenOptions, columns_of: ColumnsOf) -> Callable[[list[Entry]], CsrRows]:
    return _Reader(options, columns_of).read


def matrix_of(parts: Iterator[CsrRows], n_columns: int, dtype: Any, binary: bool) -> csr_array:
    """Rows as a scipy CSR array (n, n_columns): columns ascending in each row, none twice, none of 0; with ``binary``
    each cell is 1, or −1 where its sum is negative."""
    from scipy.sparse import csr_array

    every = list(parts)
    ends = np.concatenate([[0], *(np.diff(part.indptr) for part in every)]).cumsum()
    columns = np.concatenate([np.zeros(0, np.int32), *(part.ids for part in every)])
    counts = np.concatenate([np.zeros(0, np.int32), *(part.counts for part in every)])
    if ends[-1] <= np.iinfo(np.int32).max:  # liblinear takes no other
        ends = ends.astype(np.int32)
    X = csr_array((counts, columns, ends), shape=(len(ends) - 1, n_columns))
    X.sum_duplicates()
    X.eliminate_zeros()
    if binary:
        X.data = np.sign(X.data)
    return X.astype(dtype)
