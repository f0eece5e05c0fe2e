"""What every kind of mail model can do with messages, beside the sums that the store keeps for all of them; and which
kind the settings name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spamnb.counts.class_counts import CountedTokens
from spamnb.reader.rows import CsrRows, take_tokens
from spamnb.settings import Settings
from spamnb.store.store import Store

if TYPE_CHECKING:  # classifying a message does not need it
    from spamnb.counts.training_set import TrainingSet
    from spamnb.store.hard_messages import HardMessage


class BatchScores(NamedTuple):
    """Scores of n messages and what each of their tokens gave to them."""

    tokens: Sequence[str]  # (k,) those of the messages' tokens that the model knows
    rows: CsrRows  # the messages, of these tokens only; the ids are positions in ``tokens``
    scores: np.ndarray  # (n, C), before calibration
    weights: np.ndarray  # (C, nnz) of each cell of ``rows``
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
        told = list(zip(take_tokens(self.tokens, self.rows.ids[cells][heaviest]), weights[heaviest].tolist()))
        if self.correction is None:
            return told, ()
        return told, tuple(_against(self.correction[:, cells], p, of)[heaviest].tolist())


def _against(weights: np.ndarray, p: np.ndarray, of: int | None) -> np.ndarray:
    """What each of k tokens gave, by ``weights`` (C, k), to a class against the likeliest other."""
    order = np.argsort(-p, kind="stable")
    given = weights[order[0] if of is None else of]
    return given - weights[order[int(of is None or of == order[0])]] if len(order) > 1 else given


class Correction(NamedTuple):
    """What corrects naive Bayes, in whole units of a weight (formulas/correction.py)."""

    brought: np.ndarray  # (n, C - 1) what each message brings to each of its tokens, of all classes but the first
    weights: np.ndarray  # (V, C - 1) the sums of that, by token
    hard: Sequence[HardMessage]  # the hardest, the hardest last


class Lesson(NamedTuple):
    """A message that a model learns by itself, and what the model knew of it before."""

    digest: bytes
    label: str
    message: CountedTokens
    scores: Mapping[str, float]  # by class; none while there was nothing to tell apart
    contradicted: bool  # was the model rather sure that it is not of this class?


class Screened(NamedTuple):
    """A training set whose labels were looked at: what to learn of it, and what its labels speak against."""

    training_set: TrainingSet  # the messages that are learned
    noise: float = 0.0  # share of labels that seem wrong
    doubted: TrainingSet | None = None  # the messages whose labels seem wrong, over the columns of the others
    scores: np.ndarray | None = None  # (n, C) naive Bayes' left-out scores of those that are learned


class NewestScores(NamedTuple):
    """The newest messages of a training set, judged by a model of the older ones (counts/newest.py)."""

    since: int  # when the first of them was received, in seconds since 1970
    rows: np.ndarray  # (m,) which of the training set's messages they are, in the order of its batches
    scores: np.ndarray  # (m, C) nats


class FitResult(NamedTuple):
    """What fitting gave: the left-out scores of the messages that were learned, and parameters that are not sums."""

    labels: np.ndarray  # (n,) class numbers of the training set's messages, in the order of its batches
    scores: np.ndarray  # (n, C) of each message by a model without it
    n_folds: int | None = None  # that were left out in turn; None: each message was left out by itself
    arrays: Mapping[str, np.ndarray] = {}
    vectors: np.ndarray | None = None  # (V, d) one vector a token
    meta: Mapping[str, object] = {}
    correction: Correction | None = None
    newest: NewestScores | None = None
    doubted_scores: np.ndarray | None = None  # (m, C) of the messages whose labels seem wrong, by all that were learned

    @property
    def calibrating(self) -> np.ndarray:
        """Scores (n, C) such as mail to come will have: of the newest messages those by the older ones, of the others
        those by all others. A model that knows newer mail is surer than it is of mail to come
        (docs/experiments.md#tomorrow)."""
        if self.newest is None:
            return self.scores
        scores = self.scores.copy()
        scores[self.newest.rows] = self.newest.scores
        return scores


class Learner:
    """One kind of mail model. The sums are the store's; a learner derives scores and keeps what is no sum."""

    forgets = True  # whether what is kept beside the sums is a sum too, so that a message can be taken out of it

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def score(self, store: Store, tokens: Sequence[str], rows: CsrRows) -> BatchScores:
        """The scores of n messages over ``tokens`` (k,), at the cost of these tokens only, by a model of one class at
        least."""
        raise NotImplementedError

    def screen(self, training_set: TrainingSet) -> Screened:
        """Tell which messages of the training set to learn, and of what columns: all messages, unless a model doubts
        labels, and the columns that occur."""
        return Screened(training_set.select_columns(training_set.by_hash()))

    def train(self, screened: Screened) -> FitResult:
        """Fit to the messages to learn, and score each of them as if it had not been there."""
        raise NotImplementedError

    def scores_by_others(self, others: TrainingSet, asked: TrainingSet) -> np.ndarray | None:
        """Scores (m, C) of the messages of ``asked`` by a model of ``others``, of which they are no part; both have the
        same columns. None where that would take another training."""
        return None

    def learn(self, store: Store, lesson: Lesson) -> Mapping[str, Any]:
        """Add one message to what is kept beside the sums, which hold it already. Returns what the file shall keep of
        the message, fields of ``LearnedMessage``."""
        return {}

    def forget(self, store: Store, label: str, message: CountedTokens, digest: bytes) -> None:
        """Take one message out of what is kept beside the sums, which hold it still. Gradient steps stay."""


def class_names(value: object) -> bool:
    """Is this a list of different names, as a model file should keep them?"""
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value)
