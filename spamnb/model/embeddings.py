"""Messages as dense vectors, for the Gaussian models: one formula, two sources of vectors.

    z = Σ_j (1 + ln n_j) g_j v_j        x = √d z/|z|        g_j = 1 − H_j / ln(1+N)

v_j is the vector of token j, n_j its occurrences in the message, and H_j the entropy (nats) of its occurrences over the
N training messages: g_j is 1 for a token of one message, and near 0 for a token of all messages. A message without any
token of the model is the zero vector. The model file has one vector per token, g_j v_j.

    lsa:100        v_j from latent semantic analysis of the training mail
    vectors:PATH   v_j from a text file of word vectors, as of GloVe or word2vec

On 20 Newsgroups each Gaussian model makes fewer errors with these weights and this length than with idf weights, or
with vectors that are not scaled (docs/experiments.md#embeddings).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spamnb.errors import SpamnbError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_DIMENSIONS = 9_999  # of an embedding: a token's vector has 40 kB
MAX_LINE_BYTES = 1 << 20  # of a line in a file of vectors: a longer line is damaged, and is not read into memory


def embed(vectors: np.ndarray, occurrences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the vector x (d,) of one message, and the factors (k,) of the tokens: x = factors @ vectors.

    ``vectors`` (k, d) are the vectors of the message's tokens, and ``occurrences`` (k,) the counts. This function uses
    numpy alone, because an import of scipy would slow down the classification of one message.

    >>> x, factors = embed(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1, 1]))
    >>> x.tolist(), factors.tolist()
    ([1.0, 1.0], [1.0, 1.0])
    """
    factors = 1.0 + np.log(occurrences)
    z = factors @ vectors
    length = np.sqrt(z @ z)
    scale = np.sqrt(vectors.shape[1]) / length if length > 0 else 0.0
    return z * scale, factors * scale


class Embedding(NamedTuple):
    """Token vectors, fitted to a matrix of occurrences."""

    columns: np.ndarray  # (K,) the columns that have a vector, ascending
    vectors: np.ndarray  # (K, d), float32

    def transform(self, rows: csr_array) -> np.ndarray:
        """Return the vectors (n, d) of ``rows``, which may have more columns than the fitted matrix."""
        position_of_column = np.full(max(rows.shape[1], 1 + self.columns.max()), -1)  # among the vectors
        position_of_column[self.columns] = np.arange(len(self.columns))
        positions = position_of_column[rows.indices]
        has_vector = positions >= 0
        ends = np.concatenate([[0], np.cumsum(has_vector)])[rows.indptr]
        positions, occurrences = positions[has_vector], rows.data[has_vector]
        result = np.empty((rows.shape[0], self.vectors.shape[1]))
        for i, (start, stop) in enumerate(pairwise(ends)):
            result[i], _ = embed(self.vectors[positions[start:stop]], occurrences[start:stop])
        return result


def fit_embedding(spec: str, X: csr_array, tokens: Sequence[str]) -> Embedding:
    """Fit vectors to the occurrences X (N, V) of ``tokens``; raise SpamnbError if no token has a vector."""
    n, width = X.shape
    share = X.data / np.bincount(X.indices, X.data, minlength=width)[X.indices]
    weights = 1.0 + np.bincount(X.indices, share * np.log(share), minlength=width) / np.log(1 + n)
    kind, argument = parse_embedding(spec)
    columns, directions = (
        _fit_singular_vectors(X, weights, int(argument)) if kind == "lsa" else _read_word_vectors(argument, tokens)
    )
    vectors = (weights[columns, None] * directions).astype(np.float32)
    has_direction = vectors.any(axis=1)
    if not has_direction.any():
        raise SpamnbError(f"embedding {spec}: the vectors of all words in the training mail are 0")
    return Embedding(columns[has_direction], vectors[has_direction])


def parse_embedding(spec: str) -> tuple[str, str]:
    """Return the kind of an embedding, and its dimensions or its path; raise SpamnbError for another text.

    >>> parse_embedding("lsa:50")
    ('lsa', '50')
    >>> parse_embedding("bert")
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: embedding 'bert' is unknown: use lsa:DIMENSIONS, 1 to 9999, or vectors:PATH
    """
    kind, _, argument = spec.partition(":")
    if not (re.fullmatch("[1-9][0-9]{0,3}", argument) if kind == "lsa" else kind == "vectors" and argument):
        raise SpamnbError(f"embedding {spec!r:.60} is unknown: use lsa:DIMENSIONS, 1 to 9999, or vectors:PATH")
    return kind, argument


def _fit_singular_vectors(X: csr_array, weights: np.ndarray, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns that have a vector, and for each its components in the leading right singular vectors of X.

    X is weighted as in the formula of z, and its rows are scaled to length 1. Tokens of a single message get no vector.
    There are fewer than ``dimensions`` singular vectors if X has a smaller rank. The same X always gives the same
    result: the iteration starts from a fixed vector, and the largest component of each singular vector is positive.
    """
    from scipy.sparse.linalg import svds

    columns = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) >= 2)
    if not len(columns):
        raise SpamnbError(f"lsa:{dimensions}: no token occurs in two training messages; train on more mail")
    A = X.astype(float)
    A.data = (1 + np.log(A.data)) * weights[A.indices]
    A = A[:, columns]
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    A.data /= np.sqrt(np.bincount(row, A.data**2))[row]
    if dimensions < min(A.shape):
        _, singular, right = svds(A, k=dimensions, v0=np.ones(min(A.shape)))
    else:
        _, singular, right = np.linalg.svd(A.toarray(), full_matrices=False)
    order = np.argsort(-singular, kind="stable")
    right = right[order[singular[order] > 1e-9 * singular.max()]]
    largest = right[np.arange(len(right)), np.abs(right).argmax(axis=1)]
    return columns, (right * np.sign(largest)[:, None]).T


def _read_word_vectors(path: str, tokens: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns that have a vector, and the vectors, from a text file with lines of a word and its numbers."""
    columns_by_word = _columns_by_word(tokens)
    pairs: list[tuple[int, np.ndarray]] = []
    for word, vector in _read_lines(path, columns_by_word):
        pairs += [(column, vector) for column in columns_by_word.pop(word)]
    if not pairs:
        raise SpamnbError(f"{path}: has none of the words of the training mail")
    columns, vectors = zip(*sorted(pairs, key=lambda pair: pair[0]))
    return np.array(columns), np.array(vectors)


def _read_lines(path: str, words: Container[str]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield (word, vector) of each line whose word is in ``words``; raise SpamnbError for a malformed line.

    word2vec writes the numbers of words and dimensions in the first line. Such a line is skipped.
    """
    width = 0
    try:
        with open(path, "rb") as lines:
            for number, line in enumerate(iter(lambda: lines.readline(MAX_LINE_BYTES), b""), 1):
                fields = line.rsplit(None, width) if width else line.split()
                if number == 1 and len(fields) == 2 and all(field.isdigit() for field in fields):
                    continue
                width = width or len(fields) - 1
                if not 0 < width <= MAX_DIMENSIONS:
                    raise SpamnbError(f"{path}:{number}: not a word and 1 to {MAX_DIMENSIONS:,} numbers")
                if len(fields) != width + 1:
                    raise SpamnbError(f"{path}:{number}: not a word and {width} numbers")
                word = fields[0].decode("utf-8", "replace")  # public files contain words that are not UTF-8
                if word not in words:
                    continue
                try:
                    vector = np.array([float(field) for field in fields[1:]])
                except ValueError:
                    vector = np.array([np.nan])
                if not (abs(vector) <= np.finfo(np.float32).max).all():  # the type in the model file; NaN fails, too
                    raise SpamnbError(f"{path}:{number}: not a word and {width} numbers")
                yield word, vector
    except OSError as error:
        raise SpamnbError(f"{path}: {error.strerror}") from error


def _columns_by_word(tokens: Sequence[str]) -> dict[str, list[int]]:
    """Return for each word that has a letter the columns of its tokens, which are of the body and of the subject."""
    columns: dict[str, list[int]] = {}
    for column, token in enumerate(tokens):
        word = token.removeprefix("subject:")
        if ":" not in word and " " not in word and any(map(str.isalpha, word)):
            columns.setdefault(word, []).append(column)
    return columns
