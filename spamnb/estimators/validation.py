"""Checks of X, y, sample_weight and parameters.

Several error messages have the words that scikit-learn's conformance checks look for.
"""

from __future__ import annotations

import sys
import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np

# The largest category number. The categories of all columns are numbered one after another, and with this bound numbers
# of 64 bits suffice for 2³² columns.
MAX_CATEGORY = 2**31 - 1


class NotFittedError(ValueError, AttributeError):
    """A model was used before it was fitted."""


def _scikit_learn_exception(name: str, default: type) -> Any:
    """Return scikit-learn's exception of this name, or ``default`` if scikit-learn is not loaded."""
    return getattr(sys.modules.get("sklearn.exceptions"), name, default)


def not_fitted(estimator: Any) -> Exception:
    """Return the error for a model that was not fitted."""
    error_type = _scikit_learn_exception("NotFittedError", NotFittedError)
    return error_type(f"This {type(estimator).__name__} instance is not fitted yet: call 'fit' first.")


def feature_names(X: Any) -> np.ndarray | None:
    """Return the column names of a data frame if all are strings. Return None otherwise, and for other types of X."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "shape"):
        return None
    names = np.asarray(columns, dtype=object)
    return names if len(names) and all(isinstance(name, str) for name in names) else None


def check_matrix(X: Any, estimator: Any) -> Any:
    """Return X (n, V) as a numpy array or CSR array of finite numbers, with at least one row and one column.

    X is copied only if necessary. Category numbers become int64. Raise ValueError or TypeError if the estimator does
    not accept X.
    """
    from scipy.sparse import csr_array, issparse

    model = type(estimator).__name__
    if issparse(X) and not estimator._is_sparse_allowed:
        raise TypeError(f"Sparse data was passed to {model}, which needs dense data: use X.toarray().")
    X = _to_numbers(X if issparse(X) else np.asarray(X))
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead. Reshape your data either using X.reshape(-1, 1) if it"
            " has one feature or X.reshape(1, -1) if it is one sample."
        )
    if issparse(X):
        X = csr_array(X)
        if not X.has_canonical_format:
            X = X.copy()  # because sum_duplicates changes the arrays, which belong to the caller
            X.sum_duplicates()
    values = X.data if issparse(X) else X
    for length, unit in zip(X.shape, ("sample(s)", "feature(s)")):
        if length < 1:
            raise ValueError(f"Found array with {length} {unit} (shape={X.shape}) while a minimum of 1 is required.")
    _check_finite(values, "X")
    if estimator._needs_nonnegative and values.min(initial=0) < 0:
        raise ValueError(f"Negative values in data passed to {model} (input X).")
    if estimator._is_categorical and values.max(initial=0) > MAX_CATEGORY:
        raise ValueError(
            f"Category numbers in data passed to {model} are at most {MAX_CATEGORY}, but X has {values.max()}: "
            "number the categories of each column from 0 on."
        )
    if not estimator._is_categorical:
        return X
    return (X.toarray() if issparse(X) else X).astype(np.int64, copy=False)


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NA or NaT, which stand for an empty cell in pandas and numpy."""
    is_nan = isinstance(value, float) and value != value
    return is_nan or type(value).__name__ in ("NoneType", "NAType", "NaTType")


def check_labels(y: Any, model: str) -> np.ndarray:
    """Return y as a 1-d array of texts, whole numbers or truth values. Raise ValueError for other labels."""
    if y is None:
        raise ValueError(f"{model} requires y to be passed, but the target y is None.")
    is_list = isinstance(y, list | tuple)
    # As objects, because numpy turns a list of numbers and texts into texts.
    y = np.asarray(y, dtype=object if is_list else None)
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples,), for example using ravel().",
            _scikit_learn_exception("DataConversionWarning", UserWarning),
            stacklevel=4,
        )
        y = y.ravel()
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
        _check_finite(y, "y")
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
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.shape != (n,):
        expected = f"expected {(n,)}: Sample weights must be 1D array or scalar"
        raise ValueError(f"sample_weight.shape == {weight.shape}, {expected}")
    _check_finite(weight, "sample_weight")
    if weight.min() < 0:
        raise ValueError("Negative values in data passed as sample_weight.")
    if not weight.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weight


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


def check_lengths(X: Any, y: np.ndarray) -> None:
    """Raise ValueError if X has another number of rows than y."""
    if X.shape[0] != len(y):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[X.shape[0], len(y)]}")


def _to_numbers(X: Any) -> Any:
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X is complex.")
    if X.dtype.kind == "b":
        return X.astype(np.int8)
    # An array of objects may contain numbers. For other objects ``astype`` raises TypeError or ValueError.
    return X if X.dtype.kind in "iuf" else X.astype(float)


def _check_finite(values: np.ndarray, name: str) -> None:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        value = "NaN" if np.isnan(values).any() else f"infinity or a value too large for {values.dtype!r}"
        raise ValueError(f"Input {name} contains {value}.")
