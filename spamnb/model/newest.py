"""The newest messages of a training set. They test a model of the older messages as future mail will."""

from __future__ import annotations

import numpy as np

from spamnb.model.training_set import TrainingSet
from spamnb.reader.rows import UNDATED
from spamnb.shown_text import pluralize

NEWEST_SHARE = 1 / 5  # of the messages with a date
# Below one of these minima there is no test of the newest messages.
MIN_DATED_SHARE = 1 / 2  # of all messages: if fewer have a date, these may all be of one mailing list
MIN_NEWEST = 50  # newest messages of spam, and of all other mail: one error is 2 % of 50
MIN_OLDER_SHARE = 1 / 2  # of spam, and of all other mail: a junk folder that is emptied each month has no older spam


def mark_newest(dates: np.ndarray, positions: np.ndarray, share: float) -> np.ndarray:
    """Return a mask (n,) of the newest ``share`` of the messages with a date; of equal dates, the last are the newest.

    >>> mark_newest(np.array([5, UNDATED, 9, 9, 1]), np.arange(5), 0.25)
    array([False, False, False,  True, False])
    """
    order = np.lexsort((positions, dates))
    count = round(share * int((dates != UNDATED).sum()))
    is_newest = np.zeros(len(dates), bool)
    is_newest[order[len(order) - count :]] = True
    return is_newest


class NoNewest(Exception):
    """There is no test of the newest messages. The text says why, as the end of a sentence."""


def select_newest(training_set: TrainingSet, spam: str) -> np.ndarray:
    """Return a mask (n,) of the newest messages of a training set without copies and empty classes.

    Raise NoNewest if a minimum above is not reached, if a class has no older message, or if there is only one class.
    Without a class ``spam``, each class must reach the minima.
    """
    dates, labels = training_set.rows.dates, training_set.rows.labels
    n_dated = int((dates != UNDATED).sum())
    if n_dated < MIN_DATED_SHARE * len(dates):
        raise NoNewest(f"only {n_dated:,} of {len(dates):,} messages have a date of arrival")
    is_newest = mark_newest(dates, training_set.rows.positions, NEWEST_SHARE)
    names = list(training_set.classes)
    newest_sizes, sizes = (np.bincount(each, minlength=len(names)) for each in (labels[is_newest], labels))
    if (newest_sizes == sizes).any():
        raise NoNewest(f"all messages of class {names[(newest_sizes == sizes).argmax()]!r} are in the newest fifth")
    if spam in names:
        is_spam = np.array(names) == spam
        newest_sizes, sizes = (np.array([n[is_spam].sum(), n[~is_spam].sum()]) for n in (newest_sizes, sizes))
        names = [spam, *[name for name in names if name != spam]] if len(names) == 2 else [spam, "good mail"]
    if len(sizes) < 2:
        raise NoNewest("there is only one class")
    for name, n_newest, n in zip(names, newest_sizes.tolist(), sizes.tolist()):
        if n_newest < MIN_NEWEST:
            size = pluralize(n_newest, "message")
            raise NoNewest(f"the newest fifth has only {size} of {name}, and {MIN_NEWEST} are needed")
        if n - n_newest < MIN_OLDER_SHARE * n:
            raise NoNewest(f"{n_newest:,} of all {n:,} messages of {name} are in the newest fifth")
    return is_newest
