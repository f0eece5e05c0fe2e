"""Accuracy of every model on the same tokens: 20 Newsgroups by date, and the SpamAssassin corpus by md5.

20news-bydate is trained on train/ and judged on test/ (headers that leak the group left out); of SpamAssassin the
messages whose md5(file name) is even are learned, the others judged. Estimators see rows of spamnb's tokens, Gaussian
ones a latent semantic analysis of them; "spamnb" rows are the model types as the command line makes them.

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
from spamnb.classifier import Classifier
from spamnb.engines.counting import count_parallel
from spamnb.learners.embeddings import fit_embedding
from spamnb.reader.options import TokenOptions
from spamnb.settings import Settings
from spamnb.sources.entries import Entry
from spamnb.sources.spec import find_labelled_entries
from spamnb.training import model_of


def corpus(name: str, folder: Path) -> tuple[list[Entry], list[Entry]]:
    if name == "20news":
        parts = (f"{folder}/20news-bydate/train", f"{folder}/20news-bydate/test")
        train, test = (list(find_labelled_entries([part], complain)) for part in parts)
        return train, test
    every = list(find_labelled_entries(sources(name, folder), complain))
    even = np.array([md5(entry) % 2 == 0 for entry in every])
    return list(compress(every, even)), list(compress(every, ~even))


def estimators(
    learn: csr_array, y: np.ndarray, ask: csr_array, tokens: list[str]
) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield (name, estimator, rows to learn, rows to classify)."""
    for alpha in (1.0, 0.01):
        yield f"Bernoulli, α={alpha:g}", BernoulliNB(alpha), learn, ask
        yield f"multinomial, α={alpha:g}", MultinomialNB(alpha), learn, ask
        yield f"boolean multinomial, α={alpha:g}", MultinomialNB(alpha, binary=True), learn, ask
    columns = np.argsort(-np.bincount(learn.indices, minlength=learn.shape[1]), kind="stable")[:2000]
    few = [np.minimum(rows[:, columns].toarray(), 2) for rows in (learn, ask)]
    yield "categorical (0, 1, more) of the 2,000 commonest, α=1", CategoricalNB(1.0, min_categories=3), *few
    unit = [csr_array((np.ones(rows.nnz), rows.indices, rows.indptr), shape=rows.shape) for rows in (learn, ask)]
    for rows in unit:
        lengths = np.diff(rows.indptr)
        rows.data /= np.sqrt(np.repeat(lengths, lengths))
    yield "logistic on 0/1 rows of length 1, C=1000", LogisticRegression(1000.0, tol=1e-5), *unit
    embedding = fit_embedding("lsa:100", learn, tokens)
    dense = embedding.transform(learn), embedding.transform(ask)
    for name, model in (
        ("Gaussian naive Bayes", GaussianNB()),
        ("LDA", LinearDiscriminantAnalysis()),
        ("QDA", QuadraticDiscriminantAnalysis()),
        ("logistic", LogisticRegression()),
    ):
        yield f"{name} on lsa:100", model, *dense


def model_types(learn: list[Entry], ask: list[Entry]) -> Iterator[tuple[str, float, float]]:
    """(name, accuracy, seconds) of the command line's models, judged by the most probable class."""
    counted = count_parallel(learn, TokenOptions(), complain)
    for what in ({}, {"pooling": "sum"}, {"model_type": "multinomial"}, {"model_type": "bernoulli"},
                 {"model_type": "boolean"}):  # fmt: skip
        started = time.perf_counter()
        right = 0
        with Classifier(model_of(counted, Settings(**what))) as classifier:
            for entry in ask:
                p = classifier.classify(entry.read()).probabilities
                right += max(p, key=p.__getitem__) == entry.label
        name = ", ".join(str(value) for value in what.values()) or "default"
        yield f"spamnb: {name}", right / len(ask), time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", choices=["20news", "spamassassin"], action="append")
    for name in parser.parse_args().corpus or ["20news", "spamassassin"]:
        learn, ask = corpus(name, corpora_folder())
        vectorizer = MailVectorizer()
        X = vectorizer.fit_transform(entry.read() for entry in learn)
        T = vectorizer.transform(entry.read() for entry in ask)
        y, truth = (np.array([entry.label for entry in part]) for part in (learn, ask))
        print(f"{name}: {len(learn)} learned, {len(ask)} judged, {len(vectorizer.tokens_)} tokens")
        print(f"  {'accuracy %':>10}  {'seconds':>8}")
        for title, model, rows, rows_to_classify in estimators(X, y, T, list(vectorizer.tokens_)):
            started = time.perf_counter()
            right = (model.fit(rows, y).predict(rows_to_classify) == truth).mean()
            print(f"  {100 * right:>10.2f}  {time.perf_counter() - started:>8.2f}  {title}", flush=True)
        for what, share, seconds in model_types(learn, ask):
            print(f"  {100 * share:>10.2f}  {seconds:>8.2f}  {what}", flush=True)


if __name__ == "__main__":
    main()
