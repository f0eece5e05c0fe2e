"""The formulas of naive Bayes: log-probabilities of tokens from the sums, smoothed with pseudo-counts.

    multinomial  φ_jc = (T_jc + α) / (T_c + αV)        (N_jc for T_jc where only presence counts)
    Bernoulli    θ_jc = (N_jc + α) / (N_c + 2α)

All logarithms are natural.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


def token_log_probability(
    sums: np.ndarray,
    totals: np.ndarray,
    vocabulary_size: int | np.ndarray,
    alpha: float,
    lengths: np.ndarray | None = None,
) -> np.ndarray:
    """log φ_jc = log(T_jc + α) − log(T_c + αV) of some columns, in nats.

    ``sums`` (C, k) holds T_jc of the columns asked for, ``totals`` T_c over all columns and ``vocabulary_size`` V:
    (C,) and a number, or (C, n) and (n,) where the first ``lengths[0]`` columns see other ones than the next do.

    >>> token_log_probability(np.array([[3], [1]]), np.array([5, 3]), 6, 1.0).round(4).tolist()
    [[-1.0116], [-1.5041]]
    """
    log_totals = np.log(np.reshape(totals, (len(totals), -1)) + alpha * vocabulary_size)
    return np.log(sums + alpha) - (log_totals if lengths is None else np.repeat(log_totals, lengths, axis=1))


def token_log_odds(document_counts: np.ndarray, documents: np.ndarray, alpha: float) -> np.ndarray:
    """log θ_jc/(1−θ_jc) = log(N_jc + α) − log(N_c − N_jc + α) of some columns, in nats.

    ``document_counts`` (C, k) holds N_jc of the columns asked for, ``documents`` (C,) N_c, or (C, k) where
    each column sees its own. Added for each token that is present to ``absent_log_probability``, it gives
    log P(x|c).

    >>> token_log_odds(np.array([[3], [1]]), np.array([3, 1]), 1.0).round(4).tolist()
    [[1.3863], [0.6931]]
    """
    documents = np.reshape(documents, (len(documents), -1))
    return np.log(document_counts + alpha) - np.log(documents - document_counts + alpha)


def absent_log_probability(
    histograms: Sequence[Mapping[int, int]], documents: np.ndarray, alpha: float
) -> np.ndarray:
    """Σ_j log(1−θ_jc) per class (C,), in nats: the log-probability of a message without any token.

    ``histograms`` holds for each class {N_jc: number of tokens with that count}, so that a model of a million
    tokens needs some hundred numbers; it must count every column of the vocabulary, those with N_jc = 0 too.

    >>> absent_log_probability([{0: 1, 3: 1}], np.array([3]), 1.0).round(4)  # ln 4/5 + ln 1/5
    array([-1.8326])
    """
    sums = []
    for histogram, n in zip(histograms, documents, strict=True):
        counts = np.fromiter(histogram.keys(), dtype=float, count=len(histogram))
        tokens = np.fromiter(histogram.values(), dtype=float, count=len(histogram))
        sums.append(tokens @ (np.log(n - counts + alpha) - np.log(n + 2 * alpha)))
    return np.array(sums)
