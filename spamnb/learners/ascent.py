"""The coefficients of a correction (formulas/correction.py), by coordinate ascent over the messages' rows.

Each visit of a message solves for its own coefficients while all others stay, and moves its tokens' weights. Weights
are sums of whole numbers, so a model is the same whoever counted which message: the order of visits is all that counts.
``_ascent.pyx`` does the same compiled; the Python here is its specification.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import NamedTuple

import numpy as np

from spamnb.formulas.correction import UNIT, coefficients

ASCENT_VERSION = 1  # of this file's ``ascend_python`` and of correction.py; _ascent.pyx says for which it was made
TOLERANCE = 0.01  # a pass that moves no coefficient by more is the last


class Problem(NamedTuple):
    """n messages, of whose tokens those are columns that two of them or more hold: nobody else sees the others."""

    indptr: np.ndarray  # (n+1,) int64, where the messages' columns begin and end
    columns: np.ndarray  # (nnz,) int32
    values: np.ndarray  # (n,) what stands in a message's row at each of its tokens
    offsets: np.ndarray  # (n, C) nats, naive Bayes' part of the scores
    labels: np.ndarray  # (n,) int64, class numbers

    def scores(self, messages: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Scores (m, C) of these messages by ``weights`` (V, C), in nats."""
        sums = sum_weights(self.indptr, self.columns, messages, weights)
        return self.offsets[messages] + sums * (self.values[messages] * UNIT)[:, None]


def ascend_python(
    indptr: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    offsets: np.ndarray,
    labels: np.ndarray,
    order: np.ndarray,
    penalty: float,
    passes: int,
    brought: np.ndarray,
    weights: np.ndarray,
) -> int:
    """Visit the messages in ``order`` (m,), at most ``passes`` times; returns how many passes there were.

    ``brought`` (n, C), what each message brings to the weight of each of its tokens, and ``weights`` (V, C), the sums
    of that, are int64 multiples of UNIT; both are changed in place. The other arrays are those of a ``Problem``.
    """
    done = 0
    worst = inf
    while done < passes and worst >= TOLERANCE:
        done += 1
        worst = 0.0
        for i in order.tolist():
            cells, y = columns[indptr[i] : indptr[i + 1]], int(labels[i])
            others = weights[cells].sum(axis=0) - len(cells) * brought[i]
            scores = offsets[i] + values[i] * UNIT * others
            units = units_of(coefficients(scores.tolist(), y, penalty), y, values[i])
            change = units - brought[i]
            largest = int(np.abs(change).max())
            if largest:
                brought[i] = units
                weights[cells] += change  # a message holds a column once
                worst = max(worst, largest / (values[i] / UNIT))
    return done


def take_out_python(
    indptr: np.ndarray, columns: np.ndarray, messages: np.ndarray, brought: np.ndarray, weights: np.ndarray
) -> None:
    """Take what these messages brought out of ``weights``, in place."""
    for i in messages.tolist():
        weights[columns[indptr[i] : indptr[i + 1]]] -= brought[i]


def sum_weights_python(
    indptr: np.ndarray, columns: np.ndarray, messages: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """The sums (m, C) of the weights of these messages' columns."""
    sums = [weights[columns[indptr[i] : indptr[i + 1]]].sum(axis=0) for i in messages.tolist()]
    return np.array(sums, np.int64).reshape(-1, weights.shape[1])


def units_of(found: list[float], y: int, value: float) -> np.ndarray:
    """Coefficients (C,) of a message of class ``y`` as whole multiples of UNIT at each of its tokens; they sum to 0."""
    units = np.rint(np.array(found) * (value / UNIT)).astype(np.int64)
    units[y] -= units.sum()
    return units


try:
    import spamnb.learners._ascent as compiled
except ImportError:
    compiled = None
else:
    if getattr(compiled, "MADE_FOR", None) != ASCENT_VERSION:  # built of other source
        compiled = None

ascend: Callable[..., int] = ascend_python if compiled is None else compiled.ascend
take_out: Callable[..., None] = take_out_python if compiled is None else compiled.take_out
sum_weights: Callable[..., np.ndarray] = sum_weights_python if compiled is None else compiled.sum_weights
