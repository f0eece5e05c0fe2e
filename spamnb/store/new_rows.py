"""Insert many rows into table ``tokens`` without a statement for each row, which takes 2 µs.

The core lays the rows out as SQLite stores them, in a temporary database that has only this table, and SQLite
copies them from this database.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.core.library import ffi, lib, pointer
from spamnb.errors import SpamnbError
from spamnb.reader.tokens import CHUNK_TOKENS, TokenArray
from spamnb.store.rows import PackedCells
from spamnb.store.store import TOKENS, Store

if TYPE_CHECKING:
    from concurrent.futures import Future

PAGE_BYTES: int = lib.PAGE_SIZE
MAX_HEAD_BYTES = 64  # of a row, before its text and its cells


def insert_tokens(store: Store, batches: Iterable[tuple[TokenArray, PackedCells]]) -> None:
    """Insert batches of tokens and their cells, ascending by hash, into a new store, outside of a transaction."""
    from concurrent.futures import ThreadPoolExecutor  # not needed to classify a message

    with ThreadPoolExecutor(1) as executor:  # SQLite copies a batch while the next one is made
        copying: Future[Any] = executor.submit(int)
        for tokens, cells in batches:
            for first in range(0, len(tokens), CHUNK_TOKENS):
                last = min(first + CHUNK_TOKENS, len(tokens))
                part = cells._replace(bounds=cells.bounds[first : last + 1])
                for pages in _lay_out(tokens.take(np.arange(first, last)), part, store.path):
                    copying.result()
                    copying = executor.submit(_copy, store, pages)
        copying.result()


def _lay_out(tokens: TokenArray, cells: PackedCells, path: str) -> Iterator[np.ndarray]:
    """Yield the pages of a database; of several databases if these rows do not fit into one."""
    n, offsets, bounds = len(tokens), tokens.offsets, cells.bounds
    fields = {
        "hashes": pointer("int64_t", tokens.hashes, n), "offsets": pointer("int64_t", offsets, n),
        "bounds": pointer("int64_t", bounds, n + 1), "lengths": pointer("int32_t", tokens.lengths, n),
        "text": pointer("uint8_t", tokens.text), "cells": pointer("uint8_t", cells.octets), "n": n,
    }  # fmt: skip
    ends = offsets + tokens.lengths
    if min(offsets.min(), tokens.lengths.min()) < 0 or ends.max() > len(tokens.text):
        raise ValueError("tokens are outside of their text")
    if bounds[0] < 0 or (np.diff(bounds) < 0).any() or bounds[-1] > len(cells.octets):
        raise ValueError("cells are outside of their bytes")
    size = int(tokens.lengths.sum(dtype=np.int64) + bounds[-1] - bounds[0]) + n * MAX_HEAD_BYTES
    # Two consecutive pages have more than PAGE_BYTES of rows, because a row that fits is not put on the next page.
    pages = np.zeros((2 * size // PAGE_BYTES + 3, PAGE_BYTES), np.uint8)
    page_pointer = pointer("uint8_t", pages, *pages.shape)
    if n_pages := lib.lay_out_rows(ffi.new("struct token_rows *", fields), page_pointer, len(pages)):
        yield pages[:n_pages]
    elif n == 1:
        raise SpamnbError(f"{path}: a token is longer than a model file holds")
    else:
        yield from _lay_out(tokens[: n // 2], cells._replace(bounds=bounds[: n // 2 + 1]), path)
        yield from _lay_out(tokens[n // 2 :], cells._replace(bounds=bounds[n // 2 :]), path)


def _copy(store: Store, pages: np.ndarray) -> None:
    """Copy the rows of these pages into the store."""
    with NamedTemporaryFile() as file, store._translate_errors():
        file.write(_first_page())
        file.write(pages.data)
        file.flush()
        store.execute("ATTACH ? AS new", (file.name,))
        store.execute("INSERT INTO main.tokens SELECT * FROM new.tokens")
        store.execute("DETACH new")


@cache
def _first_page() -> bytes:
    """Return the first page of a database with an empty table ``tokens``, without the number of its pages."""
    with NamedTemporaryFile() as file:
        connection = sqlite3.connect(file.name, isolation_level=None)
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        connection.execute(TOKENS)
        connection.close()
        page = Path(file.name).read_bytes()[:PAGE_BYTES]
    return page[:28] + bytes(4) + page[32:]
