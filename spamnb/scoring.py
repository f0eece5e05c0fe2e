"""Counts → scores: the naive Bayes models as the classifier uses them, on the looked-up rows of a message's own tokens.

The estimators in ``models`` see whole matrices; here the same formulas run over ragged rows: one message's tokens, or
those of thousands, for training's leave-one-out estimate.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spamnb.evidence import pool
from spamnb.models.bernoulli import absent_log_probability, token_log_odds
from spamnb.models.multinomial import token_log_probability
from spamnb.models.priors import class_log_prior
from spamnb.settings import Settings
from spamnb.store import Totals

LEAST = -700.0  # nats: the log prior of a class without messages, finite so that nothing becomes NaN


def log_likelihoods(
    settings: Settings, totals: Totals, document_counts: np.ndarray, occurrences: np.ndarray
) -> np.ndarray:
    """log p(token | class) in nats (Bernoulli: log-odds of its presence) for tokens with these counts, (C, k).

    The figures of ``totals`` are (C,), or (C, k) where each token sees its own, as when its message is left out.
    """
    if settings.model_type == "bernoulli":
        return token_log_odds(document_counts, totals.documents, settings.alpha)
    boolean = settings.model_type == "boolean"
    sums = document_counts if boolean else occurrences
    of_class = totals.document_counts if boolean else totals.occurrences
    return token_log_probability(sums, of_class, totals.vocabulary_size, settings.alpha)


def base(settings: Settings, totals: Totals, frequencies: Sequence[dict[int, int]]) -> np.ndarray:
    """What every message starts from, (C,) in nats: the log prior, and for Bernoulli the words it does not hold."""
    start = np.maximum(class_log_prior(totals.documents, settings.prior), LEAST)
    if settings.model_type == "bernoulli":
        start = start + absent_log_probability(frequencies, totals.documents, settings.alpha)
    return start


def score(
    settings: Settings,
    contributions: np.ndarray,
    repeats: np.ndarray,
    indptr: np.ndarray,
    start: np.ndarray,
    pooling: str | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Scores (n, C) of ragged rows and the weights (C, nnz) of their tokens, in nats; ``pooling`` overrides the model's."""
    if settings.model_type in ("bernoulli", "boolean"):
        repeats = np.ones_like(repeats)
    return pool(contributions, repeats, indptr, start, pooling or settings.pooling)


def starts_without(
    settings: Settings,
    totals: Totals,
    frequencies: Sequence[dict[int, int]],
    labels: np.ndarray,
    row: np.ndarray,
    own_counts: np.ndarray,
    leaving: np.ndarray,
) -> np.ndarray:
    """``base`` for n messages in the model without each, (n, C) in nats.

    ``labels`` (n,) are their classes; of their tokens, ``row`` (nnz,) says whose, ``own_counts`` (nnz,) is N_jc for the
    message's own class, and ``leaving`` (nnz,) whether the token leaves the vocabulary with the message.
    """
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
    gone = np.bincount(row, leaving, minlength=n)
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
        change = np.where(leaving[of_mine], 0.0, np.log(documents - counts + alpha)) - term[counts]
        absent = absent + np.bincount(row[of_mine], change, minlength=n)[mine]
        starts[mine, c] = (
            np.maximum(priors[c, c], LEAST) + absent - (size - gone[mine]) * np.log(documents - 1 + 2 * alpha)
        )
    return starts
