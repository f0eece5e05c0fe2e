"""Naive Bayes on the model's sums: scores of messages from the counts of their own tokens alone.

The formulas are those of the estimators (formulas/naive_bayes.py). An estimator applies them to the whole vocabulary;
here they are applied to the tokens that were looked up.

Training messages are scored by the model without them, which is exact and needs one pass, because the model is made of
sums. Taking a message out subtracts its counts from the sums of its class; tokens that no other message holds leave the
vocabulary and all sums. Nothing is trained again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from spamnb.counts.class_counts import ClassCounts, ClassTotals, TokenCounts
from spamnb.formulas.naive_bayes import all_absent_log_probability, token_log_odds, token_log_probability
from spamnb.formulas.pooling import Pooled, pool
from spamnb.formulas.priors import class_log_prior
from spamnb.formulas.softmax import softmax
from spamnb.learners.learner import BatchScores, Fit, Learner
from spamnb.reader.rows import CsrRows, take_tokens
from spamnb.store.store import Store

if TYPE_CHECKING:  # classifying a message does not need it
    from spamnb.counts.training_set import LabelledRows, TrainingSet

N_FOLDS = 10  # of the left-out scores of a model that says of every token whether it is there
MIN_LOG_PRIOR = -700.0  # nats: the log prior of a class without messages, finite so that nothing becomes NaN
AT_ONCE = 256  # messages: few enough that their figures fit the processor's cache


class NaiveBayes(Learner):
    """Bernoulli, multinomial and boolean multinomial naive Bayes, with the settings' pooling of evidence."""

    def score(self, store: Store, tokens: Sequence[str], rows: CsrRows) -> BatchScores:
        return self.score_counts(store, tokens, rows, store.look_up(tokens))

    def score_counts(self, store: Store, tokens: Sequence[str], rows: CsrRows, counts: TokenCounts) -> BatchScores:
        """Score messages as ``score`` does, by counts of their tokens that were looked up."""
        settings, totals = self.settings, store.totals()
        model_rows = rows.select(counts.positions, len(tokens))
        by_token = self._log_likelihoods(totals, counts.document_counts, counts.occurrences)
        contributions = np.take(by_token, model_rows.ids, axis=1)
        groups = counts.groups[model_rows.ids]

        def pooled(pooling: str) -> Pooled:
            start = np.zeros(len(totals.classes))  # the mean is of the tokens alone
            if pooling == "sum":
                start = self._intercept(totals, store.frequencies() if settings.model_type == "bernoulli" else ())
            return self._pooled(contributions, model_rows, start, groups, pooling)

        pooled_scores = pooled(settings.pooling)
        return BatchScores(
            take_tokens(tokens, counts.positions), model_rows, *pooled_scores, lambda: softmax(pooled("sum").scores)
        )

    def fit(self, training_set: TrainingSet) -> Fit:
        if self.settings.model_type == "bernoulli" and self.settings.pooling == "sum":
            # Its scores are of all tokens of the vocabulary, those too that a message does not hold.
            return Fit(training_set, self._scores_of_folds(training_set), N_FOLDS)
        return Fit(training_set, self.leave_one_out_scores(training_set))

    def leave_one_out_scores(self, training_set: TrainingSet) -> np.ndarray:
        """Scores (n, C) of all messages, in the order of the batches; none where there is one class alone."""
        counts = training_set.counts
        if len(counts.classes) < 2:
            return np.zeros((0, len(counts.classes)))
        table, totals = self._count_table(counts), counts.totals()
        groups = np.where(counts.document_frequency() == 1, np.int8(-1), training_set.tokens.groups)
        return _scored(training_set, lambda batch: self._scores_without_each(batch, table, groups, totals))

    def scores_by_others(self, others: TrainingSet, messages: TrainingSet) -> np.ndarray:
        counts = others.counts
        table, totals = self._count_table(counts), counts.totals()
        # For each class {n: number of tokens that exactly n of its messages hold}, n = 0 included.
        frequencies = [{0: totals.vocabulary_size - len(row.columns), **row.frequencies()} for row in counts.rows]
        classes = len(totals.classes)
        occurs = counts.document_frequency() > 0
        groups = messages.tokens.groups
        start = self._intercept(totals, frequencies)

        def score(batch: LabelledRows) -> np.ndarray:
            rows = batch.rows.only(occurs[batch.rows.ids])
            figures = np.ascontiguousarray(np.take(table, rows.ids, axis=0).T)
            contributions = self._log_likelihoods(totals, figures[:classes], figures[classes:])
            return self._pooled(contributions, rows, start, groups[rows.ids]).scores

        return _scored(messages, score)

    def _scores_of_folds(self, training_set: TrainingSet) -> np.ndarray:
        """Scores (n, C) of all messages, each by those of the other folds; none where there is one class alone."""
        fold = training_set.stratified_folds(N_FOLDS)
        scores = np.zeros((len(fold), len(training_set.counts.classes)))
        if scores.shape[1] < 2:
            return scores[:0]
        for f in range(N_FOLDS):
            others, messages = training_set.split(fold == f)
            scores[fold == f] = self.scores_by_others(others, messages)
        return scores

    def _count_table(self, counts: ClassCounts) -> np.ndarray:
        """N_jc of every token and class, (V, C), or (V, 2C) with T_jc in the last C columns where the model needs it.

        One row per token, so that a token's counts are read together: with two classes and 24,893 messages the estimate
        takes 0.20 s, about half of what one column after another took.
        """
        classes = len(counts.classes)
        figures = [row.document_counts for row in counts.rows]
        if self.settings.model_type not in ("boolean", "bernoulli"):
            figures += [row.occurrences for row in counts.rows]
        table = np.zeros((counts.vocabulary_size, len(figures)), np.result_type(*figures))
        for column, values in enumerate(figures):
            table[counts.rows[column % classes].columns, column] = values
        return table

    def _scores_without_each(
        self, batch: LabelledRows, table: np.ndarray, groups: np.ndarray, totals: ClassTotals
    ) -> np.ndarray:
        """Scores (n, C) of a batch's n messages, each by the sums minus itself.

        ``table`` is that of ``_count_table``; ``groups`` (V,) are the groups of its tokens, −1 where a token leaves the
        vocabulary with any message that holds it.
        """
        rows, n, classes = batch.rows, len(batch.labels), len(totals.classes)
        is_own = np.zeros((classes, n), table.dtype)  # 1 where a class is the message's own
        is_own[batch.labels, np.arange(n)] = 1
        group = groups[rows.ids]
        leaving, staying = np.flatnonzero(group < 0), np.flatnonzero(group >= 0)
        n_distinct = np.diff(rows.indptr)
        n_staying = n_distinct - np.diff(np.searchsorted(leaving, rows.indptr))
        staying_rows = CsrRows(np.append(0, np.cumsum(n_staying)), rows.ids[staying], rows.counts[staying])
        counts = np.ascontiguousarray(np.take(table, staying_rows.ids, axis=0).T)
        of_own = np.repeat(is_own, n_staying, axis=1)
        counts[:classes] -= of_own
        n_occurrences = np.zeros(n, np.int64)
        if len(counts) > classes:
            n_occurrences = np.diff(np.append(0, np.cumsum(staying_rows.counts))[staying_rows.indptr])
            counts[classes:] -= of_own * staying_rows.counts.astype(counts.dtype)
        ends = np.searchsorted(leaving, rows.indptr)
        sums = np.cumsum(np.take(table, rows.ids[leaving], axis=0), axis=0)
        gone = np.diff(np.pad(sums, ((1, 0), (0, 0)))[ends], axis=0).T  # the whole sums of the tokens that leave
        totals_without = ClassTotals(
            totals.classes,
            totals.documents[:, None] - is_own,
            totals.document_counts[:, None] - is_own * n_staying - gone[:classes],
            totals.occurrences[:, None] - is_own * n_occurrences - (gone[classes:] if len(counts) > classes else 0),
            totals.vocabulary_size - (n_distinct - n_staying),
        )
        contributions = self._log_likelihoods(totals_without, counts[:classes], counts[classes:], n_staying)
        # log P(c) of the model without each of the messages. Row c of the first: without a message of class c.
        without_one = totals.documents - np.eye(classes, dtype=np.int64)
        log_prior = np.array([self._log_prior(each) for each in without_one])[batch.labels]
        return self._pooled(contributions, staying_rows, log_prior, group[staying]).scores

    def _log_likelihoods(
        self,
        totals: ClassTotals,
        document_counts: np.ndarray,
        occurrences: np.ndarray,
        lengths: np.ndarray | None = None,
    ) -> np.ndarray:
        """log P(token | class) in nats (Bernoulli: the log-odds of its presence) of k tokens in C classes, (C, k).

        ``document_counts`` and ``occurrences`` (C, k) are the tokens' counts in each class. The figures of ``totals``
        are (C,), one per class; or, with ``lengths`` (n,), (C, n): the lengths[0] tokens of the first of n messages see
        the first column, and so on, as when every message is scored by the model without it.
        """
        if self.settings.model_type == "bernoulli":
            return token_log_odds(document_counts, totals.documents, self.settings.alpha, lengths)
        boolean = self.settings.model_type == "boolean"
        sums = document_counts if boolean else occurrences
        of_class = totals.document_counts if boolean else totals.occurrences
        total_alpha = self.settings.alpha * totals.vocabulary_size
        return token_log_probability(sums, of_class, total_alpha, self.settings.alpha, lengths)

    def _log_prior(self, documents: np.ndarray) -> np.ndarray:
        """log P(c), (C,) in nats, finite."""
        return np.maximum(class_log_prior(documents, self.settings.prior), MIN_LOG_PRIOR)

    def _intercept(self, totals: ClassTotals, frequencies: Sequence[Mapping[int, int]]) -> np.ndarray:
        """log P(c), for Bernoulli log P(c, no token), (C,) in nats: the score of a message before its tokens are added.

        ``frequencies`` holds for each class {N_jc: number of tokens}; only Bernoulli reads it.
        """
        log_prior = self._log_prior(totals.documents)
        if self.settings.model_type != "bernoulli":
            return log_prior
        return log_prior + all_absent_log_probability(frequencies, totals.documents, self.settings.alpha)

    def _pooled(
        self,
        contributions: np.ndarray,
        rows: CsrRows,
        intercepts: np.ndarray,
        groups: np.ndarray,
        pooling: str | None = None,
    ) -> Pooled:
        """Pool the evidence of n messages; ``pooling`` is used in place of the settings'."""
        counts = rows.counts if self.settings.model_type == "multinomial" else np.ones((), np.int64)
        return pool(contributions, counts, rows.indptr, intercepts, groups, pooling or self.settings.pooling)


def _scored(training_set: TrainingSet, score: Callable[[LabelledRows], np.ndarray]) -> np.ndarray:
    """Scores of all messages, by threads: most of the time numpy has no need of Python's lock."""
    included = np.flatnonzero(training_set.messages.included)
    from concurrent.futures import ThreadPoolExecutor  # classifying a message does not need it

    with ThreadPoolExecutor(os.cpu_count() or 1) as executor:
        scores = executor.map(
            lambda first: score(training_set.rows(included[first : first + AT_ONCE])), range(0, len(included), AT_ONCE)
        )
        return np.concatenate([np.zeros((0, len(training_set.counts.classes))), *scores])
