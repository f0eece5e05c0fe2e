"""All models inside scikit-learn: its own checks, its pipelines, searches, clone and pickle."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    estimator_checks_generator,
)

from spamnb.estimators.discrete import BernoulliNB, CategoricalNB, MultinomialNB
from spamnb.estimators.gaussian import GaussianNB, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from spamnb.estimators.logistic import LogisticRegression

DISCRETE = [
    MultinomialNB(),
    MultinomialNB(binary=True, class_prior="dirichlet"),
    BernoulliNB(),
    CategoricalNB(),
]
CONTINUOUS = [GaussianNB(), LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(), LogisticRegression()]
MODELS = [*DISCRETE, *CONTINUOUS]

TEXTS = [
    "cheap pills",
    "lunch at noon",
    "cheap cheap offer",
    "noon or later",
    "pills offer",
    "lunch later",
] * 4
CHOICES: dict[str, list[Any]] = {"alpha": [0.1, 1.0], "C": [0.1, 10], "class_prior": ["mle", "uniform"]}
LABELS = ["spam", "ham", "spam", "ham", "spam", "ham"] * 4


def checks() -> list[Any]:
    with warnings.catch_warnings():  # that ours do not inherit from scikit-learn's base class is the point
        warnings.simplefilter("ignore", UserWarning)
        every = [pair for model in MODELS for pair in estimator_checks_generator(model)]
    # It wants SCIPY_ARRAY_API set before scipy is imported, and skips itself without.
    return [(model, check) for model, check in every if name_of(check) != "check_array_api_input"]


def name_of(value: Any) -> str:
    """A name that is the same in every process, which str() of a partial is not: parallel test runs compare them."""
    return getattr(getattr(value, "func", value), "__name__", repr(value))


@pytest.mark.parametrize(("estimator", "check"), checks(), ids=name_of)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("model", DISCRETE, ids=repr)
def test_data_frames_keep_their_column_names(model: Any) -> None:
    pytest.importorskip("pandas")
    check_dataframe_column_names_consistency(type(model).__name__, model)


def dense(X: Any) -> np.ndarray:
    return X.toarray()


@pytest.mark.parametrize("model", [*DISCRETE[:-1], *CONTINUOUS], ids=repr)
def test_pipeline_with_count_vectorizer(model: Any) -> None:
    rows = FunctionTransformer(dense) if model in CONTINUOUS[:-1] else "passthrough"
    pipeline = make_pipeline(CountVectorizer(), rows, clone(model)).fit(TEXTS, LABELS)
    assert pipeline.predict(["cheap offer", "lunch"]).tolist() == ["spam", "ham"]
    assert pipeline.score(TEXTS, LABELS) == 1.0
    assert cross_val_score(pipeline, TEXTS, LABELS, cv=3).tolist() == [1.0, 1.0, 1.0]
    name, choice = next((name, choice) for name, choice in CHOICES.items() if name in model.get_params())
    parameter = f"{type(model).__name__.lower()}__{name}"
    search = GridSearchCV(pipeline, {parameter: choice}, cv=2, scoring="neg_log_loss").fit(TEXTS, LABELS)
    assert search.best_params_[parameter] in choice


def test_parameters() -> None:
    model = BernoulliNB(alpha=0.5, class_prior="map")
    assert repr(model) == "BernoulliNB(alpha=0.5, class_prior='map')"
    assert repr(MultinomialNB(alpha=np.ones(2))) == "MultinomialNB(alpha=array([1., 1.]))"
    assert model.set_params(binarize=2.0).get_params()["binarize"] == 2.0
    with pytest.raises(ValueError, match=r"Invalid parameter 'smoothing' for BernoulliNB: it has alpha, binar"):
        model.set_params(smoothing=1)
