"""The base classes of the estimators: parameters, input checks, predictions, and learning by sums.

The interface is scikit-learn's. Parameters, attributes and methods that several estimators share are documented here.
Only ``__sklearn_tags__``, which scikit-learn alone calls, imports scikit-learn.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from spamnb.estimators.validation import (
    check_labels,
    check_lengths,
    check_matrix,
    check_weight,
    check_whole,
    feature_names,
    not_fitted,
)
from spamnb.formulas.decision import UNSURE, least_loss
from spamnb.formulas.priors import class_log_prior
from spamnb.formulas.softmax import log_softmax, softmax


class Parameters:
    """The base of all estimators: their parameters are the parameters of the constructor."""

    _fitted_attribute = "classes_"  # only a fitted estimator has it
    _poor_score = False  # scikit-learn's tag: True if the model needs counts or categories, not real numbers

    def _check_fitted(self) -> None:
        if not hasattr(self, self._fitted_attribute):
            raise not_fitted(self)

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        """Return the defaults of the constructor's parameters by name."""
        return {name: parameter.default for name, parameter in inspect.signature(cls).parameters.items()}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Ignored, because no parameter is an estimator.

        Returns
        -------
        dict
            Values of the constructor's parameters by name.

        Examples
        --------
        >>> import spamnb
        >>> spamnb.MultinomialNB(alpha=1).get_params()
        {'alpha': 1, 'binary': False, 'class_prior': None, 'fit_prior': True, 'prior_concentration': 1.0}
        """
        return {name: getattr(self, name) for name in sorted(self._defaults())}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name. The next fit uses them.

        Parameters
        ----------
        **params : dict
            New values by name.

        Returns
        -------
        Self
            The estimator.

        Raises
        ------
        ValueError
            If the estimator has no parameter with one of these names.

        Examples
        --------
        >>> import spamnb
        >>> spamnb.MultinomialNB().set_params(alpha=2)
        MultinomialNB(alpha=2)
        """
        names = sorted(self._defaults())
        for name in params:
            if name not in names:
                raise ValueError(f"Invalid parameter {name!r} for {type(self).__name__}: it has {', '.join(names)}.")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        """Return the call of the constructor with the parameters that differ from their defaults."""
        changed = [
            f"{name}={getattr(self, name)!r}"
            for name, default in self._defaults().items()
            if repr(getattr(self, name)) != repr(default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _input_tags(self) -> dict[str, bool]:
        """Return the arguments of scikit-learn's ``InputTags``."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        """Return the estimator's tags, which scikit-learn's tools read."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags, TransformerTags

        is_classifier = isinstance(self, ClassifierMixin)
        return Tags(
            estimator_type="classifier" if is_classifier else None,
            target_tags=TargetTags(required=is_classifier),
            classifier_tags=ClassifierTags(poor_score=self._poor_score) if is_classifier else None,
            transformer_tags=TransformerTags() if hasattr(self, "transform") else None,
            input_tags=InputTags(**self._input_tags()),
        )


class Transformer(Parameters):
    """A transformer that returns arrays, or data frames of pandas."""

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn from samples and transform them: ``fit``, then ``transform``.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or list of messages
            Training samples.
        y : array of shape (n_samples,), default=None
            Their classes. A transformer that needs no classes ignores them.

        Returns
        -------
        array, sparse array or data frame
            Transformed samples, as ``transform`` returns them.
        """
        return self.fit(X, y).transform(X)  # type: ignore[attr-defined]

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what ``transform`` and ``fit_transform`` return.

        Parameters
        ----------
        transform : str, default=None
            "default" for arrays, "pandas" for data frames. None changes nothing.

        Returns
        -------
        Self
            The transformer.

        Raises
        ------
        ValueError
            If ``transform`` has another value.
        """
        if transform not in (None, "default", "pandas"):
            raise ValueError(f"{type(self).__name__}: transform is {transform!r:.60}: give 'default' or 'pandas'")
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}  # scikit-learn's clone copies this attribute
        return self

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return the names of the columns that ``transform`` returns.

        Parameters
        ----------
        input_features : object, default=None
            Ignored.

        Returns
        -------
        array of shape (n_columns,)
            Names of the columns.
        """
        raise NotImplementedError

    def _format_output(self, rows: Any, X: Any) -> Any:
        """Return the rows that X was transformed to. After ``set_output(transform="pandas")`` they are a data frame."""
        if getattr(self, "_sklearn_output_config", {}).get("transform") != "pandas":
            return rows
        from pandas import DataFrame

        frame = DataFrame if isinstance(rows, np.ndarray) else DataFrame.sparse.from_spmatrix
        return frame(rows, index=X.index if hasattr(X, "iloc") else None, columns=self.get_feature_names_out())


class ClassifierMixin(Parameters):
    """A classifier of rows of numbers or of messages."""

    classes_: np.ndarray  # (C,) ascending

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of every sample.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features), or list of messages
            Samples to classify.

        Returns
        -------
        array of shape (n_samples,)
            Classes.
        """
        raise NotImplementedError

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return P(c|x) of every sample and class.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features), or list of messages
            Samples to classify.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Probabilities, columns as in ``classes_``.
        """
        raise NotImplementedError

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return log P(c|x) of every sample and class.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features), or list of messages
            Samples to classify.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Log-probabilities in nats, columns as in ``classes_``; −∞ for a probability of 0.
        """
        raise NotImplementedError

    def decide(self, X: Any, loss: ArrayLike, actions: ArrayLike | None = None) -> np.ndarray:
        """Return the action a of least expected loss Σ_c P(c|x) L(a, c) for every sample.

        Under 0-1 loss this is the likeliest class.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features), or list of messages
            Samples to decide on.
        loss : array of shape (n_actions, n_classes)
            Cost of each action if the class is ``classes_[c]``.
        actions : array of shape (n_actions,), default=None
            Names of the actions. None means the classes, and "unsure" for a further row of ``loss``.

        Returns
        -------
        array of shape (n_samples,)
            Names of the actions.

        Raises
        ------
        ValueError
            If ``loss`` has another shape, or if it contains NaN or infinity.

        Examples
        --------
        >>> import spamnb
        >>> animals = ["pug", "pug", "poodle", "poodle", "elephant", "elephant"]
        >>> model = spamnb.GaussianNB().fit([[3.0], [5.0], [6.0], [8.0], [40.0], [90.0]], animals)
        >>> loss = [[0, 20, 20],  # costs of "elephant" for an elephant, a poodle and a pug
        ...         [20, 0, 1],  # "poodle"
        ...         [20, 1, 0],  # "pug"
        ...         [0.3, 0.3, 0.3]]  # "unsure"
        >>> model.decide([[3.5], [5.5], [60]], loss)
        array(['pug', 'unsure', 'elephant'], dtype=object)
        """
        probabilities, table = self.predict_proba(X), np.asarray(loss, dtype=float)
        names = [*self.classes_.tolist(), UNSURE] if actions is None else np.asarray(actions).tolist()
        row_counts = [len(names)] if actions is not None else [len(names) - 1, len(names)]
        if table.ndim != 2 or table.shape[0] not in row_counts or table.shape[1] != len(self.classes_):
            rows = " or ".join(map(str, row_counts))
            raise ValueError(f"loss has the shape {table.shape}: give {rows} rows of {len(self.classes_)} columns")
        if not np.isfinite(table).all():
            raise ValueError("loss must hold finite numbers")
        return np.array(names, dtype=object)[least_loss(probabilities, table)]

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy: the share of samples whose predicted class is the true class.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features), or list of messages
            Samples to classify.
        y : array of shape (n_samples,)
            True classes.
        sample_weight : array of shape (n_samples,), default=None
            Weight of each sample. None gives all samples the same weight.

        Returns
        -------
        float
            Accuracy, from 0 to 1.
        """
        predicted, truth = self.predict(X), np.asarray(y)
        check_lengths(predicted, truth)
        return float(np.average(predicted == truth, weights=check_weight(sample_weight, len(truth))))


class BaseClassifier(ClassifierMixin):
    """A classifier of rows of numbers. A subclass defines ``fit``, ``partial_fit`` and ``_scores``.

    Examples
    --------
    >>> import spamnb
    >>> model = spamnb.MultinomialNB().fit([[2, 0], [1, 0], [0, 3]], ["ham", "ham", "spam"])
    >>> model.predict([[0, 1]]).tolist(), model.score([[1, 0], [0, 1]], ["ham", "spam"])
    (['spam'], 1.0)
    >>> model.predict_joint_log_proba([[0, 1]]).round(3), model.predict_log_proba([[0, 1]]).round(3)
    (array([[-2.015, -1.322]]), array([[-1.099, -0.405]]))
    >>> model.predict_proba([[0, 1]]).round(3)
    array([[0.333, 0.667]])
    """

    _is_sparse_allowed = True
    _needs_nonnegative = False  # whether negative values in X raise ValueError
    _is_categorical = False  # whether the values of X are category numbers

    n_features_in_: int
    class_log_prior_: np.ndarray  # only models with class priors have it

    def _input_tags(self) -> dict[str, bool]:
        return {
            "sparse": self._is_sparse_allowed,
            "positive_only": self._needs_nonnegative,
            "categorical": self._is_categorical,
        }

    # input --------------------------------------------------------------------------------------------
    def _check_X(self, X: Any) -> Any:
        """Return X as a numpy array or CSR array. Raise an error if its columns differ from the training columns."""
        self._check_fitted()
        names, expected = feature_names(X), getattr(self, "feature_names_in_", None)
        if names is not None and expected is not None and not np.array_equal(names, expected):
            raise ValueError(f"The feature names should match those of fit, which were {expected.tolist()!r:.200}")
        X, model = check_matrix(X, self), type(self).__name__
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {model} is expecting {self.n_features_in_} features as input."
            )
        return X

    def _check_training(
        self, X: Any, y: Any, sample_weight: Any, *, first: bool
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Return (X, labels, weights or None) after checks. If ``first``, any number of columns is right."""
        model = type(self).__name__
        y = check_labels(y, model)
        X = check_matrix(X, self) if first else self._check_X(X)
        check_lengths(X, y)
        return X, y, check_weight(sample_weight, X.shape[0])

    def _first_classes(self, classes: ArrayLike | None) -> np.ndarray | None:
        """Return the argument ``classes`` of the first ``partial_fit``, ascending. Return None in later calls."""
        if not hasattr(self, "classes_"):
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            return np.unique(np.asarray(classes))
        if classes is not None and not np.array_equal(np.sort(np.asarray(classes)), self.classes_):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}"
            )
        return None

    def _set_shape(self, classes: np.ndarray, n_features: int, names: np.ndarray | None) -> None:
        """Set ``classes_``, ``n_features_in_`` and, unless ``names`` is None, ``feature_names_in_``."""
        self.classes_ = classes
        self.n_features_in_ = n_features
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    # predictions --------------------------------------------------------------------------------------
    def class_scores(self, X: Any) -> np.ndarray:
        """Return log P(c) + log P(x|c) of every row and class, up to a term that is the same for all classes of a row.

        The predictions are computed from these scores.

        Parameters
        ----------
        X : array or CSR array of shape (n_samples, n_features)
            Rows to classify, which are not checked.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Scores in nats, columns as in ``classes_``.

        Examples
        --------
        >>> import numpy as np, spamnb
        >>> model = spamnb.MultinomialNB().fit([[2, 0], [1, 0], [0, 3]], ["ham", "ham", "spam"])
        >>> model.class_scores(np.array([[0, 1]])).round(3)
        array([[-2.015, -1.322]])
        """
        return self._scores(X)

    def _scores(self, X: Any) -> np.ndarray:
        raise NotImplementedError

    # learning -----------------------------------------------------------------------------------------
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from these rows alone. All rows that were learned before are forgotten.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,)
            Their classes.
        sample_weight : array of shape (n_samples,), default=None
            Weight of each row. None is a weight of 1 for each.

        Returns
        -------
        Self
            The fitted model.

        Raises
        ------
        ValueError
            If a parameter is wrong, if X has missing or infinite values, or if the model cannot be fitted to X.
        TypeError
            If X is sparse and the model needs dense rows.
        """
        raise NotImplementedError

    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from more rows.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            More training rows.
        y : array of shape (n_samples,)
            Their classes.
        classes : array of shape (n_classes,), default=None
            The classes of this call and of all later calls. The first call needs them.
        sample_weight : array of shape (n_samples,), default=None
            Weight of each row. None is a weight of 1 for each.

        Returns
        -------
        Self
            The updated model.

        Raises
        ------
        ValueError
            If X cannot be learned, if ``classes`` is missing in the first call, or if it differs in a later call.
        """
        raise NotImplementedError

    def predict(self, X: Any) -> np.ndarray:
        best = self._scores(self._check_X(X)).argmax(axis=1)
        return self.classes_[best]

    def predict_log_proba(self, X: Any) -> np.ndarray:
        return log_softmax(self._scores(self._check_X(X)))

    def predict_proba(self, X: Any) -> np.ndarray:
        return softmax(self._scores(self._check_X(X)))


class DecisionFunction(BaseClassifier):
    """A classifier of rows of real numbers that also has ``decision_function``."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log-odds of ``classes_[1]``. For three classes or more, return the score of every class.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            Log-odds or scores, in nats.

        Examples
        --------
        >>> import spamnb
        >>> model = spamnb.LinearDiscriminantAnalysis().fit([[1.0], [2.0], [7.0], [9.0]], ["low"] * 2 + ["high"] * 2)
        >>> (model.decision_function([[1.5], [8.0]]) > 0).tolist()
        [True, False]
        """
        scores = self._scores(self._check_X(X))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


@dataclass(eq=False, repr=False, kw_only=True)
class SumClassifier(BaseClassifier):
    """A classifier that is fitted to sums over the training rows.

    Learning adds to the sums, and forgetting subtracts from them. A subclass defines ``_sums``, ``_derive``, ``_draw``
    and ``_scores``.

    Parameters
    ----------
    fit_prior : bool, default=True
        Whether ``class_prior=None`` means "mle" and not "uniform".
    class_prior : str or array of shape (n_classes,), default=None
        "mle" is the share N_c/N of the training rows; "dirichlet" is the mean and "map" the mode of the posterior under
        a Dirichlet prior; "uniform" is 1/n_classes. An array contains the probabilities of the classes.
    prior_concentration : float or array of shape (n_classes,), default=1.0
        The Dirichlet's parameter a of "dirichlet" and "map".

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Classes, ascending.
    class_log_prior_ : array of shape (n_classes,)
        log P(c), in nats.
    sums_ : ClassSums or Scatter
        Sums of the training rows.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns, if X was a data frame.

    Examples
    --------
    >>> import spamnb
    >>> model = spamnb.MultinomialNB().partial_fit([[2, 0], [1, 0]], ["ham", "ham"], classes=["ham", "spam"])
    >>> model.partial_fit([[0, 3]], ["spam"]).forget([[1, 0]], ["ham"]).class_count_.tolist()
    [1, 1]
    """

    fit_prior: bool = True
    class_prior: str | ArrayLike | None = None
    prior_concentration: float | ArrayLike = 1.0

    def _sums(self, X: Any, codes: np.ndarray, n_classes: int, weight: np.ndarray | None, previous: Any) -> Any:
        """Return the sums of the rows X (n, V), whose class numbers are ``codes`` (n,).

        The sums have ``documents`` (C,), ``n_features``, + and −. ``previous`` is ``sums_``, or None in a new fit.
        """
        raise NotImplementedError

    def _derive(self, sums: Any) -> None:
        """Set the attributes that are functions of ``sums``, or raise an error before any attribute is set."""
        raise NotImplementedError

    def _class_log_prior(self, documents: np.ndarray) -> np.ndarray:
        prior = self.class_prior
        if prior is None:
            prior = "mle" if self.fit_prior else "uniform"
        return class_log_prior(documents, prior, self.prior_concentration)

    @property
    def class_count_(self) -> np.ndarray:
        """Number of training rows of each class, or the sum of their weights: array of shape (n_classes,)."""
        return self.sums_.documents

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        return self._fit_first(X, y, None, sample_weight)

    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        if (first_classes := self._first_classes(classes)) is not None:
            return self._fit_first(X, y, first_classes, sample_weight)
        return self._set_sums(self.sums_ + self._more_sums(X, y, sample_weight))

    def _fit_first(self, X: Any, y: Any, classes: np.ndarray | None, sample_weight: Any) -> Self:
        """Learn from these rows alone. ``classes`` are ascending; None means the classes that occur in y."""
        names = feature_names(X)
        X, y, weight = self._check_training(X, y, sample_weight, first=True)
        classes = np.unique(y) if classes is None else classes
        self._set_sums(self._sums(X, class_codes(y, classes), len(classes), weight, None))
        self._set_shape(classes, X.shape[1], names)
        return self

    def _more_sums(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Return the sums of rows that are to be added to ``sums_`` or subtracted from them."""
        X, y, weight = self._check_training(X, y, sample_weight, first=False)
        return self._sums(X, class_codes(y, self.classes_), len(self.classes_), weight, self.sums_)

    def _set_sums(self, sums: Any) -> Self:
        self._derive(sums)
        self.sums_ = sums
        return self

    def fit_sums(self, sums: Any, classes: ArrayLike) -> Self:
        """Learn from the sums of training rows instead of the rows.

        So a model can be restored from ``sums_``, and models of the same classes can be added.

        Parameters
        ----------
        sums : ClassSums or Scatter
            The ``sums_`` of a model of this type, or a sum of several.
        classes : array of shape (n_classes,)
            The classes of the sums, ascending.

        Returns
        -------
        Self
            The fitted model.

        Raises
        ------
        ValueError
            If the sums have another number of classes, or the classes are not ascending.

        Examples
        --------
        >>> import spamnb
        >>> a = spamnb.MultinomialNB().fit([[2, 0], [0, 1]], ["ham", "spam"])
        >>> b = spamnb.MultinomialNB().fit([[1, 0], [0, 3]], ["ham", "spam"])
        >>> spamnb.MultinomialNB().fit_sums(a.sums_ + b.sums_, a.classes_).class_count_.tolist()
        [2, 2]
        """
        names = check_labels(classes, type(self).__name__)
        if len(names) != len(sums.documents) or not np.array_equal(names, np.unique(names)):
            raise ValueError(f"classes is {classes!r:.60}: give the {len(sums.documents)} classes of the sums, sorted")
        self._set_shape(names, sums.n_features, None)
        return self._set_sums(sums)

    def forget(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Forget rows that were learned before.

        The result is the model without these rows: exactly if X and weights are whole numbers, otherwise up to
        rounding. Rows that were never learned cannot always be recognised, and then the model is wrong without an
        error.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Rows that were learned.
        y : array of shape (n_samples,)
            The classes with which they were learned.
        sample_weight : array of shape (n_samples,), default=None
            The weights with which they were learned.

        Returns
        -------
        Self
            The updated model.

        Raises
        ------
        ValueError
            If a sum would be below zero without these rows.
        """
        self._check_fitted()
        return self._set_sums(self.sums_ - self._more_sums(X, y, sample_weight))

    def sample(self, n: int = 1, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw n rows from the model: their classes from P(c), each row from P(x|c).

        Parameters
        ----------
        n : int, default=1
            Number of rows.
        random_state : int or numpy.random.Generator, default=None
            Seed. None draws other rows in each call.

        Returns
        -------
        X : array of shape (n, n_features)
            Rows. In a multinomial model the sum of a row is the mean sum of the training rows of its class.
        y : array of shape (n,)
            Their classes.

        Raises
        ------
        ValueError
            If ``n`` is not a whole number, or below 0.

        Examples
        --------
        >>> import spamnb
        >>> model = spamnb.GaussianNB().fit([[1.0], [2.0], [7.0], [9.0]], ["low", "low", "high", "high"])
        >>> X, y = model.sample(1000, random_state=0)
        >>> [round(float(X[y == c].mean()), 1) for c in ("low", "high")]
        [1.5, 8.1]
        """
        self._check_fitted()
        check_whole("n", n, 0)
        rng, priors = np.random.default_rng(random_state), np.exp(self.class_log_prior_)
        codes = rng.choice(len(priors), n, p=priors / priors.sum())
        sorted_rows = np.concatenate(
            [self._draw(c, k, rng) for c, k in enumerate(np.bincount(codes, minlength=len(priors)))]
        )
        X = np.empty_like(sorted_rows)
        X[np.argsort(codes, kind="stable")] = sorted_rows
        return X, self.classes_[codes]

    def _draw(self, c: int, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw n rows (n, V) of class number c."""
        raise NotImplementedError

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """Return log P(x, c) = log P(c) + log P(x|c) of every row and class.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Log-probabilities in nats, columns as in ``classes_``.
        """
        return self._scores(self._check_X(X))


def class_codes(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the index of every label in ``classes``, which are ascending. Raise ValueError for other labels."""
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(f"The target label(s) {unknown} in y do not exist in the initial classes {classes}")
    return np.searchsorted(classes, y)
