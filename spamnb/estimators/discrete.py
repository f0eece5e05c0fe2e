"""Naive Bayes of sums of columns (multinomial, Bernoulli) and of categories; mutual information of columns."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from spamnb.estimators.base import SumClassifier
from spamnb.estimators.validation import check_alpha, check_number
from spamnb.formulas.mutual_information import mutual_information_from_counts
from spamnb.formulas.naive_bayes import token_absence_log_probability, token_log_odds, token_log_probability
from spamnb.formulas.sums import ClassSums


@dataclass(eq=False, repr=False)
class DiscreteNB(SumClassifier):
    """A model whose scores are Σ_j x_j w_jc plus a constant, with weights from ``ClassSums``.

    α = 0 is the maximum-likelihood estimate: a value that no training row of a class has gives that class the
    probability 0, and a row that is impossible in all classes has no posterior (0/0, NaN). A UserWarning says so.
    """

    alpha: float | ArrayLike = 1.0

    _nonnegative = True
    _poor_score = True

    def _sums(self, X: Any, codes: np.ndarray, n_classes: int, weight: np.ndarray | None, like: Any) -> ClassSums:
        return ClassSums.from_rows(self._counted(X), codes, n_classes, weight, None)

    def _counted(self, X: Any) -> Any:
        """Return the rows that are counted and scored."""
        return X

    def _derive(self, sums: ClassSums) -> None:
        log_prior = self._class_log_prior(sums.documents)
        alpha = check_alpha(self, sums.n_features)
        with np.errstate(divide="ignore", invalid="ignore"):  # log 0, and 0/0 of a class without rows
            weights, absent = self._class_weights(sums, alpha)
        weights = np.ascontiguousarray(weights.T)  # (V, C), as a product with rows of X reads them
        constant, limits = absent.sum(axis=1) if isinstance(absent, np.ndarray) else absent, None
        if not alpha.all() and not np.isfinite(weights).all():
            constant, limits = self._without_infinity(sums, weights, absent)
        self._weights_, self._constant_, self._limits_, self.class_log_prior_ = weights, constant, limits, log_prior

    def _class_weights(self, sums: Any, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray | float]:
        """Return the weights w_jc (C, V), and the term of each column without its weight, (C, V) or 0.0; nats."""
        raise NotImplementedError

    def _without_infinity(self, sums: ClassSums, weights: np.ndarray, absent: np.ndarray | float) -> tuple[Any, Any]:
        """Return the constant (C,) without its infinite terms, and three arrays that take the place of the weights.

        These are finite weights (V, C); 1 for a column that makes a row impossible if it is above 0, and −1 if it is
        0, (V, C); and the number of the latter (C,).
        """
        warnings.warn(
            f"{type(self).__name__}: with alpha=0 a class has probability 0 where a value was in none, or in all, of "
            "its training rows; alpha=1 is Laplace's smoothing",
            UserWarning,
            stacklevel=6,
        )
        always = weights == np.inf  # θ = 1
        never = ~np.isfinite(weights) & ~always
        constant = np.where(never.T | always.T, 0.0, absent).sum(axis=1)
        constant = np.where(sums.documents > 0, constant, -np.inf)  # of no rows nothing is likely
        finite = np.where(never | always, 0.0, weights)
        return constant, (finite, never.astype(float) - always, always.sum(axis=0))

    @property
    def feature_count_(self) -> np.ndarray:
        """Sum of the training rows of each class: array of shape (n_classes, n_features)."""
        return self.sums_.columns

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """Weights w_jc in nats: array of shape (n_classes, n_features)."""
        return self._weights_.T

    def _scores(self, X: Any) -> np.ndarray:
        # scipy multiplies integers by floats too, but five times slower.
        X = self._counted(X).astype(float, copy=False)
        constant = self.class_log_prior_ + self._constant_
        if self._limits_ is None:
            return X @ self._weights_ + constant
        finite, limit, always = self._limits_
        scores = X @ finite + constant
        scores[X @ limit + always > 0] = -np.inf
        return scores


@dataclass(eq=False, repr=False)
class MultinomialNB(DiscreteNB):
    """Naive Bayes of counts, such as those of words.

    X is dense or sparse and not negative: counts, but any weights will do.

    Parameters
    ----------
    alpha : float or array of shape (n_features,), default=1.0
        Pseudo-count; 0 is the maximum-likelihood estimate, which warns.
    fit_prior : bool, default=True
        Whether ``class_prior=None`` means "mle", the share of the training rows, and not "uniform".
    class_prior : str or array of shape (n_classes,), default=None
        "mle", "dirichlet", "map", "uniform", or the probabilities of the classes.
    prior_concentration : float or array of shape (n_classes,), default=1.0
        The Dirichlet's parameter a of "dirichlet" and "map".
    binary : bool, default=False
        Whether a column counts once a row, whatever its value: the Boolean multinomial, with N_jc for T_jc.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Classes, ascending.
    class_log_prior_ : array of shape (n_classes,)
        log P(c), in nats.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns, if X was a data frame.

    See Also
    --------
    BernoulliNB : Absent columns are evidence too.

    Notes
    -----
    log P(c, x) = log P(c) + Σ_j x_j log φ_jc with φ_jc = (T_jc + α) / (T_c + αV). T_jc is the sum of column j over the
    training rows of class c, T_c = Σ_j T_jc, V the number of columns. The multinomial coefficient, which is the same in
    every class, is left out. All logarithms are natural.

    Source: McCallum and Nigam 1998; Manning, Raghavan and Schütze, Introduction to Information Retrieval, chapter 13.

    Examples
    --------
    The example of that chapter; the classes are "about China" and not:

    >>> X = [[1, 2, 0, 0, 0, 0], [0, 2, 0, 0, 1, 0], [0, 1, 0, 1, 0, 0], [0, 1, 1, 0, 0, 1]]
    >>> model = MultinomialNB().fit(X, ["yes", "yes", "yes", "no"])
    >>> np.exp(model.feature_log_prob_[:, 1]).round(4).tolist()  # P(Chinese|c) = 2/9 and 6/14
    [0.2222, 0.4286]
    >>> np.exp(model.predict_joint_log_proba([[0, 3, 1, 0, 0, 1]])).round(4).tolist()
    [[0.0001, 0.0003]]
    """

    _: KW_ONLY
    binary: bool = False

    def _counted(self, X: Any) -> Any:
        return (X != 0).astype(np.int8) if self.binary else X

    def _class_weights(self, sums: ClassSums, alpha: np.ndarray) -> tuple[np.ndarray, float]:
        of_all = alpha.sum() if alpha.ndim else alpha * sums.n_features
        return token_log_probability(sums.columns, sums.columns.sum(axis=1), of_all, alpha), 0.0

    def _draw(self, c: int, n: int, rng: np.random.Generator) -> np.ndarray:
        mean_length = self.sums_.columns[c].sum() / (self.sums_.documents[c] or 1)
        probability = np.exp(self._weights_[:, c])
        return self._counted(rng.multinomial(round(mean_length), probability / probability.sum(), n))


@dataclass(eq=False, repr=False)
class BernoulliNB(DiscreteNB):
    """Naive Bayes of presence and absence.

    X is dense or sparse.

    Parameters
    ----------
    alpha : float or array of shape (n_features,), default=1.0
        Pseudo-count; 0 is the maximum-likelihood estimate, which warns.
    fit_prior : bool, default=True
        Whether ``class_prior=None`` means "mle", the share of the training rows, and not "uniform".
    class_prior : str or array of shape (n_classes,), default=None
        "mle", "dirichlet", "map", "uniform", or the probabilities of the classes.
    prior_concentration : float or array of shape (n_classes,), default=1.0
        The Dirichlet's parameter a of "dirichlet" and "map".
    binarize : float, default=0.0
        Threshold of at least 0: x_j is 1 if the value is above it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Classes, ascending.
    class_log_prior_ : array of shape (n_classes,)
        log P(c), in nats.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns, if X was a data frame.

    See Also
    --------
    MultinomialNB : Counts instead of presence.
    mutual_information : What each column tells about the class.

    Notes
    -----
    log P(c, x) = log P(c) + Σ_j [x_j log θ_jc + (1−x_j) log(1−θ_jc)] with θ_jc = (N_jc + α) / (N_c + 2α). N_jc is the
    number of training rows of class c in which column j is above ``binarize``, N_c that of all its rows. All logarithms
    are natural.

    Source: McCallum and Nigam 1998; Murphy, Machine Learning, section 3.5.

    Examples
    --------
    Manning, Raghavan and Schütze, Introduction to Information Retrieval, section 13.3:

    >>> X = [[1, 1, 0, 0, 0, 0], [0, 1, 0, 0, 1, 0], [0, 1, 0, 1, 0, 0], [0, 1, 1, 0, 0, 1]]
    >>> model = BernoulliNB().fit(X, ["yes", "yes", "yes", "no"])
    >>> np.exp(model.feature_log_prob_[:, 1]).round(4).tolist()  # P(Chinese|c) = 2/3 and 4/5
    [0.6667, 0.8]
    >>> np.exp(model.predict_joint_log_proba([[0, 1, 1, 0, 0, 1]])).round(3).tolist()
    [[0.022, 0.005]]
    """

    _: KW_ONLY
    binarize: float = 0.0

    _nonnegative = False  # the threshold makes 0 of them

    def _counted(self, X: Any) -> Any:
        check_number(self, "binarize", zero=True)
        return (self.binarize < X).astype(np.int8)

    def _class_weights(self, sums: ClassSums, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # Sums of weights added in another order can exceed N_c, by rounding alone.
        present = np.minimum(sums.columns, sums.documents[:, None])
        absent = token_absence_log_probability(present, sums.documents, alpha)
        return token_log_odds(present, sums.documents, alpha), absent

    def _draw(self, c: int, n: int, rng: np.random.Generator) -> np.ndarray:
        return (rng.random((n, self.n_features_in_)) < np.exp(self.feature_log_prob_[c])).astype(np.int8)

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """Return log θ_jc in nats: array of shape (n_classes, n_features)."""
        return -np.logaddexp(0, -self._weights_.T)


def mutual_information(X: Any, y: ArrayLike, alpha: float = 1.0) -> np.ndarray:
    """Return the mutual information of each column's presence with the class.

    scikit-learn's ``SelectKBest(spamnb.mutual_information)`` takes the best columns.

    Parameters
    ----------
    X : array or sparse array of shape (n_samples, n_features)
        Rows; a column is present in a row if its value is above 0.
    y : array of shape (n_samples,)
        Classes.
    alpha : float, default=1.0
        Pseudo-count. 0 gives the empirical mutual information: scikit-learn's ``mutual_info_classif`` divided by ln 2.

    Returns
    -------
    array of shape (n_features,)
        Mutual information in bits.

    Raises
    ------
    ValueError
        If X and y do not fit together, or α is below 0.

    See Also
    --------
    WordsDisplay : The words with the highest mutual information as bars.

    Notes
    -----
    I_j = Σ_c π_c [θ_jc log₂(θ_jc/θ_j) + (1−θ_jc) log₂((1−θ_jc)/(1−θ_j))] with θ_jc = (N_jc + α)/(N_c + 2α), π_c = N_c/N
    and θ_j = Σ_c π_c θ_jc. Source: Murphy, Machine Learning, section 3.5.4.

    Examples
    --------
    >>> mutual_information([[1, 1], [1, 0], [0, 1], [0, 0]], [1, 1, 2, 2], alpha=0).tolist()
    [1.0, 0.0]
    """
    sums = BernoulliNB().fit(X, y).sums_
    return mutual_information_from_counts(sums.columns, sums.documents, alpha)


@dataclass(eq=False, repr=False)
class CategoricalNB(DiscreteNB):
    """Naive Bayes of categories.

    X holds category numbers from 0 to 2³¹ − 1; fractions are cut off. Sparse X takes the memory of dense X.

    Parameters
    ----------
    alpha : float or array of shape (n_features,), default=1.0
        Pseudo-count; 0 is the maximum-likelihood estimate, which warns.
    fit_prior : bool, default=True
        Whether ``class_prior=None`` means "mle", the share of the training rows, and not "uniform".
    class_prior : str or array of shape (n_classes,), default=None
        "mle", "dirichlet", "map", "uniform", or the probabilities of the classes.
    prior_concentration : float or array of shape (n_classes,), default=1.0
        The Dirichlet's parameter a of "dirichlet" and "map".
    min_categories : int or array of shape (n_features,), default=None
        The least number K_j of categories of a column, at least 1. None counts those of the first rows. Later rows with
        a category of K_j or more raise ValueError.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Classes, ascending.
    class_log_prior_ : array of shape (n_classes,)
        log P(c), in nats.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns, if X was a data frame.

    See Also
    --------
    BernoulliNB : Two categories a column.

    Notes
    -----
    log P(c, x) = log P(c) + Σ_j log φ_jc(x_j) with φ_jc(k) = (N_jkc + α) / (N_c + α K_j). N_jkc is the number of
    training rows of class c whose column j holds category k. K_j is one more than the highest number in the rows of
    ``fit`` or of the first ``partial_fit``, or ``min_categories`` if that is more. All logarithms are natural.

    Source: Murphy, Machine Learning, section 3.5; the Dirichlet-categorical model of its section 3.4.

    Examples
    --------
    >>> model = CategoricalNB().fit([[0, 2], [1, 2], [1, 0]], ["a", "a", "b"])
    >>> [np.exp(column).round(2).tolist() for column in model.feature_log_prob_]
    [[[0.5, 0.5], [0.33, 0.67]], [[0.2, 0.2, 0.6], [0.5, 0.25, 0.25]]]
    >>> model.predict([[0, 2], [1, 0]])
    array(['a', 'b'], dtype='<U1')
    """

    _integer = True

    _: KW_ONLY
    min_categories: int | ArrayLike | None = None

    def _sums(self, X: Any, codes: np.ndarray, n_classes: int, weight: np.ndarray | None, like: Any) -> ClassSums:
        categories = self._categories(X) if like is None else like.categories
        return ClassSums.from_rows(_indicators(X, categories), codes, n_classes, weight, categories)

    def _categories(self, X: np.ndarray) -> np.ndarray:
        """Return K_j (V,) of the first rows."""
        n, least = X.shape[1], np.asarray(1 if self.min_categories is None else self.min_categories)
        if least.dtype.kind not in "iu" or least.shape not in ((), (n,)) or (least < 1).any():
            raise ValueError(f"min_categories is {least!r:.60}: give a whole number above 0, or {n} of them")
        return np.maximum(X.max(axis=0) + 1, least)

    def _class_weights(self, sums: Any, alpha: np.ndarray) -> tuple[np.ndarray, float]:
        totals = sums.documents[:, None] + alpha * sums.categories
        each = np.repeat(np.broadcast_to(alpha, sums.n_features), sums.categories)
        return token_log_probability(sums.columns, totals, 0.0, each, sums.categories), 0.0

    def _draw(self, c: int, n: int, rng: np.random.Generator) -> np.ndarray:
        columns = [np.exp(column[c]) for column in self.feature_log_prob_]
        return np.column_stack([rng.choice(len(p), n, p=p / p.sum()) for p in columns])

    @property
    def n_categories_(self) -> np.ndarray:
        """Number of categories K_j of each column: array of shape (n_features,)."""
        return self.sums_.categories

    def _by_column(self, cells: np.ndarray) -> list[np.ndarray]:
        """Split cells (C, ΣK) into one array (C, K_j) a column."""
        return np.split(cells, np.cumsum(self.n_categories_)[:-1], axis=1)

    @property
    def category_count_(self) -> list[np.ndarray]:
        """N_jkc: of each column an array of shape (n_classes, K_j)."""
        return self._by_column(self.sums_.columns)

    @property
    def feature_log_prob_(self) -> list[np.ndarray]:  # type: ignore[override]
        """Return log φ_jc(k) in nats: of each column an array of shape (n_classes, K_j)."""
        return self._by_column(self._weights_.T)

    def _counted(self, X: Any) -> Any:
        return _indicators(X, self.n_categories_)


def _indicators(X: np.ndarray, categories: np.ndarray) -> Any:
    """Return X (n, V) as sparse rows (n, ΣK) of zeros and ones over the categories of all columns.

    ValueError names a category that is none of these. The product of these rows with log φ takes 14 ms for
    20,000 × 100 and two classes; adding up column by column took 35.
    """
    from scipy.sparse import csr_array

    for row, column in np.argwhere(categories <= X)[:1]:
        raise ValueError(
            f"column {column} holds category {X[row, column]}, but the first rows had none above "
            f"{categories[column] - 1}: give min_categories when fitting"
        )
    cells = (X + (np.cumsum(categories) - categories)).ravel()
    ends = np.arange(0, X.size + 1, X.shape[1])
    return csr_array((np.ones(X.size, np.int8), cells, ends), shape=(len(X), int(categories.sum())))
