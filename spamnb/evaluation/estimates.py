"""Estimates of a model's errors from its training mail: left-out messages, the newest fifth, and new senders."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spamnb.core.score import Scores
from spamnb.evaluation.result import Result, verdict_numbers
from spamnb.model.decision import decide
from spamnb.model.learner import Fit, learner_for
from spamnb.model.model import Model
from spamnb.model.new_senders import NO_NEW_SENDERS, NewSenders, assign_senders
from spamnb.reader.message import has_unread_parts
from spamnb.settings import Settings
from spamnb.training import make_model


class Estimates(NamedTuple):
    """The training messages, classified by models that have not learned them. All have the calibration of the model.

    The messages have no names, and are in the order of the sources. ``left_out`` has the messages that were not
    learned, too, because they look mislabelled.
    """

    left_out: Result  # n messages, each classified by a model without it
    newest: Result | None  # the newest messages, classified by a model of the older ones
    newest_missing_because: str  # if there are none, as the end of a sentence
    positions: NDArray[np.int64]  # (n,) positions of ``left_out`` in the sources


def estimate(fitted: Fit, settings: Settings) -> Estimates | None:
    """Calibrate the left-out scores, and classify each message as ``Classifier`` does; None if there is one class."""
    if not len(fitted.labels):
        return None
    model, rows, newest = make_model(fitted, settings), fitted.training_set.rows, fitted.newest

    def classify(protocol: str, scores: Scores, labels: np.ndarray, truncations: np.ndarray) -> Result:
        decisions = decide(settings, model, scores, ~has_unread_parts(truncations))
        verdicts = verdict_numbers(decisions.verdicts, rows.classes)
        probabilities = decisions.probabilities
        return Result(protocol, rows.classes, (), labels, scores.scores, probabilities, verdicts, settings.spam)

    positions, labels, truncations = (
        np.concatenate([getattr(part, name) for part in (rows, fitted.mislabelled)])
        for name in ("positions", "labels", "truncations")
    )
    order, scores = np.argsort(positions), Scores.concat([fitted.left_out, fitted.mislabelled_scores])
    is_one_by_one = fitted.n_folds >= len(rows)
    protocol = "Leave-one-out" if is_one_by_one else f"Each of {fitted.n_folds} parts classified by the others"
    left_out = classify(protocol, scores.take(order), labels[order], truncations[order])
    left_out = replace(left_out, new_senders=_classify_new_senders(fitted, settings, model))
    if newest.missing_because:
        return Estimates(left_out, None, newest.missing_because, positions[order])
    by_position = np.argsort(rows.positions[newest.rows])
    numbers, since = newest.rows[by_position], datetime.fromtimestamp(newest.since, UTC).date()
    of_newest = classify(
        f"The newest fifth, since {since}",
        newest.left_out.take(by_position),
        rows.labels[numbers],
        rows.truncations[numbers],
    )
    return Estimates(left_out, of_newest, "", positions[order])


def _classify_new_senders(fitted: Fit, settings: Settings, model: Model) -> NewSenders:
    """Classify the good mail of each sender by a model of the mail of others."""
    training_set, spam = fitted.training_set, settings.spam_column(fitted.training_set.classes)
    if spam is None:
        return NO_NEW_SENDERS
    rows, fold = training_set.rows, assign_senders(training_set)
    is_tested = (fold >= 0) & (rows.labels != spam)
    by_others = learner_for(settings).score_folds(fitted, fold, is_tested) if is_tested.any() else None
    if by_others is None:
        return NO_NEW_SENDERS
    decisions = decide(settings, model, by_others.take(is_tested), ~has_unread_parts(rows.truncations[is_tested]))
    return NewSenders.of(rows.senders[is_tested], decisions.verdicts, settings.spam)
