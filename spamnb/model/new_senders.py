"""Folds of whole senders: they test a model on good mail of senders and mailing lists that the model has never seen.

A message that is left out by itself leaves the other mail of its sender in the model, so its figures are only true for
mail of known senders. Here all mail of a mailing list (List-Id), or else of a sender's domain, is in one of ten folds,
and a fold is classified by a model of the other folds (``GroupKFold`` of scikit-learn is the same).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spamnb.model.decision import UNSURE
from spamnb.model.training_set import TrainingSet
from spamnb.reader.rows import NO_SENDER

N_FOLDS = 10  # bounds the time: a fold costs about a fortieth of a training
MIN_OTHERS_SHARE = 1 / 2  # of each class: without a sender of most of the mail the others would be another model


class NewSenders(NamedTuple):
    """Good mail, classified by models that have never seen its sender's domain or its mailing list."""

    messages: int
    senders: int  # domains and mailing lists
    lost: float  # percent of the messages that were called spam
    unsure: float  # percent

    @classmethod
    def of(cls, senders: np.ndarray, verdicts: Sequence[str], spam: str) -> NewSenders:
        """Return the figures of good messages from their ``senders`` (n,) and verdicts.

        >>> NewSenders.of(np.array([5, 5, 7, 9]), ["ham", "spam", "unsure", "ham"], "spam")
        NewSenders(messages=4, senders=3, lost=25.0, unsure=25.0)
        """
        lost, unsure = (100 * list(verdicts).count(name) / len(verdicts) for name in (spam, UNSURE))
        return cls(len(verdicts), len(np.unique(senders)), lost, unsure)


# Of a model without spam, or without good mail that can be left out by sender.
NO_NEW_SENDERS = NewSenders(0, 0, math.nan, math.nan)


def assign_senders(training_set: TrainingSet) -> np.ndarray:
    """Return the fold of each message (n,), −1 for messages that are in no fold.

    A message is in no fold if it names no sender, or if the other folds have less than MIN_OTHERS_SHARE of a class.
    """
    labels, senders = training_set.rows.labels, training_set.rows.senders
    fold, has_sender = np.full(len(labels), -1), senders != NO_SENDER
    _, numbers, sizes = np.unique(senders[has_sender], return_inverse=True, return_counts=True)
    fold_of, folds = np.zeros(len(sizes), np.int64), [(0, f) for f in range(N_FOLDS)]
    for sender in np.argsort(-sizes, kind="stable").tolist():  # the largest first, each to the smallest fold
        size, f = heapq.heappop(folds)
        heapq.heappush(folds, (size + int(sizes[sender]), f))
        fold_of[sender] = f
    fold[has_sender] = fold_of[numbers]
    n_classes = len(training_set.classes)
    for f in range(N_FOLDS):
        others = np.bincount(labels[fold != f], minlength=n_classes)
        if (others < MIN_OTHERS_SHARE * training_set.documents).any():
            fold[fold == f] = -1
    return fold
