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
        if not len(bayes.scores):  # of one class there is nothing to tell apart: no spreads
            return logistic
        spread = np.array([_spread(bayes.scores), _spread(logistic.scores)])
        return logistic._replace(
            scores=bayes.scores / spread[0] + logistic.scores / spread[1],
            arrays={**logistic.arrays, "hybrid_spread": spread},
        )

    def score(self, store: ModelFile, totals: ClassTotals, tokens: Sequence[str], rows: CsrRows) -> BatchScores:
        spread = store.arrays().get("hybrid_spread", DEFAULT_SCALES)
        if spread.shape != (2,) or not (spread > 0).all():
            raise Damaged("the array hybrid_spread does not hold two numbers above 0")
        parts = [learner.score(store, totals, tokens, rows) for learner in (self.naive_bayes, self.logistic)]
        known_to = [set(part.tokens) for part in parts]
        places = np.array([i for i, t in enumerate(tokens) if any(t in known for known in known_to)], np.intp)
        known_tokens, known = take_tokens(tokens, places), rows.select(places, len(tokens))
        weights = np.zeros((len(totals.classes), len(known.ids)))
        for part, of_part, scale in zip(parts, known_to, spread):
            mine = np.array([token in of_part for token in known_tokens], bool)[known.ids]
            weights[:, mine] += part.weights / scale  # leaving tokens out keeps the others in their order
        scores = sum(part.scores / scale for part, scale in zip(parts, spread))
        return BatchScores(known_tokens, known, scores, weights, parts[0].posterior)

    def learn(self, store: ModelFile, label: str, counted: Mapping[str, int]) -> None:
        self.logistic.learn(store, label, counted)

    @property
    def forgets(self) -> bool:
        return self.logistic.forgets


def _spread(scores: np.ndarray) -> float:
    """Standard deviation of the scores about their mean in each message; 1 where there is none."""
    spread = float(np.std(scores - scores.mean(axis=1, keepdims=True))) if scores.size else 0.0
    return spread or 1.0
