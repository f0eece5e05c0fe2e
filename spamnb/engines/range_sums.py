"""Training in parts: what a machine does with the sums of a range of tokens, one of R.

    merge          all pieces of a range         → the sums of the range, as they stand in the model
    without_rare   that                          → less the tokens that hardly any message holds
    figures_of     the sums of a range           → their totals
    ask            a piece, the sums of a range  → the sums of the piece's tokens

Pieces come of parts.py. All functions are pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spamnb.counts.class_counts import ClassCounts, ClassTotals
from spamnb.counts.training_set import TrainingSet
from spamnb.learners.leave_one_out import frequencies_of
from spamnb.settings import Settings
from spamnb.tokens.token_array import TokenArray, merge_vocabularies


class Piece(NamedTuple):
    """Tokens of one range, ascending by hash, and their sums."""

    tokens: TokenArray
    counts: ClassCounts


class RangeFigures(NamedTuple):
    """The totals of the sums of one range, or of all."""

    totals: ClassTotals  # without the messages per class, which are no sums over tokens
    frequencies: list[dict[int, int]]  # as ``frequencies_of`` has them


def packed_places(tokens: TokenArray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.cumsum(tokens.lengths, dtype=np.int64) - tokens.lengths, tokens.lengths, tokens.hashes


def occurring(piece: Piece) -> Piece:
    """Without the tokens that no message holds."""
    tokens, counts, _ = TrainingSet(piece.tokens, piece.counts, ()).select_columns()
    return Piece(tokens, counts) if len(tokens) < len(piece.tokens) else piece


def merge(pieces: Sequence[Piece]) -> Piece:
    """The sum of one range. Of two tokens with the same hash the one that the mail holds first stays, where the pieces
    are in the order of their parts: the same whoever counted what."""
    tokens, columns_of = merge_vocabularies([piece.tokens for piece in pieces])
    counts = [piece.counts.reindex(columns, len(tokens)) for piece, columns in zip(pieces, columns_of)]
    return Piece(TokenArray(tokens.packed(), *packed_places(tokens)), ClassCounts.sum(counts))


def subtract_newest(whole: Piece, part: Piece) -> Piece:
    """The sums of a range less those of a part of its messages."""
    columns = np.searchsorted(whole.tokens.hashes, part.tokens.hashes)
    counts = whole.counts - part.counts.reindex(columns, len(whole.tokens))
    return occurring(whole._replace(counts=counts))


def without_rare(piece: Piece, min_messages: int) -> Piece:
    """The sums of a range without the tokens that fewer messages hold."""
    tokens, counts, _ = TrainingSet(piece.tokens, piece.counts, ()).without_rare(min_messages)
    return Piece(tokens, counts)


def more_tokens(whole: Piece, part: Piece) -> int:
    """How many tokens the first has that the second, a part of it, lacks."""
    return len(whole.tokens) - len(part.tokens)


def figures_of(piece: Piece) -> RangeFigures:
    """The totals of one range."""
    return RangeFigures(piece.counts.totals(), frequencies_of(piece.counts))


def add_figures(ranges: Sequence[RangeFigures], documents: np.ndarray) -> RangeFigures:
    """The totals of all ranges; ``documents`` (C,) are the messages per class."""
    first = ranges[0].totals
    frequencies: list[Counter[int]] = [Counter() for _ in first.classes]
    for figures in ranges:
        for of_class, held in zip(frequencies, figures.frequencies):
            of_class.update(held)
    totals = ClassTotals(
        first.classes,
        documents,
        np.sum([figures.totals.document_counts for figures in ranges], axis=0),
        np.sum([figures.totals.occurrences for figures in ranges], axis=0),
        sum(figures.totals.vocabulary_size for figures in ranges),
    )
    return RangeFigures(totals, [dict(sorted(of_class.items())) for of_class in frequencies])


def ask(piece: Piece, merged: Piece, settings: Settings) -> np.ndarray:
    """The sums of the piece's k tokens, 0 for those that the merged ones lack: (k, C) or (k, 2C), as
    ``leave_one_out.count_table`` has them."""
    boolean = settings.model_type in ("boolean", "bernoulli")
    rows, classes = merged.counts.rows, len(merged.counts.classes)
    table = np.zeros((len(piece.tokens), classes * (1 if boolean else 2)), np.int64)
    if not len(merged.tokens):
        return table
    column = np.searchsorted(merged.tokens.hashes, piece.tokens.hashes)
    known = np.flatnonzero(merged.tokens.hashes[np.minimum(column, len(merged.tokens) - 1)] == piece.tokens.hashes)
    for c, row in enumerate(rows):
        place = np.searchsorted(row.columns, column[known])
        held = place < len(row.columns)
        held[held] = row.columns[place[held]] == column[known][held]
        for offset, values in zip((0, classes), row[1:2] if boolean else row[1:]):
            table[known[held], offset + c] = values[place[held]]
    return table if table.max(initial=0) > np.iinfo(np.int32).max else table.astype(np.int32)
