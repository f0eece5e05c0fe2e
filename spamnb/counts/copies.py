"""Copies of messages that were counted under different labels."""

from __future__ import annotations

import numpy as np

from spamnb.counts.training_set import TrainingSet


def in_several_classes(training_set: TrainingSet) -> list[list[tuple[int, str]]]:
    """(place, class) of every copy of each message whose copies are not all of one class, in the order of the mail."""
    messages, names = training_set.messages, training_set.counts.classes
    order, begins = messages.copies()
    if not len(order):
        return []
    labels = messages.labels[order]
    several = np.minimum.reduceat(labels, begins) != np.maximum.reduceat(labels, begins)
    ends = np.append(begins[1:], len(order))
    groups = [order[begin:end] for begin, end in zip(begins[several], ends[several])]
    return sorted([(int(messages.positions[i]), names[messages.labels[i]]) for i in group] for group in groups)
