"""Plain classes in place of scikit-learn's, which convert X and check that it is finite."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np


class NotFittedError(ValueError, AttributeError):
    """A model was used before it was fitted."""


class BaseEstimator:
    """An estimator whose parameters are the arguments of its constructor."""

    def __repr__(self) -> str:
        """Return the call of the constructor with the parameters that differ from their defaults."""
        parameters = inspect.signature(type(self)).parameters.values()
        values = [(each.name, repr(getattr(self, each.name)), repr(each.default)) for each in parameters]
        changed = [f"{name}={value}" for name, value, default in values if value != default]
        return f"{type(self).__name__}({', '.join(changed)})"


class ClassifierMixin:
    """A classifier."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy: the share of rows whose predicted class is the true class."""
        return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))  # type: ignore[attr-defined]


class TransformerMixin:
    """A transformer."""

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn from rows and transform them."""
        return self.fit(X, y).transform(X)  # type: ignore[attr-defined]


class ClassNamePrefixFeaturesOutMixin:
    """A transformer whose columns are numbered."""

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns that ``transform`` returns."""
        name = type(self).__name__.lower()
        return np.array([f"{name}{n}" for n in range(self._n_features_out)], dtype=object)  # type: ignore[attr-defined]


def column_or_1d(y: Any, *, warn: bool) -> Any:
    """Return a column as an array of one dimension."""
    return np.ravel(y)


def validate_data(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    accept_sparse: str | bool,
    ensure_all_finite: bool | str,
    ensure_non_negative: bool,
) -> Any:
    """Return X as an array or CSR array of finite numbers with the number of columns of ``fit``."""
    from scipy.sparse import csr_array, issparse

    model = type(estimator).__name__
    if issparse(X) and not accept_sparse:
        raise TypeError(f"Sparse data was passed to {model}, which needs dense data: use X.toarray().")
    X = csr_array(X) if issparse(X) else np.asarray(X)
    if X.dtype.kind not in "biuf":
        X = X.astype(float)
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"X has the shape {X.shape}: give rows and columns")
    values = X.data if issparse(X) else X
    if values.dtype.kind == "f":
        is_bad = np.isinf(values) if ensure_all_finite == "allow-nan" else ~np.isfinite(values)
        if is_bad.any():
            raise ValueError(f"Input X contains {'infinity' if np.isinf(values).any() else 'NaN'}.")
    if ensure_non_negative and values.min(initial=0) < 0:
        raise ValueError(f"Negative values in data passed to {model} (input X).")
    if reset:
        estimator.n_features_in_ = X.shape[1]
    elif X.shape[1] != estimator.n_features_in_:
        expected = f"{model} is expecting {estimator.n_features_in_} features as input"
        raise ValueError(f"X has {X.shape[1]} features, but {expected}.")
    return X
