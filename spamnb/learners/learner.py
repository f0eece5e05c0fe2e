"""The interface of mail models: fitting, scoring, learning. The store keeps the sums of all kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spamnb.counts.class_counts import CountedTokens
from spamnb.formulas.calibration import bins_by_class, histogram
from spamnb.reader.rows import CsrRows, take_tokens
from spamnb.settings import Settings
from spamnb.store.records import LearnedMessage
from spamnb.store.store import Store

if TYPE_CHECKING:  # classifying a message does not need it
    from spamnb.counts.training_set import TrainingSet
    from spamnb.store.hard_examples import HardExample


class BatchScores(NamedTuple):
    """Scores of n messages, and what each of their tokens adds to them."""

    tokens: Sequence[str]  # (k,) those of the messages' tokens that the model knows
    rows: CsrRows  # the messages, of these tokens only; the ids are positions in ``tokens``
    scores: np.ndarray  # (n, C), before calibration
    weights: np.ndarray  # (C, nnz) of each cell of ``rows``
    shares: np.ndarray  # (n,) of the calibrated log-odds that count, the rest being the prior's (formulas/pooling.py)
    posterior: Callable[[], np.ndarray]  # () → (n, C) the model's own, which calibration corrects; seldom asked for
    correction: np.ndarray | None = None  # (C, nnz) the part of ``weights`` that corrects naive Bayes

    def evidence(
        self, row: int, p: np.ndarray, limit: int | None, of: int | None = None
    ) -> tuple[list[tuple[str, float]], tuple[float, ...]]:
        """(token, weight) of one message: what each of its tokens gave to its likeliest class by ``p`` (C,), or to
        class ``of``, against the likeliest other; the heaviest first, at most ``limit`` of them (None: all). And of
        each weight the part that corrects naive Bayes; none in other models."""
        cells = slice(*self.rows.indptr[row : row + 2].tolist())
        weights = _against(self.weights[:, cells], p, of)
        heaviest = np.argsort(-np.abs(weights), kind="stable")[:limit]
        heaviest = heaviest[weights[heaviest] != 0]
        evidence = list(zip(take_tokens(self.tokens, self.rows.ids[cells][heaviest]), weights[heaviest].tolist()))
        if self.correction is None:
            return evidence, ()
        return evidence, tuple(_against(self.correction[:, cells], p, of)[heaviest].tolist())


def _against(weights: np.ndarray, p: np.ndarray, of: int | None) -> np.ndarray:
    """Return the weight of each of k tokens, of ``weights`` (C, k), for a class against the likeliest other."""
    order = np.argsort(-p, kind="stable")
    weight = weights[order[0] if of is None else of]
    return weight - weights[order[int(of is None or of == order[0])]] if len(order) > 1 else weight


class NewMessage(NamedTuple):
    """A message that a model learns by itself, and its classification by the model without it."""

    digest: bytes
    label: str
    counted: CountedTokens
    scores: Mapping[str, float]  # by class, in nats; empty while there is nothing to tell apart
    trust: float  # P(its label is right)
    noise: float  # share of wrong labels with which that was computed


class CorrectionFit(NamedTuple):
    """The correction of naive Bayes, in whole units of a weight (formulas/correction.py)."""

    contributions: np.ndarray  # (n, C - 1) what each message adds to each of its tokens, of all classes but the first
    weights: np.ndarray  # (V, C - 1) the sums of that, by token
    hard: Sequence[HardExample]  # the hardest messages, the hardest last


class NewestScores(NamedTuple):
    """The newest messages of a training set, scored by a model of the older ones (counts/newest.py)."""

    since: int  # when the first of them was received, in seconds since 1970
    rows: np.ndarray  # (m,) which of the training set's messages they are, in the order of its batches
    scores: np.ndarray  # (m, C) nats


class Fit(NamedTuple):
    """A fitted model: the messages that are learned, and the score of each by a model without it.

    Arrays are in the order of the batches of the training set.
    """

    training_set: TrainingSet  # the messages that are learned
    scores: np.ndarray  # (n, C) left-out scores in nats; (0, C) of one class alone
    n_folds: int | None = None  # that were left out in turn; None: each message was left out by itself
    noise: float = 0.0  # estimated share of wrong labels
    doubtful: TrainingSet | None = None  # the messages whose labels are not trusted, over the columns of the others
    doubtful_scores: np.ndarray | None = None  # (m, C) of these, by all that are learned
    newest: NewestScores | None = None
    correction: CorrectionFit | None = None
    arrays: Mapping[str, np.ndarray] = {}  # parameters that are not sums of tokens
    vectors: np.ndarray | None = None  # (V, d) one vector a token
    meta: Mapping[str, object] = {}

    @property
    def labels(self) -> np.ndarray:
        """The class numbers (n,) of the messages that have scores."""
        return self.training_set.included_labels()[: len(self.scores)]

    def histogram(self) -> np.ndarray:
        """Return the sums of the calibration, of scores such as mail to come will have.

        Of the newest messages those are the scores by the older ones. A model that knows newer mail is surer than it is
        of mail to come (docs/experiments.md#tomorrow).
        """
        scores = self.scores.copy()
        if self.newest is not None:
            scores[self.newest.rows] = self.newest.scores
        return histogram(scores, self.labels)


class Learner:
    """One kind of mail model. It derives scores from the store's sums, and keeps parameters that are no such sums."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def fit(self, training_set: TrainingSet) -> Fit:
        """Fit to a training set, and score each of its messages by a model without it. Reads and writes no file."""
        raise NotImplementedError

    def scores_by_others(self, others: TrainingSet, messages: TrainingSet) -> np.ndarray | None:
        """Return scores (m, C) of ``messages`` by a model of ``others``, of which they are no part; both have the same
        columns. None where that would take another training."""
        return None

    def score(self, store: Store, tokens: Sequence[str], rows: CsrRows) -> BatchScores:
        """Score n messages over ``tokens`` (k,), at the cost of these tokens only, by a model of one class at least."""
        raise NotImplementedError

    def learn(self, store: Store, message: NewMessage) -> LearnedMessage:
        """Add a message to the parameters beside the sums, which hold it already; return what the file keeps."""
        return LearnedMessage(message.label, bins_by_class(message.scores))

    def forget(self, store: Store, learned: LearnedMessage, counted: CountedTokens, digest: bytes) -> None:
        """Subtract a message from the parameters beside the sums, which still hold it."""


def class_names(value: object) -> bool:
    """Return whether a value of a model file is a list of different names."""
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value)
