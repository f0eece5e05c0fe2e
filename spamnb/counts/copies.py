"""Copies of messages that were counted under different labels."""

from __future__ import annotations

import numpy as np

from spamnb.counts.training_set import TrainingSet


def in_several_classes(training_set: TrainingSet) -> list[list[tuple[int, str]]]:
    """(place, class) of every copy of each message whose copies are not all of one class, in the order of the mail."""
    messages, names = training_set.messages, training_set.counts.classes
    begins = messages.first_copies()
    if not len(begins):
        return []
    several = np.minimum.reduceat(messages.labels, begins) != np.maximum.reduceat(messages.labels, begins)
    ends = np.append(begins[1:], len(messages.labels))
    return sorted(
        [
            (place, names[label])
            for place, label in zip(messages.positions[begin:end].tolist(), messages.labels[begin:end].tolist())
        ]
        for begin, end in zip(begins[several], ends[several])
    )
