"""The Dirichlet distribution of probabilities, which for two probabilities is the Beta distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from spamnb.estimators.validation import check_whole


class Dirichlet:
    """The Dirichlet distribution of the probabilities π of C classes, or of the faces of a die.

    Parameters
    ----------
    alpha : array of shape (n_classes,)
        Parameters above 0, of at least two classes. In a prior they are pseudo-counts.

    Raises
    ------
    ValueError
        If a parameter is not a finite number above 0.

    See Also
    --------
    MultinomialNB : Its ``class_prior="dirichlet"`` is the mean of this posterior, "map" its mode.

    Notes
    -----
    Density of the class probabilities π:

        p(π) ∝ Π_c π_c^(α_c − 1)

    After N_c observations of each class the posterior is Dirichlet(α + N). The marginal of
    π_c is Beta(α_c, Σα − α_c).

    Examples
    --------
    A coin that shows heads four times, under two priors:

    >>> coin = Dirichlet([1, 1]).posterior([4, 0])
    >>> coin, coin.mean.round(4).tolist(), coin.mode.tolist()
    (Dirichlet([5.0, 1.0]), [0.8333, 0.1667], [1.0, 0.0])
    >>> Dirichlet([2, 2]).posterior([4, 0]).mode.round(4).tolist()
    [0.8333, 0.1667]
    >>> Dirichlet([2, 3, 5]).marginal(0), Dirichlet([2, 3, 5]).variance.round(4).tolist()
    (Dirichlet([2.0, 8.0]), [0.0145, 0.0191, 0.0227])
    """

    def __init__(self, alpha: ArrayLike) -> None:
        self.alpha = np.array(alpha, dtype=float)
        if self.alpha.ndim != 1 or len(self.alpha) < 2 or not ((self.alpha > 0) & (self.alpha < np.inf)).all():
            raise ValueError(f"alpha is {alpha!r:.60}: give two or more finite numbers above 0")

    def __repr__(self) -> str:
        return f"Dirichlet({self.alpha.tolist()})"

    @property
    def mean(self) -> np.ndarray:
        """Mean α_c / Σα: array of shape (n_classes,)."""
        return self.alpha / self.alpha.sum()

    @property
    def mode(self) -> np.ndarray:
        """Mode (α_c − 1) / (Σα − C): array of shape (n_classes,). ValueError if there is none or more than one."""
        if (self.alpha < 1).any() or (self.alpha == 1).all():
            raise ValueError(f"{self!r} has no single mode: all parameters must be at least 1, and one above 1")
        return (self.alpha - 1) / (self.alpha - 1).sum()

    @property
    def variance(self) -> np.ndarray:
        """Variance of each probability: array of shape (n_classes,)."""
        return self.mean * (1 - self.mean) / (self.alpha.sum() + 1)

    def posterior(self, counts: ArrayLike) -> Dirichlet:
        """Return the distribution after observations: α + N.

        Parameters
        ----------
        counts : array of shape (n_classes,)
            Number N_c of observations of each class, such as the ``class_count_`` of a model.

        Returns
        -------
        Dirichlet
            Posterior.

        Raises
        ------
        ValueError
            If there are more or fewer classes, or if a count is negative.
        """
        numbers = np.asarray(counts, dtype=float)
        if numbers.shape != self.alpha.shape or not (numbers >= 0).all():
            raise ValueError(f"counts is {counts!r:.60}: give {len(self.alpha)} numbers, at least 0")
        return Dirichlet(self.alpha + numbers)

    def marginal(self, number: int) -> Dirichlet:
        """Return the distribution of one probability and of the sum of all others, Beta(α_c, Σα − α_c).

        Parameters
        ----------
        number : int
            Number c of the class, from 0 on.

        Returns
        -------
        Dirichlet
            Distribution of (π_c, 1 − π_c).
        """
        return Dirichlet([self.alpha[number], np.delete(self.alpha, number).sum()])

    def log_density(self, probabilities: ArrayLike) -> np.ndarray:
        """Return log p(π).

        Parameters
        ----------
        probabilities : array of shape (n_classes,) or (n, n_classes)
            Probabilities π, each row with the sum 1.

        Returns
        -------
        array of shape () or (n,)
            Logarithms of the density, in nats.

        Examples
        --------
        >>> float(np.exp(Dirichlet([2, 2]).log_density([0.5, 0.5])).round(6))
        1.5
        """
        from scipy.special import gammaln, xlogy

        p = np.asarray(probabilities, dtype=float)
        constant = gammaln(self.alpha.sum()) - gammaln(self.alpha).sum()
        return constant + xlogy(self.alpha - 1, p).sum(axis=-1)

    def sample(self, n: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw probabilities.

        Parameters
        ----------
        n : int, default=1
            Number of rows.
        random_state : int or numpy.random.Generator, default=None
            Seed. None draws others in each call.

        Returns
        -------
        array of shape (n, n_classes)
            Probabilities, each row with the sum 1.

        Examples
        --------
        >>> Dirichlet([2, 8]).sample(1000, random_state=0).mean(axis=0).round(1).tolist()
        [0.2, 0.8]
        """
        check_whole("n", n, 0)
        return np.random.default_rng(random_state).dirichlet(self.alpha, n)
