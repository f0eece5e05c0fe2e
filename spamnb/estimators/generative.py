"""Models of the rows of each class: densities, other priors of the classes, and rows that are drawn."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from spamnb.estimators.base import SumClassifier, check_fitted, class_codes
from spamnb.estimators.validation import check_whole


class GenerativeClassifier(SumClassifier):
    """A model of the rows of each class, P(x|c), and of the classes, P(c).

    Examples
    --------
    >>> import spamnb
    >>> model = spamnb.BernoulliNB().fit([[1], [0]], ["spam", "ham"])
    >>> model.sample(2, random_state=3)[1].tolist()
    ['ham', 'ham']
    """

    def with_class_prior(self, class_prior: str | ArrayLike) -> Self:
        """Return a model of the same rows with another prior of the classes, without another ``fit``.

        Use it if the classes of future rows have other shares than those of the training rows.

        Parameters
        ----------
        class_prior : str or array of shape (n_classes,)
            The prior, as the parameter of this name.

        Returns
        -------
        Self
            A new model.

        Examples
        --------
        >>> import spamnb
        >>> model = spamnb.BernoulliNB().fit([[1], [0], [0], [0]], ["spam", "ham", "ham", "ham"])
        >>> model.predict_proba([[1]]).round(2), model.with_class_prior([0.5, 0.5]).predict_proba([[1]]).round(2)
        (array([[0.47, 0.53]]), array([[0.23, 0.77]]))
        """
        check_fitted(self)
        model = copy(self)
        model.class_prior = class_prior
        return model._set_sums(self.sums_)

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
        check_fitted(self)
        check_whole("n", n, 0)
        rng, priors = np.random.default_rng(random_state), self.class_prior_
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
            Log-probabilities in nats, columns as in ``classes_``. For counts the multinomial coefficient is left out,
            as in scikit-learn.
        """
        return self._joint(self._check_X(X))

    def _joint(self, X: Any) -> np.ndarray:
        return self._scores(X)

    def _log_coefficient(self, X: Any) -> np.ndarray | float:
        """Return the part of log P(x|c) that ``_joint`` leaves out, (n,) or 0."""
        return 0.0

    def score_samples(self, X: Any) -> np.ndarray:
        """Return log p(x) of every row: p(x) = Σ_c P(c) P(x|c), the mixture of the classes.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples,)
            Logarithms in nats of the probability, or of the density, of each row. For counts it is the probability of
            the counts among all rows of this sum, multinomial coefficient included.

        Examples
        --------
        >>> import numpy as np, spamnb
        >>> model = spamnb.GaussianNB().fit([[1.0], [2.0], [7.0], [9.0]], ["low", "low", "high", "high"])
        >>> np.exp(model.score_samples([[1.5], [5.0], [8.0]])).round(3).tolist()  # nothing lies at 5
        [0.399, 0.002, 0.199]
        """
        X = self._check_X(X)
        return np.logaddexp.reduce(self._joint(X), axis=1) + self._log_coefficient(X)

    def log_likelihood(self, X: Any, y: ArrayLike) -> float:
        """Return Σ_n log P(x_n, y_n), the log-likelihood of rows and their classes.

        The maximum-likelihood parameters (``alpha=0``, ``class_prior="mle"``) maximise it on the training rows.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,)
            Their classes.

        Returns
        -------
        float
            Log-likelihood in nats.

        Examples
        --------
        >>> import numpy as np, spamnb
        >>> X, y = [[1, 0], [1, 1], [0, 1], [0, 1]], ["a", "a", "a", "b"]
        >>> model = spamnb.BernoulliNB().fit(X, y)
        >>> round(model.log_likelihood(X, y), 3)
        -6.936
        """
        check_fitted(self)
        X, y, _ = self._check_training(X, y, None, first=False)
        codes = class_codes(y, self.classes_)
        return float((self._joint(X)[np.arange(len(y)), codes] + self._log_coefficient(X)).sum())
