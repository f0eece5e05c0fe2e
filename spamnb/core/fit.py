"""The loops of ``formulas/correction.py``: calls of ``fit.c``, which release the GIL, and checks of their arrays."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_bool, c_double, c_size_t, c_void_p
from typing import Any

import numpy as np

from spamnb.core.library import c_function, checked_array


class _Fit(ctypes.Structure):
    """The struct fit of fit.h."""

    _fields_ = (
        *((name, c_void_p) for name in "begins ends columns values offsets labels visits".split()),
        ("contributions", c_void_p), ("weights", c_void_p),
        ("n_visits", c_size_t), ("row_size", c_size_t),
        *((name, c_double) for name in "penalty noise unit least".split()),
    )  # fmt: skip


_sweep = c_function("fit_sweep", c_double, POINTER(_Fit), without_lock=True)
_take_out = c_function("fit_take_out", None, POINTER(_Fit), without_lock=True)
_scores = c_function("fit_scores", c_bool, POINTER(_Fit), c_void_p, without_lock=True)


class FitRows:
    """The columns of n messages. Message i has ``columns[begins[i]:ends[i]]``, each below ``n_columns``.

    The arguments of the methods are the arrays of the struct fit. All methods raise ValueError for arrays of wrong
    shapes.
    """

    def __init__(self, begins: np.ndarray, ends: np.ndarray, columns: np.ndarray, n_columns: int) -> None:
        checked_array(begins, np.int64)
        checked_array(ends, np.int64, len(begins))
        checked_array(columns, np.int32)
        if (begins > ends).any() or begins.min(initial=0) < 0 or ends.max(initial=0) > len(columns):
            raise ValueError("the columns of a message are outside of the array")
        _check_numbers(columns, n_columns)
        self._arrays, self._n_columns = (begins, ends, columns), n_columns

    def __len__(self) -> int:
        return len(self._arrays[0])

    def _fit(
        self, values: np.ndarray, offsets: np.ndarray, labels: np.ndarray, visits: np.ndarray,
        contributions: np.ndarray | None, weights: np.ndarray, *numbers: float,
    ) -> Any:  # fmt: skip
        """Return the arguments of a call. The caller must keep the arrays until the call ends."""
        n, classes = len(self), offsets.shape[-1]
        checked_array(values, np.float64, n)
        checked_array(offsets, np.float64, n, classes)
        checked_array(labels, np.int64, n)
        checked_array(visits, np.int64)
        if contributions is not None:
            checked_array(contributions, np.int64, n, classes - 1, writable=True)
        checked_array(weights, np.int64, self._n_columns, classes - 1, writable=True)
        _check_numbers(labels, classes)
        _check_numbers(visits, n)
        arrays = (*self._arrays, values, offsets, labels, visits, contributions, weights)
        pointers = [None if array is None else array.ctypes.data for array in arrays]
        return _Fit(*pointers, len(visits), classes - 1, *numbers)

    def sweep(self, *arrays: Any, penalty: float, noise: float, unit: float, least: float) -> float:
        """Fit the contribution of each visited message. Return the largest change of a coefficient, in nats."""
        change = _sweep(byref(self._fit(*arrays, penalty, noise, unit, least)))
        if change < 0:
            raise MemoryError
        return change

    def take_out(self, *arrays: Any) -> None:
        """Subtract the contributions of the visited messages from the weights."""
        _take_out(byref(self._fit(*arrays)))

    def scores(self, *arrays: Any, unit: float) -> np.ndarray:
        """Return the scores (m, C), in nats, of visited messages whose contributions are not in the weights."""
        values, offsets, labels, visits, weights = arrays
        scores = np.empty((len(visits), offsets.shape[-1]))
        fit = self._fit(values, offsets, labels, visits, None, weights, 0.0, 0.0, unit)
        if not _scores(byref(fit), scores.ctypes.data):
            raise MemoryError
        return scores


def _check_numbers(numbers: np.ndarray, bound: int) -> None:
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < bound:
        raise ValueError("the number of a label, a message or a column is out of bounds")
