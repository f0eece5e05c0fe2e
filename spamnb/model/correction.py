"""The correction of naive Bayes: a penalised softmax regression whose offsets are naive Bayes' scores.

    minimise over W:  |W|²/2 + C Σ_i −log p_i[y_i],    p_i = softmax(o_i + W x_i)

o_i are naive Bayes' scores of message i in the model without this message, in nats of log-odds. x_i is 1/√n at each of
the message's n tokens, and 0 elsewhere. At the minimum the gradient is zero, so

    W = Σ_i c_i x_iᵀ,    c_ik = C ([k = y_i] − p_ik)

A message has a coefficient c_ik for each class, and its coefficients sum to 0. Its contribution c_ik/√n is added to the
weights of each of its tokens. W is the sum of all contributions: learning adds a contribution, forgetting subtracts it,
and merging adds two sums. Most coefficients are nearly 0, because naive Bayes is mostly right. The dual problem is
solved one message at a time (Yu, Huang and Lin, "Dual coordinate descent methods for logistic regression and maximum
entropy models", Machine Learning 85, 2011): each step fits the coefficients of one message, and leaves all others
unchanged.

The penalty C is multiplied by the trust in the label of the message (model/trust.py). Otherwise W would be fitted to
the wrong labels, because they have the largest gradients (Bootkrajang and Kabán, "Label-noise robust logistic
regression and its applications", ECML 2012).

Contributions are whole multiples of UNIT, because the sum of whole numbers does not depend on their order. The loops
are in C, ``core/fit.c``, and run without the GIL.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from spamnb.core.library import ffi, lib, numbers, pointer

# docs/experiments.md#correction has the figures that decided.
PENALTY = 500.0  # C of messages that are fitted together
LEARNING_PENALTY = 50.0  # C of a message that is learned alone: it may change less, because all others stay unchanged
# Nats: a smaller coefficient becomes 0 with three or more classes, and when a message is learned. An example is fitted
# again if a coefficient changes by more.
NEGLIGIBLE = 0.1
# Nats: a lesson changes the coefficients of an example by no more. Without a bound the scores of all mail swing after
# wrong lessons, because the trust in an example depends on the others: docs/experiments.md#wrong-labels
MOST_CHANGE = 2.0
HARD = 0.5  # nats: a learned message with a coefficient of this size becomes an example
# The last ones, which a lesson fits again. Training makes those with the largest coefficients, so a small model has
# typical ones, too.
MAX_EXAMPLES = 128
UNIT = 2.0**-16  # nats: the unit of contributions and weights
TOLERANCE = 0.01  # nats: a pass that changes no coefficient by more is the last


class Problem:
    """n messages whose scores are to be corrected. Message i has the tokens ``columns[begins[i] : ends[i]]``.

    ``columns`` are numbers below ``n_columns``, ``offsets`` (n, C) are the scores by naive Bayes in nats, and
    ``labels`` (n,) are class numbers. All methods raise ValueError for arrays of wrong shapes.
    """

    def __init__(
        self, begins: np.ndarray, ends: np.ndarray, columns: np.ndarray, n_columns: int, offsets: np.ndarray,
        labels: np.ndarray,
    ) -> None:  # fmt: skip
        n, classes = len(begins), offsets.shape[-1]
        begins_pointer, ends_pointer = pointer("int64_t", begins), pointer("int64_t", ends, n)
        if (begins > ends).any() or begins.min(initial=0) < 0 or ends.max(initial=0) > len(columns):
            raise ValueError("the columns of a message are outside of the array")
        self.values = 1 / np.sqrt(np.maximum(ends - begins, 1))  # (n,) so that rows have length 1
        self.offsets, self.labels = np.ascontiguousarray(offsets), labels
        self._n_columns = n_columns
        self._fixed_fields = {
            "begins": begins_pointer, "ends": ends_pointer, "columns": numbers("int32_t", columns, n_columns),
            "values": pointer("double", self.values), "offsets": pointer("double", self.offsets, n, classes),
            "labels": numbers("int64_t", labels, classes, n), "row_size": classes - 1, "unit": UNIT,
        }  # fmt: skip

    def _fields(
        self, visits: np.ndarray, contributions: np.ndarray | None, weights: np.ndarray, **parameters: float
    ) -> dict[str, Any]:
        """Return the fields of the struct fit. The caller must keep them until the call ends."""
        n, classes = self.offsets.shape
        fields = {
            "visits": numbers("int64_t", visits, n), "n_visits": len(visits),
            "weights": pointer("int64_t", weights, self._n_columns, classes - 1, writable=True),
        }  # fmt: skip
        if contributions is not None:
            fields["contributions"] = pointer("int64_t", contributions, n, classes - 1, writable=True)
        return {**self._fixed_fields, **fields, **parameters}

    def ascend(
        self,
        visits: np.ndarray,
        noise: float,
        passes: int,
        contributions: np.ndarray,
        weights: np.ndarray,
        *,
        penalty: float,
        least: float,
        least_change: float = 0.0,
        most_change: float = math.inf,
    ) -> int:
        """Fit the messages ``visits`` (m,), ascending, in at most ``passes`` passes; return the number of passes.

        ``contributions`` (n, C - 1) and their sums by token, ``weights`` (V, C - 1), are changed in place. Both are
        int64, in UNIT, for all classes but the first. A coefficient below ``least`` nats becomes 0, and a message whose
        coefficients would change by less than ``least_change`` nats stays as it is. In one pass, they change by at most
        ``most_change`` nats.
        """
        parameters = {"noise": noise, "penalty": penalty, "least": least}
        parameters |= {"least_change": least_change, "most_change": most_change}
        fields = self._fields(visits, contributions, weights, **parameters)
        for number in range(1, passes + 1):
            largest_change = lib.fit_sweep(ffi.new("struct fit *", fields))
            if largest_change < 0:
                raise MemoryError
            if largest_change < TOLERANCE:
                return number
        return passes

    def take_out(self, messages: np.ndarray, contributions: np.ndarray, weights: np.ndarray) -> None:
        """Subtract the contributions of these messages (m,), ascending, from ``weights``, in place."""
        fields = self._fields(messages, contributions, weights)
        lib.fit_take_out(ffi.new("struct fit *", fields))

    def scores(self, messages: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the scores (m, C) of these messages (m,), ascending, by ``weights`` (V, C - 1) of other messages."""
        fields, scores = self._fields(messages, None, weights), np.empty((len(messages), self.offsets.shape[1]))
        if not lib.fit_scores(ffi.new("struct fit *", fields), pointer("double", scores, *scores.shape)):
            raise MemoryError
        return scores

    def largest_coefficients(self, contributions: np.ndarray) -> np.ndarray:
        """Return the largest coefficient (n,) of each message, in nats."""
        return np.abs(add_first_class(contributions)).max(axis=1) * UNIT / self.values


def add_first_class(units: np.ndarray) -> np.ndarray:
    """Return the units (k, C) of all classes, which sum to 0, from ``units`` (k, C - 1) of all but the first.

    >>> add_first_class(np.array([[2, -5]]))
    array([[ 3,  2, -5]])
    """
    return np.concatenate([-units.sum(axis=1, keepdims=True), units], axis=1)
