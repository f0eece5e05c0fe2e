"""Multivariate Bernoulli naive Bayes: every column of the vocabulary is present or absent, and both are evidence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from spamnb.estimators.discrete import ColumnSums, DiscreteNB, LogWeights, filled, row_lengths, values
from spamnb.estimators.sum_classifier import GenerativeClassifier
from spamnb.formulas.naive_bayes import (
    for_each_count,
    token_absence_log_probability,
    token_log_odds,
    token_log_probability,
)


class BernoulliNB(GenerativeClassifier, DiscreteNB):
    """log P(c, x) = log P(c) + Σ_j [x_j log θ_jc + (1−x_j) log(1−θ_jc)], θ_jc = (N_jc + α) / (N_c + 2α).

    N_jc is the number of training rows of class c in which column j is above ``binarize``, N_c that of all
    its rows. All logarithms are natural.

    Parameters
    ----------
    alpha : pseudo-count above 0
    binarize : x_j is 1 where the value is above this threshold ≥ 0; None: X holds zeros and ones already
    class_prior : "mle", "dirichlet", "map", "uniform" or the probabilities (C,) themselves; None means "mle",
        or "uniform" where ``fit_prior`` is False
    prior_concentration : the Dirichlet's a of "dirichlet" and "map", one number or (C,)

    Attributes
    ----------
    classes_ (C,), class_count_ (C,), class_log_prior_ (C,) in nats, feature_count_ (C, V),
    feature_log_prob_ (C, V) log θ in nats (the last two dense and made when asked for), n_features_in_,
    feature_names_in_ where X was a data frame.

    X is (n, V), dense or sparse. ValueError for alpha ≤ 0, missing or infinite values, X of another width,
    and, with ``binarize=None``, for values other than 0 and 1.

    Source: McCallum and Nigam 1998; Murphy, Machine Learning, section 3.5; the example is that of Manning,
    Raghavan and Schütze, Introduction to Information Retrieval, section 13.3:

    >>> X = [[1, 1, 0, 0, 0, 0], [0, 1, 0, 0, 1, 0], [0, 1, 0, 1, 0, 0], [0, 1, 1, 0, 0, 1]]
    >>> model = BernoulliNB().fit(X, ["yes", "yes", "yes", "no"])
    >>> np.exp(model.feature_log_prob_[:, 1]).round(4).tolist()  # P(Chinese|c) = 2/3 and 4/5
    [0.6667, 0.8]
    >>> np.exp(model.predict_joint_log_proba([[0, 1, 1, 0, 0, 1]])).round(3).tolist()
    [[0.022, 0.005]]
    """

    _nonnegative = False  # the threshold makes 0 of them
    _alpha_per_column = False
    _counting = ("binarize",)

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: str | ArrayLike | None = None,
        prior_concentration: float | ArrayLike = 1.0,
    ) -> None:
        super().__init__(
            alpha, fit_prior=fit_prior, class_prior=class_prior, prior_concentration=prior_concentration
        )
        self.binarize = binarize

    def _counted(self, X: Any) -> Any:
        """X as zeros and ones, sparse where X is."""
        cells = values(X)
        if self.binarize is None:
            if not ((cells == 0) | (cells == 1)).all():
                raise ValueError("binarize=None needs X of zeros and ones: set binarize to a threshold")
            above = cells
        elif not self.binarize >= 0:
            raise ValueError(f"binarize must be None or a threshold of at least 0, got {self.binarize!r}")
        else:
            above = cells > self.binarize
        ones = filled(X, above.astype(np.int8))
        if isinstance(ones, np.ndarray) or above.all():
            return ones
        ones = ones.copy()  # before dropping cells: the structure is the caller's
        ones.eliminate_zeros()
        return ones

    def _derive_weights(self, sums: ColumnSums, alpha: np.ndarray) -> None:
        columns, documents, lengths = sums.columns, sums.documents, row_lengths(sums.columns)
        present = values(columns)
        if present.dtype.kind == "f":  # sums of weights added in another order can exceed N_c, by rounding alone
            present = np.minimum(present, for_each_count(documents, lengths))
        log_theta = token_log_probability(present, documents, 2 * alpha, alpha, lengths)
        log_absence = token_absence_log_probability(present, documents, alpha, lengths)
        never = np.zeros((len(documents), 1))  # N_jc of a column that the class does not hold: the baseline
        self._weights_ = LogWeights.of(
            columns, log_theta - log_absence, token_log_odds(never, documents, alpha)[:, 0]
        )
        absence_of_never = token_absence_log_probability(never, documents, alpha)[:, 0]
        n_never = 0 if lengths is None else sums.n_features - lengths
        self._log_absent_ = filled(columns, log_absence).sum(axis=1) + n_never * absence_of_never
        self._smoothing_ = alpha

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """log θ_jc in nats, (C, V), dense: made anew at every access."""
        return token_log_probability(self.feature_count_, self.sums_.documents, 2 * self._smoothing_, self._smoothing_)

    def class_scores(self, X: Any) -> np.ndarray:
        return self._weights_.times(self._counted(X)) + self._log_absent_ + self.class_log_prior_

    def _sample(self, c: int, n: int, rng: np.random.Generator) -> np.ndarray:
        theta = np.exp(self.feature_log_prob_[c])
        return (rng.random((n, len(theta))) < theta).astype(np.int64)
