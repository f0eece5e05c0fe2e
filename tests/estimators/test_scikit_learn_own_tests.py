"""scikit-learn's own test module for naive Bayes, read from the installed package and run on our classes.

Nothing of it is copied: the module is executed with our classes standing in under ``sklearn.naive_bayes``.
What it tests besides public behaviour, or behaviour that is deliberately different here, is left out by name.
"""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import pytest
import sklearn
from sklearn.naive_bayes import ComplementNB

from spamnb.estimators.discrete import BernoulliNB, CategoricalNB, MultinomialNB
from spamnb.estimators.gaussian import GaussianNB

EXCLUDED = {
    "test_alpha": "alpha = 0 is an error here, not a warning; there is no force_alpha",
    "test_alpha_vector": "passes force_alpha; vectors of alpha are tested in test_discrete.py",
    "test_check_alpha": "tests the private _check_alpha and force_alpha",
    "test_gnb_check_update_with_no_data": "tests the private GaussianNB._update_mean_variance",
    "test_gnb_array_api_compliance": "arrays other than numpy's are not supported",
}


class GaussianNBWithPriors(GaussianNB):
    """Ours under scikit-learn's name for the given class prior: ``priors`` for ``class_prior``."""

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9) -> None:
        super().__init__(var_smoothing=var_smoothing, class_prior=priors)
        self.priors = priors

    @property
    def class_prior_(self) -> np.ndarray:
        return np.exp(self.class_log_prior_)


def their_tests() -> dict[str, Any]:
    """The tests of sklearn/tests/test_naive_bayes.py, imported with our classes."""
    stand_in = ModuleType("sklearn.naive_bayes")
    for estimator in (BernoulliNB, CategoricalNB, MultinomialNB):
        setattr(stand_in, estimator.__name__, estimator)
    stand_in.GaussianNB = GaussianNBWithPriors  # type: ignore[attr-defined]
    stand_in.ComplementNB = ComplementNB  # type: ignore[attr-defined]  # scikit-learn's: we have none
    path = Path(sklearn.__file__).parent / "tests" / "test_naive_bayes.py"
    spec = importlib.util.spec_from_file_location("their_test_naive_bayes", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    with mock.patch.dict(sys.modules, {"sklearn.naive_bayes": stand_in}):
        spec.loader.exec_module(module)
    return {name: test for name, test in vars(module).items() if name.startswith("test_")}


THEIRS = their_tests()
globals().update({name: test for name, test in THEIRS.items() if name not in EXCLUDED})


@pytest.fixture(params=[42])
def global_random_seed(request: pytest.FixtureRequest) -> int:
    """scikit-learn's fixture, with its default seed."""
    return request.param


@pytest.fixture(params=[np.float64])
def global_dtype(request: pytest.FixtureRequest) -> Any:
    """scikit-learn's fixture, with its default."""
    return request.param


def test_exclusions_still_name_tests() -> None:
    assert set(THEIRS) > set(EXCLUDED)
    assert len(THEIRS) > 30
