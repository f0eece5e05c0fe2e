"""What all models share: parameters, input checks, predictions, and fit and forget of those whose model is a sum.

The interface is scikit-learn's, which is not imported: only ``__sklearn_tags__``, that scikit-learn alone calls, does
so.
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
    feature_names,
    not_fitted,
)
from spamnb.formulas.decision import UNSURE, least_loss
from spamnb.formulas.priors import class_log_prior
from spamnb.formulas.softmax import log_softmax, softmax


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


class ClassifierMixin(Parameters):
    """What every classifier has that can ``predict``: its score, and what it tells scikit-learn of itself."""

    classes_: np.ndarray
    _poor_score = False  # scikit-learn's tag: no good on its toy regressions of real numbers

    def predict(self, X: Any) -> np.ndarray:
        """The class of every row, (n,)."""
        raise NotImplementedError

    def predict_proba(self, X: Any) -> np.ndarray:
        """P(c|x), (n, C), columns as in ``classes_``."""
        raise NotImplementedError

    def decide(self, X: Any, loss: ArrayLike, actions: ArrayLike | None = None) -> np.ndarray:
        """The action of least expected loss Σ_c P(c|x) L(a, c) for every row, (n,); ``predict`` is that of 0-1 loss.

        Parameters
        ----------
        loss : (A, C), what action a costs where the class is ``classes_[c]``
        actions : names of the A actions; by default the classes and, where there is one row more, "unsure"

        Raises ValueError for a table of another shape, or that has no finite numbers.

        >>> import spamnb
        >>> met = ["pug", "pug", "poodle", "poodle", "elephant", "elephant"]
        >>> model = spamnb.GaussianNB().fit([[3.0], [5.0], [6.0], [8.0], [40.0], [90.0]], met)
        >>> loss = [[0, 20, 20],  # to say elephant, where it is an elephant, a poodle or a pug
        ...         [20, 0, 1],
        ...         [20, 1, 0],
        ...         [0.3, 0.3, 0.3]]  # unsure
        >>> model.decide([[3.5], [5.5], [60]], loss)
        array(['pug', 'unsure', 'elephant'], dtype=object)
        """
        probabilities, table = self.predict_proba(X), np.asarray(loss, dtype=float)
        named = [*self.classes_.tolist(), UNSURE] if actions is None else np.asarray(actions).tolist()
        fits = [len(named)] if actions is not None else [len(named) - 1, len(named)]
        if table.ndim != 2 or table.shape[0] not in fits or table.shape[1] != len(self.classes_):
            rows = " or ".join(map(str, fits))
            raise ValueError(f"loss has the shape {table.shape}: give {rows} rows of {len(self.classes_)} columns")
        if not np.isfinite(table).all():
            raise ValueError("loss must hold finite numbers")
        return np.array(named, dtype=object)[least_loss(probabilities, table)]

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Share of rows whose predicted class is ``y``, weighted by ``sample_weight``."""
        predicted, truth = self.predict(X), np.asarray(y)
        check_lengths(predicted, truth)
        return float(np.average(predicted == truth, weights=check_weight(sample_weight, len(truth))))

    def _input_tags(self) -> dict[str, bool]:
        """scikit-learn's tags of X."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(poor_score=self._poor_score),
            transformer_tags=TransformerTags() if hasattr(self, "transform") else None,
            input_tags=InputTags(**self._input_tags()),
        )


class BaseClassifier(ClassifierMixin):
    """Input checks and predictions of every model; ``class_scores`` is the one hook.

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
    class_log_prior_: np.ndarray  # of those that have one

    def _input_tags(self) -> dict[str, bool]:
        return {"sparse": self._sparse, "positive_only": self._nonnegative, "categorical": self._integer}

    # input --------------------------------------------------------------------------------------------
    def _check_X(self, X: Any) -> Any:
        """X as a numpy array or CSR array that fits this fitted model; ValueError or TypeError otherwise."""
        self._check_fitted()
        names, fitted = feature_names(X), getattr(self, "feature_names_in_", None)
        if names is not None and fitted is not None and not np.array_equal(names, fitted):
            raise ValueError(f"The feature names should match those of fit, which were {fitted.tolist()!r:.200}")
        X, model = check_matrix(X, self), type(self).__name__
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {model} is expecting {self.n_features_in_} features as input."
            )
        return X

    def _check_training(
        self, X: Any, y: Any, sample_weight: Any, *, first: bool
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """(X, labels, weight or None), checked; ``first``: X defines the features."""
        model = type(self).__name__
        y = check_labels(y, model)
        X = check_matrix(X, self) if first else self._check_X(X)
        check_lengths(X, y)
        return X, y, check_weight(sample_weight, X.shape[0])

    def _first_classes(self, classes: ArrayLike | None) -> np.ndarray | None:
        """The classes that the first ``partial_fit`` names, ascending; None at a later one, which may repeat them."""
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
        """log P(c) + log P(x|c), but for a term that is the same in every class of a row: (n, C), nats, columns as in
        ``classes_``.

        All predictions are made of it. X (n, V) is numeric and is not checked.

        >>> import numpy as np, spamnb
        >>> model = spamnb.MultinomialNB().fit([[2, 0], [1, 0], [0, 3]], ["ham", "ham", "spam"])
        >>> model.class_scores(np.array([[0, 1]])).round(3)
        array([[-2.015, -1.322]])
        """
        raise NotImplementedError

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of every row, (n,)."""
        best = self.class_scores(self._check_X(X)).argmax(axis=1)
        return self.classes_[best]

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """log P(c|x) in nats, (n, C), columns as in ``classes_``."""
        return log_softmax(self.class_scores(self._check_X(X)))

    def predict_proba(self, X: Any) -> np.ndarray:
        """P(c|x), (n, C), columns as in ``classes_``."""
        return softmax(self.class_scores(self._check_X(X)))


class DecisionFunction(BaseClassifier):
    """A classifier whose scores are of use by themselves, of rows of any numbers."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Log-odds of ``classes_[1]`` over ``classes_[0]``, (n,); for more classes their scores, (n, C).

        >>> import spamnb
        >>> model = spamnb.LinearDiscriminantAnalysis().fit([[1.0], [2.0], [7.0], [9.0]], ["low"] * 2 + ["high"] * 2)
        >>> (model.decision_function([[1.5], [8.0]]) > 0).tolist()
        [True, False]
        """
        scores = self.class_scores(self._check_X(X))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


@dataclass(eq=False, repr=False, kw_only=True)
class SumClassifier(BaseClassifier):
    """A classifier whose parameters are a function of sums over the training rows, kept in ``sums_``.

    Learning adds, forgetting subtracts. All of it follows from three hooks: ``_sums``,
    ``_derive`` and ``class_scores``.

    All take ``class_prior``, which is "mle", "dirichlet", "map", "uniform" or the probabilities (C,) themselves; None
    means "mle", or "uniform" where ``fit_prior`` is False. ``prior_concentration`` is the Dirichlet's a of "dirichlet"
    and "map", one number or (C,). All have ``classes_`` (C,), ``class_log_prior_`` (C,) in nats, ``n_features_in_``,
    and ``feature_names_in_`` where X was a data frame.

    ValueError for missing or infinite values, for negative ones where counts are expected, and for X of another width;
    TypeError for sparse X where dense rows are needed.

    >>> import spamnb
    >>> model = spamnb.MultinomialNB().partial_fit([[2, 0], [1, 0]], ["ham", "ham"], classes=["ham", "spam"])
    >>> model.partial_fit([[0, 3]], ["spam"]).forget([[1, 0]], ["ham"]).class_count_.tolist()
    [1, 1]
    """

    fit_prior: bool = True
    class_prior: str | ArrayLike | None = None
    prior_concentration: float | ArrayLike = 1.0

    def _sums(self, X: Any, codes: np.ndarray, n_classes: int, weight: np.ndarray | None, like: Any) -> Any:
        """Sums of checked rows of the classes ``codes`` (n,), with a weight per row or None: anything with
        ``documents`` (C,), ``n_features``, + and −. They are added to the sums ``like``, or are the first ones."""
        raise NotImplementedError

    def _derive(self, sums: Any) -> None:
        """Set the parameters from ``sums``; must not touch them when it raises."""
        raise NotImplementedError

    def _class_log_prior(self, documents: np.ndarray) -> np.ndarray:
        prior = self.class_prior
        if prior is None:
            prior = "mle" if self.fit_prior else "uniform"
        return class_log_prior(documents, prior, self.prior_concentration)

    @property
    def class_count_(self) -> np.ndarray:
        """Training rows per class, or the sum of their weights, (C,)."""
        return self.sums_.documents

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from X (n, V) and its labels alone, forgetting what was learned before."""
        return self._begin(X, y, None, sample_weight)

    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from more rows. The first call must name all ``classes`` that will ever come."""
        if (first := self._first_classes(classes)) is not None:
            return self._begin(X, y, first, sample_weight)
        return self._replace(self.sums_ + self._more_sums(X, y, sample_weight))

    def _begin(self, X: Any, y: Any, classes: np.ndarray | None, sample_weight: Any) -> Self:
        """Learn from these rows alone; ``classes``, ascending, are those of the labels where None are given."""
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
        """Learn from the sums of training rows instead of the rows, forgetting what was learned before.

        ``sums`` are of the kind that ``sums_`` has, and their class c is ``classes[c]``. So a model that was kept as
        its sums needs none of its rows, and models of the same classes add up.

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
        """Take rows out again that were learned before: undoes ``partial_fit`` of the same rows, exactly where whole
        numbers are counted and otherwise up to rounding.

        Raises ValueError where more would be taken out than was learned. Other rows that were never learned cannot be
        told from learned ones, as sums do not say which rows they are of: the model is then wrong without an error.
        """
        self._check_fitted()
        return self._replace(self.sums_ - self._more_sums(X, y, sample_weight))

    def sample(self, n: int = 1, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw n rows from the model: their classes from P(c), each row from P(x|c).

        Parameters
        ----------
        n : how many
        random_state : a seed or numpy's Generator

        Returns
        -------
        X (n, V) and y (n,). A multinomial row has as many counts as the mean row of its class.

        >>> import spamnb
        >>> model = spamnb.GaussianNB().fit([[1.0], [2.0], [7.0], [9.0]], ["low", "low", "high", "high"])
        >>> X, y = model.sample(1000, random_state=0)
        >>> [round(float(X[y == c].mean()), 1) for c in ("low", "high")]
        [1.5, 8.1]
        """
        self._check_fitted()
        rng, priors = np.random.default_rng(random_state), np.exp(self.class_log_prior_)
        codes = rng.choice(len(priors), n, p=priors / priors.sum())
        of_class = np.concatenate(
            [self._draw(c, k, rng) for c, k in enumerate(np.bincount(codes, minlength=len(priors)))]
        )
        X = np.empty_like(of_class)
        X[np.argsort(codes, kind="stable")] = of_class
        return X, self.classes_[codes]

    def _draw(self, c: int, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw n rows of class number c, (n, V)."""
        raise NotImplementedError

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """log P(x, c) = log P(c) + log P(x|c) in nats, (n, C), columns as in ``classes_``."""
        return self.class_scores(self._check_X(X))


def class_codes(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The index in ``classes`` (sorted) of every label; ValueError names labels that are not there."""
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(f"The target label(s) {unknown} in y do not exist in the initial classes {classes}")
    return np.searchsorted(classes, y)
