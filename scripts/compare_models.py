"""Accuracy of every model on the same tokens: 20 Newsgroups by date, and the SpamAssassin corpus by md5.

Models of 20news-bydate learn train/ and classify test/, without the header fields that name the group. Models of
SpamAssassin learn the messages whose md5(file name) is even and classify the others. Estimators are fitted to rows of
spamnb's tokens, Gaussian estimators to a latent semantic analysis of these rows. The "spamnb" rows are the model types
of the command line.

    SPAMNB_CORPORA=… python scripts/compare_models.py [--corpus 20news|spamassassin]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from compare_filters import md5
from mail_corpora import complain, corpora_folder, sources
from scipy.sparse import csr_array

from spamnb import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
)
from spamnb.api.vectorizer import MailVectorizer
from spamnb.engines.counting import count_parallel
from spamnb.filter import Classifier
from spamnb.model.embeddings import fit_embedding
from spamnb.settings import Settings
from spamnb.sources.entries import Entry
from spamnb.sources.spec import find_labelled_entries
from spamnb.training import model_of


def read_corpus(name: str, folder: Path) -> tuple[list[Entry], list[Entry]]:
    if name == "20news":
        parts = (f"{folder}/20news-bydate/train", f"{folder}/20news-bydate/test")
        train, test = (list(find_labelled_entries([part], complain)) for part in parts)
        return train, test
    entries = list(find_labelled_entries(sources(name, folder), complain))
    is_even = np.array([md5(entry) % 2 == 0 for entry in entries])
    return list(compress(entries, is_even)), list(compress(entries, ~is_even))


def estimators(
    train: csr_array, y: np.ndarray, test: csr_array, tokens: list[str]
) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield (name, estimator, training rows, test rows)."""
    for alpha in (1.0, 0.01):
        yield f"Bernoulli, α={alpha:g}", BernoulliNB(alpha), train, test
        yield f"multinomial, α={alpha:g}", MultinomialNB(alpha), train, test
        yield f"boolean multinomial, α={alpha:g}", MultinomialNB(alpha, binary=True), train, test
    columns = np.argsort(-np.bincount(train.indices, minlength=train.shape[1]), kind="stable")[:2000]
    few = [np.minimum(rows[:, columns].toarray(), 2) for rows in (train, test)]
    yield "categorical (0, 1, more) of the 2,000 commonest, α=1", CategoricalNB(1.0, min_categories=3), *few
    unit = [csr_array((np.ones(rows.nnz), rows.indices, rows.indptr), shape=rows.shape) for rows in (train, test)]
    for rows in unit:
        lengths = np.diff(rows.indptr)
        rows.data /= np.sqrt(np.repeat(lengths, lengths))
    yield "logistic on 0/1 rows of length 1, C=1000", LogisticRegression(1000.0, tol=1e-5), *unit
    embedding = fit_embedding("lsa:100", train, tokens)
    dense = embedding.transform(train), embedding.transform(test)
    for name, model in (
        ("Gaussian naive Bayes", GaussianNB()),
        ("LDA", LinearDiscriminantAnalysis()),
        ("QDA", QuadraticDiscriminantAnalysis()),
        ("logistic", LogisticRegression()),
    ):
        yield f"{name} on lsa:100", model, *dense


def model_types(train: list[Entry], test: list[Entry]) -> Iterator[tuple[str, float, float]]:
    """Yield (name, accuracy, seconds) of the command line's models; the prediction is the likeliest class."""
    training_set = count_parallel(train, Settings(), complain)
    for settings in ({}, {"pooling": "sum"}, {"model_type": "multinomial"}, {"model_type": "bernoulli"},
                 {"model_type": "boolean"}):  # fmt: skip
        started = time.perf_counter()
        n_right = 0
        with Classifier(model_of(training_set, Settings(**settings))) as classifier:
            for entry in test:
                p = classifier.classify(entry.read()).probabilities
                n_right += max(p, key=p.__getitem__) == entry.label
        name = ", ".join(str(value) for value in settings.values()) or "default"
        yield f"spamnb: {name}", n_right / len(test), time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", choices=["20news", "spamassassin"], action="append")
    for name in parser.parse_args().corpus or ["20news", "spamassassin"]:
        train, test = read_corpus(name, corpora_folder())
        vectorizer = MailVectorizer()
        X = vectorizer.fit_transform(entry.read() for entry in train)
        T = vectorizer.transform(entry.read() for entry in test)
        y, truth = (np.array([entry.label for entry in part]) for part in (train, test))
        print(f"{name}: {len(train)} learned, {len(test)} classified, {len(vectorizer.tokens_)} tokens")
        print(f"  {'accuracy %':>10}  {'seconds':>8}")
        for title, model, train_rows, test_rows in estimators(X, y, T, list(vectorizer.tokens_)):
            started = time.perf_counter()
            accuracy = (model.fit(train_rows, y).predict(test_rows) == truth).mean()
            print(f"  {100 * accuracy:>10.2f}  {time.perf_counter() - started:>8.2f}  {title}", flush=True)
        for title, accuracy, seconds in model_types(train, test):
            print(f"  {100 * accuracy:>10.2f}  {seconds:>8.2f}  {title}", flush=True)


if __name__ == "__main__":
    main()
