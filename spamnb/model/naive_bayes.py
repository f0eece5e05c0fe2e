"""The formulas of naive Bayes: log-probabilities of tokens from counts, smoothed with pseudo-counts.

    multinomial  φ_jc = (T_jc + α) / (T_c + αV)        (boolean models have N_jc in place of T_jc)
    Bernoulli    θ_jc = (N_jc + α) / (N_c + 2α)

T_jc is the count of token j in class c, T_c = Σ_j T_jc, and V the number of different tokens. N_c is the number of
documents of class c, and N_jc the number of documents of class c that have token j. All logarithms are natural.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


def token_log_probability(
    sums: np.ndarray, totals: np.ndarray, total_alpha: float | np.ndarray, alpha: float | np.ndarray
) -> np.ndarray:
    """Return log φ_jc = log(T_jc + α) − log(T_c + αV), in nats, in the shape of ``sums``.

    ``sums`` (C, k) contains T_jc of k tokens, ``totals`` (C,) T_c over all tokens, and ``total_alpha`` is αV.

    >>> token_log_probability(np.array([[3], [1]]), np.array([5, 3]), 6.0, 1.0).round(4).tolist()
    [[-1.0116], [-1.5041]]
    """
    return np.log(sums + alpha) - np.log(totals + total_alpha)[:, None]


def token_log_odds(document_counts: np.ndarray, documents: np.ndarray, alpha: float | np.ndarray) -> np.ndarray:
    """Return log θ_jc/(1−θ_jc) = log(N_jc + α) − log(N_c − N_jc + α), in nats, in the shape of ``document_counts``.

    log P(x|c) is the sum of ``all_absent_log_probability`` and of these values of the tokens that are present.
    ``document_counts`` (C, k) contains N_jc of k tokens, and ``documents`` (C,) contains N_c.

    >>> token_log_odds(np.array([[3], [1]]), np.array([3, 1]), 1.0).round(4).tolist()
    [[1.3863], [0.6931]]
    """
    return np.log(document_counts + alpha) - np.log(documents[:, None] - document_counts + alpha)


def token_absence_log_probability(
    document_counts: np.ndarray, documents: np.ndarray, alpha: float | np.ndarray
) -> np.ndarray:
    """Return log(1−θ_jc) = log(N_c − N_jc + α) − log(N_c + 2α), in nats, in the shape of ``document_counts``.

    >>> np.exp(token_absence_log_probability(np.array([[3], [0]]), np.array([3, 1]), 1.0)).round(4).tolist()
    [[0.2], [0.6667]]
    """
    documents = np.asarray(documents)[..., None]
    return np.log(documents - document_counts + alpha) - np.log(documents + 2 * alpha)


def all_absent_log_probability(
    histograms: Sequence[Mapping[int, int]], documents: np.ndarray, alpha: float
) -> np.ndarray:
    """Return Σ_j log(1−θ_jc) per class (C,), in nats: the log-probability of a document without any token.

    ``histograms`` contains {N_jc: number of tokens with this count} for each class, also for N_jc = 0. A count above
    N_c is taken as N_c.

    >>> all_absent_log_probability([{0: 1, 3: 1}], np.array([3]), 1.0).round(4)  # ln 4/5 + ln 1/5
    array([-1.8326])
    """
    sums = []
    for histogram, n in zip(histograms, documents, strict=True):
        counts, tokens = np.array(list(histogram.items()), float).reshape(-1, 2).T
        sums.append(tokens @ token_absence_log_probability(np.minimum(counts, n), n, alpha))
    return np.array(sums)
