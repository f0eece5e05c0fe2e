"""Copies of messages that were counted under different labels."""

from __future__ import annotations

import numpy as np

from spamnb.counts.training_set import TrainingSet


def in_several_classes(training_set: TrainingSet) -> list[list[tuple[int, str]]]:
    """(place, class) of every copy of each message whose copies are not all of one class, in the order of the mail."""
    digests = np.concatenate([np.zeros((0, 16), np.uint8), *(own.digests for own in training_set.shards)])
    positions = np.concatenate([np.zeros(0, np.int64), *(own.positions for own in training_set.shards)])
    labels = np.concatenate([np.zeros(0, np.intp), *(own.labels for own in training_set.shards)])
    if not len(labels):
        return []
    halves = np.ascontiguousarray(digests).view(">u8").reshape(-1, 2)
    order = np.lexsort((positions, halves[:, 1], halves[:, 0]))
    begins = np.append(0, 1 + np.flatnonzero((halves[order][1:] != halves[order][:-1]).any(axis=1)))
    of_one = np.minimum.reduceat(labels[order], begins) == np.maximum.reduceat(labels[order], begins)
    groups = [order[begin:end] for begin, end in zip(begins, [*begins[1:], len(order)])] if not of_one.all() else []
    names = training_set.counts.classes
    found = [[(int(positions[i]), names[labels[i]]) for i in group] for group, same in zip(groups, of_one) if not same]
    return sorted(found)
