"""Naive Bayes and logistic regression on the same tokens, their log-odds added up on equal scales.

Naive Bayes models what mail of a class is made of, logistic regression only where the classes part. They err on
different messages, so their sum is better than either on all five collections (docs/experiments.md#hybrid).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from spamnb.counts.class_counts import ClassTotals
from spamnb.counts.training_set import TrainingSet
from spamnb.errors import Damaged
from spamnb.learners.learner import BatchScores, FitResult, Learner, ModelFile
from spamnb.learners.logistic import Logistic
from spamnb.learners.naive_bayes import NaiveBayes
from spamnb.settings import Settings
from spamnb.tokens.csr_rows import CsrRows, take_tokens

# Standard deviations of the scores in a model that was taught message by message and never trained. Only their ratio
# matters; on SpamAssassin's stream by date they are 1.5 and 3.5.
DEFAULT_SCALES = np.array([2.6, 5.8])


class Hybrid(Learner):
    """Scores are NB/σ_NB + LR/σ_LR, σ being the standard deviation of each one's left-out scores in training."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.naive_bayes, self.logistic = NaiveBayes(settings), Logistic(settings)

    def train(self, training_set: TrainingSet) -> FitResult:
        bayes, logistic = self.naive_bayes.train(training_set), self.logistic.train(training_set)
        if not len(bayes.scores):  # of one class there is nothing to tell apart: no scores to scale by
            return logistic
        scales = np.array([score_scale(bayes.scores), score_scale(logistic.scores)])
        return logistic._replace(
            scores=bayes.scores / scales[0] + logistic.scores / scales[1],
            arrays={**logistic.arrays, "hybrid_spread": scales},
        )

    def score(self, store: ModelFile, totals: ClassTotals, tokens: Sequence[str], rows: CsrRows) -> BatchScores:
        scales = store.arrays().get("hybrid_spread", DEFAULT_SCALES)
        if scales.shape != (2,) or not (scales > 0).all():
            raise Damaged("the array hybrid_spread does not hold two numbers above 0")
        results = [learner.score(store, totals, tokens, rows) for learner in (self.naive_bayes, self.logistic)]
        vocabularies = [set(result.tokens) for result in results]
        positions = np.flatnonzero([any(token in known for known in vocabularies) for token in tokens])
        known_tokens, known = take_tokens(tokens, positions), rows.select(positions, len(tokens))
        weights = np.zeros((len(totals.classes), len(known.ids)))
        for result, vocabulary, scale in zip(results, vocabularies, scales):
            cells = np.array([token in vocabulary for token in known_tokens], bool)[known.ids]
            weights[:, cells] += result.weights / scale  # both have their cells in the same order
        scores = sum(result.scores / scale for result, scale in zip(results, scales))
        return BatchScores(known_tokens, known, scores, weights, results[0].posterior)

    def learn(
        self, store: ModelFile, label: str, token_counts: Mapping[str, int], digest: bytes, scores: Mapping[str, float]
    ) -> None:
        self.logistic.learn(store, label, token_counts, digest, scores)

    @property
    def forgets(self) -> bool:
        return self.logistic.forgets


def score_scale(scores: np.ndarray) -> float:
    """Standard deviation of scores (n, C) about their mean in each message; 1 where there is none."""
    deviation = float(np.std(scores - scores.mean(axis=1, keepdims=True))) if scores.size else 0.0
    return deviation or 1.0
