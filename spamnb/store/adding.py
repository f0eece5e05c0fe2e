"""What one message, or a sum of them, changes in the sums of an open model: in memory, and noted to be written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spamnb.errors import SpamnbError
from spamnb.store.changes import Pending
from spamnb.store.frequencies import note_moved
from spamnb.store.pages import CountCache

if TYPE_CHECKING:
    from spamnb.store.tables import ModelTables


def change_counts(
    store: ModelTables,
    number: int,
    cache: CountCache,
    columns: np.ndarray,
    documents: np.ndarray,
    occurrences: np.ndarray,
    messages: int,
    moved: dict[int, int],
) -> Pending:
    """Add to a class, by number, ``messages`` messages: by how much ``documents`` (k,) more of them hold the tokens of
    these distinct ``columns`` in memory, which occur ``occurrences`` (k,) more often; what is below 0 takes away.
    ``moved`` is what ``frequencies.note_moved`` notes of the class.

    SpamnbError, and nothing is changed, where a count would be below 0.
    """
    held, occurring = cache.table[2 * number, columns], cache.table[2 * number + 1, columns] + occurrences
    if len(columns) and ((held + documents).min() < 0 or occurring.min() < 0):
        label = list(store.class_ids())[number]
        raise SpamnbError(f"{store.path}: this message is not part of class {label!r}; nothing was forgotten")
    known = int(cache.in_vocabulary[columns].sum())
    cache.table[2 * number, columns] = held + documents
    cache.table[2 * number + 1, columns] = occurring
    cache.in_vocabulary[columns] = cache.fixed_vocabulary | cache.table[:, columns].any(axis=0)
    for by in set(documents.tolist()):
        note_moved(moved, held[documents == by], by)
    store.execute(
        "UPDATE classes SET documents = documents + ?, document_counts = document_counts + ?,"
        " occurrences = occurrences + ? WHERE id = ?",
        (messages, int(documents.sum()), int(occurrences.sum()), number),
    )
    if change := int(cache.in_vocabulary[columns].sum()) - known:
        store.put_meta({"vocabulary_size": store.meta()["vocabulary_size"] + change})
    return columns, number, documents, occurrences
