"""The newest messages of a training set, on which a model of the older ones is tested: a filter judges mail to come.

The older messages' model costs no training, because its sums are those of all messages minus those of the newest.
"""

from __future__ import annotations

import numpy as np

from spamnb.counts.messages import UNDATED
from spamnb.counts.training_set import TrainingSet

SHARE = 1 / 5  # of the messages that say when they were received
MIN_DATED = 1 / 2  # of all messages: fewer may be those of one mailing list
MIN_OF_SIDE = 50  # messages, of spam and of all other mail, among the newest: one error is 2 % of these
MIN_OLDER = 1 / 2  # of each of these sides, among the older: a folder for junk that is emptied each month has none


def newest(dates: np.ndarray, positions: np.ndarray, share: float) -> np.ndarray:
    """Return which of n messages are the newest ``share`` of those with a date, (n,); in one second, the last ones.

    >>> newest(np.array([5, UNDATED, 9, 9, 1]), np.arange(5), 0.25)
    array([False, False, False,  True, False])
    """
    order = np.lexsort((positions, dates))
    count = round(share * int((dates != UNDATED).sum()))
    chosen = np.zeros(len(dates), bool)
    chosen[order[len(order) - count :]] = True
    return chosen


def newest_of(training_set: TrainingSet, spam: str) -> np.ndarray | None:
    """Return which messages of a training set without copies and empty classes are the newest, (n,) in the order of its
    batches; None where a test on them would tell little: see the limits above. Without a class ``spam`` every class is
    a side of its own."""
    dates, positions, labels = (
        values[training_set.messages.included]
        for values in (training_set.messages.dates, training_set.messages.positions, training_set.messages.labels)
    )
    if (dates != UNDATED).sum() < MIN_DATED * len(dates):
        return None
    chosen = newest(dates, positions, SHARE)
    classes = training_set.counts.classes
    among, whole = (np.bincount(of, minlength=len(classes)) for of in (labels[chosen], labels))
    if (among == whole).any():
        return None
    if spam in classes:
        is_spam = np.array(classes) == spam
        among, whole = (np.array([n[is_spam].sum(), n[~is_spam].sum()]) for n in (among, whole))
    if len(among) < 2 or (among < MIN_OF_SIDE).any() or (whole - among < MIN_OLDER * whole).any():
        return None
    return chosen
