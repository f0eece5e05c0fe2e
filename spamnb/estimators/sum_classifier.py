"""Estimators whose model is a sum over the training rows: learning adds, forgetting subtracts, merging adds another's.

fit and all the rest follow from three hooks:

    _sums(X, y, n_classes, weight)   the sums of some training rows: anything with ``documents`` (C,), ``n_features``,
                                     +, − and ``reindex(positions, n_classes)`` onto a longer list of classes
    _derive(sums)                    sets the parameters from the sums; must not touch them when it raises
    class_scores(X)                  log P(c) + log P(x|c) of every row and class, (n, C)
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from spamnb.estimators.base import BaseClassifier
from spamnb.estimators.validation import check_merge, not_fitted
from spamnb.formulas.priors import class_log_prior


class SumClassifier(BaseClassifier):
    """A classifier whose parameters are a function of sums over the training rows, kept in ``sums_``."""

    fit_prior: bool
    class_prior: Any
    prior_concentration: Any
    sums_: Any
    _counting: tuple[str, ...] = ()  # parameters that say what of X is summed

    def _sums(self, X: Any, y: np.ndarray, n_classes: int, weight: np.ndarray | None) -> Any:
        """Sums of checked rows, ``y`` holding class numbers and ``weight`` a weight per row or None."""
        raise NotImplementedError

    def _derive(self, sums: Any) -> None:
        """Set the parameters from ``sums``; here the class prior. Subclasses call this one first."""
        self.class_log_prior_ = self._class_log_prior(sums.documents)

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
        """Learn from X (n, V) and its labels alone, forgetting what was learned before.

        >>> import spamnb
        >>> X, y = [[2, 0, 1], [1, 1, 0], [0, 3, 0]], ["ham", "ham", "spam"]
        >>> model = spamnb.MultinomialNB(alpha=1).fit(X, y)
        >>> model.class_count_.tolist()
        [2, 1]
        """
        return self._learn(X, y, None, sample_weight, first=True)

    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from more rows. The first call must name all ``classes`` that will ever come.

        >>> import spamnb
        >>> model = spamnb.MultinomialNB().partial_fit([[2, 0]], ["ham"], classes=["ham", "spam"])
        >>> model.partial_fit([[0, 3]], ["spam"]).class_count_.tolist()
        [1, 1]
        """
        first = not hasattr(self, "classes_")
        if first:
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            return self._learn(X, y, np.unique(np.asarray(classes)), sample_weight, first)
        if classes is not None and not np.array_equal(np.sort(np.asarray(classes)), self.classes_):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, "
                f"was: {self.classes_!r}"
            )
        return self._learn(X, y, self.classes_, sample_weight, first)

    def _learn(self, X: Any, y: Any, classes: np.ndarray | None, sample_weight: Any, first: bool) -> Self:
        X, y, weight, names = self._check_training(X, y, sample_weight, first=first)
        if classes is None:
            classes, codes = np.unique(y, return_inverse=True)
        else:
            codes = self._codes(y, classes)
        sums = self._sums(X, codes, len(classes), weight)
        if not first:
            sums = self.sums_ + sums
        self._derive(sums)
        self.sums_ = sums
        if first:
            self._remember(classes, X.shape[1], names)
        return self

    def fit_sums(self, sums: Any, classes: ArrayLike) -> Self:
        """Learn from the sums of training rows instead of the rows, forgetting what was learned before.

        ``sums`` are of the kind that ``sums_`` has, and their class c is ``classes[c]``. So a model that was kept as
        its sums needs none of its rows.

        >>> import spamnb
        >>> X, y = [[2, 0, 1], [1, 1, 0], [0, 3, 0]], ["ham", "ham", "spam"]
        >>> model = spamnb.MultinomialNB(alpha=1).fit(X, y)
        >>> again = spamnb.MultinomialNB(alpha=1).fit_sums(model.sums_, model.classes_)
        >>> (again.predict_proba(X) == model.predict_proba(X)).all()
        np.True_
        """
        self._remember(np.asarray(classes), sums.n_features, None)
        return self._replace(sums)

    def merge(self, other: Self) -> Self:
        """Add what ``other``, a fitted model of the same kind and features, has learned, its classes included.

        Raises ValueError where the two cannot be added: models of different kinds, other columns, rows that were
        counted in another way, classes that are text here and numbers there.

        >>> import spamnb
        >>> X, y = [[2, 0, 1], [1, 1, 0], [0, 3, 0]], ["ham", "ham", "spam"]
        >>> model = spamnb.MultinomialNB(alpha=1).fit(X, y)
        >>> other = spamnb.MultinomialNB(alpha=1).fit([[1, 0, 0]], ["list"])
        >>> model.merge(other).classes_.tolist()
        ['ham', 'list', 'spam']
        """
        if not hasattr(other, "sums_") or not hasattr(self, "sums_"):
            raise not_fitted(other if hasattr(self, "sums_") else self)
        check_merge(self, other, self._counting)
        classes = np.union1d(self.classes_, other.classes_)
        mine, others = (
            model.sums_.reindex(np.searchsorted(classes, model.classes_), len(classes))
            for model in (self, other)
        )
        self._replace(mine + others)
        self.classes_ = classes
        return self

    def forget(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Take rows out again that were learned before: undoes ``partial_fit`` of the same rows, exactly where whole
        numbers are counted and otherwise up to rounding. CategoricalNB keeps room for their categories.

        Raises ValueError where more would be taken out than was learned.

        >>> import spamnb
        >>> X, y = [[2, 0, 1], [1, 1, 0], [0, 3, 0]], ["ham", "ham", "spam"]
        >>> model = spamnb.MultinomialNB(alpha=1).fit(X, y)
        >>> model.forget(X[:1], y[:1]).class_count_.tolist()
        [1, 1]
        """
        X, y, weight, _ = self._check_training(X, y, sample_weight, first=False)
        codes = self._codes(y, self.classes_)
        return self._replace(self.sums_ - self._sums(X, codes, len(self.classes_), weight))

    def _replace(self, sums: Any) -> Self:
        self._derive(sums)
        self.sums_ = sums
        return self

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """log P(x, c) = log P(c) + log P(x|c) in nats, (n, C), columns as in ``classes_``.

        >>> import spamnb
        >>> X, y = [[2, 0, 1], [1, 1, 0], [0, 3, 0]], ["ham", "ham", "spam"]
        >>> model = spamnb.MultinomialNB(alpha=1).fit(X, y)
        >>> model.predict_joint_log_proba([[0, 1, 0]]).round(3)
        array([[-1.792, -1.504]])
        """
        return self.class_scores(self._check_X(X))


class GenerativeClassifier(SumClassifier):
    """A sum classifier that models P(x|c) in full, so that it can also draw from it."""

    def _sample(self, c: int, n: int, rng: np.random.Generator) -> np.ndarray:
        """n draws of x from class number ``c``, (n, V)."""
        raise NotImplementedError

    def sample(
        self, n: int = 1, random_state: int | np.random.Generator | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw n pairs from the fitted P(x, c): (X of shape (n, V), y of shape (n,)).

        >>> import spamnb
        >>> X, y = [[2, 0, 1], [1, 1, 0], [0, 3, 0]], ["ham", "ham", "spam"]
        >>> model = spamnb.MultinomialNB(alpha=1).fit(X, y)
        >>> rows, labels = model.sample(5, random_state=0)
        >>> rows.shape, labels.shape
        ((5, 3), (5,))
        """
        if not hasattr(self, "classes_"):
            raise not_fitted(self)
        rng = np.random.default_rng(random_state)
        codes = rng.choice(len(self.classes_), size=n, p=np.exp(self.class_log_prior_))
        drawn = [self._sample(c, int((codes == c).sum()), rng) for c in range(len(self.classes_))]
        X = np.empty((n, self.n_features_in_), dtype=np.result_type(*drawn))
        for c, rows in enumerate(drawn):
            X[codes == c] = rows
        return X, self.classes_[codes]
