"""Naive Bayes on the model's sums: scores from the rows of a message's own tokens.

The estimators in ``models`` see whole matrices; here the same formulas run over ragged rows of looked-up columns, for
one message, for many, and for all of training's when each is left out. The model without a message is the sums minus
that message, and a token that only this message holds leaves the vocabulary with it: no retraining.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from spamnb.counts.csr_rows import Batch
from spamnb.estimators.bernoulli import absent_log_probability, token_log_odds
from spamnb.estimators.multinomial import token_log_probability
from spamnb.formulas.pooling import pool, softmax
from spamnb.formulas.priors import class_log_prior
from spamnb.learners.learner import Learner, Scored, Trained
from spamnb.settings import Settings
from spamnb.store.store import Store, Totals
from spamnb.tokens.vectorizer import views_of

if TYPE_CHECKING:  # a message that is classified needs neither
    from spamnb.counts.class_counts import Sums
    from spamnb.counts.training_set import Block, Tally

LEAST = -700.0  # nats: the log prior of a class without messages, finite so that nothing becomes NaN


class NaiveBayes(Learner):
    """Bernoulli, multinomial and boolean multinomial naive Bayes, with the settings' pooling of evidence."""

    def score(self, store: Store, totals: Totals, batch: Batch) -> Scored:
        settings = self.settings
        found = store.look_up(batch.tokens)
        known = batch.only(found.positions)
        by_token = log_likelihoods(settings, totals, found.document_counts, found.occurrences)
        contributions = np.take(by_token, known.columns, axis=1)
        start = base(settings, totals, store.frequencies() if settings.model_type == "bernoulli" else ())
        rows = contributions, known.repeats, known.indptr, start, found.views[known.columns]
        scores, weights = score(settings, *rows)
        joint, _ = score(settings, *rows, "sum")
        return Scored(known, scores, weights, softmax(joint))

    def train(self, tally: Tally) -> Trained:
        sums, totals = tally.sums, totals_of(tally.sums)
        labels, scores = [np.zeros(0, np.intp)], [np.zeros((0, len(totals.classes)))]
        if len(totals.classes) > 1:
            table, views = table_of(sums, self.settings), views_of(tally.tokens)
            if self.settings.top_words is None:
                np.putmask(views, sums.holders() == 1, -1)
            frequencies = frequencies_of(sums) if self.settings.model_type == "bernoulli" else []
            for rows in tally.rows:
                # In the column numbers of the process that counted these: it met first what most messages hold, so what
                # is looked up lies together.
                part = tally._replace(rows=(rows.by_its_own(),))
                own = np.take(table, rows.columns, axis=0), np.take(views, rows.columns)
                for block in part.blocks():
                    labels.append(block.labels)
                    scores.append(without_itself(self.settings, block, *own, totals, frequencies))
        return Trained(np.concatenate(labels), np.concatenate(scores))


def log_likelihoods(
    settings: Settings,
    totals: Totals,
    document_counts: np.ndarray,
    occurrences: np.ndarray,
    lengths: np.ndarray | None = None,
) -> np.ndarray:
    """log p(token | class) in nats (Bernoulli: log-odds of its presence) for tokens with these counts, (C, k).

    The figures of ``totals`` are (C,), or (C, n) where the ``lengths`` (n,) tokens of each of n messages see their own,
    as when their message is left out.
    """
    if settings.model_type == "bernoulli":
        documents = totals.documents if lengths is None else np.repeat(totals.documents, lengths, axis=1)
        return token_log_odds(document_counts, documents, settings.alpha)
    boolean = settings.model_type == "boolean"
    sums = document_counts if boolean else occurrences
    of_class = totals.document_counts if boolean else totals.occurrences
    return token_log_probability(sums, of_class, totals.vocabulary_size, settings.alpha, lengths)


def base(settings: Settings, totals: Totals, frequencies: Sequence[Mapping[int, int]]) -> np.ndarray:
    """What every message starts from, (C,) in nats: the log prior, and for Bernoulli the words it does not hold."""
    start = np.maximum(class_log_prior(totals.documents, settings.prior), LEAST)
    if settings.model_type == "bernoulli":
        start = start + absent_log_probability(frequencies, totals.documents, settings.alpha)
    return start


def totals_of(sums: Sums) -> Totals:
    """The sums over all tokens."""
    document_counts, occurrences = sums.totals()
    return Totals(sums.classes, sums.documents, document_counts, occurrences, sums.size)


def table_of(sums: Sums, settings: Settings) -> np.ndarray:
    """(V, C) N_jc, or (V, 2C) with T_jc behind where the model asks for it: all of a token lies in one piece.

    Leaving out each of 24,893 messages takes 0.20 s of two classes, about half of what a table of columns took.
    """
    classes = len(sums.classes)
    figures = [cells.document_counts for cells in sums.cells]
    if settings.model_type not in ("boolean", "bernoulli"):
        figures += [cells.occurrences for cells in sums.cells]
    most = max(values.max(initial=0) for values in figures)
    table = np.zeros((sums.size, len(figures)), np.int32 if most <= np.iinfo(np.int32).max else np.int64)
    for place, values in enumerate(figures):
        table[sums.cells[place % classes].columns, place] = values
    return table


def frequencies_of(sums: Sums) -> list[dict[int, int]]:
    """Per class {n: number of tokens that exactly n of its messages hold}."""
    held = [np.bincount(cells.document_counts) for cells in sums.cells]
    return [
        {0: sums.size - len(cells.columns), **{int(n): int(row[n]) for n in np.flatnonzero(row)}}
        for cells, row in zip(sums.cells, held)
    ]


def score(
    settings: Settings,
    contributions: np.ndarray,
    repeats: np.ndarray,
    indptr: np.ndarray,
    start: np.ndarray,
    views: np.ndarray,
    pooling: str | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Scores (n, C) of ragged rows and the weights (C, nnz) of their tokens, in nats.

    ``start`` is what every message starts from, (C,) or (n, C), ``views`` (nnz,) are the tokens'; ``pooling`` is
    instead of the settings'.
    """
    if settings.model_type != "multinomial":
        repeats = np.ones((), np.int64)
    return pool(contributions, repeats, indptr, start, views, pooling or settings.pooling)


def starts_without(
    settings: Settings,
    totals: Totals,
    frequencies: Sequence[Mapping[int, int]],
    block: Block,
    table: np.ndarray,
    leaving: np.ndarray,
) -> np.ndarray:
    """``base`` for n messages in the model without each, (n, C) in nats; ``leaving`` are the places in ``block`` of
    those tokens that leave the vocabulary with their message."""
    labels = block.labels
    classes = len(totals.classes)
    without = totals.documents - np.eye(
        classes, dtype=np.int64
    )  # row c: the documents when one of class c is missing
    with np.errstate(divide="ignore"):
        priors = np.stack([class_log_prior(documents, settings.prior) for documents in without])
    starts = np.maximum(priors, LEAST)[labels]
    if settings.model_type != "bernoulli":
        return starts
    alpha, size, n = settings.alpha, totals.vocabulary_size, len(labels)
    row = np.repeat(np.arange(n), np.diff(block.indptr))
    own_counts = table[block.columns, labels[row]]  # N_jc of the message's own class
    gone = np.bincount(row[leaving], minlength=n)
    stays = np.ones(len(row), bool)
    stays[leaving] = False
    absent_of_class = absent_log_probability(frequencies, totals.documents, alpha)
    for c, histogram in enumerate(frequencies):
        documents = totals.documents[c]
        starts[:, c] += absent_of_class[c] - gone * (
            np.log(documents + alpha) - np.log(documents + 2 * alpha)
        )
        mine = labels == c
        if not mine.any():
            continue
        # One message of the class less: N_c − 1 everywhere, N_jc − 1 for the message's own tokens. A token that all N_c
        # messages hold is in this one too, so its term, undefined at N_c − 1, is never needed.
        n_j = np.arange(documents + 1)
        term = np.log(np.where(n_j < documents, documents - 1 - n_j + alpha, 1.0))
        absent = sum(tokens * term[held] for held, tokens in histogram.items())
        of_mine = mine[row]
        counts = own_counts[of_mine]
        change = np.where(stays[of_mine], np.log(documents - counts + alpha), 0.0) - term[counts]
        absent = absent + np.bincount(row[of_mine], change, minlength=n)[mine]
        starts[mine, c] = (
            np.maximum(priors[c, c], LEAST) + absent - (size - gone[mine]) * np.log(documents - 1 + 2 * alpha)
        )
    return starts


def without_itself(
    settings: Settings,
    block: Block,
    table: np.ndarray,
    views: np.ndarray,
    totals: Totals,
    frequencies: Sequence[Mapping[int, int]],
) -> np.ndarray:
    """Scores (n, C) of a block's messages, each from the sums minus itself; ``table`` is that of ``table_of``, and
    ``views`` (V,) are those of its tokens, −1 where a token leaves the vocabulary with the only message that holds it.
    """
    n, classes = len(block.labels), len(totals.classes)
    own = np.zeros((classes, n), table.dtype)
    own[block.labels, np.arange(n)] = 1
    view = views[block.columns]
    leaving, shared = np.flatnonzero(view < 0), np.flatnonzero(view >= 0)
    distinct = length = np.diff(block.indptr)
    kept = distinct - np.diff(np.searchsorted(leaving, block.indptr))
    found = np.ascontiguousarray(np.take(table, block.columns[shared], axis=0).T)
    mine = np.repeat(own, kept, axis=1)
    found[:classes] -= mine
    repeats = np.ones((), np.int64)
    if len(found) > classes:
        repeats, length = block.repeats[shared], np.diff(np.append(0, np.cumsum(block.repeats))[block.indptr])
        found[classes:] -= mine * repeats.astype(found.dtype)
    seen = Totals(
        totals.classes,
        totals.documents[:, None] - own,
        totals.document_counts[:, None] - own * distinct,
        totals.occurrences[:, None] - own * length,
        totals.vocabulary_size - (distinct - kept),  # type: ignore[arg-type]
    )
    contributions = log_likelihoods(settings, seen, found[:classes], found[classes:], kept)
    starts = starts_without(settings, totals, frequencies, block, table, leaving)
    return score(settings, contributions, repeats, np.append(0, np.cumsum(kept)), starts, view[shared])[0]
