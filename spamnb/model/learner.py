"""The interface of mail models: fit, score, and what a message adds.

A learner is given what it needs of a model, and writes nothing: training writes the fit, and ``apply`` of the store a
delta.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spamnb.core.score import Scores
from spamnb.model.calibration import bins_by_class, histogram
from spamnb.model.classification import Classification
from spamnb.model.decision import sum_typicality, typicality_bins
from spamnb.model.delta import Delta, Example, Examples, MessageRecord, Sums
from spamnb.model.model import Model
from spamnb.model.softmax import softmax
from spamnb.model.trust import MIN_TRUST
from spamnb.reader.read_message import ReadMessage
from spamnb.reader.rows import Rows
from spamnb.settings import COUNT_MODELS, Settings

if TYPE_CHECKING:  # these imports would slow down the classification of one message
    from spamnb.model.correction import Problem
    from spamnb.model.training_set import TrainingSet


def rank_evidence(
    rows: Rows, scores: Scores, row: int, p: np.ndarray, limit: int | None, label: int | None = None
) -> tuple[list[tuple[str, float]], tuple[float, ...]]:
    """Return (token, weight) pairs of one message, the heaviest first, and the correction's part of each weight.

    ``scores`` are of packed ``rows``, with weights. A weight is the difference between class ``label`` and the
    likeliest other class by the probabilities ``p`` (C,). None for ``label`` is the likeliest class, and None for
    ``limit`` returns all pairs. Models without a correction return no parts.
    """
    cells = slice(rows.begins[row], rows.ends[row])
    weights = _subtract_rival(scores.weights[cells].T, p, label)
    heaviest = np.argsort(-np.abs(weights), kind="stable")[:limit]
    heaviest = heaviest[weights[heaviest] != 0]
    evidence = list(zip(rows.tokens.take(rows.ids[cells][heaviest]), weights[heaviest].tolist()))
    if not len(scores.corrections):
        return evidence, ()
    return evidence, tuple(_subtract_rival(scores.corrections[cells].T, p, label)[heaviest].tolist())


def _subtract_rival(weights: np.ndarray, p: np.ndarray, label: int | None) -> np.ndarray:
    """Return the weights (k,) for ``label`` or the likeliest class, less the weights for the likeliest other class."""
    order = np.argsort(-p, kind="stable")
    label = order[0] if label is None else label
    return weights[label] - weights[order[int(label == order[0])]] if len(order) > 1 else weights[label]


def drop_accusations(rows: Rows, scores: Scores, spam: int) -> Scores:
    """Return ``scores``, with weights, of packed rows without what doubtful text says for spam.

    It is the same object if no text is doubtful.
    """
    if not rows.has_doubt:
        return scores
    accusations = np.append(0, np.cumsum(scores.weights[:, spam] * rows.doubt))
    plain = scores.scores.copy()
    plain[:, spam] -= np.diff(accusations[rows.indptr])
    return scores._replace(scores=plain)


class NewMessage(NamedTuple):
    """A message to learn, and its classification by the model without it."""

    label: str
    message: ReadMessage  # without doubtful tokens
    classification: Classification | None  # None if it is not classified yet, or the model has fewer than two classes
    taught_at: int | None = None  # seconds since 1970; None for now
    is_lesson: bool = True  # whether a person taught it; False for a message of training
    trust: float = 1.0  # P(the label is right)

    @property
    def rows(self) -> Rows:
        """The message as a row."""
        return self.message.row

    @property
    def is_expected(self) -> bool:
        """Whether the label has a probability of ½ or more; True for a message that is not classified."""
        return self.classification is None or self.classification.probabilities.get(self.label, 0.0) >= 0.5

    @property
    def scores(self) -> dict[str, float]:
        """The scores by class, in nats; empty with fewer than two classes, or if the model lacks the label."""
        if self.classification is None or self.label not in self.classification.probabilities:
            return {}
        classes = self.classification.probabilities
        return dict(zip(classes, self.classification.scores.tolist())) if len(classes) > 1 else {}

    @property
    def typicality(self) -> dict[str, int]:
        """The bin of how typical the message is of the class ``label``; empty without ``scores`` or trust."""
        if self.classification is None or not self.scores or self.trust < MIN_TRUST:
            return {}
        typicality = self.classification.typicality[[*self.scores].index(self.label)]
        return {self.label: int(typicality_bins(typicality))}


def make_records(messages: Sequence[NewMessage]) -> list[MessageRecord]:
    """Return the records of messages that have no contribution."""
    pairs = zip(messages, bins_by_class([each.scores for each in messages]))
    return [MessageRecord(each.label, each.is_lesson, bins, each.typicality) for each, bins in pairs]


class CorrectionFit(NamedTuple):
    """The fitted correction of naive Bayes, in units of ``model.correction.UNIT``, of all classes but the first."""

    problem: Problem
    contributions: np.ndarray  # (n, C - 1) added to the weights of the tokens of each message; (n, 0) without weights
    weights: np.ndarray  # (V, C - 1) the sums of the contributions by token; (V, 0) in models without weights
    noise: float  # share of wrong labels
    parameters: Mapping[str, float]  # ``penalty`` and ``least`` of ``Problem.ascend``
    examples: Sequence[Example] = ()  # the hardest last

    @classmethod
    def none(cls, training_set: TrainingSet) -> CorrectionFit:
        """Return the correction of a model that has none."""
        from spamnb.model.correction import Problem  # only training needs this import

        nobody = np.zeros(0, np.int64)
        problem = Problem(nobody, nobody, nobody.astype(np.int32), 0, np.zeros((0, 1)), nobody)
        contributions, weights = (
            np.zeros((size, 0), np.int64) for size in (len(training_set.rows), len(training_set.tokens))
        )
        return cls(problem, contributions, weights, 0.0, {})


class NewestScores(NamedTuple):
    """The newest messages of a training set, scored by a model of the older ones (model/newest.py)."""

    since: int  # time of arrival of the first of these messages, in seconds since 1970
    rows: np.ndarray  # (m,) numbers of these messages among those of the training set
    left_out: Scores
    missing_because: str = ""  # if there are none, as the end of a sentence

    @classmethod
    def none(cls, classes: int, why: str) -> NewestScores:
        """Return the scores of no message."""
        return cls(0, np.zeros(0, np.intp), Scores.zeros(0, classes), why)


class Fit(NamedTuple):
    """A fitted model: the messages that are learned, and the score of each by a model without it.

    Arrays are in the order of the training set's rows.
    """

    training_set: TrainingSet  # the messages that are learned
    left_out: Scores  # the messages, each by a model without it; of none if there is one class only
    mislabelled: Rows  # messages whose labels are not trusted, over the same tokens
    mislabelled_scores: Scores  # ``mislabelled`` by a model of the learned messages
    newest: NewestScores
    correction: CorrectionFit
    vectors: np.ndarray  # (V, d) the vector of each token; d is 0 in models without vectors
    n_folds: int  # folds that were left out in turn: as many as messages if each was left out by itself
    arrays: Mapping[str, np.ndarray] = {}  # parameters that are not sums per token, by their names in the model file
    meta: Mapping[str, object] = {}

    @classmethod
    def of(cls, training_set: TrainingSet, left_out: Scores, n_folds: int) -> Fit:
        """Return the fit of a model that trusts all labels, and has sums only."""
        classes, no_vectors = left_out.scores.shape[1], np.zeros((len(training_set.tokens), 0), np.float32)
        mislabelled, newest = training_set.rows.take(slice(0, 0)), NewestScores.none(classes, "")
        others = mislabelled, Scores.zeros(0, classes), newest, CorrectionFit.none(training_set), no_vectors
        return cls(training_set, left_out, *others, n_folds)

    @property
    def labels(self) -> np.ndarray:
        """Class numbers (n,) of the messages that have scores."""
        return self.training_set.rows.labels[: len(self.left_out.scores)]

    def histogram(self) -> np.ndarray:
        """Return the calibration's histogram of left-out scores.

        The newest messages have scores by a model of the older ones, as future mail will have: a model that learned
        newer mail is more certain (docs/experiments.md#tomorrow).
        """
        scores = self.left_out.scores.copy()
        scores[self.newest.rows] = self.newest.left_out.scores
        return histogram(scores, self.labels)

    def known_typicality(self) -> np.ndarray:
        """Return the known mail (C, 1 + TYPICALITY_BINS) that the messages are (model/decision.py)."""
        known = sum_typicality(self.left_out.typicality, self.labels)
        known[:, 0] = self.training_set.documents  # also messages without a score were seen
        return known


class Learner:
    """One kind of mail model: it computes scores and deltas from sums, and knows no file."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def fit(self, training_set: TrainingSet) -> Fit:
        """Fit the model to a training set, and score each message by a model without it."""
        raise NotImplementedError

    def scores_by_others(self, others: TrainingSet, messages: Rows) -> Scores | None:
        """Score ``messages`` by a model of ``others``, which have the same list of tokens.

        Return None if this model needs another training.
        """
        return None

    def score_folds(self, fitted: Fit, fold: np.ndarray, is_scored: np.ndarray) -> Scores | None:
        """Score training messages, where ``is_scored`` (n,) is true, by the model without those of their ``fold`` (n,).

        Messages of fold −1 are in all of these models. They and messages that are not scored have no meaningful score.
        Return None if this model needs another training.
        """
        return None

    def score(self, model: Model, sums: Sums, rows: Rows, *, with_weights: bool = True) -> Scores:
        """Score packed rows of n messages by a model that has a class.

        ``sums`` are those of ``rows.tokens``, as ``Store.look_up`` returns them.
        ``with_weights=False`` may leave out the weights, which only ``rank_evidence`` needs.
        """
        raise NotImplementedError

    def uncalibrated(self, model: Model, sums: Sums, rows: Rows) -> np.ndarray:
        """Return the probabilities (n, C) before calibration of the messages that ``score`` scores."""
        return softmax(self.score(model, sums, rows).scores)

    def delta(self, model: Model, sums: Sums, messages: Sequence[NewMessage]) -> Delta:
        """Return what messages add to the model, which has none of them. ``sums`` has their tokens."""
        rows, records = [each.rows for each in messages], make_records(messages)
        return Delta(rows, records, self.vectors(rows, sums), records)

    def vectors(self, messages: Sequence[Rows], sums: Sums) -> Sequence[np.ndarray]:
        """Return the vector of each message; () in models without vectors. ``sums`` has the tokens."""
        return ()

    def is_hard(self, message: Rows, record: MessageRecord) -> bool:
        """Return whether the contributions of others depend on this message, if training fitted them together."""
        return False

    def refit(self, model: Model, sums: Sums, examples: Examples) -> Delta:
        """Return the changes of examples by fitting them again; ``sums`` are those of ``examples.hashes``."""
        return Delta()


def learner_for(settings: Settings) -> Learner:
    """Return the learner of these settings, and import its module."""
    if settings.model_type in COUNT_MODELS:
        from spamnb.model.bayes_model import NaiveBayes

        return NaiveBayes(settings)
    if settings.model_type == "corrected":
        from spamnb.model.corrected import Corrected

        return Corrected(settings)
    from spamnb.model.embedded_model import EmbeddedModel

    return EmbeddedModel(settings)
