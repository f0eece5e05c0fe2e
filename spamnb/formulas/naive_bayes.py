"""The formulas of naive Bayes: log-probabilities of tokens from counts, smoothed with pseudo-counts.

    multinomial  φ_jc = (T_jc + α) / (T_c + αV)        (N_jc for T_jc where only presence counts)
    Bernoulli    θ_jc = (N_jc + α) / (N_c + 2α)

T_jc is the count of token j in class c, T_c = Σ_j T_jc, V the number of different tokens; N_jc is the number of
documents of class c that have token j, N_c the number of its documents. All logarithms are natural.

The estimators, the mail models and the leave-one-out estimate all use these functions. The argument ``lengths`` says
which total belongs to each of the counts (…, k):

    without ``lengths``       totals (C,)     every count of class c has total c
    with ``lengths`` (m,)     totals (…, m)   the first lengths[0] counts have the first total, the next lengths[1] have
                                              the second, and so on: rows of a sparse matrix, or left-out documents
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


def for_each_count(per_total: np.ndarray, lengths: np.ndarray | None) -> np.ndarray:
    """Return values per total in a shape that broadcasts to the counts.

    >>> for_each_count(np.array([5, 7]), np.array([3, 1])).tolist(), for_each_count(np.array([5, 7]), None).tolist()
    ([5, 5, 5, 7], [[5], [7]])
    """
    return np.asarray(per_total)[..., None] if lengths is None else np.repeat(per_total, lengths, axis=-1)


def token_log_probability(
    sums: np.ndarray,
    totals: np.ndarray,
    total_alpha: float | np.ndarray,
    alpha: float | np.ndarray,
    lengths: np.ndarray | None = None,
) -> np.ndarray:
    """Return log φ_jc = log(T_jc + α) − log(T_c + αV), in nats, in the shape of ``sums``.

    ``sums`` contains T_jc of the requested tokens, ``totals`` T_c over all tokens, ``total_alpha`` is αV. The module's
    docstring describes ``lengths``.

    >>> token_log_probability(np.array([[3], [1]]), np.array([5, 3]), 6.0, 1.0).round(4).tolist()
    [[-1.0116], [-1.5041]]
    """
    return np.log(sums + alpha) - for_each_count(np.log(totals + total_alpha), lengths)


def token_log_odds(
    document_counts: np.ndarray, documents: np.ndarray, alpha: float | np.ndarray, lengths: np.ndarray | None = None
) -> np.ndarray:
    """Return log θ_jc/(1−θ_jc) = log(N_jc + α) − log(N_c − N_jc + α), in nats, in the shape of ``document_counts``.

    log P(x|c) is the sum of ``all_absent_log_probability`` and of these values of the tokens that are present.
    ``document_counts`` contains N_jc of the requested tokens, ``documents`` N_c. The module's docstring describes
    ``lengths``.

    >>> token_log_odds(np.array([[3], [1]]), np.array([3, 1]), 1.0).round(4).tolist()
    [[1.3863], [0.6931]]
    """
    return np.log(document_counts + alpha) - np.log(for_each_count(documents, lengths) - document_counts + alpha)


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

    ``histograms`` contains {N_jc: number of tokens with that count} for each class, so that a model of a million tokens
    needs some hundred numbers. It must count every token of the vocabulary, also those with N_jc = 0. A count above N_c
    is taken as N_c.

    >>> all_absent_log_probability([{0: 1, 3: 1}], np.array([3]), 1.0).round(4)  # ln 4/5 + ln 1/5
    array([-1.8326])
    """
    sums = []
    for histogram, n in zip(histograms, documents, strict=True):
        counts, tokens = np.array(list(histogram.items()), float).reshape(-1, 2).T
        sums.append(tokens @ token_absence_log_probability(np.minimum(counts, n), n, alpha))
    return np.array(sums)
