"""How messages become dense vectors: the measurements behind spamnb/embeddings.py.

    python scripts/experiment_embeddings.py --corpora DIR [--dimensions 100]

Latent semantic analysis of SpamAssassin's mail (trained on files of even MD5 of the name, tested on the others) and of
20 Newsgroups by date: test errors in % of the dense models with idf or log-entropy weights, rows projected as they are
or scaled to unit length; then of the embedding as it is with other numbers of dimensions, and of word vectors.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mail_corpora import sources
from scipy.sparse import csr_array

from spamnb.api.vectorizer import MailVectorizer
from spamnb.estimators.gaussian import GaussianNB
from spamnb.estimators.lda import LinearDiscriminantAnalysis
from spamnb.estimators.logistic import LogisticRegression
from spamnb.estimators.qda import QuadraticDiscriminantAnalysis
from spamnb.evaluation.protocols import even_names
from spamnb.learners.embeddings import LatentSemanticAnalysis, WordVectors
from spamnb.sources.spec import entries

MODELS: dict[str, Callable[[], Any]] = {
    "LDA": LinearDiscriminantAnalysis, "QDA": QuadraticDiscriminantAnalysis,
    "naive Bayes": GaussianNB, "logistic": LogisticRegression,
}  # fmt: skip


class Split(NamedTuple):
    """Rows to learn from and to test on, over one vocabulary."""

    X: csr_array
    y: np.ndarray
    X_test: csr_array
    y_test: np.ndarray
    tokens: list[str]


def split(train: Iterable[Any], test: Iterable[Any]) -> Split:
    vectorizer = MailVectorizer(ngrams=1)
    train, test = list(train), list(test)
    X = vectorizer.fit_transform(entry.read() for entry in train)
    X_test = vectorizer.transform(entry.read() for entry in test)
    labels = [np.array([entry.label for entry in part]) for part in (train, test)]
    return Split(X, labels[0], X_test, labels[1], list(vectorizer.tokens_))


def splits(corpora: Path) -> dict[str, Split]:
    def found(*specs: str) -> list[Any]:
        return list(entries(specs, lambda name, error: print(f"{name}: {error}")))

    mail = found(*sources("spamassassin", corpora))
    even = even_names([entry.path for entry in mail])
    news = [found(f"{corpora}/20news-bydate/{part}") for part in ("train", "test")]
    return {
        "SpamAssassin": split(compress(mail, even), compress(mail, ~even)),
        "20 Newsgroups": split(*news),
    }


def entropy_weights(X: csr_array) -> np.ndarray:
    """1 − H_j / ln(1+N), H_j the entropy of token j's occurrences over the N messages."""
    share = X.data / np.bincount(X.indices, X.data, minlength=X.shape[1])[X.indices]
    return 1 + np.bincount(X.indices, share * np.log(share), minlength=X.shape[1]) / np.log(1 + X.shape[0])


def errors(data: Split, Z: np.ndarray, Z_test: np.ndarray) -> str:
    return "  ".join(
        f"{name} {100 * np.mean(model().fit(Z, data.y).predict(Z_test) != data.y_test):5.2f}"
        for name, model in MODELS.items()
    )


def compare_weights(data: Split, dimensions: int) -> None:
    """idf and log-entropy; plain projections (times √d, for logistic regression's sake) and unit length."""
    for name in ("idf", "entropy"):
        embedding = LatentSemanticAnalysis(dimensions)
        n, width = data.X.shape
        weight = np.log((1 + n) / (1 + np.bincount(data.X.indices, minlength=width))) + 1
        if name == "entropy":
            weight = entropy_weights(data.X)
        columns, right = embedding._directions(data.X, data.tokens, weight)
        vectors = np.zeros((width, right.shape[1]))
        vectors[columns] = right * weight[columns, None]
        held = np.zeros(width)
        held[columns] = weight[columns]
        for form in ("plain", "unit"):
            parts = []
            for rows in (data.X, data.X_test):
                A = csr_array((1 + np.log(rows.data), rows.indices, rows.indptr), shape=rows.shape)
                Z = A @ vectors
                length = np.linalg.norm(Z, axis=1)
                if form == "plain":
                    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
                    length = np.sqrt(np.bincount(row, (A.data * held[A.indices]) ** 2, minlength=A.shape[0]))
                parts.append(np.sqrt(dimensions) * Z / np.where(length > 0, length, 1)[:, None])
            print(f"  {name:8}{form:7}{errors(data, *parts)}", flush=True)


def compare_sources(data: Split, vectors: Path) -> None:
    """Other numbers of dimensions, and word vectors."""
    for embedding in (*map(LatentSemanticAnalysis, (25, 50, 100, 200, 400)), WordVectors(vectors)):
        started = time.process_time()
        embedding.fit(data.X, data.tokens)
        took = time.process_time() - started
        found = errors(data, embedding.transform(data.X), embedding.transform(data.X_test))
        print(f"  {embedding.spec.split('/')[-1]:27}{took:5.1f} s  {found}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure embeddings under the dense models.")
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--dimensions", type=int, default=100)
    options = parser.parse_args()
    (vectors,) = (options.corpora / "glove").glob("*.txt")
    for name, data in splits(options.corpora).items():
        print(f"{name}: {data.X.shape} to learn from, {len(data.y_test)} to test; errors in %")
        compare_weights(data, options.dimensions)
        compare_sources(data, vectors)


if __name__ == "__main__":
    main()
