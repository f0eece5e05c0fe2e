"""The loop of ``model/calibration.py``: a call of ``curve.c``."""

from __future__ import annotations

from typing import Any

import numpy as np

from spamnb.core.library import ffi, lib, pointer

BINS: int = lib.CURVE_BINS  # of a histogram


def fit_curve(
    counts: np.ndarray, imagined: np.ndarray, margins: np.ndarray, knee: float, max_log_odds: float,
    prior_noise: float, prior_messages: float, rounds: int,
) -> Any:  # fmt: skip
    """Fit one curve to ``counts`` (2, BINS) of scored messages and ``imagined`` (2, BINS) messages of the prior.

    The first row has the messages of the curve's class, the second row all others. Return the struct curve.
    """
    fields = {
        "counts": pointer("int64_t", counts, 2, BINS), "imagined": pointer("double", imagined, 2, BINS),
        "margins": pointer("double", margins, BINS), "knee": knee, "max_log_odds": max_log_odds,
        "prior_noise": prior_noise, "prior_messages": prior_messages, "rounds": rounds,
    }  # fmt: skip
    curve = ffi.new("struct curve *", fields)
    lib.curve_fit(curve)
    return curve
