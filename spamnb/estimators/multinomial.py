"""Multinomial naive Bayes: a message is a number of draws from its class's urn of tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from spamnb.estimators.discrete import ColumnSums, DiscreteNB, LogWeights, of_columns, row_lengths, values
from spamnb.estimators.sum_classifier import GenerativeClassifier
from spamnb.formulas.class_sums import presence
from spamnb.formulas.naive_bayes import token_log_probability


class MultinomialNB(GenerativeClassifier, DiscreteNB):
    """log P(c, x) = log P(c) + Σ_j x_j log φ_jc, φ_jc = (T_jc + α) / (T_c + αV).

    T_jc is the sum of column j over the training rows of class c, T_c = Σ_j T_jc, V the number of columns;
    the multinomial coefficient, which is the same in every class, is left out. All logarithms are natural.

    Parameters
    ----------
    alpha : pseudo-count above 0, one for all columns or (V,)
    binary : count and score a column once a row, whatever its value: the Boolean multinomial, N_jc for T_jc
        (its samples are the columns drawn, so they do not lead back to φ)
    class_prior : "mle", "dirichlet", "map", "uniform" or the probabilities (C,) themselves; None means "mle",
        or "uniform" where ``fit_prior`` is False
    prior_concentration : the Dirichlet's a of "dirichlet" and "map", one number or (C,)

    Attributes
    ----------
    classes_ (C,), class_count_ (C,), class_log_prior_ (C,) in nats, feature_count_ (C, V),
    feature_log_prob_ (C, V) log φ in nats (the last two dense and made when asked for), n_features_in_,
    feature_names_in_ where X was a data frame.

    X is (n, V), dense or sparse, not negative; counts, but any weights will do. ValueError for alpha ≤ 0,
    negative, missing or infinite values and for X of another width.

    Source: McCallum and Nigam 1998; Manning, Raghavan and Schütze, Introduction to Information Retrieval,
    chapter 13, whose example this is (classes: about China, or not):

    >>> X = [[1, 2, 0, 0, 0, 0], [0, 2, 0, 0, 1, 0], [0, 1, 0, 1, 0, 0], [0, 1, 1, 0, 0, 1]]
    >>> model = MultinomialNB().fit(X, ["yes", "yes", "yes", "no"])
    >>> np.exp(model.feature_log_prob_[:, 1]).round(4).tolist()  # P(Chinese|c) = 2/9 and 6/14
    [0.2222, 0.4286]
    >>> np.exp(model.predict_joint_log_proba([[0, 3, 1, 0, 0, 1]])).round(4).tolist()
    [[0.0001, 0.0003]]
    """

    _counting = ("binary",)

    def __init__(
        self,
        alpha: float | ArrayLike = 1.0,
        *,
        binary: bool = False,
        fit_prior: bool = True,
        class_prior: str | ArrayLike | None = None,
        prior_concentration: float | ArrayLike = 1.0,
    ) -> None:
        super().__init__(
            alpha, fit_prior=fit_prior, class_prior=class_prior, prior_concentration=prior_concentration
        )
        self.binary = binary

    def _counted(self, X: Any) -> Any:
        """What counts of X: all of it, or where it is not zero."""
        if not self.binary:
            return X
        return (X != 0).astype(np.int8) if isinstance(X, np.ndarray) else presence(X)

    def _derive_weights(self, sums: ColumnSums, alpha: np.ndarray) -> None:
        columns, totals = sums.columns, sums.columns.sum(axis=1)
        total_alpha = alpha.sum() if alpha.ndim else alpha * sums.n_features
        log_phi = token_log_probability(
            values(columns), totals, total_alpha, of_columns(columns, alpha), row_lengths(columns)
        )
        # Where nothing was counted log φ_jc = log α_j − log(T_c + Σα): one value per column, one per class.
        if alpha.ndim:
            self._weights_ = LogWeights.of(columns, log_phi, -np.log(totals + total_alpha), np.log(alpha))
        else:
            unseen = token_log_probability(np.zeros((len(totals), 1)), totals, total_alpha, alpha)
            self._weights_ = LogWeights.of(columns, log_phi, unseen[:, 0])

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """log φ_jc in nats, (C, V), dense: made anew at every access."""
        return self._weights_.toarray()

    def class_scores(self, X: Any) -> np.ndarray:
        return self._weights_.times(self._counted(X)) + self.class_log_prior_

    def _sample(self, c: int, n: int, rng: np.random.Generator) -> np.ndarray:
        # The model says nothing of lengths. One length for all classes, the mean training row's, keeps it so
        # that a row's length tells nothing of its class (McCallum and Nigam 1998).
        sums = self.sums_
        length = max(1, round(float(sums.columns.sum() / (sums.documents.sum() or 1))))
        drawn = rng.multinomial(length, np.exp(self.feature_log_prob_[c]), size=n)
        return (drawn > 0).astype(drawn.dtype) if self.binary else drawn
