"""The words report as data: the likeliest words of each class beside those with the highest mutual information."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spamnb.counts.class_counts import ClassCounts
from spamnb.formulas.mutual_information import mutual_information, top_columns


class Word(NamedTuple):
    """A token and its value: a probability or bits."""

    token: str
    value: float


class TopWords(NamedTuple):
    """The words report: ``likeliest`` words of each class with θ_jc, the probability that a message of the
    class contains them, and the ``informative`` ones with their mutual information in bits."""

    likeliest: dict[str, list[Word]]
    informative: list[Word]


def top_words(counts: ClassCounts, tokens: Sequence[str], n: int = 10, alpha: float = 1.0) -> TopWords:
    """The n likeliest words of every class and the n with the highest mutual information.

    θ_jc = (N_jc + α)/(N_c + 2α) as in Bernoulli naive Bayes. ``tokens`` (V,) names the columns.

    >>> from scipy.sparse import csr_array
    >>> tokens = ["the", "pills", "lunch"]
    >>> X = csr_array([[1, 1, 0], [1, 0, 1], [1, 1, 0]])
    >>> report = top_words(ClassCounts.from_matrix(X, ["spam", "ham", "spam"]), tokens, n=1)
    >>> report.likeliest["spam"]
    [Word(token='pills', value=0.75)]
    >>> report.informative[0].token
    'lunch'
    """
    likeliest = {}
    for c, (name, row) in enumerate(zip(counts.classes, counts.rows)):
        theta = np.full(counts.vocabulary_size, float(alpha))
        theta[row.columns] += row.document_counts
        theta /= counts.documents[c] + 2 * alpha
        likeliest[name] = _table(theta, n, tokens)
    information = mutual_information(counts.document_counts, counts.documents, alpha)
    return TopWords(likeliest, _table(information, n, tokens))


def _table(values: np.ndarray, n: int, tokens: Sequence[str]) -> list[Word]:
    return [Word(tokens[j], float(values[j])) for j in top_columns(values, n, tokens)]
