"""Which examples a lesson fits again: the last hard ones, and a sample of each class (store/examples.py)."""

from __future__ import annotations

from collections.abc import Iterable

from spamnb.model.delta import Example

# Examples that are fitted again: twice as many of each kind are no better (docs/experiments.md#wrong-labels)
MAX_NEWEST = 64
MAX_SAMPLE = 64  # of all classes together


def sample_size(classes: int) -> int:
    """Return the number of messages in the sample of each class."""
    return max(1, MAX_SAMPLE // max(classes, 1))


def is_sampled(example: Example, others: Iterable[Example], classes: int) -> bool:
    """Return whether a message belongs to the sample of its class, if ``others`` has this sample so far."""
    lower = sum(each.label == example.label and each.digest < example.digest for each in others)
    return lower < sample_size(classes)
