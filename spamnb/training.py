"""A tally → a model file: selection of words, the leave-one-out estimate, calibration, and the file in one piece.

Leave-one-out needs no retraining: the model without a message is the sums minus that message. A token that only this
message holds leaves the vocabulary with it.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from spamnb import scoring
from spamnb.calibration import Calibration
from spamnb.counts import Counts
from spamnb.errors import SpamnbError
from spamnb.exchange import Content, fill, fresh_model, load
from spamnb.settings import Settings
from spamnb.store import Store, Totals
from spamnb.tally import Block, Tally, restrict, without_copies


class LeftOut(NamedTuple):
    """What training's messages got from the model without them, in their order."""

    classes: tuple[str, ...]
    labels: np.ndarray  # (n,) true class numbers
    scores: np.ndarray  # (n, C) nats
    probabilities: np.ndarray  # (n, C) calibrated
    verdicts: list[str]


def prepare(tally: Tally, settings: Settings) -> Tally:
    """The tally that a model is made of: every message once, and only the top words where that is asked for."""
    tally = without_copies(tally)
    if settings.top_words is not None and settings.top_words < len(tally.tokens):
        from spamnb.ranking import mutual_information

        bits = mutual_information(tally.counts.document_counts, tally.counts.documents)
        order = np.argsort(-bits, kind="stable")
        tally = restrict(tally, np.sort(order[: settings.top_words]))
    return tally


def totals_of(counts: Counts) -> Totals:
    """The sums over all tokens."""
    return Totals(
        counts.classes,
        counts.documents,
        np.asarray(counts.document_counts.sum(axis=1)).ravel(),
        np.asarray(counts.occurrences.sum(axis=1)).ravel(),
        counts.n_columns,
    )


def frequencies_of(counts: Counts) -> list[dict[int, int]]:
    """Per class {n: number of tokens that exactly n of its messages hold}."""
    table = counts.document_counts.toarray()
    return [{int(n): int(row[n]) for n in np.flatnonzero(row)} for row in map(np.bincount, table)]


def leave_one_out(tally: Tally, settings: Settings) -> LeftOut:
    """Scores of every message in the model without it, one pass over the rows; probabilities calibrated on them."""
    counts, totals = tally.counts, totals_of(tally.counts)
    labels, scores = [np.zeros(0, np.intp)], [np.zeros((0, len(totals.classes)))]
    if len(totals.classes) > 1:
        table = np.stack([counts.document_counts.toarray(), counts.occurrences.toarray()])
        holders = table[0].sum(axis=0)
        frequencies = frequencies_of(counts) if settings.model_type == "bernoulli" else []
        for block in tally.blocks():
            labels.append(block.labels)
            scores.append(_without_itself(block, table, holders, totals, frequencies, settings))
    y, s = np.concatenate(labels), np.concatenate(scores)
    calibration = Calibration(len(totals.classes))
    if len(y):
        calibration.add(s, y)
    p = calibration.probabilities(s) if len(y) else s
    return LeftOut(
        totals.classes, y, s, p, settings.loss.verdicts(totals.classes, p, settings.spam) if len(y) else []
    )


def _without_itself(
    block: Block,
    table: np.ndarray,
    holders: np.ndarray,
    totals: Totals,
    frequencies: list[dict[int, int]],
    settings: Settings,
) -> np.ndarray:
    """Scores (n, C) of a block's messages, each from the sums minus itself."""
    n, classes = len(block.labels), len(totals.classes)
    row = np.repeat(np.arange(n), np.diff(block.indptr))
    shared = holders[block.columns] > 1 if settings.top_words is None else np.ones(len(row), bool)
    own = np.zeros((classes, n), np.int64)
    own[block.labels, np.arange(n)] = 1
    distinct = np.bincount(row, minlength=n)
    length = np.bincount(row, block.repeats, minlength=n).astype(np.int64)
    alone = distinct - np.bincount(row[shared], minlength=n)
    own_counts = table[0][block.labels[row], block.columns]
    starts = scoring.starts_without(settings, totals, frequencies, block.labels, row, own_counts, ~shared)
    row, columns, repeats = row[shared], block.columns[shared], block.repeats[shared]
    seen = Totals(
        totals.classes,
        (totals.documents[:, None] - own)[:, row],
        (totals.document_counts[:, None] - own * distinct)[:, row],
        (totals.occurrences[:, None] - own * length)[:, row],
        (totals.vocabulary_size - alone)[row],  # type: ignore[arg-type]
    )
    document_counts = table[0][:, columns] - own[:, row]
    occurrences = table[1][:, columns] - own[:, row] * repeats
    contributions = scoring.log_likelihoods(settings, seen, document_counts, occurrences)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))])
    return scoring.score(settings, contributions, repeats, indptr, starts)[0]


def sums_of(store: Store) -> tuple[Counts, list[str]]:
    """The sums a model file holds, and the names of their columns."""
    from scipy.sparse import csr_array

    content = load(store)
    sums = csr_array(content.document_counts), csr_array(content.occurrences)
    return Counts(content.classes, content.documents, *sums), content.tokens


def content_of(tally: Tally, settings: Settings, left_out: LeftOut) -> Content:
    """All that the model's file will hold."""
    counts = tally.counts
    calibration = Calibration(len(counts.classes))
    if len(left_out.labels):
        calibration.add(left_out.scores, left_out.labels)
    messages = [
        (digest.tobytes(), counts.classes[label], True)
        for rows in tally.rows
        for digest, label in zip(rows.digests[rows.kept], rows.labels[rows.kept])
    ]
    return Content(
        settings.as_meta(),
        counts.classes,
        counts.documents,
        tally.tokens,
        counts.document_counts.toarray(),
        counts.occurrences.toarray(),
        messages,
        calibration.cells(counts.classes),
        {},
    )


def train(path: str | Path, tally: Tally, settings: Settings, *, force: bool = False) -> LeftOut:
    """Make the model file at ``path`` of counted messages; returns what the leave-one-out estimate says of it.

    Raises SpamnbError where there are no messages, or a file is in the way and ``force`` is not given.
    """
    if not len(tally.counts.documents):
        raise SpamnbError("no messages in the sources: nothing to train on")
    with fresh_model(path, settings.as_meta(), force=force) as store:
        tally = prepare(tally, settings)
        left_out = leave_one_out(tally, settings)
        fill(store, content_of(tally, settings, left_out))
    return left_out
