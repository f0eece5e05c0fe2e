"""Parameters as scikit-learn's tools expect them: what the constructor takes is read and set by name."""

from __future__ import annotations

import inspect
from typing import Any, Self

from spamnb.estimators.validation import not_fitted


class Parameters:
    """``get_params``, ``set_params`` and a repr, by the constructor's signature; no parameter is an estimator."""

    _fitted = "classes_"  # the attribute that only a fitted estimator has

    def _check_fitted(self) -> None:
        if not hasattr(self, self._fitted):
            raise not_fitted(self)

    @classmethod
    def _parameters(cls) -> dict[str, Any]:
        """Names and defaults of the constructor's parameters."""
        signature = inspect.signature(cls.__init__)
        return {name: p.default for name, p in list(signature.parameters.items())[1:]}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's parameters by name (``deep`` changes nothing: no parameter is an estimator).

        >>> import spamnb
        >>> spamnb.MultinomialNB(alpha=1).get_params()
        {'alpha': 1, 'binary': False, 'class_prior': None, 'fit_prior': True, 'prior_concentration': 1.0}
        """
        return {name: getattr(self, name) for name in sorted(self._parameters())}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; they act at the next fit. Raises ValueError for an unknown name.

        >>> import spamnb
        >>> spamnb.MultinomialNB().set_params(alpha=2)
        MultinomialNB(alpha=2)
        """
        known = self._parameters()
        for name in params:
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for {type(self).__name__}: it has {', '.join(sorted(known))}."
                )
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = [
            f"{name}={getattr(self, name)!r}"
            for name, default in self._parameters().items()
            if repr(getattr(self, name)) != repr(default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"
