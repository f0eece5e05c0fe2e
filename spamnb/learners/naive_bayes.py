"""Naive Bayes models: scores of messages, from the counts of their tokens and the totals of the model.

Each training message is scored by the model without it, exactly and in one pass: its counts are subtracted from the
counts of its class, and tokens that no other message has are left out of the vocabulary. Only Bernoulli models with
pooling sum leave out folds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from spamnb.core.pool import LeftOut
from spamnb.counts.class_counts import ClassCounts, ClassTotals, TokenCounts
from spamnb.formulas.naive_bayes import all_absent_log_probability, token_log_odds, token_log_probability
from spamnb.formulas.pooling import Pooled, pool, pooling_parameters
from spamnb.formulas.priors import class_log_prior
from spamnb.formulas.softmax import softmax
from spamnb.learners.learner import BatchScores, Fit, Learner
from spamnb.reader.evidence import GROUPS
from spamnb.reader.rows import CsrRows, take_tokens
from spamnb.store.store import Store

if TYPE_CHECKING:  # the import would slow down the classification of one message
    from spamnb.counts.training_set import LabelledRows, TrainingSet

N_FOLDS = 10  # folds that are left out in turn, for Bernoulli models with sums over the whole vocabulary
MIN_LOG_PRIOR = -700.0  # nats: the log prior of a class without messages is not -inf, because scores would be NaN
BATCH_MESSAGES = 256  # messages scored together: the counts of their tokens fit the processor's cache


class NaiveBayes(Learner):
    """Bernoulli, multinomial and boolean multinomial naive Bayes, with the settings' pooling of evidence."""

    def score(self, store: Store, tokens: Sequence[str], rows: CsrRows) -> BatchScores:
        return self.score_counts(store, tokens, rows, store.look_up(tokens))

    def score_counts(self, store: Store, tokens: Sequence[str], rows: CsrRows, counts: TokenCounts) -> BatchScores:
        """Score messages with the ``counts`` that the store returned for ``tokens``."""
        settings, totals = self.settings, store.totals()
        model_rows = rows.select(counts.positions, len(tokens))
        by_token = self._log_likelihoods(totals, counts.document_counts, counts.occurrences)
        log_likelihoods = np.take(by_token, model_rows.ids, axis=1)
        groups = counts.groups[model_rows.ids]

        def pool_by(pooling: str) -> Pooled:
            intercept = np.zeros(len(totals.classes))  # a mean over tokens has no intercept
            if pooling == "sum":
                intercept = self._intercept(totals, store.frequencies() if settings.model_type == "bernoulli" else ())
            return self._pool(log_likelihoods, model_rows, intercept, groups, pooling)

        pooled = pool_by(settings.pooling)
        return BatchScores(
            take_tokens(tokens, counts.positions), model_rows, *pooled, lambda: softmax(pool_by("sum").scores)
        )

    def fit(self, training_set: TrainingSet) -> Fit:
        if self.settings.model_type == "bernoulli" and self.settings.pooling == "sum":
            # These scores are sums over all tokens of the vocabulary, also over tokens that a message does not have.
            return Fit(training_set, self._scores_of_folds(training_set), N_FOLDS)
        return Fit(training_set, self.leave_one_out_scores(training_set))

    def leave_one_out_scores(self, training_set: TrainingSet) -> np.ndarray:
        """Return left-out scores (n, C), in the order of ``training_set.batches``; (0, 1) if there is one class."""
        counts = training_set.counts
        if len(counts.classes) < 2:
            return np.zeros((0, len(counts.classes)))
        settings, totals, classes = self.settings, counts.totals(), len(counts.classes)
        left_out = LeftOut(
            pooling_parameters(settings.pooling, classes, len(GROUPS)), settings.model_type, settings.alpha,
            totals.vocabulary_size, self._count_table(counts),
            np.where(counts.document_frequency() == 1, np.int8(-1), training_set.tokens.groups),
            totals.documents,
            np.array(totals.occurrences if settings.model_type == "multinomial" else totals.document_counts),
            np.array([self._log_prior(each) for each in totals.documents - np.eye(classes, dtype=np.int64)]),
        )  # fmt: skip
        return _score_messages(training_set, lambda batch: left_out.score(*batch.rows, batch.labels))

    def scores_by_others(self, others: TrainingSet, messages: TrainingSet) -> np.ndarray:
        counts = others.counts
        table, totals = self._count_table(counts), counts.totals()
        # For each class {n: number of tokens that are in exactly n of its messages}, also for n = 0.
        frequencies = [{0: totals.vocabulary_size - len(row.columns), **row.frequencies()} for row in counts.rows]
        is_in_model = counts.document_frequency() > 0
        groups = messages.tokens.groups
        intercept = self._intercept(totals, frequencies)

        def score(batch: LabelledRows) -> np.ndarray:
            rows = batch.rows.only(is_in_model[batch.rows.ids])
            token_counts = np.ascontiguousarray(np.take(table, rows.ids, axis=0).T)
            log_likelihoods = self._log_likelihoods(totals, token_counts, token_counts)
            return self._pool(log_likelihoods, rows, intercept, groups[rows.ids]).scores

        return _score_messages(messages, score)

    def _scores_of_folds(self, training_set: TrainingSet) -> np.ndarray:
        """Return scores (n, C) of all messages by the messages of the other folds; (0, 1) if there is one class."""
        fold = training_set.stratified_folds(N_FOLDS)
        scores = np.zeros((len(fold), len(training_set.counts.classes)))
        if scores.shape[1] < 2:
            return scores[:0]
        for f in range(N_FOLDS):
            others, messages = training_set.split(fold == f)
            scores[fold == f] = self.scores_by_others(others, messages)
        return scores

    def _count_table(self, counts: ClassCounts) -> np.ndarray:
        """Return counts by token and class, (V, C): of occurrences in a multinomial model, of messages in the others.

        The table has a row per token because the counts of a token are read together.
        """
        table = np.zeros((counts.n_columns, len(counts.rows)), np.uint32)
        for column, row in enumerate(counts.rows):
            is_multinomial = self.settings.model_type == "multinomial"
            table[row.columns, column] = row.occurrences if is_multinomial else row.document_counts
        return table

    def _log_likelihoods(self, totals: ClassTotals, document_counts: np.ndarray, occurrences: np.ndarray) -> np.ndarray:
        """Return log P(token | class) in nats, (C, k); for Bernoulli, the log-odds that the token is present.

        ``document_counts`` (N_jc) and ``occurrences`` (T_jc), (C, k), are counts of k tokens; a model uses one of them.
        """
        if self.settings.model_type == "bernoulli":
            return token_log_odds(document_counts, totals.documents, self.settings.alpha)
        boolean = self.settings.model_type == "boolean"
        sums = document_counts if boolean else occurrences
        class_sums = totals.document_counts if boolean else totals.occurrences
        total_alpha = self.settings.alpha * totals.vocabulary_size
        return token_log_probability(sums, class_sums, total_alpha, self.settings.alpha)

    def _log_prior(self, documents: np.ndarray) -> np.ndarray:
        """Return log P(c) in nats, (C,), finite."""
        return np.maximum(class_log_prior(documents), MIN_LOG_PRIOR)

    def _intercept(self, totals: ClassTotals, frequencies: Sequence[Mapping[int, int]]) -> np.ndarray:
        """Return log P(c), or log P(c, no token) for Bernoulli, in nats, (C,): the score of a message without tokens.

        ``frequencies`` has {N_jc: number of tokens} for each class; only Bernoulli models need it.
        """
        log_prior = self._log_prior(totals.documents)
        if self.settings.model_type != "bernoulli":
            return log_prior
        return log_prior + all_absent_log_probability(frequencies, totals.documents, self.settings.alpha)

    def _pool(
        self, log_likelihoods: np.ndarray, rows: CsrRows, intercepts: np.ndarray, groups: np.ndarray, pooling: str = ""
    ) -> Pooled:
        """Pool the evidence of n messages. The default is the pooling of the settings."""
        counts = rows.counts if self.settings.model_type == "multinomial" else None
        return pool(log_likelihoods, counts, rows.indptr, intercepts, groups, pooling or self.settings.pooling)


def _score_messages(training_set: TrainingSet, score: Callable[[LabelledRows], np.ndarray]) -> np.ndarray:
    """Score the included messages in threads, because C and numpy run without the GIL."""
    included = np.flatnonzero(training_set.messages.included)
    from concurrent.futures import ThreadPoolExecutor  # only training needs this import

    with ThreadPoolExecutor(os.cpu_count() or 1) as executor:
        scores = executor.map(
            lambda first: score(training_set.rows(included[first : first + BATCH_MESSAGES])),
            range(0, len(included), BATCH_MESSAGES),
        )
        return np.concatenate([np.zeros((0, len(training_set.counts.classes))), *scores])
