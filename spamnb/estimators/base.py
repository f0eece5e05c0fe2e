"""What all models share: input checks and predictions. ``class_scores`` is the one hook.

The interface is scikit-learn's, which is not imported: only ``__sklearn_tags__``, that scikit-learn alone calls, does
so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from spamnb.estimators.parameters import Parameters
from spamnb.estimators.validation import (
    check_feature_names,
    check_labels,
    check_lengths,
    check_matrix,
    check_weight,
    feature_names,
    not_fitted,
)


def over_classes(operation: np.ufunc, joint: np.ndarray) -> np.ndarray:
    """``operation`` reduced over the classes of every row of ``joint`` (n, C), (n, 1).

    It goes column by column, because numpy is slow to reduce along so short an axis: 1.1 ms for 20,000 rows of 2
    classes, where this takes 0.4 ms. At 50 classes both take the same."""
    result = joint[:, 0].copy()
    for column in joint.T[1:]:
        operation(result, column, out=result)
    return result[:, None]


class BaseClassifier(Parameters):
    """Input checks and predictions of every model; ``class_scores`` is the one hook."""

    _sparse = True  # whether sparse X is accepted
    _nonnegative = False  # whether X must not be negative
    _integer = False  # whether the values of X are category numbers
    _poor_score = False  # scikit-learn's tag: no good on its toy regressions of real numbers

    classes_: np.ndarray
    n_features_in_: int

    # input --------------------------------------------------------------------------------------------
    def _check_X(self, X: Any) -> Any:
        """X as a numpy array or CSR array that fits this fitted model; ValueError or TypeError otherwise."""
        if not hasattr(self, "classes_"):
            raise not_fitted(self)
        model = type(self).__name__
        check_feature_names(getattr(self, "feature_names_in_", None), X, model)
        X = check_matrix(X, model, sparse=self._sparse, nonnegative=self._nonnegative, integer=self._integer)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {model} is expecting {self.n_features_in_} features "
                "as input."
            )
        return X

    def _check_training(
        self, X: Any, y: Any, sample_weight: Any, *, first: bool
    ) -> tuple[Any, np.ndarray, np.ndarray | None, np.ndarray | None]:
        """(X, labels, weight or None, feature names or None), checked; ``first``: X defines the features."""
        model = type(self).__name__
        names = feature_names(X)
        if y is None:
            check_labels(y, model)
        if first:
            X = check_matrix(
                X, model, sparse=self._sparse, nonnegative=self._nonnegative, integer=self._integer
            )
        else:
            X = self._check_X(X)
        y = check_labels(y, model)
        check_lengths(X, y)
        return X, y, check_weight(sample_weight, X.shape[0]), names

    def _codes(self, y: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """The index in ``classes`` (sorted) of every label; ValueError names labels that are not there."""
        unknown = np.setdiff1d(y, classes)
        if len(unknown):
            raise ValueError(
                f"The target label(s) {unknown} in y do not exist in the initial classes {classes}"
            )
        return np.searchsorted(classes, y)

    def _remember(self, classes: np.ndarray, n_features: int, names: np.ndarray | None) -> None:
        """Set what a first fit fixes: classes_, n_features_in_ and, for a data frame, feature_names_in_."""
        self.classes_ = classes
        self.n_features_in_ = n_features
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    # predictions --------------------------------------------------------------------------------------
    def class_scores(self, X: Any) -> np.ndarray:
        """log P(c) + log P(x|c), but for a term that is the same in every class of a row: (n, C), nats, columns as in
        ``classes_``.

        The one hook of the predictions, for numeric X (n, V) of this model's columns, which is not checked.

        >>> import numpy as np, spamnb
        >>> X = np.array([[2, 0, 1], [1, 1, 0], [0, 3, 0]])
        >>> model = spamnb.MultinomialNB(alpha=1).fit(X, ["ham", "ham", "spam"])
        >>> model.class_scores(X).round(3)
        array([[-3.178, -6.474],
               [-2.485, -3.296],
               [-4.564, -2.315]])
        """
        raise NotImplementedError

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of every row, (n,).

        >>> import spamnb
        >>> X, y = [[2, 0, 1], [1, 1, 0], [0, 3, 0]], ["ham", "ham", "spam"]
        >>> model = spamnb.MultinomialNB(alpha=1).fit(X, y)
        >>> model.predict([[0, 1, 0]]).tolist()
        ['spam']
        """
        joint = self.class_scores(self._check_X(X))
        # For two classes the comparison is 20 times as fast as argmax, a quarter of LDA's prediction.
        best = (joint[:, 1] > joint[:, 0]).view(np.int8) if joint.shape[1] == 2 else joint.argmax(axis=1)
        return self.classes_[best]

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """log P(c|x) in nats, (n, C), columns as in ``classes_``.

        >>> import spamnb
        >>> X, y = [[2, 0, 1], [1, 1, 0], [0, 3, 0]], ["ham", "ham", "spam"]
        >>> model = spamnb.MultinomialNB(alpha=1).fit(X, y)
        >>> model.predict_log_proba([[0, 1, 0]]).round(3)
        array([[-0.847, -0.56 ]])
        """
        joint = self.class_scores(self._check_X(X))
        joint = joint - over_classes(np.maximum, joint)
        joint -= np.log(over_classes(np.add, np.exp(joint)))
        return joint

    def predict_proba(self, X: Any) -> np.ndarray:
        """P(c|x), (n, C), columns as in ``classes_``.

        >>> import spamnb
        >>> X, y = [[2, 0, 1], [1, 1, 0], [0, 3, 0]], ["ham", "ham", "spam"]
        >>> model = spamnb.MultinomialNB(alpha=1).fit(X, y)
        >>> model.predict_proba([[0, 1, 0]]).round(3)
        array([[0.429, 0.571]])
        """
        joint = self.class_scores(self._check_X(X))
        probability = np.exp(joint - over_classes(np.maximum, joint))
        probability /= over_classes(np.add, probability)
        return probability

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Share of rows whose predicted class is ``y``, weighted by ``sample_weight``.

        >>> import spamnb
        >>> X, y = [[2, 0, 1], [1, 1, 0], [0, 3, 0]], ["ham", "ham", "spam"]
        >>> model = spamnb.MultinomialNB(alpha=1).fit(X, y)
        >>> model.score(X, y)
        1.0
        """
        predicted, truth = self.predict(X), np.asarray(y)
        check_lengths(predicted, truth)
        return float(np.average(predicted == truth, weights=check_weight(sample_weight, len(truth))))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(poor_score=self._poor_score),
            input_tags=InputTags(
                sparse=self._sparse, positive_only=self._nonnegative, categorical=self._integer
            ),
        )
