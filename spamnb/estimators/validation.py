"""Checks of X, y, sample_weight and parameters, which raise one-line errors.

Several messages have scikit-learn's wording, because its conformance checks look for it.
"""

from __future__ import annotations

import sys
import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np

MAX_CATEGORIES = 2**31 - 1  # sums of such numbers fit 64 bits: past them np.bincount writes into foreign memory


class NotFittedError(ValueError, AttributeError):
    """A model was used before it was fitted."""


def _scikit_learns(name: str, default: type) -> Any:
    """Return scikit-learn's exception of that name if that library is loaded, because its tools catch no other."""
    return getattr(sys.modules.get("sklearn.exceptions"), name, default)


def not_fitted(estimator: Any) -> Exception:
    """Return the error for a model that was not fitted."""
    kind = _scikit_learns("NotFittedError", NotFittedError)
    return kind(f"This {type(estimator).__name__} instance is not fitted yet: call 'fit' first.")


def feature_names(X: Any) -> np.ndarray | None:
    """Return the column names of a data frame; None for anything else, and for names that are not all strings."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "shape"):
        return None
    names = np.asarray(columns, dtype=object)
    return names if len(names) and all(isinstance(name, str) for name in names) else None


def check_matrix(X: Any, estimator: Any) -> Any:
    """Return X as a finite numeric numpy array or CSR array of shape (n, V), both at least 1.

    The estimator says what it accepts. X is copied only if it must be. Category numbers become int64.
    """
    from scipy.sparse import csr_array, issparse

    model = type(estimator).__name__
    if issparse(X) and not estimator._sparse:
        raise TypeError(f"Sparse data was passed to {model}, which needs dense data: use X.toarray().")
    X = _numeric(X if issparse(X) else np.asarray(X))
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead. Reshape your data either using X.reshape(-1, 1) if it"
            " has one feature or X.reshape(1, -1) if it is one sample."
        )
    if issparse(X):
        X = csr_array(X)
        if not X.has_canonical_format:
            X = X.copy()  # the arrays are the caller's
            X.sum_duplicates()
    values = X.data if issparse(X) else X
    for number, what in zip(X.shape, ("sample(s)", "feature(s)")):
        if number < 1:
            raise ValueError(f"Found array with {number} {what} (shape={X.shape}) while a minimum of 1 is required.")
    _finite(values, "X")
    if estimator._nonnegative and values.min(initial=0) < 0:
        raise ValueError(f"Negative values in data passed to {model} (input X).")
    if estimator._integer and values.max(initial=0) > MAX_CATEGORIES:
        raise ValueError(
            f"Category numbers in data passed to {model} go up to {values.max():g}, and at most {MAX_CATEGORIES} is "
            "possible: number the categories of each column from 0 on."
        )
    if not estimator._integer:
        return X
    return (X.toarray() if issparse(X) else X).astype(np.int64, copy=False)


def is_missing(value: Any) -> bool:
    """Return whether that is None, NaN, NA or NaT, as pandas and numpy read an empty cell."""
    is_nan = isinstance(value, float) and value != value
    return is_nan or type(value).__name__ in ("NoneType", "NAType", "NaTType")


def check_labels(y: Any, model: str) -> np.ndarray:
    """Return y as a 1-d array of texts, whole numbers or truth values; ValueError for other labels."""
    if y is None:
        raise ValueError(f"{model} requires y to be passed, but the target y is None.")
    listed = isinstance(y, list | tuple)
    y = np.asarray(y, dtype=object if listed else None)  # numpy would make text of a number beside a text
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples,), for example using ravel().",
            _scikit_learns("DataConversionWarning", UserWarning),
            stacklevel=4,
        )
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    if y.dtype.kind == "O":
        for number, label in enumerate(y):
            if is_missing(label):
                raise ValueError(f"y[{number}] is {label}: leave out rows without a label")
        texts = sum(isinstance(label, str) for label in y)
        if 0 < texts < len(y):
            raise ValueError("Unknown label type: the labels in y must all be strings or all be numbers.")
        if texts and not listed:
            return y
        y = np.array(y.tolist())
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: y is complex.")
    if y.dtype.kind not in "biufUT":
        raise ValueError(f"Unknown label type: {y.dtype}. The labels in y are texts, whole numbers or truth values.")
    if y.dtype.kind == "f":
        _finite(y, "y")
        if (y != np.floor(y)).any():
            raise ValueError("Unknown label type: continuous. A classifier needs discrete classes in y.")
    return y


def check_weight(weight: Any, n: int) -> np.ndarray | None:
    """Return sample_weight as finite, non-negative float64 of shape (n,).

    None stays None, so that whole counts stay whole numbers.
    """
    if weight is None:
        return None
    weight = np.asarray(weight, dtype=float)
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.shape != (n,):
        expected = f"expected {(n,)}: Sample weights must be 1D array or scalar"
        raise ValueError(f"sample_weight.shape == {weight.shape}, {expected}")
    _finite(weight, "sample_weight")
    if weight.min() < 0:
        raise ValueError("Negative values in data passed as sample_weight.")
    if not weight.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weight


def check_number(estimator: Any, name: str, *, zero: bool = False, infinite: bool = False) -> None:
    """Raise ValueError for a parameter that is no finite number above 0; ``zero`` and ``infinite`` allow these."""
    value = getattr(estimator, name)
    number = float(value) if isinstance(value, Real) else np.nan
    if not (0 < number < np.inf or (zero and number == 0) or (infinite and number == np.inf)):
        wanted = f"{'a' if infinite else 'a finite'} number, {'at least' if zero else 'above'} 0"
        raise ValueError(f"{type(estimator).__name__}: {name} is {value!r:.60}: it must be {wanted}")


def check_whole(name: str, value: Any, least: int) -> None:
    """Raise ValueError for a number that is not whole, or below ``least``."""
    if not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} is {value!r:.60}: it must be a whole number, at least {least}")


def check_alpha(estimator: Any, n_features: int) -> np.ndarray:
    """Return the pseudo-counts as an array () or (V,); ValueError if one is no finite number, or below 0."""
    counts = np.asarray(estimator.alpha)
    is_number = counts.dtype.kind in "iuf" and bool(((counts >= 0) & (counts < np.inf)).all())
    if not is_number or counts.shape not in ((), (n_features,)):
        wanted = f"a finite number, at least 0, or {n_features} of them"
        raise ValueError(f"{type(estimator).__name__}: alpha is {estimator.alpha!r:.60}: it must be {wanted}")
    return counts.astype(float)


def check_lengths(X: Any, y: np.ndarray) -> None:
    """Raise ValueError if X has another number of rows than y."""
    if X.shape[0] != len(y):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[X.shape[0], len(y)]}")


def _numeric(X: Any) -> Any:
    """Return X as an array of numbers."""
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X is complex.")
    if X.dtype.kind == "b":
        return X.astype(np.int8)
    # An object array may hold numbers; this raises TypeError or ValueError for anything else.
    return X if X.dtype.kind in "iuf" else X.astype(float)


def _finite(values: np.ndarray, what: str) -> None:
    """Raise ValueError for NaN and infinite values."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        value = "NaN" if np.isnan(values).any() else f"infinity or a value too large for {values.dtype!r}"
        raise ValueError(f"Input {what} contains {value}.")
