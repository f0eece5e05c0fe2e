"""Buckets of tokens of a model file: calls of ``buckets.c``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from spamnb.core.library import ffi, lib, numbers, pointer
from spamnb.core.score import MAX_COUNT
from spamnb.errors import Damaged

MIN_RECORD, MAX_RECORD = lib.MIN_RECORD, lib.MAX_RECORD  # bytes
NO_BUCKET = b"", MIN_RECORD, b"", b"", b""  # the columns of a bucket without tokens
RECORDS_CHANGED, BUCKET_WRITTEN, BUCKET_DELETED = lib.RECORDS_CHANGED, lib.BUCKET_WRITTEN, lib.BUCKET_DELETED
MAX_PLACES = 256  # tokens of a bucket: a place has one byte
VECTOR = np.dtype("<f4")
_HASH = np.dtype("<i8")
_COLUMNS = {"hashes": "hash_ends", "records": "record_ends", "texts": "text_ends", "vectors": "vector_ends"}
_TABLE_COLUMNS = "hashes", "cells", "texts", "vectors"  # the same in the file
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
    vectors: np.ndarray | None = None  # (k, d) float32; None: new tokens have zeros


class Buckets:
    """Rows of table ``tokens``: key, hashes, width, cells; and texts and vectors, which ``read`` does not need.

    The vector of a token has ``dimensions`` numbers; 0 in a model without vectors.
    """

    def __init__(self, rows: Sequence[tuple], classes: int, dimensions: int = 0) -> None:
        self._n, self._classes, self._dimensions = len(rows), classes, dimensions
        self._vector_bytes = dimensions * VECTOR.itemsize
        keys, hashes, widths, records, *others = zip(*rows) if rows else [()] * 6
        self._fields: dict[str, Any] = {"n": len(rows), "n_classes": classes, "vector_bytes": self._vector_bytes}
        self._octets: dict[str, bytes] = {}
        for name, (column, ends), blobs in zip(_TABLE_COLUMNS, _COLUMNS.items(), (hashes, records, *others)):
            try:
                self._octets[column] = octets = b"".join(blobs)
            except TypeError:
                raise Damaged(f"{name} in table tokens that are not bytes") from None
            self._fields[column] = ffi.from_buffer("uint8_t[]", octets)
            self._fields[ends] = pointer("int64_t", np.cumsum(np.fromiter(map(len, blobs), np.int64, len(blobs))))
        if not {*map(type, widths)} <= {int}:
            self._raise(lib.BUCKET_WIDTH)
        for column, values in (("keys", keys), ("widths", widths)):
            self._fields[column] = pointer("int64_t", np.array(values, np.int64))

    @property
    def hashes(self) -> np.ndarray:
        """The hashes of all tokens."""
        octets = self._octets["hashes"]
        return np.frombuffer(octets, _HASH, len(octets) // _HASH.itemsize).astype(np.int64, copy=False)

    def read(self, hashes: np.ndarray, figures: np.ndarray) -> None:
        """Write the figures (k, C, 3) of the tokens with these ``hashes``, ascending; others stay as they are."""
        arguments = pointer("int64_t", hashes), len(hashes)
        cells = pointer("int64_t", figures, len(hashes), self._classes, 3, writable=True)
        self._raise(lib.buckets_read(ffi.new("struct buckets *", self._fields), *arguments, cells))

    def texts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return bytes, where the text of each token begins in them, its length, and the tokens' vectors (n, d)."""
        octets, vectors = (np.frombuffer(self._octets[column], np.uint8) for column in ("texts", "vectors"))
        begins = np.zeros(len(self.hashes) + 1, np.int64)
        arguments = ffi.new("struct buckets *", self._fields), pointer("int64_t", begins)
        self._raise(lib.buckets_find_texts(*arguments))
        lengths = (np.diff(begins) - 1).astype(np.int32)  # without END_OF_TEXT
        return octets, begins[:-1], lengths, vectors.view(VECTOR).reshape(len(lengths), self._dimensions)

    def change(self, tokens: ChangedTokens, max_tokens: int, new_tokens: int) -> tuple[list[int], list[Any]]:
        """Return for each bucket that changes the action, and the columns (key, hashes, width, cells, texts, vectors).

        A bucket of more than ``max_tokens`` tokens is divided into buckets of ``new_tokens`` tokens.
        """
        if not 0 < new_tokens <= max_tokens <= MAX_PLACES:
            raise ValueError(f"a bucket has 1 to {MAX_PLACES} tokens")
        k, octets, bound = len(tokens.hashes), self._octets, len(tokens.texts) + 1
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
            changes["vectors"] = pointer("uint8_t", vectors, k, self._vector_bytes)
        n_tokens = len(octets["hashes"]) // _HASH.itemsize + k
        room = self._n + n_tokens // new_tokens + 1
        n_records = len(octets["records"]) // MIN_RECORD + k * self._classes
        n_text_bytes = len(octets["texts"]) + int(np.maximum(tokens.text_lengths, 0).sum()) + k
        rooms = n_tokens * _HASH.itemsize, n_records * MAX_RECORD, n_text_bytes, n_tokens * self._vector_bytes
        blobs = {column: np.empty(size, np.uint8) for column, size in zip(_COLUMNS, rooms)}
        columns = {name: np.empty(room, np.int64) for name in ("keys", "widths", *_COLUMNS.values())}
        actions = np.empty(room, np.uint8)
        pointers = {name: pointer("uint8_t", values) for name, values in (*blobs.items(), ("actions", actions))}
        pointers |= {name: pointer("int64_t", values) for name, values in columns.items()}
        changed = ffi.new("struct changed_buckets *", {**pointers, "max_tokens": max_tokens, "new_tokens": new_tokens})
        buckets = ffi.new("struct buckets *", self._fields)
        self._raise(lib.buckets_change(buckets, ffi.new("struct changed_tokens *", changes), changed))
        n = changed.n
        hashes, records, *others = (
            _slice(blobs[column], columns[ends][:n].tolist()) for column, ends in _COLUMNS.items()
        )
        keys, widths = columns["keys"][:n].tolist(), columns["widths"][:n].tolist()
        return actions[:n].tolist(), [keys, hashes, widths, records, *others]

    def _raise(self, problem: int) -> None:
        """Raise the error of a problem, if there is one: OverflowError if figures are too large for a file."""
        if problem in _DAMAGE:
            raise Damaged(f"{_DAMAGE[problem]} in table tokens")
        if problem in _TOO_LARGE:
            raise OverflowError(_TOO_LARGE[problem])
        if problem:
            raise MemoryError


def _slice(values: np.ndarray, ends: list[int]) -> list[bytes]:
    """Return the bytes that end at each of ``ends``."""
    octets = values[: ends[-1] if ends else 0].tobytes()
    return list(map(octets.__getitem__, map(slice, [0, *ends], ends)))
