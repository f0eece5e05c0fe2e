"""What the estimators take from scikit-learn, or from plain.py where it is not installed.

With scikit-learn the estimators are its ``BaseEstimator``: parameters, tags, checks of X, displays in notebooks,
metadata routing, global configuration and data frames are its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from spamnb.estimators import plain

has_scikit_learn = True
if TYPE_CHECKING:  # scikit-learn has no types

    class BaseEstimator(plain.BaseEstimator):
        """An estimator with scikit-learn's methods."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...

        def set_params(self, **params: Any) -> Self: ...

        def __sklearn_tags__(self) -> Any: ...

    class TransformerMixin(plain.TransformerMixin):
        """A transformer with scikit-learn's methods."""

        def set_output(self, *, transform: str | None = None) -> Self: ...

    from spamnb.estimators.plain import (
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        NotFittedError,
        column_or_1d,
        validate_data,
    )
else:
    try:
        from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
        from sklearn.exceptions import NotFittedError
        from sklearn.utils.validation import column_or_1d, validate_data
    except ImportError:
        has_scikit_learn = False
        from spamnb.estimators.plain import (
            BaseEstimator,
            ClassifierMixin,
            ClassNamePrefixFeaturesOutMixin,
            NotFittedError,
            TransformerMixin,
            column_or_1d,
            validate_data,
        )

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "NotFittedError",
    "TransformerMixin",
    "column_or_1d",
    "has_scikit_learn",
    "validate_data",
]
