"""Naive Bayes on the model's sums: scores from the rows of a message's own tokens.

The estimators see whole matrices; here the same formulas run over rows of looked-up tokens, for one message and for
many. leave_one_out.py does it for all training messages, each left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from spamnb.counts.class_counts import ClassTotals
from spamnb.formulas.naive_bayes import absent_log_probability, token_log_odds, token_log_probability
from spamnb.formulas.pooling import pool, softmax
from spamnb.formulas.priors import class_log_prior
from spamnb.learners.learner import BatchScores, FitResult, Learner, ModelFile
from spamnb.settings import Settings
from spamnb.tokens.csr_rows import CsrRows, take_tokens

if TYPE_CHECKING:  # a message that is classified does not need it
    from spamnb.counts.training_set import TrainingSet

MIN_LOG_PRIOR = -700.0  # nats: the log prior of a class without messages, finite so that nothing becomes NaN


class NaiveBayes(Learner):
    """Bernoulli, multinomial and boolean multinomial naive Bayes, with the settings' pooling of evidence."""

    def score(self, store: ModelFile, totals: ClassTotals, tokens: Sequence[str], rows: CsrRows) -> BatchScores:
        settings = self.settings
        found = store.look_up(tokens)
        known = rows.select(found.positions, len(tokens))
        by_token = log_likelihoods(settings, totals, found.document_counts, found.occurrences)
        contributions = np.take(by_token, known.ids, axis=1)
        start = intercept(settings, totals, store.frequencies() if settings.model_type == "bernoulli" else ())
        groups = found.groups[known.ids]
        scores, weights = pooled_scores(settings, contributions, known, start, groups)
        joint, _ = pooled_scores(settings, contributions, known, start, groups, "sum")
        return BatchScores(take_tokens(tokens, found.positions), known, scores, weights, softmax(joint))

    def train(self, training_set: TrainingSet) -> FitResult:
        from spamnb.learners.leave_one_out import leave_one_out_scores

        return FitResult(*leave_one_out_scores(self.settings, training_set))


def log_likelihoods(
    settings: Settings,
    totals: ClassTotals,
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


def intercept(settings: Settings, totals: ClassTotals, frequencies: Sequence[Mapping[int, int]]) -> np.ndarray:
    """What every message starts from, (C,) in nats: the log prior, and for Bernoulli the words it does not hold."""
    start = np.maximum(class_log_prior(totals.documents, settings.prior), MIN_LOG_PRIOR)
    if settings.model_type == "bernoulli":
        start = start + absent_log_probability(frequencies, totals.documents, settings.alpha)
    return start


def pooled_scores(
    settings: Settings,
    contributions: np.ndarray,
    rows: CsrRows,
    start: np.ndarray,
    groups: np.ndarray,
    pooling: str | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Scores (n, C) of n messages and the weights (C, nnz) of their tokens, in nats.

    ``contributions`` (C, nnz) are the log-likelihoods of the rows' cells, ``start`` (C,) or (n, C) what every message
    starts from, ``groups`` (nnz,) the tokens' groups; ``pooling`` is instead of the settings'.
    """
    counts = rows.counts if settings.model_type == "multinomial" else np.ones((), np.int64)
    return pool(contributions, counts, rows.indptr, start, groups, pooling or settings.pooling)
