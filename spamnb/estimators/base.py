"""The base classes of the estimators: parameters, input checks, predictions, and learning by sums.

The interface is scikit-learn's. Only ``__sklearn_tags__``, which scikit-learn alone calls, imports that library.
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
    """Parameters of an estimator, read from the signature of its constructor; no parameter is an estimator."""

    _fitted = "classes_"  # the attribute that only a fitted estimator has
    _poor_score = False  # scikit-learn's tag: True if the model needs counts or categories, not real numbers

    def _check_fitted(self) -> None:
        if not hasattr(self, self._fitted):
            raise not_fitted(self)

    @classmethod
    def _parameters(cls) -> dict[str, Any]:
        """Return the names and defaults of the constructor's parameters."""
        signature = inspect.signature(cls.__init__)
        return {name: p.default for name, p in list(signature.parameters.items())[1:]}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Without effect, because no parameter is an estimator.

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
        return {name: getattr(self, name) for name in sorted(self._parameters())}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; they act at the next fit.

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
        names = sorted(self._parameters())
        for name in params:
            if name not in names:
                raise ValueError(f"Invalid parameter {name!r} for {type(self).__name__}: it has {', '.join(names)}.")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        """Return the constructor's call, without parameters that have their default."""
        changed = [
            f"{name}={getattr(self, name)!r}"
            for name, default in self._parameters().items()
            if repr(getattr(self, name)) != repr(default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _input_tags(self) -> dict[str, bool]:
        """Return scikit-learn's tags of X."""
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

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what ``transform`` and ``fit_transform`` return.

        Parameters
        ----------
        transform : str, default=None
            "default" for arrays, "pandas" for data frames with the names of the columns; None changes nothing.

        Returns
        -------
        Self
            The transformer.

        Raises
        ------
        ValueError
            If ``transform`` is another value.
        """
        if transform not in (None, "default", "pandas"):
            raise ValueError(f"{type(self).__name__}: transform is {transform!r:.60}: give 'default' or 'pandas'")
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}  # scikit-learn's clone copies this attribute
        return self

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return the names of the columns."""
        raise NotImplementedError

    def _output(self, rows: Any, X: Any) -> Any:
        """Return the rows computed from X, as they are or as a data frame with the index of X: see ``set_output``."""
        if getattr(self, "_sklearn_output_config", {}).get("transform") != "pandas":
            return rows
        from pandas import DataFrame

        frame = DataFrame if isinstance(rows, np.ndarray) else DataFrame.sparse.from_spmatrix
        return frame(rows, index=X.index if hasattr(X, "iloc") else None, columns=self.get_feature_names_out())


class ClassifierMixin(Parameters):
    """A classifier that has ``predict`` and ``predict_proba``: its accuracy, its decisions, its scikit-learn tags."""

    classes_: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of every row.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        array of shape (n_samples,)
            Classes.
        """
        raise NotImplementedError

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return P(c|x) of every row and class.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Probabilities, columns as in ``classes_``.
        """
        raise NotImplementedError

    def decide(self, X: Any, loss: ArrayLike, actions: ArrayLike | None = None) -> np.ndarray:
        """Return the action a of least expected loss Σ_c P(c|x) L(a, c) for every row.

        The likeliest class, which ``predict`` returns, is the decision under 0-1 loss.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Rows to decide on.
        loss : array of shape (n_actions, n_classes)
            Cost of each action if the class is ``classes_[c]``.
        actions : array of shape (n_actions,), default=None
            Names of the actions. By default these are the classes, and "unsure" if ``loss`` has one row more.

        Returns
        -------
        array of shape (n_samples,)
            Names of the actions.

        Raises
        ------
        ValueError
            If ``loss`` has another shape, or a number that is not finite.

        Examples
        --------
        >>> import spamnb
        >>> met = ["pug", "pug", "poodle", "poodle", "elephant", "elephant"]
        >>> model = spamnb.GaussianNB().fit([[3.0], [5.0], [6.0], [8.0], [40.0], [90.0]], met)
        >>> loss = [[0, 20, 20],  # "elephant": the cost if it is an elephant, a poodle, a pug
        ...         [20, 0, 1],
        ...         [20, 1, 0],
        ...         [0.3, 0.3, 0.3]]  # unsure
        >>> model.decide([[3.5], [5.5], [60]], loss)
        array(['pug', 'unsure', 'elephant'], dtype=object)
        """
        probabilities, table = self.predict_proba(X), np.asarray(loss, dtype=float)
        names = [*self.classes_.tolist(), UNSURE] if actions is None else np.asarray(actions).tolist()
        n_rows = [len(names)] if actions is not None else [len(names) - 1, len(names)]
        if table.ndim != 2 or table.shape[0] not in n_rows or table.shape[1] != len(self.classes_):
            rows = " or ".join(map(str, n_rows))
            raise ValueError(f"loss has the shape {table.shape}: give {rows} rows of {len(self.classes_)} columns")
        if not np.isfinite(table).all():
            raise ValueError("loss must hold finite numbers")
        return np.array(names, dtype=object)[least_loss(probabilities, table)]

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy: the share of rows whose predicted class is ``y``.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Rows to classify.
        y : array of shape (n_samples,)
            True classes.
        sample_weight : array of shape (n_samples,), default=None
            Weight of each row; None weighs all alike.

        Returns
        -------
        float
            Accuracy, from 0 to 1.
        """
        predicted, truth = self.predict(X), np.asarray(y)
        check_lengths(predicted, truth)
        return float(np.average(predicted == truth, weights=check_weight(sample_weight, len(truth))))


class BaseClassifier(ClassifierMixin):
    """A classifier of rows of numbers: input checks and predictions; ``_scores`` is the one hook.

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

    _sparse = True  # whether sparse X is accepted
    _nonnegative = False  # whether X must not be negative
    _integer = False  # whether the values of X are category numbers

    n_features_in_: int
    class_log_prior_: np.ndarray  # (C,) in nats; only models with class priors have it

    def _input_tags(self) -> dict[str, bool]:
        return {"sparse": self._sparse, "positive_only": self._nonnegative, "categorical": self._integer}

    # input --------------------------------------------------------------------------------------------
    def _check_X(self, X: Any) -> Any:
        """Return X as a numpy array or CSR array that fits this fitted model; ValueError or TypeError otherwise."""
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
        """Return checked (X, labels, weight or None); if ``first``, X defines the features."""
        model = type(self).__name__
        y = check_labels(y, model)
        X = check_matrix(X, self) if first else self._check_X(X)
        check_lengths(X, y)
        return X, y, check_weight(sample_weight, X.shape[0])

    def _first_classes(self, classes: ArrayLike | None) -> np.ndarray | None:
        """Return the ``classes`` of the first call of ``partial_fit``, ascending; return None in later calls."""
        if not hasattr(self, "classes_"):
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            return np.unique(np.asarray(classes))
        if classes is not None and not np.array_equal(np.sort(np.asarray(classes)), self.classes_):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}"
            )
        return None

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
        """Return log P(c) + log P(x|c), but for a term that all classes of a row share.

        All predictions are made of these scores.

        Parameters
        ----------
        X : array or CSR array of shape (n_samples, n_features)
            Rows of numbers, which are not checked.

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
        """Return the scores of ``class_scores``."""
        raise NotImplementedError

    def predict(self, X: Any) -> np.ndarray:
        """Return the likeliest class of every row.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        array of shape (n_samples,)
            Classes.
        """
        best = self._scores(self._check_X(X)).argmax(axis=1)
        return self.classes_[best]

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return log P(c|x) of every row and class.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Log-probabilities in nats, columns as in ``classes_``.
        """
        return log_softmax(self._scores(self._check_X(X)))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return P(c|x) of every row and class.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Probabilities, columns as in ``classes_``.
        """
        return softmax(self._scores(self._check_X(X)))


class DecisionFunction(BaseClassifier):
    """A classifier of rows of real numbers that also has ``decision_function``."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log-odds of ``classes_[1]`` over ``classes_[0]``; for more classes, their scores.

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
    """A classifier whose parameters are a function of sums over the training rows, kept in ``sums_``.

    Learning adds, forgetting subtracts. All of it follows from three hooks: ``_sums``, ``_derive`` and
    ``_scores``.

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

    def _sums(self, X: Any, codes: np.ndarray, n_classes: int, weight: np.ndarray | None, like: Any) -> Any:
        """Return the sums of checked rows of the classes ``codes`` (n,), with a weight per row or None.

        Sums are any object with ``documents`` (C,), ``n_features``, + and −. The caller adds the returned sums to the
        sums ``like``, or subtracts them; ``like`` is None in the first fit.
        """
        raise NotImplementedError

    def _derive(self, sums: Any) -> None:
        """Set the parameters from ``sums``. If this raises an error, the parameters must be unchanged."""
        raise NotImplementedError

    def _class_log_prior(self, documents: np.ndarray) -> np.ndarray:
        prior = self.class_prior
        if prior is None:
            prior = "mle" if self.fit_prior else "uniform"
        return class_log_prior(documents, prior, self.prior_concentration)

    @property
    def class_count_(self) -> np.ndarray:
        """Training rows per class, or the sum of their weights: array of shape (n_classes,)."""
        return self.sums_.documents

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from these rows alone, forgetting all rows that were learned before.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,)
            Their classes.
        sample_weight : array of shape (n_samples,), default=None
            Weight of each row; None counts every row once.

        Returns
        -------
        Self
            The fitted model.

        Raises
        ------
        ValueError
            If X has missing or infinite values, or negative ones where counts are expected.
        TypeError
            If X is sparse and the model needs dense rows.
        """
        return self._begin(X, y, None, sample_weight)

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
            All classes that will ever come; the first call needs them.
        sample_weight : array of shape (n_samples,), default=None
            Weight of each row; None counts every row once.

        Returns
        -------
        Self
            The updated model.

        Raises
        ------
        ValueError
            If X cannot be learned, or if the classes are missing or are not those of the first call.
        """
        if (first := self._first_classes(classes)) is not None:
            return self._begin(X, y, first, sample_weight)
        return self._replace(self.sums_ + self._more_sums(X, y, sample_weight))

    def _begin(self, X: Any, y: Any, classes: np.ndarray | None, sample_weight: Any) -> Self:
        """Learn from these rows alone. ``classes`` are ascending; None means the classes that occur in y."""
        names = feature_names(X)
        X, y, weight = self._check_training(X, y, sample_weight, first=True)
        classes = np.unique(y) if classes is None else classes
        self._replace(self._sums(X, class_codes(y, classes), len(classes), weight, None))
        self._remember(classes, X.shape[1], names)
        return self

    def _more_sums(self, X: Any, y: Any, sample_weight: Any) -> Any:
        X, y, weight = self._check_training(X, y, sample_weight, first=False)
        return self._sums(X, class_codes(y, self.classes_), len(self.classes_), weight, self.sums_)

    def _replace(self, sums: Any) -> Self:
        self._derive(sums)
        self.sums_ = sums
        return self

    def fit_sums(self, sums: Any, classes: ArrayLike) -> Self:
        """Learn from the sums of training rows instead of the rows.

        A model can be restored from its sums without its rows, and the sums of models of the same classes can be added.

        Parameters
        ----------
        sums : ClassSums or Scatter
            Sums of the kind that ``sums_`` has.
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
        self._remember(names, sums.n_features, None)
        return self._replace(sums)

    def forget(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Take rows out again that were learned before.

        This undoes ``partial_fit`` of the same rows: exactly if whole numbers are counted, otherwise up to rounding.
        Sums do not say which rows they are of. If rows are forgotten that were never learned, the model may be wrong
        without an error.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Rows that were learned.
        y : array of shape (n_samples,)
            Their classes when they were learned.
        sample_weight : array of shape (n_samples,), default=None
            Weight of each row; None counts every row once.

        Returns
        -------
        Self
            The updated model.

        Raises
        ------
        ValueError
            If more would be taken out than was learned.
        """
        self._check_fitted()
        return self._replace(self.sums_ - self._more_sums(X, y, sample_weight))

    def sample(self, n: int = 1, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw n rows from the model: their classes from P(c), each row from P(x|c).

        Parameters
        ----------
        n : int, default=1
            Number of rows.
        random_state : int or numpy.random.Generator, default=None
            Seed; None draws other rows each time.

        Returns
        -------
        X : array of shape (n, n_features)
            Rows. A multinomial row has as many counts as the mean row of its class.
        y : array of shape (n,)
            Their classes.

        Raises
        ------
        ValueError
            If ``n`` is no whole number, or below 0.

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
    """Return the index in ``classes`` (sorted) of every label; ValueError names labels that are not there."""
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(f"The target label(s) {unknown} in y do not exist in the initial classes {classes}")
    return np.searchsorted(classes, y)
