"""The likeliest words of each class, and the words with the highest mutual information."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

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


def words_of_text(tokens: TokenArray) -> np.ndarray:
    """Return the positions of the words of the body and of the subject, which also count without ``subject:``.

    Other tokens have a prefix, and shapes of words with digits begin with a number sign (#x00r0 for X11R5).
    """
    return np.array([j for j, token in enumerate(tokens) if ":" not in token and not token.startswith("#")], np.intp)


def top_words(
    classes: Sequence[str], documents: np.ndarray, document_counts: Any, tokens: Sequence[str], n: int = 10,
    alpha: float = 1.0,
) -> tuple[dict[str, list[Word]], list[InformativeWord]]:  # fmt: skip
    """Return the n likeliest words of each class, and the n words with the highest mutual information in bits.

    ``documents`` (C,) are the messages N_c of the classes, the CSR array ``document_counts`` (C, V) is N_jc, and
    ``tokens`` (V,) are the names of the columns. The probability that a message of class c has word j is
    θ_jc = (N_jc + α)/(N_c + 2α). The label of an informative word is the class about which it says most, after "not" if
    it speaks against this class. With two classes it never does. A model of a single class has no informative words.
    """
    likeliest = {}
    for c, name in enumerate(classes):
        theta = (document_counts[[c]].toarray()[0] + alpha) / (documents[c] + 2 * alpha)
        likeliest[name] = [Word(tokens[j], float(theta[j])) for j in top_columns(theta, n, tokens)]
    if len(classes) < 2:
        return likeliest, []
    bits = mutual_information_from_counts(document_counts, documents, alpha)
    columns = top_columns(bits, n, tokens)
    thetas = (document_counts[:, columns].toarray() + alpha) / (documents[:, None] + 2 * alpha)
    best, is_for = strongest_class(thetas, documents / documents.sum())
    labels = [f"{'' if sign else 'not '}{classes[c]}" for c, sign in zip(best.tolist(), is_for.tolist())]
    return likeliest, [InformativeWord(tokens[j], float(bits[j]), label) for j, label in zip(columns.tolist(), labels)]
