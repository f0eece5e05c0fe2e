"""Naive Bayes and logistic regression on the same tokens, their log-odds added up on equal scales.

One models what mail of a class is made of, the other only where the classes part; they err on different messages.
1-ROCA% of naive Bayes with pooled evidence, of logistic regression, and of their sum, on half of the messages after
learning the other half (scripts/experiment_hybrid.py): SpamAssassin .017, .044, .016; enron1 .106, .295, .089; enron2
.023, .019, .003; Ling-Spam .014, .008, .004; SMS .498, .234, .207.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from spamnb.counts.csr_rows import Batch
from spamnb.counts.training_set import Tally
from spamnb.errors import Damaged
from spamnb.learners.learner import Learner, Scored, Trained
from spamnb.learners.logistic import Logistic
from spamnb.learners.naive_bayes import NaiveBayes
from spamnb.settings import Settings
from spamnb.store.store import Store, Totals

# The spreads of a model that never was trained, only taught message by message. Their ratio alone decides, and is about
# that of SpamAssassin's stream by date, where they are 1.5 and 3.5.
UNTRAINED = np.array([2.6, 5.8])


class Hybrid(Learner):
    """Scores are NB/σ_NB + LR/σ_LR, σ being the spread of each one's left-out scores in training."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.naive_bayes, self.logistic = NaiveBayes(settings), Logistic(settings)

    def train(self, tally: Tally) -> Trained:
        bayes, logistic = self.naive_bayes.train(tally), self.logistic.train(tally)
        if not len(bayes.scores):  # of one class there is nothing to tell apart: no spreads
            return logistic
        spread = np.array([_spread(bayes.scores), _spread(logistic.scores)])
        return logistic._replace(
            scores=bayes.scores / spread[0] + logistic.scores / spread[1],
            arrays={**logistic.arrays, "hybrid_spread": spread},
        )

    def score(self, store: Store, totals: Totals, batch: Batch) -> Scored:
        spread = store.arrays().get("hybrid_spread", UNTRAINED)
        if spread.shape != (2,) or not (spread > 0).all():
            raise Damaged("the array hybrid_spread does not hold two numbers above 0")
        parts = [learner.score(store, totals, batch) for learner in (self.naive_bayes, self.logistic)]
        of_parts = [set(part.known.tokens) for part in parts]
        known = batch.only(
            np.array([i for i, t in enumerate(batch.tokens) if any(t in of for of in of_parts)], np.intp)
        )
        weights = np.zeros((len(totals.classes), len(known.columns)))
        for part, of, scale in zip(parts, of_parts, spread):
            mine = np.array([token in of for token in known.tokens], bool)[known.columns]
            weights[:, mine] += part.weights / scale  # leaving tokens out keeps the others in their order
        scores = sum(part.scores / scale for part, scale in zip(parts, spread))
        return Scored(known, scores, weights, parts[0].posterior)

    def learn(self, store: Store, label: str, counted: Mapping[str, int]) -> None:
        self.logistic.learn(store, label, counted)

    @property
    def forgets(self) -> bool:
        return self.logistic.forgets


def _spread(scores: np.ndarray) -> float:
    """Standard deviation of the scores about their mean in each message; 1 where there is none."""
    spread = float(np.std(scores - scores.mean(axis=1, keepdims=True))) if scores.size else 0.0
    return spread or 1.0
