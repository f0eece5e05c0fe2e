"""Naive Bayes on the model's sums: scores of messages from the counts of their own tokens alone.

The formulas are those of the estimators (formulas/naive_bayes.py). An estimator applies them to the whole vocabulary;
here they are applied to the tokens that were looked up. leave_one_out.py scores the training messages the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from spamnb.counts.class_counts import ClassTotals, TokenCounts
from spamnb.formulas.naive_bayes import all_absent_log_probability, token_log_odds, token_log_probability
from spamnb.formulas.pooling import pool
from spamnb.formulas.priors import class_log_prior
from spamnb.formulas.softmax import softmax
from spamnb.learners.learner import BatchScores, FitResult, Learner, Screened
from spamnb.reader.rows import CsrRows, take_tokens
from spamnb.settings import Settings
from spamnb.store.store import Store

if TYPE_CHECKING:  # classifying a message does not need it
    from spamnb.counts.training_set import TrainingSet

N_FOLDS = 10  # of the left-out scores of a model that says of every token whether it is there
MIN_LOG_PRIOR = -700.0  # nats: the log prior of a class without messages, finite so that nothing becomes NaN


class NaiveBayes(Learner):
    """Bernoulli, multinomial and boolean multinomial naive Bayes, with the settings' pooling of evidence."""

    def score(self, store: Store, tokens: Sequence[str], rows: CsrRows) -> BatchScores:
        return self.score_found(store, tokens, rows, store.look_up(tokens))

    def score_found(self, store: Store, tokens: Sequence[str], rows: CsrRows, found: TokenCounts) -> BatchScores:
        """``score``, of tokens whose counts were looked up."""
        settings, totals = self.settings, store.totals()
        known = rows.select(found.positions, len(tokens))
        by_token = log_likelihoods(settings, totals, found.document_counts, found.occurrences)
        contributions = np.take(by_token, known.ids, axis=1)
        groups = found.groups[known.ids]

        def pooled(pooling: str) -> tuple[np.ndarray, np.ndarray]:
            start = np.zeros(len(totals.classes))  # the mean is of the tokens alone
            if pooling == "sum":
                start = intercept(settings, totals, store.frequencies() if settings.model_type == "bernoulli" else ())
            return pooled_scores(settings, contributions, known, start, groups, pooling)

        scores, weights = pooled(settings.pooling)
        return BatchScores(
            take_tokens(tokens, found.positions), known, scores, weights, lambda: softmax(pooled("sum")[0])
        )

    def screen(self, training_set: TrainingSet) -> Screened:
        return Screened(training_set)

    def train(self, screened: Screened) -> FitResult:
        from spamnb.learners.leave_one_out import leave_one_out_scores, scores_of_folds

        training_set, settings = screened.training_set, self.settings
        if settings.model_type == "bernoulli" and settings.pooling == "sum":  # which is of all tokens of the vocabulary
            scores, n_folds = scores_of_folds(settings, training_set, N_FOLDS), N_FOLDS
        else:
            scores, n_folds = leave_one_out_scores(settings, training_set), None
        return FitResult(training_set.included_labels()[: len(scores)], scores, n_folds)

    def scores_by_others(self, others: TrainingSet, asked: TrainingSet) -> np.ndarray | None:
        from spamnb.learners.leave_one_out import scores_by_others

        return scores_by_others(self.settings, others, asked)


def log_likelihoods(
    settings: Settings,
    totals: ClassTotals,
    document_counts: np.ndarray,
    occurrences: np.ndarray,
    lengths: np.ndarray | None = None,
) -> np.ndarray:
    """log P(token | class) in nats (Bernoulli: the log-odds of its presence) of k tokens in C classes, (C, k).

    ``document_counts`` and ``occurrences`` (C, k) are the tokens' counts in each class. The figures of ``totals`` are
    (C,), one per class; or, with ``lengths`` (n,), (C, n): the lengths[0] tokens of the first of n messages see the
    first column, and so on, as when every message is scored by the model without it.
    """
    if settings.model_type == "bernoulli":
        return token_log_odds(document_counts, totals.documents, settings.alpha, lengths)
    boolean = settings.model_type == "boolean"
    sums = document_counts if boolean else occurrences
    of_class = totals.document_counts if boolean else totals.occurrences
    total_alpha = settings.alpha * totals.vocabulary_size
    return token_log_probability(sums, of_class, total_alpha, settings.alpha, lengths)


def intercept(settings: Settings, totals: ClassTotals, frequencies: Sequence[Mapping[int, int]]) -> np.ndarray:
    """log P(c), for Bernoulli log P(c, no token), (C,) in nats: the score of a message before its tokens are added.

    ``frequencies`` holds for each class {N_jc: number of tokens}; only Bernoulli reads it.
    """
    log_prior = np.maximum(class_log_prior(totals.documents, settings.prior), MIN_LOG_PRIOR)
    if settings.model_type != "bernoulli":
        return log_prior
    return log_prior + all_absent_log_probability(frequencies, totals.documents, settings.alpha)


def pooled_scores(
    settings: Settings,
    contributions: np.ndarray,
    rows: CsrRows,
    intercepts: np.ndarray,
    groups: np.ndarray,
    pooling: str | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Scores (n, C) of n messages and the weights (C, nnz) of their tokens, in nats.

    ``contributions`` (C, nnz) are the log-likelihoods of the rows' cells in each class, ``groups`` (nnz,) the groups of
    their tokens, ``intercepts`` (C,) for all messages or (n, C) one row for each; ``pooling`` is used in place of the
    settings'.
    """
    counts = rows.counts if settings.model_type == "multinomial" else np.ones((), np.int64)
    return pool(contributions, counts, rows.indptr, intercepts, groups, pooling or settings.pooling)
