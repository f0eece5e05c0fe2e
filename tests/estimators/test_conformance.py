"""All models inside scikit-learn: its own checks."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

from spamnb.estimators.discrete import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB
from spamnb.estimators.gaussian import GaussianNB, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from spamnb.estimators.logistic import LogisticRegression

MODELS = [
    MultinomialNB(),
    MultinomialNB(binary=True, class_prior="dirichlet"),
    BernoulliNB(),
    ComplementNB(),
    CategoricalNB(),
    GaussianNB(),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    LogisticRegression(),
]


def checks() -> list[Any]:
    with warnings.catch_warnings():  # that ours do not inherit from scikit-learn's base class is the point
        warnings.simplefilter("ignore", UserWarning)
        every = [pair for model in MODELS for pair in estimator_checks_generator(model)]
    # It wants SCIPY_ARRAY_API set before scipy is imported, and skips itself without.
    return [(model, check) for model, check in every if name_of(check) != "check_array_api_input"]


def name_of(value: Any) -> str:
    """Return a name that is the same in every process, as str() of a partial is not: parallel runs compare names."""
    return getattr(getattr(value, "func", value), "__name__", repr(value))


@pytest.mark.parametrize(("estimator", "check"), checks(), ids=name_of)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_columns_of_a_data_frame_in_another_order_are_refused(model: Any) -> None:
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"a": [0, 1, 2, 3], "b": [1, 0, 2, 2]})
    fitted = clone(model).fit(X, [0, 0, 1, 1])
    assert fitted.feature_names_in_.tolist() == ["a", "b"]
    assert fitted.predict(X).tolist() == fitted.predict(X.to_numpy()).tolist()
    with pytest.raises(ValueError, match="feature names should match those that were passed during fit"):
        fitted.predict(X[["b", "a"]])
    assert not hasattr(fitted.fit(X.to_numpy(), [0, 0, 1, 1]), "feature_names_in_")


def test_parameters() -> None:
    model = BernoulliNB(alpha=0.5, class_prior="map")
    assert repr(model) == "BernoulliNB(alpha=0.5, class_prior='map')"
    assert repr(MultinomialNB(alpha=np.ones(2))) == "MultinomialNB(alpha=array([1., 1.]))"
    assert model.set_params(binarize=2.0).get_params()["binarize"] == 2.0
    with pytest.raises(ValueError, match="Invalid parameter 'smoothing' for estimator BernoulliNB"):
        model.set_params(smoothing=1)
