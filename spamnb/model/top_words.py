"""The likeliest words of each class, and the words with the highest mutual information."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spamnb.model.class_counts import ClassCounts, inverse_index
from spamnb.model.mutual_information import mutual_information_from_counts, strongest_class, top_columns
from spamnb.reader.tokens import TokenArray


class Word(NamedTuple):
    """A token, and the probability that a message of the class has it."""

    token: str
    value: float


class InformativeWord(NamedTuple):
    """A token, its mutual information with the class in bits, and what it speaks for: a class, or "not" and a class."""

    token: str
    value: float
    label: str


def words_of_text(counts: ClassCounts, tokens: TokenArray) -> tuple[ClassCounts, TokenArray]:
    """Select the words of the body and of the subject, which are also counted without the prefix ``subject:``.

    Other tokens have a prefix, and shapes of words with digits begin with a number sign (#x00r0 for X11R5).
    """
    columns_of_text = np.array(
        [j for j, token in enumerate(tokens) if ":" not in token and not token.startswith("#")], np.intp
    )
    counts = counts.reindex(inverse_index(columns_of_text, len(tokens)), len(columns_of_text))
    return counts, tokens.take(columns_of_text)


def top_words(
    counts: ClassCounts, tokens: Sequence[str], n: int = 10, alpha: float = 1.0
) -> tuple[dict[str, list[Word]], list[InformativeWord]]:
    """Return the n likeliest words of each class, and the n words with the highest mutual information in bits.

    The probability that a message of class c has word j is θ_jc = (N_jc + α)/(N_c + 2α). The label of an informative
    word is the class about which it says most, after "not" if it speaks against this class. With two classes it never
    does. A model of a single class has no informative words. ``tokens`` (V,) are the names of the columns.
    """
    likeliest = {}
    for c, (name, row) in enumerate(zip(counts.classes, counts.rows)):
        theta = np.full(counts.n_columns, float(alpha))
        theta[row.columns] += row.document_counts
        theta /= counts.documents[c] + 2 * alpha
        likeliest[name] = [Word(tokens[j], float(theta[j])) for j in top_columns(theta, n, tokens)]
    if len(counts.classes) < 2:
        return likeliest, []
    bits = mutual_information_from_counts(counts.document_counts, counts.documents, alpha)
    columns = top_columns(bits, n, tokens)
    thetas = (counts.document_counts[:, columns].toarray() + alpha) / (counts.documents[:, None] + 2 * alpha)
    best, is_for = strongest_class(thetas, counts.documents / counts.documents.sum())
    labels = [f"{'' if sign else 'not '}{counts.classes[c]}" for c, sign in zip(best.tolist(), is_for.tolist())]
    return likeliest, [InformativeWord(tokens[j], float(bits[j]), label) for j, label in zip(columns.tolist(), labels)]
