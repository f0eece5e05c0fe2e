"""A correction as arrays, outside of a file and as the blobs of its tables (corrections.py).

A message's units sum to 0 over the classes, and so do a token's weights: blobs leave class number 0 out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from spamnb.errors import Damaged
from spamnb.store.pages import NUMBERS, weights_of

KEY, UNITS = np.dtype("<i8"), np.dtype("<i4")
PAGE_BYTES = 3_900  # of a page's keys and weights: as many as SQLite keeps in one page of its own, of 4,096 bytes
MAX_UNITS = (1 << 31) - 1
INSERT_PAGE = "INSERT INTO corrections VALUES (?, ?, ?, ?, ?, ?)"


class TokenUnits(NamedTuple):
    """The weights of k tokens, ascending by key."""

    keys: np.ndarray  # (k,) int64, the tokens' hashes
    units: np.ndarray  # (k, C) whole numbers

    @classmethod
    def sum(cls, parts: Sequence[TokenUnits]) -> TokenUnits:
        """The sum of weights of the same classes, without those that are 0; the keys of parts in any order.

        >>> ones = np.array([[-1, 1], [-1, 1]])
        >>> TokenUnits.sum([TokenUnits(np.array([7, 2]), ones), TokenUnits(np.array([2]), -ones[:1])])
        TokenUnits(keys=array([7]), units=array([[-1,  1]]))
        """
        keys, place = np.unique(np.concatenate([part.keys for part in parts]), return_inverse=True)
        added = np.concatenate([part.units for part in parts])
        units = np.zeros((len(keys), added.shape[1]), np.int64)
        np.add.at(units, place, added)
        some = units.any(axis=1)
        return cls(keys[some], units[some])


class MessageUnits(NamedTuple):
    """What m messages brought."""

    digests: Sequence[bytes]
    units: np.ndarray  # (m, C) whole numbers


class CorrectionSums(NamedTuple):
    """A whole correction, outside of a file: its columns are ``classes``."""

    classes: tuple[str, ...]
    weights: TokenUnits
    brought: MessageUnits

    def of_classes(self, names: Sequence[str]) -> CorrectionSums:
        """The same with the columns of these classes, which are all of its own and maybe others."""
        column = [names.index(name) for name in self.classes]

        def aligned(units: np.ndarray) -> np.ndarray:
            out = np.zeros((len(units), len(names)), np.int64)
            out[:, column] = units
            return out

        return CorrectionSums(
            tuple(names),
            self.weights._replace(units=aligned(self.weights.units)),
            self.brought._replace(units=aligned(self.brought.units)),
        )

    def used(self) -> CorrectionSums:
        """The same without columns that are 0."""
        here = np.flatnonzero(self.weights.units.any(axis=0) | self.brought.units.any(axis=0))
        return CorrectionSums(
            tuple(self.classes[c] for c in here),
            self.weights._replace(units=self.weights.units[:, here]),
            self.brought._replace(units=self.brought.units[:, here]),
        )

    @classmethod
    def sum(cls, parts: Sequence[CorrectionSums]) -> CorrectionSums:
        """The sum of corrections, and of what each message brought to them; messages that brought 0 are left out."""
        names = sorted({name for part in parts for name in part.classes})
        aligned = [part.of_classes(names) for part in parts]
        number: dict[bytes, int] = {}
        of_row = [number.setdefault(digest, len(number)) for part in aligned for digest in part.brought.digests]
        brought = np.zeros((len(number), len(names)), np.int64)
        np.add.at(brought, np.array(of_row, np.intp), np.concatenate([part.brought.units for part in aligned]))
        some, digests = np.flatnonzero(brought.any(axis=1)), list(number)
        weights = TokenUnits.sum([part.weights for part in aligned])
        return cls(tuple(names), weights, MessageUnits([digests[row] for row in some], brought[some]))


def kinds_of(units: np.ndarray) -> np.ndarray:
    """How wide each number is in pages.NUMBERS, and 0 where it is 0; class number 0 is left out: (k, C - 1).

    >>> kinds_of(np.array([[0, 0, -128, 128, 1 << 20]]))
    array([[0, 1, 2, 3]], dtype=uint8)
    """
    rest = units[:, 1:]
    kinds = (rest != 0).astype(np.uint8)
    for dtype in NUMBERS[:-1]:
        kinds += rest != rest.astype(dtype)
    return kinds


def written_sizes(kinds: np.ndarray) -> np.ndarray:
    """How many bytes of a page each token takes whose numbers are of these kinds (k, C - 1)."""
    of_kind = np.array([0, *(np.dtype(dtype).itemsize for dtype in NUMBERS)])
    return KEY.itemsize - (-kinds.shape[1] // 4) + of_kind[kinds].sum(axis=1)


def pages_of(weights: TokenUnits) -> Iterator[tuple[int, bytes, bytes, bytes, bytes, bytes]]:
    """Rows of table corrections."""
    some = weights.units.any(axis=1)
    keys, units = np.ascontiguousarray(weights.keys[some], KEY), weights.units[some]
    kinds, rest = kinds_of(units), units[:, 1:]
    ends = np.append(0, np.cumsum(written_sizes(kinds)))
    fours = np.pad(kinds, ((0, 0), (0, -kinds.shape[1] % 4))).reshape(len(kinds), -(-kinds.shape[1] // 4), 4)
    packed = (fours << np.array([0, 2, 4, 6], np.uint8)).sum(axis=2, dtype=np.uint8)
    first = 0
    while first < len(keys):
        end = max(int(np.searchsorted(ends, ends[first] + PAGE_BYTES, "right")) - 1, first + 1)
        part = slice(first, end)
        numbers = [rest[part][kinds[part] == kind].astype(dtype).tobytes() for kind, dtype in enumerate(NUMBERS, 1)]
        yield int(keys[first]), keys[part].tobytes(), packed[part].tobytes(), numbers[0], numbers[1], numbers[2]
        first = end


def from_pages(rows: Iterable[tuple[bytes, ...]], classes: int) -> TokenUnits:
    """The tokens of pages, ascending."""
    return TokenUnits(*weights_of(rows, classes))


def units_of_rows(table: str, blobs: Sequence[bytes], classes: int) -> np.ndarray:
    """(m, C) what a table says in each of m rows, without class number 0."""
    try:
        units = [with_first(np.frombuffer(blob, UNITS)[None, :], classes) for blob in blobs]
    except (TypeError, ValueError):
        raise Damaged(f"units in table {table} that are no numbers, or of more classes than there are") from None
    return np.concatenate([np.zeros((0, classes), np.int64), *units])


def with_first(rest: np.ndarray, classes: int) -> np.ndarray:
    """(k, C) of the columns but for the first; classes that came later than these have 0."""
    if rest.shape[1] >= classes and rest.shape[1]:
        raise ValueError("too many columns")
    out = np.zeros((len(rest), classes), np.int64)
    out[:, 1 : 1 + rest.shape[1]] = rest
    out[:, :1] = -out[:, 1:].sum(axis=1, keepdims=True)
    return out


def from_brought(rows: Sequence[tuple[bytes, bytes]], classes: int) -> MessageUnits:
    if not all(type(digest) is bytes and len(digest) == 16 for digest, _ in rows):
        raise Damaged("a message in table brought without a digest")
    return MessageUnits([digest for digest, _ in rows], units_of_rows("brought", [row[1] for row in rows], classes))
