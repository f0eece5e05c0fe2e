"""Checks of labels, weights and parameters. X is checked by ``interface.validate_data``.

Several error messages have the words that scikit-learn's conformance checks look for.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from spamnb.estimators.interface import column_or_1d


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NA or NaT, which stand for an empty cell in pandas and numpy."""
    is_nan = isinstance(value, float) and value != value
    return is_nan or type(value).__name__ in ("NoneType", "NAType", "NaTType")


def check_labels(y: Any, model: str) -> np.ndarray:
    """Return y as a 1-d array of texts, whole numbers or truth values. Raise ValueError for other labels."""
    if y is None:
        raise ValueError(f"{model} requires y to be passed, but the target y is None.")
    if isinstance(y, Iterable) and not hasattr(y, "__len__"):
        y = list(y)  # a generator
    is_list = isinstance(y, list | tuple)
    # As objects, because numpy turns a list of numbers and texts into texts.
    y = np.asarray(y, dtype=object if is_list else None)
    if y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    if y.dtype.kind == "O":
        for number, label in enumerate(y):
            if is_missing(label):
                raise ValueError(f"y[{number}] is {label}: leave out rows without a label")
        n_texts = sum(isinstance(label, str) for label in y)
        if 0 < n_texts < len(y):
            raise ValueError("Unknown label type: the labels in y must all be strings or all be numbers.")
        if n_texts and not is_list:
            return y
        y = np.array(y.tolist())
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: y is complex.")
    if y.dtype.kind not in "biufUT":
        raise ValueError(f"Unknown label type: {y.dtype}. The labels in y are texts, whole numbers or truth values.")
    if y.dtype.kind == "f":
        if not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity: leave out rows without a label.")
        if (y != np.floor(y)).any():
            raise ValueError("Unknown label type: continuous. A classifier needs discrete classes in y.")
    return y


def check_weight(weight: Any, n: int) -> np.ndarray | None:
    """Return sample_weight as float64 of shape (n,). Raise ValueError for wrong weights.

    None stays None, because weights of 1.0 would turn sums of whole numbers into floats.
    """
    if weight is None:
        return None
    weight = np.asarray(weight, dtype=float)
    if weight.shape not in ((), (n,)):
        expected = f"expected {(n,)}: Sample weights must be 1D array or scalar"
        raise ValueError(f"sample_weight.shape == {weight.shape}, {expected}")
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError("sample_weight contains NaN, infinity or a number below 0: give weights of 0 or more.")
    if not weight.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return np.full(n, weight)


def check_number(estimator: Any, name: str, *, zero: bool = False, infinite: bool = False) -> None:
    """Raise ValueError if a parameter is not a finite number above 0. ``zero`` allows 0, ``infinite`` infinity."""
    value = getattr(estimator, name)
    number = float(value) if isinstance(value, Real) else np.nan
    if not (0 < number < np.inf or (zero and number == 0) or (infinite and number == np.inf)):
        requirement = f"{'a' if infinite else 'a finite'} number, {'at least' if zero else 'above'} 0"
        raise ValueError(f"{type(estimator).__name__}: {name} is {value!r:.60}: it must be {requirement}")


def check_whole(name: str, value: Any, minimum: int) -> None:
    """Raise ValueError if a value is not a whole number, or below the minimum."""
    if not isinstance(value, Integral) or value < minimum:
        raise ValueError(f"{name} is {value!r:.60}: it must be a whole number, at least {minimum}")


def check_alpha(estimator: Any, n_features: int) -> np.ndarray:
    """Return the parameter ``alpha`` as an array () or (V,). Raise ValueError for a wrong ``alpha``."""
    alpha = np.asarray(estimator.alpha)
    is_allowed = alpha.dtype.kind in "iuf" and bool(((alpha >= 0) & (alpha < np.inf)).all())
    if not is_allowed or alpha.shape not in ((), (n_features,)):
        requirement = f"a finite number, at least 0, or {n_features} of them"
        raise ValueError(f"{type(estimator).__name__}: alpha is {estimator.alpha!r:.60}: it must be {requirement}")
    return alpha.astype(float)
