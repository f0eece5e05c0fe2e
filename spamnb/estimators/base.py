"""The base classes of the estimators: checks of X and y, predictions, decisions, and learning by sums.

Models of x, which can also draw rows, are in generative.py. The interface is scikit-learn's (interface.py). Parameters,
attributes and methods that several estimators share are documented here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from spamnb.estimators.interface import BaseEstimator, ClassifierMixin, NotFittedError, validate_data
from spamnb.estimators.losses import format_loss, read_loss
from spamnb.estimators.validation import check_labels, check_weight
from spamnb.model.decision import least_loss
from spamnb.model.priors import class_log_prior
from spamnb.model.softmax import log_softmax, softmax


def check_fitted(estimator: Any, attribute: str = "classes_") -> None:
    """Raise NotFittedError if an estimator lacks the attribute, which ``fit`` sets."""
    if not hasattr(estimator, attribute):
        raise NotFittedError(f"This {type(estimator).__name__} instance is not fitted yet: call 'fit' first.")


class BaseClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of rows of numbers or of messages."""

    classes_: np.ndarray  # (C,) ascending

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of every sample: the likeliest, or the one of least expected ``loss``.

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

    def decide(self, X: Any, loss: Any, actions: ArrayLike | None = None) -> np.ndarray:
        """Return the action a of least expected loss Σ_c P(c|x) L(a, c) for every sample.

        Under 0-1 loss this is the likeliest class.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features), or list of messages
            Samples to decide on.
        loss : array of shape (n_actions, n_classes), dict or "balanced"
            Cost of each action if the class is ``classes_[c]``: **a row per action**, a column per true class. A dict
            {action: {class: cost}} cannot be transposed by mistake. "balanced" makes an error on a class cost 1/N_c of
            its training samples, so that rare classes are found.
        actions : array of shape (n_actions,), default=None
            Names of the actions, which are the rows of ``loss``. None means the classes, and "unsure" for a further
            row. A square array that is not symmetric needs the names, because it may be the transpose.

        Returns
        -------
        array of shape (n_samples,)
            Names of the actions.

        Raises
        ------
        ValueError
            If ``loss`` has another shape, if it contains NaN or infinity, or if it may be the transpose.

        See Also
        --------
        loss_table : The loss as text, to check which is the action.

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
        probabilities = self.predict_proba(X)
        names, table = self._read_loss(loss, actions)
        return np.array(names, dtype=object)[least_loss(probabilities, table)]

    def loss_table(self, loss: Any, actions: ArrayLike | None = None) -> str:
        """Return a loss as a table of text: what each action costs if the class is which.

        Parameters
        ----------
        loss : array of shape (n_actions, n_classes), dict or "balanced"
            Loss, as in ``decide``.
        actions : array of shape (n_actions,), default=None
            Names of the actions, as in ``decide``.

        Returns
        -------
        str
            The table.

        Examples
        --------
        >>> import spamnb
        >>> model = spamnb.MultinomialNB().fit([[2, 0], [1, 0], [0, 3]], ["ham", "ham", "spam"])
        >>> print(model.loss_table([[0, 1], [9, 0]]))
        action  if it is ham  if it is spam
        ham                0              1
        spam               9              0
        >>> model.decide([[0, 1]], {"ham": {"spam": 1}, "spam": {"ham": 9}}).tolist()
        ['ham']
        """
        check_fitted(self)
        if actions is None and np.shape(loss)[:1] == self.classes_.shape:
            actions = self.classes_  # the table shows that the rows are the actions
        names, table = self._read_loss(loss, actions)
        return format_loss(names, self.classes_.tolist(), table)

    def _read_loss(self, loss: Any, actions: ArrayLike | None) -> tuple[list[Any], np.ndarray]:
        names = None if actions is None else np.asarray(actions).tolist()
        return read_loss(loss, self.classes_.tolist(), names, self._get_class_counts())

    def _decide_class(self, probabilities: np.ndarray, loss: Any) -> np.ndarray:
        """Return the class of least expected loss for each row of P(c|x)."""
        actions, table = self._read_loss(loss, None)
        if actions != self.classes_.tolist():
            raise ValueError(
                f"loss has the actions {actions!r:.100}: predict needs the classes; decide has any actions"
            )
        return self.classes_[least_loss(probabilities, table)]

    def _get_class_counts(self) -> np.ndarray:
        """Return the number of training samples of each class, (C,)."""
        raise NotImplementedError


class RowClassifier(BaseClassifier):
    """A classifier of rows of numbers. A subclass defines ``fit``, ``partial_fit``, ``_scores`` and ``loss``.

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

    loss: Any  # what ``predict`` minimises, or None

    _is_sparse_allowed = True
    _needs_nonnegative = False  # whether negative values in X raise ValueError
    _is_categorical = False  # whether the values of X are category numbers
    allow_nan = False  # whether predictions accept NaN; a parameter of some models
    _poor_score = False  # scikit-learn's tag: True if the model needs counts or categories, not real numbers

    n_features_in_: int
    class_log_prior_: np.ndarray  # only models with class priors have it

    def __sklearn_tags__(self) -> Any:
        """Return the estimator's tags, which scikit-learn's tools read."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self._poor_score
        tags.input_tags.sparse = self._is_sparse_allowed
        tags.input_tags.positive_only = self._needs_nonnegative
        tags.input_tags.categorical = self._is_categorical
        return tags

    # input --------------------------------------------------------------------------------------------
    def _check_X(self, X: Any) -> Any:
        """Return X as a numpy array or CSR array. Raise an error if its columns differ from the training columns."""
        check_fitted(self)
        return self._to_rows(X, allow_nan=self.allow_nan)

    def _to_rows(self, X: Any, *, is_first: bool = False, allow_nan: bool = False) -> Any:
        from scipy.sparse import csr_array, issparse

        _check_no_texts(X, self)
        try:
            X = validate_data(
                self,
                X,
                reset=is_first,
                accept_sparse="csr" if self._is_sparse_allowed else False,
                ensure_all_finite="allow-nan" if allow_nan else True,
                ensure_non_negative=self._needs_nonnegative,
            )
        except ValueError as error:
            if "contains NaN" not in str(error):
                raise
            remedy = ", except in predictions with allow_nan=True" if "allow_nan" in vars(self) else ""
            raise ValueError(f"Input X contains NaN: {type(self).__name__} needs every value{remedy}") from None
        if issparse(X):
            X = csr_array(X)
            if not X.has_canonical_format:
                X = X.copy()  # because sum_duplicates changes the arrays, which belong to the caller
                X.sum_duplicates()
        return X.astype(np.int8) if X.dtype.kind == "b" else X

    def _check_training(
        self, X: Any, y: Any, sample_weight: Any, *, first: bool
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Return (X, labels, weights or None) after checks. If ``first``, any number of columns is right."""
        y = check_labels(y, type(self).__name__)
        X = self._to_rows(X, is_first=first)
        if X.shape[0] != len(y):
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {[X.shape[0], len(y)]}")
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

    # predictions --------------------------------------------------------------------------------------
    def _scores(self, X: Any) -> np.ndarray:
        """Return log P(c) + log P(x|c), (n, C), up to a term that is the same for all classes of a row."""
        raise NotImplementedError

    # learning -----------------------------------------------------------------------------------------
    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from these rows alone. All rows that were learned before are forgotten.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,)
            Their classes. None, as in unsupervised models, raises ValueError.
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
        scores = self._scores(self._check_X(X))
        if self.loss is not None:
            return self._decide_class(softmax(scores), self.loss)
        return self.classes_[scores.argmax(axis=1)]

    def predict_log_proba(self, X: Any) -> np.ndarray:
        return log_softmax(self._scores(self._check_X(X)))

    def predict_proba(self, X: Any) -> np.ndarray:
        return softmax(self._scores(self._check_X(X)))


class DecisionFunction(RowClassifier):
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
class SumClassifier(RowClassifier):
    """A classifier that is fitted to sums over the training rows.

    Learning adds to the sums, and forgetting subtracts from them. A subclass defines ``_sums``, ``_derive`` and
    ``_scores``.

    Parameters
    ----------
    fit_prior : bool, default=True
        Whether ``class_prior=None`` means "mle" and not "uniform".
    class_prior : str or array of shape (n_classes,), default=None
        "mle" is the share N_c/N of the training rows; "dirichlet" is the mean and "map" the mode of the posterior under
        a Dirichlet prior; "uniform" is 1/n_classes. An array contains the probabilities of the classes.
    prior_concentration : float or array of shape (n_classes,), default=1.0
        The Dirichlet's parameter a of "dirichlet" and "map".
    loss : array of shape (n_classes, n_classes), dict or "balanced", default=None
        What ``predict`` minimises, as in ``decide``. None means that all errors cost the same, so that ``predict``
        returns the likeliest class. Probabilities do not depend on it.

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
        Names of the columns, if X was a data frame (with scikit-learn).

    Examples
    --------
    >>> import spamnb
    >>> model = spamnb.MultinomialNB().partial_fit([[2, 0], [1, 0]], ["ham", "ham"], classes=["ham", "spam"])
    >>> model.partial_fit([[0, 3]], ["spam"]).forget([[1, 0]], ["ham"]).class_count_.tolist()
    [1, 1]
    >>> model.class_prior_.tolist()
    [0.5, 0.5]
    """

    fit_prior: bool = True
    class_prior: str | ArrayLike | None = None
    prior_concentration: float | ArrayLike = 1.0
    loss: Any = None

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
        if not isinstance(self.fit_prior, bool | np.bool_):
            raise ValueError(f"{type(self).__name__}: fit_prior is {self.fit_prior!r:.60}: give True or False")
        if prior is None:
            prior = "mle" if self.fit_prior else "uniform"
        return class_log_prior(documents, prior, self.prior_concentration)

    @property
    def class_count_(self) -> np.ndarray:
        """Number of training rows of each class, or the sum of their weights: array of shape (n_classes,)."""
        return self.sums_.documents

    @property
    def class_prior_(self) -> np.ndarray:
        """Probability P(c) of each class: array of shape (n_classes,)."""
        return np.exp(self.class_log_prior_)

    def _get_class_counts(self) -> np.ndarray:
        return self.class_count_

    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        return self._fit_first(X, y, None, sample_weight)

    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        if (first_classes := self._first_classes(classes)) is not None:
            return self._fit_first(X, y, first_classes, sample_weight)
        return self._set_sums(self.sums_ + self._more_sums(X, y, sample_weight))

    def _fit_first(self, X: Any, y: Any, classes: np.ndarray | None, sample_weight: Any) -> Self:
        """Learn from these rows alone. ``classes`` are ascending; None means the classes that occur in y."""
        X, y, weight = self._check_training(X, y, sample_weight, first=True)
        classes = np.unique(y) if classes is None else classes
        self._set_sums(self._sums(X, class_codes(y, classes), len(classes), weight, None), classes)
        return self

    def _more_sums(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Return the sums of rows that are to be added to ``sums_`` or subtracted from them."""
        X, y, weight = self._check_training(X, y, sample_weight, first=False)
        return self._sums(X, class_codes(y, self.classes_), len(self.classes_), weight, self.sums_)

    def _set_sums(self, sums: Any, classes: np.ndarray | None = None) -> Self:
        self._derive(sums)
        self.sums_ = sums
        if classes is not None:
            self.classes_ = classes
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
        self.n_features_in_ = sums.n_features
        return self._set_sums(sums, names)

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
        check_fitted(self)
        return self._set_sums(self.sums_ - self._more_sums(X, y, sample_weight))


def class_codes(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the index of every label in ``classes``, which are ascending. Raise ValueError for other labels."""
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(f"The target label(s) {unknown} in y do not exist in the initial classes {classes}")
    return np.searchsorted(classes, y)


def _check_no_texts(X: Any, estimator: RowClassifier) -> None:
    """Raise ValueError if X is a list of texts, or of rows of texts."""
    first = X
    while isinstance(first, list | tuple | np.ndarray) and np.ndim(first) != 0 and len(first):
        first = first[0]
    if isinstance(first, str | bytes):
        remedy = "MailVectorizer().fit_transform(X) counts words"
        if estimator._is_categorical:
            remedy = "scikit-learn's OrdinalEncoder().fit_transform(X) numbers categories"
        raise ValueError(f"X has texts, but {type(estimator).__name__} takes rows of numbers: {remedy}")
