"""Complement naive Bayes: what speaks for a class is learned from all the other classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from spamnb.estimators.discrete import ColumnSums, DiscreteNB, LogWeights, of_columns, row_lengths, values
from spamnb.formulas.naive_bayes import token_log_probability


class ComplementNB(DiscreteNB):
    """score(c, x) = Σ_j x_j w_jc, w_jc = −log[(T_j − T_jc + α) / (T − T_c + αV)].

    T_jc is the sum of column j over the training rows of class c; T_j, T_c and T its sums over classes,
    columns and both. The class prior takes no part (unless there is a single class): these are scores of a
    rule, not log-probabilities of a model, so there is nothing to draw samples from. Logarithms are natural.

    Parameters
    ----------
    alpha : pseudo-count above 0, one for all columns or (V,)
    norm : divide the weights of a class by their sum (step 6 of Rennie et al.), w_jc / Σ_j w_jc
    class_prior : "mle", "dirichlet", "map", "uniform" or the probabilities (C,) themselves; None means "mle",
        or "uniform" where ``fit_prior`` is False
    prior_concentration : the Dirichlet's a of "dirichlet" and "map", one number or (C,)

    Attributes
    ----------
    classes_ (C,), class_count_ (C,), class_log_prior_ (C,) in nats, feature_count_ (C, V), feature_all_ (V,)
    T_j, feature_log_prob_ (C, V) w in nats (dense and made when asked for), n_features_in_, feature_names_in_
    where X was a data frame.

    X is (n, V), dense or sparse, not negative. ValueError for alpha ≤ 0, negative, missing or infinite values
    and for X of another width.

    Source: Rennie, Shih, Teevan and Karger 2003, Tackling the poor assumptions of naive Bayes text
    classifiers. Here Tokyo and Japan outweigh three times Chinese:

    >>> X = [[1, 2, 0, 0, 0, 0], [0, 2, 0, 0, 1, 0], [0, 1, 0, 1, 0, 0], [0, 1, 1, 0, 0, 1]]
    >>> model = ComplementNB().fit(X, ["yes", "yes", "yes", "no"])
    >>> np.exp(-model.feature_log_prob_[:, 1]).round(4).tolist()  # Chinese outside the class: 6/14 and 2/9
    [0.4286, 0.2222]
    >>> model.predict([[0, 3, 1, 0, 0, 1]])
    array(['no'], dtype='<U3')
    """

    def __init__(
        self,
        alpha: float | ArrayLike = 1.0,
        *,
        norm: bool = False,
        fit_prior: bool = True,
        class_prior: str | ArrayLike | None = None,
        prior_concentration: float | ArrayLike = 1.0,
    ) -> None:
        super().__init__(
            alpha, fit_prior=fit_prior, class_prior=class_prior, prior_concentration=prior_concentration
        )
        self.norm = norm

    def _derive_weights(self, sums: ColumnSums, alpha: np.ndarray) -> None:
        # Multinomial naive Bayes of the other classes: T_j − T_jc for T_jc, T − T_c for T_c. Where the class itself
        # holds none of a column, that is T_j: one value per column, log(T_j + α), and one per class.
        columns = sums.columns
        of_all = columns.sum(axis=0)
        elsewhere = of_columns(columns, of_all) - values(columns)
        # Sums of weights added in another order can take away more than there is, by rounding.
        totals = np.maximum(of_all.sum() - columns.sum(axis=1), 0)
        total_alpha = alpha.sum() if alpha.ndim else alpha * sums.n_features
        log_phi = token_log_probability(
            elsewhere, totals, total_alpha, of_columns(columns, alpha), row_lengths(columns)
        )
        self._weights_ = LogWeights.of(columns, log_phi, -np.log(totals + total_alpha), np.log(of_all + alpha))
        if self.norm and sums.n_features > 1:  # a lone column weighs log 1 = 0, with nothing to divide by
            self._scale_ = 1 / self._weights_.row_sums()
        else:
            self._scale_ = np.full(len(totals), -1.0)

    @property
    def feature_all_(self) -> np.ndarray:
        """T_j, the sum of every column over all training rows, (V,)."""
        return self.sums_.columns.sum(axis=0)

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """w_jc, (C, V), dense: made anew at every access."""
        return self._weights_.toarray() * self._scale_[:, None]

    def class_scores(self, X: Any) -> np.ndarray:
        # What every class has in common decides nothing, unless the classes scale it differently.
        return self._scores(X, common=self.norm)

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """The scores Σ_j x_j w_jc themselves, (n, C) in nats, columns as in ``classes_``.

        >>> import spamnb
        >>> model = spamnb.ComplementNB(alpha=1).fit([[2, 0], [0, 3]], ["a", "b"])
        >>> model.predict_joint_log_proba([[1, 0]]).round(3)
        array([[1.609, 0.288]])
        """
        return self._scores(self._check_X(X), common=True)

    def _scores(self, X: Any, common: bool) -> np.ndarray:
        scores = self._weights_.times(X, common) * self._scale_
        return scores + self.class_log_prior_ if len(self.classes_) == 1 else scores
