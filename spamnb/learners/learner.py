"""What every kind of mail model can do with messages, beside the sums that the store keeps for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spamnb.counts.csr_rows import Batch
from spamnb.settings import Settings
from spamnb.store.store import Store, Totals

if TYPE_CHECKING:  # classifying a message does not need it
    from spamnb.counts.training_set import Tally


class Scored(NamedTuple):
    """Scores of n messages and what each of their tokens gave to them."""

    known: Batch  # the messages, of their tokens only those that the model knows
    scores: np.ndarray  # (n, C), before calibration
    weights: np.ndarray  # (C, nnz) of each token of ``known``
    posterior: np.ndarray  # (n, C) the model's own posterior, which calibration corrects

    def heaviest(self, row: int, p: np.ndarray, most: int | None, of: int | None = None) -> list[tuple[str, float]]:
        """(token, weight) of one message: what each of its tokens gave to its likeliest class by ``p`` (C,), or to
        class ``of``, against the likeliest other; the heaviest first, at most ``most`` of them (None: all)."""
        cells = slice(*self.known.indptr[row : row + 2].tolist())
        order = np.argsort(-p, kind="stable")
        told = self.weights[order[0] if of is None else of, cells]
        if len(order) > 1:
            told = told - self.weights[order[int(of is None or of == order[0])], cells]
        heaviest = np.argsort(-np.abs(told), kind="stable")[:most]
        heaviest = heaviest[told[heaviest] != 0]
        return list(zip(self.known.text(cells.start + heaviest), told[heaviest].tolist()))


class Trained(NamedTuple):
    """What training gave: the messages' scores in a model without them, and parameters that are not sums."""

    labels: np.ndarray  # (n,) class numbers of the tally's messages, in the order of its blocks
    scores: np.ndarray  # (n, C)
    parts: int | None = None  # of the messages, each scored by a model of the others; None: each message by itself
    arrays: Mapping[str, np.ndarray] = {}
    vectors: np.ndarray | None = None  # (V, d) one vector a token
    meta: Mapping[str, object] = {}


class Direction(NamedTuple):
    """One direction of an embedding: tokens at both of its ends, and what it gave to the score of each class."""

    up: tuple[str, ...]
    down: tuple[str, ...]
    weights: np.ndarray  # (C,)


class Learner:
    """One kind of mail model. The sums are the store's; a learner derives scores and keeps what is no sum."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def score(self, store: Store, totals: Totals, batch: Batch) -> Scored:
        """The scores of messages, at the cost of their own tokens only; ``totals`` holds at least one class."""
        raise NotImplementedError

    def directions(self, store: Store, totals: Totals, batch: Batch) -> list[Direction]:
        """What the directions of an embedding gave to the one message of ``batch``; none without an embedding."""
        return []

    def train(self, tally: Tally) -> Trained:
        """Fit to all messages of the tally, and score each of them as if it had not been there."""
        raise NotImplementedError

    def learn(self, store: Store, label: str, counted: Mapping[str, int]) -> None:
        """Take one more message into what is not a sum; the sums have it already."""

    @property
    def forgets(self) -> bool:
        """Whether what is kept beside the sums is a sum too, so that a message can be taken out of it."""
        return True

    def forget(self, store: Store, label: str, counted: Mapping[str, int]) -> None:
        """Take one message out of what is kept beside the sums; steps, which are no sums, stay as they are."""


def class_names(value: object) -> bool:
    """Is this a list of different names, as a model file should keep them?"""
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value)
