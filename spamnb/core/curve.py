"""The loop of ``formulas/calibration.py``: a call of ``curve.c``, and checks of its arrays."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_double, c_size_t, c_void_p

import numpy as np

from spamnb.core.library import c_function, checked_array

BINS = 512  # CURVE_BINS of curve.h


class Curve(ctypes.Structure):
    """The struct curve of curve.h, with its results."""

    _fields_ = (
        *((name, c_void_p) for name in "counts imagined margins".split()),
        *((name, c_double) for name in "knee max_log_odds prior_noise prior_messages".split()),
        ("rounds", c_size_t),
        *((name, c_double) for name in "slope intercept wrong_own wrong_others".split()),
    )  # fmt: skip


_fit = c_function("curve_fit", None, POINTER(Curve))


def fit_curve(
    counts: np.ndarray, imagined: np.ndarray, margins: np.ndarray, knee: float, max_log_odds: float,
    prior_noise: float, prior_messages: float, rounds: int,
) -> Curve:  # fmt: skip
    """Fit one curve to ``counts`` (2, BINS) of scored messages and ``imagined`` (2, BINS) messages of the prior.

    The first row has the messages of the curve's class, the second row all others.
    """
    checked_array(counts, np.int64, 2, BINS)
    checked_array(imagined, np.float64, 2, BINS)
    checked_array(margins, np.float64, BINS)
    arrays = (array.ctypes.data for array in (counts, imagined, margins))
    curve = Curve(*arrays, knee, max_log_odds, prior_noise, prior_messages, rounds)
    _fit(byref(curve))
    return curve
