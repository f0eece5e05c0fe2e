"""Models for tests of the estimators, with and without scikit-learn."""

import copy
from typing import Any

import pytest

from spamnb.estimators.interface import has_scikit_learn

needs_scikit_learn = pytest.mark.skipif(not has_scikit_learn, reason="scikit-learn is hidden from spamnb")


def fresh(model: Any, **params: Any) -> Any:
    """Return a copy of an unfitted model with other parameters, as scikit-learn's clone and set_params do."""
    model = copy.deepcopy(model)
    for name, value in params.items():
        setattr(model, name, value)
    return model
