"""Wrong labels: training messages that all others say are of another class are not learned.

People file mail wrongly. A model that learns such a message gives its words to the wrong class, and a correction that
is fitted to it undoes what the right ones taught. Naive Bayes judges each message by all others; from these scores
formulas/calibration.py estimates how many labels are wrong, and how likely each of them is. Messages whose labels are
more likely wrong than right are left out. Then all messages are judged once more by those that stay, and the second
estimate counts: wrong labels no longer blur it.

Where labels are clean the share of wrong ones is 0, and every message is learned (docs/experiments.md#wrong-labels).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spamnb.formulas.calibration import MIN_GAIN, Calibration
from spamnb.learners.learner import Screened

if TYPE_CHECKING:
    from spamnb.counts.training_set import TrainingSet
    from spamnb.learners.naive_bayes import NaiveBayes

MAX_DOUBT = 0.5  # P(its label is wrong) above which a message is not learned
MIN_TRUSTED = 0.25  # of the messages of each class: where fewer seem right, this cannot tell which are wrong


def screen(naive_bayes: NaiveBayes, training_set: TrainingSet) -> Screened:
    """What to learn of a training set, as naive Bayes sees it."""
    labels, scores = training_set.included_labels(), naive_bayes.leave_one_out_scores(training_set)
    everything = Screened(training_set, scores=scores)
    if not len(scores):
        return everything
    noise, wrong = _wrong_labels(scores, labels, MIN_GAIN)
    parts = _parted(training_set, wrong)
    if parts.doubted is None:
        return everything._replace(noise=noise if not wrong.any() else 0.0)
    learned, by_trusted = parts.training_set.messages.included[training_set.messages.included], np.empty_like(scores)
    by_trusted[learned] = naive_bayes.leave_one_out_scores(parts.training_set)
    by_trusted[~learned] = naive_bayes.scores_by_others(parts.training_set, parts.doubted)
    second_noise, wrong = _wrong_labels(by_trusted, labels, 0.0)  # that some are wrong is known by now
    if second_noise < noise / 2:  # clear verdicts alone, which a curve without wrong labels describes as well
        return parts._replace(noise=noise)
    return _parted(training_set, wrong)._replace(noise=second_noise)


def _wrong_labels(scores: np.ndarray, labels: np.ndarray, min_gain: float) -> tuple[float, np.ndarray]:
    """The share of labels that are wrong, and which (n,) are more likely wrong than right."""
    calibration = Calibration(scores.shape[1], min_gain=min_gain)
    calibration.add(scores, labels)
    doubts = calibration.doubts(scores, labels)
    return float(doubts.mean()), doubts > MAX_DOUBT


def _parted(training_set: TrainingSet, wrong: np.ndarray) -> Screened:
    """The training set without the messages that are ``wrong`` (n,), and these."""
    labels = training_set.included_labels()
    trusted = np.bincount(labels[~wrong], minlength=len(training_set.counts.classes))
    if not wrong.any() or (trusted < MIN_TRUSTED * training_set.counts.documents).any():
        return Screened(training_set)
    learned, doubted = training_set.split(wrong)
    return Screened(learned, doubted=doubted)
