"""Buckets of tokens of a model file, in memory: calls of ``buckets.c``."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from spamnb.core.library import ffi, lib, locked, numbers, owned, pointer
from spamnb.core.score import MAX_COUNT
from spamnb.errors import Damaged

MIN_RECORD, END_OF_TEXT = lib.MIN_RECORD, lib.END_OF_TEXT
MAX_PLACES = 256  # tokens of a bucket: a place has one byte
VECTOR = np.dtype("<f4")
_COLUMNS = "hashes", "cells", "texts", "vectors"
_DAMAGE = {
    lib.BUCKET_CUT_HASHES: "truncated hashes",
    lib.BUCKET_HASH_ORDER: "hashes that are not in order",
    lib.BUCKET_WIDTH: "a width of no record",
    lib.BUCKET_CUT_RECORDS: "truncated cells",
    lib.BUCKET_PLACE: "places that are not in order",
    lib.BUCKET_LABEL: "labels of unknown or repeated classes",
    lib.BUCKET_FIGURES: "impossible figures",
    lib.BUCKET_CUT_TEXTS: "truncated texts",
    lib.BUCKET_CUT_VECTORS: "truncated vectors",
    lib.BUCKET_INFINITE: "vectors that are not finite",
    lib.BUCKET_NO_TEXT: "a token in another bucket than that of its hash",
}
_TOO_LARGE = {
    lib.BUCKET_COUNT: f"a token was counted more than {MAX_COUNT:,} times, which no model holds",
    lib.BUCKET_WEIGHT: "a token's weight is larger than a model file holds",
}


class ChangedTokens(NamedTuple):
    """Tokens that get other figures, ascending by hash."""

    hashes: np.ndarray  # (k,)
    figures: np.ndarray  # (k, C, 3) messages, occurrences and weight; a token of zeros is deleted
    texts: np.ndarray  # (bytes,) uint8
    text_begins: np.ndarray  # (k,) of the text of each token
    text_lengths: np.ndarray  # (k,) in bytes; -1 for a token that a bucket has
    vectors: np.ndarray | None = None  # (k, d) float32 of the tokens that no bucket has; None: they have zeros


class Buckets:
    """Buckets of a file for ``classes`` classes, whose tokens have vectors of ``dimensions`` numbers.

    A row of table ``tokens`` is the key, the highest hash that the bucket may have, width, hashes, cells, texts and
    vectors. Hashes ascend in all arrays.
    """

    def __init__(self, classes: int, dimensions: int = 0) -> None:
        self.lock = threading.Lock()  # the core's functions run without the GIL
        self._classes, self._dimensions = classes, dimensions
        self._pointer = owned(lib.buckets_new(classes, dimensions * VECTOR.itemsize), lib.buckets_delete)

    def __len__(self) -> int:
        """Return the number of tokens."""
        return int(lib.buckets_count_tokens(self._pointer))

    def find_missing(self, hashes: np.ndarray) -> np.ndarray:
        """Return the hashes that are in the range of no bucket."""
        is_missing = np.empty(len(hashes), bool)
        arguments = pointer("int64_t", hashes), len(hashes), pointer("bool", is_missing)
        with locked(self):
            lib.buckets_find_missing(self._pointer, *arguments)
        return hashes[is_missing]

    def load(self, rows: Sequence[tuple]) -> None:
        """Add rows, ascending by key; raise Damaged if one is no bucket, or is in memory."""
        keys, lasts, widths, *columns = zip(*rows)
        for name, blobs in zip(_COLUMNS, columns):
            if not {*map(type, blobs)} <= {bytes}:
                raise Damaged(f"{name} in table tokens that are not bytes")
        if not {*map(type, widths)} <= {int}:
            self._raise(lib.BUCKET_WIDTH)
        sizes = (list(map(len, blobs)) for blobs in columns)
        table = np.column_stack([keys, lasts, widths, *sizes])
        octets = b"".join(chain.from_iterable(zip(*columns)))
        with locked(self):
            problem = lib.buckets_load(self._pointer, _rows(table), len(rows), ffi.from_buffer("uint8_t[]", octets))
        self._raise(problem)

    def read(self, hashes: np.ndarray) -> np.ndarray:
        """Return the figures (k, C, 3) of the tokens with these ``hashes``; zeros of unknown tokens."""
        figures = np.zeros((len(hashes), self._classes, 3), np.int64)
        arguments = pointer("int64_t", hashes), len(hashes), pointer("int64_t", figures, *figures.shape)
        with locked(self):
            lib.buckets_read(self._pointer, *arguments)
        return figures

    def read_vectors(self, hashes: np.ndarray) -> np.ndarray:
        """Return the vectors (k, d) of the tokens with these ``hashes``; zeros of unknown tokens."""
        vectors = np.zeros((len(hashes), self._dimensions), VECTOR)
        arguments = pointer("int64_t", hashes), len(hashes), ffi.from_buffer("uint8_t[]", vectors)
        with locked(self):
            lib.buckets_read_vectors(self._pointer, *arguments)
        return vectors

    def change(self, tokens: ChangedTokens, max_tokens: int, new_tokens: int) -> None:
        """Change tokens, which are in the ranges of the buckets.

        A bucket of more than ``max_tokens`` tokens is divided into buckets of ``new_tokens`` tokens. Raise
        OverflowError if a file cannot have the figures.
        """
        if not 0 < new_tokens <= max_tokens <= MAX_PLACES:
            raise ValueError(f"a bucket has 1 to {MAX_PLACES} tokens")
        k, bound = len(tokens.hashes), len(tokens.texts) + 1
        changes = {
            "n": k, "hashes": pointer("int64_t", tokens.hashes),
            "figures": pointer("int64_t", tokens.figures, k, self._classes, 3),
            "texts": pointer("uint8_t", tokens.texts), "text_begins": numbers("int64_t", tokens.text_begins, bound, k),
            "text_lengths": numbers("int64_t", tokens.text_lengths, bound, k, least=-1), "vectors": ffi.NULL,
        }  # fmt: skip
        if (tokens.text_begins + tokens.text_lengths >= bound).any():
            raise ValueError("tokens are outside of their text")
        if tokens.vectors is not None:
            vectors = np.ascontiguousarray(tokens.vectors, VECTOR).view(np.uint8)
            changes["vectors"] = pointer("uint8_t", vectors, k, self._dimensions * VECTOR.itemsize)
        arguments = ffi.new("struct changed_tokens *", changes), max_tokens, new_tokens
        with locked(self):
            problem = lib.buckets_change(self._pointer, *arguments)
        self._raise(problem)

    def take_changes(self) -> Any:
        """Return the columns key, width, hashes, cells, texts and vectors of the buckets that changed since last time.

        A bucket without tokens is to be deleted.
        """
        with locked(self):
            n_bytes = ffi.new("size_t *")
            table = np.empty((lib.buckets_count_changed(self._pointer, n_bytes), 7), np.int64)
            octets = np.empty(n_bytes[0], np.uint8)
            lib.buckets_write(self._pointer, _rows(table), pointer("uint8_t", octets))
        content, ends = octets.tobytes(), np.cumsum(table[:, 3:]).tolist()
        blobs = list(map(content.__getitem__, map(slice, [0, *ends], ends)))
        return table[:, 0].tolist(), table[:, 2].tolist(), *(blobs[column::4] for column in range(4))

    def _raise(self, problem: int) -> None:
        """Raise the error of a problem, if there is one: OverflowError if figures are too large for a file."""
        if problem in _DAMAGE:
            raise Damaged(f"{_DAMAGE[problem]} in table tokens")
        if problem in _TOO_LARGE:
            raise OverflowError(_TOO_LARGE[problem])
        if problem:
            raise MemoryError


def _rows(table: np.ndarray) -> Any:
    """Return the pointer to rows (n, 7)."""
    return ffi.from_buffer("struct bucket_row[]", table)
