"""Naive Bayes models: scores of messages, from the counts of their tokens and the totals of the model.

Each training message is scored by the model without it, exactly and in one pass: its counts are subtracted from the
counts of its class, and tokens that no other message has are left out of the vocabulary. Only Bernoulli models with
pooling sum leave out folds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.core.score import MAX_COUNT, ScoreModel, Scores
from spamnb.model.class_counts import DOCUMENTS, OCCURRENCES, ClassTotals, count_frequencies
from spamnb.model.correction import UNIT
from spamnb.model.decision import STRUCTURE_WEIGHT
from spamnb.model.delta import Examples, Sums
from spamnb.model.learner import Fit, Learner
from spamnb.model.model import Model
from spamnb.model.naive_bayes import all_absent_log_probability
from spamnb.model.pooling import pooling_parameters, sufficient
from spamnb.model.priors import class_log_prior
from spamnb.model.softmax import softmax
from spamnb.reader.evidence import GROUPS, N_WORD_GROUPS
from spamnb.reader.rows import Rows

if TYPE_CHECKING:  # the import would slow down the classification of one message
    from spamnb.model.training_set import TrainingSet

N_FOLDS = 10  # folds that are left out in turn, for Bernoulli models with sums over the whole vocabulary
MIN_LOG_PRIOR = -700.0  # nats: the log prior of a class without messages is not -inf, because scores would be NaN
BATCH_MESSAGES = 256  # messages scored or counted together: the counts of their tokens fit the processor's cache


class NaiveBayes(Learner):
    """Bernoulli, multinomial and boolean multinomial naive Bayes, with the settings' pooling of evidence."""

    def score(
        self, model: Model, sums: Sums, rows: Rows, scale: float | None = None, *, with_weights: bool = True
    ) -> Scores:
        """Score n messages. With ``scale``, a factor of naive Bayes' scores, also add the correction of the model."""
        scorer, reference = self._scorer(self.settings.pooling, sums, rows, scale), None
        if sums.reference is not None:
            reference = self._scorer(self.settings.pooling, sums.reference, rows, scale)
        return self._count_votes(scorer.score(*rows.cells, with_weights=with_weights, reference=reference))

    @property
    def _counts_occurrences(self) -> bool:
        """Whether the counts of tokens are occurrences, not messages."""
        return self.settings.model_type == "multinomial"

    def _count_votes(self, scores: Scores) -> Scores:
        """Return the scores with the votes of ``evidence_shares``: for a sum, each token is sufficient evidence."""
        return scores._replace(votes=sufficient(scores.votes > 0)) if self.settings.pooling == "sum" else scores

    def uncalibrated(self, model: Model, sums: Sums, rows: Rows) -> np.ndarray:
        return softmax(self._scorer("sum", sums, rows).score(*rows.cells).scores)

    def _scorer(self, pooling: str, sums: Sums, rows: Rows, scale: float | None = None) -> ScoreModel:
        """Return the model of the tokens of ``rows``, with a correction if there is a ``scale``."""
        by_class = sums.occurrences if self._counts_occurrences else sums.document_counts
        counts = np.minimum(by_class, MAX_COUNT).astype(np.uint32, order="C")
        groups, is_known = rows.tokens.groups, _has_count(sums.document_counts)
        intercepts = self._intercepts(pooling, sums.totals, lambda: sums.frequencies)
        correction = () if scale is None else (np.ascontiguousarray(sums.weights), scale, UNIT)
        return self._model(pooling, sums.totals, counts, groups, is_known, intercepts, *correction)

    def fit(self, training_set: TrainingSet) -> Fit:
        if self.settings.model_type == "bernoulli" and self.settings.pooling == "sum":
            # These scores are sums over all tokens of the vocabulary, also over tokens that a message does not have.
            fold = training_set.stratified_folds(N_FOLDS)
            left_out = self.leave_folds_out(training_set, fold, np.ones(len(fold), bool))
            return Fit.of(training_set, left_out, N_FOLDS)
        return Fit.of(training_set, self.leave_one_out(training_set), len(training_set.rows))

    def leave_one_out(self, training_set: TrainingSet) -> Scores:
        """Score each message by the model without it, in the order of the rows."""
        classes = len(training_set.classes)
        if classes < 2:
            return Scores.zeros(0, classes)
        pooling, totals = self.settings.pooling, training_set.totals()
        groups, is_known = training_set.tokens.groups, training_set.document_frequency() > 1
        log_priors = [self._log_prior(each) for each in totals.documents - np.eye(classes, dtype=np.int64)]
        intercepts = np.array(log_priors) if pooling == "sum" else np.zeros((classes, classes))
        model = self._model(pooling, totals, self._count_table(training_set), groups, is_known, intercepts)
        return self._score_messages(training_set.rows, lambda batch: model.score(*batch.cells, batch.labels))

    def leave_examples_out(self, model: Model, sums: Sums, examples: Examples) -> np.ndarray:
        """Return the scores (n, C) of learned messages, each by the boolean model without it, in nats.

        ``sums`` are those of ``examples.hashes``.
        """
        totals, lengths = model.totals, examples.lengths
        counts = sums.document_counts.take(examples.columns, axis=0)  # a tenth of the time of an index
        labels = np.repeat([totals.classes.index(each.label) for each in examples.messages], lengths).astype(np.intp)
        counts[np.arange(len(counts)), labels] -= model.lesson_weight
        counts = np.clip(counts, 0, MAX_COUNT).astype(np.uint32)
        groups = np.concatenate([np.zeros(0, np.int8), *(each.groups for each in examples.messages)])
        intercepts = self._intercepts(self.settings.pooling, totals, lambda: [])
        ids, bounds = np.arange(len(counts), dtype=np.int32), np.append(0, np.cumsum(lengths))
        scorer = self._model(self.settings.pooling, totals, counts, groups, _has_count(counts), intercepts)
        return scorer.score(bounds, ids, np.ones(len(ids), np.int64)).scores

    def scores_by_others(self, others: TrainingSet, messages: Rows) -> Scores:
        return self._score_new(others.totals(), self._count_table(others), messages)

    def _score_new(self, totals: ClassTotals, table: np.ndarray, messages: Rows) -> Scores:
        """Score messages by a ``table`` (V, C) of the counts of others."""
        groups, is_known = messages.tokens.groups, _has_count(table)

        def frequencies() -> list[dict[int, int]]:
            by_class = map(count_frequencies, table.T)
            return [{0: totals.vocabulary_size - sum(each.values()), **each} for each in by_class]

        intercepts = self._intercepts(self.settings.pooling, totals, frequencies)
        model = self._model(self.settings.pooling, totals, table, groups, is_known, intercepts)
        return self._score_messages(messages, lambda batch: model.score(*batch.cells))

    def score_folds(self, fitted: Fit, fold: np.ndarray, is_scored: np.ndarray) -> Scores:
        return self.leave_folds_out(fitted.training_set, fold, is_scored)

    def leave_folds_out(self, training_set: TrainingSet, fold: np.ndarray, is_scored: np.ndarray) -> Scores:
        """Score messages, where ``is_scored`` (n,) is true, by the messages that are not in their ``fold`` (n,).

        Other messages, and those of fold −1, have no score.
        """
        classes = len(training_set.classes)
        left_out = Scores.zeros(len(fold) if classes > 1 else 0, classes)
        if classes < 2:
            return left_out
        rows, totals, table = training_set.rows, training_set.totals(), self._count_table(training_set)
        for f in range(fold.max(initial=-1) + 1):
            of_fold, others, sums = rows.take(fold == f), table.copy(), totals.sums.copy()
            for batch in of_fold.batches(BATCH_MESSAGES):  # a fold may have most of the messages
                labels = np.repeat(batch.labels, batch.lengths)
                counts = batch.counts if self._counts_occurrences else np.ones(len(labels), table.dtype)
                cells = batch.ids.astype(np.intp) * classes + labels
                np.subtract.at(others.reshape(-1), cells, counts.astype(table.dtype, copy=False))
                by_class = [np.bincount(each, minlength=classes) for each in (batch.labels, labels)]
                sums -= np.stack([*by_class, np.bincount(labels, batch.counts, classes).astype(np.int64)], axis=1)
            totals_of_others = ClassTotals(totals.classes, sums, int(np.count_nonzero(_has_count(others))))
            chosen = (fold == f) & is_scored
            scores = self._score_new(totals_of_others, others, rows.take(chosen))
            for values, scored in zip(left_out[:3], scores):
                values[chosen] = scored
        return left_out

    def _score_messages(self, rows: Rows, score: Callable[[Rows], Scores]) -> Scores:
        """Score labelled messages in threads, because C and numpy run without the GIL."""
        from concurrent.futures import ThreadPoolExecutor  # only training needs this import

        def score_batch(first: int) -> Scores:
            return score(rows.take(slice(first, first + BATCH_MESSAGES)).packed())

        with ThreadPoolExecutor(os.cpu_count() or 1) as executor:
            results = executor.map(score_batch, range(0, len(rows), BATCH_MESSAGES))
            return self._count_votes(Scores.concat([Scores.zeros(0, len(rows.classes)), *results]))

    def _count_table(self, training_set: TrainingSet) -> np.ndarray:
        """Return counts by token and class, (V, C): of occurrences in a multinomial model, of messages in the others.

        The table has a row per token because the counts of a token are read together.
        """
        cells = training_set.cells
        table = np.zeros((len(training_set.tokens), len(training_set.classes)), np.uint32)
        figure = OCCURRENCES if self._counts_occurrences else DOCUMENTS
        table[cells.token, cells.label] = cells.figures[figure]
        return table

    def _model(
        self, pooling: str, totals: ClassTotals, counts: np.ndarray, groups: np.ndarray, is_known: np.ndarray,
        intercepts: np.ndarray, *correction: Any,
    ) -> ScoreModel:  # fmt: skip
        """Return a model by ``counts`` (V, C) of tokens of these ``groups`` (V,).

        It has the tokens where ``is_known`` (V,) is true.
        """
        class_sums = totals.occurrences if self._counts_occurrences else totals.document_counts
        return ScoreModel(
            pooling_parameters(pooling), len(GROUPS), N_WORD_GROUPS, STRUCTURE_WEIGHT, self.settings.model_type,
            self.settings.alpha, totals.vocabulary_size, counts, np.where(is_known, groups, ~groups),
            np.ascontiguousarray(totals.documents), np.ascontiguousarray(class_sums), intercepts,
            self.settings.spam_column(totals.classes), *correction,
        )  # fmt: skip

    def _log_prior(self, documents: np.ndarray) -> np.ndarray:
        """Return log P(c) in nats, (C,), finite."""
        return np.maximum(class_log_prior(documents), MIN_LOG_PRIOR)

    def _intercepts(
        self, pooling: str, totals: ClassTotals, frequencies: Callable[[], Sequence[Mapping[int, int]]]
    ) -> np.ndarray:
        """Return the scores of a message without tokens, (1, C): log P(c), or log P(c, no token) for Bernoulli.

        A mean over tokens has no intercept. ``frequencies`` returns {N_jc: number of tokens} for each class. All
        scores are in nats.
        """
        if pooling != "sum":
            return np.zeros((1, len(totals.documents)))
        log_prior = self._log_prior(totals.documents)
        if self.settings.model_type == "bernoulli":
            log_prior += all_absent_log_probability(frequencies(), totals.documents, self.settings.alpha)
        return log_prior[None]


def _has_count(table: np.ndarray) -> np.ndarray:
    """Return whether any class has a count in each row of a ``table`` (V, C) of counts, which are not negative."""
    has_count = np.zeros(len(table), bool)
    for of_class in table.T:  # a tenth of the time of table.any(axis=1)
        has_count |= of_class > 0
    return has_count
