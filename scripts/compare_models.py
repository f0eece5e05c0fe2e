"""Compare SpamClassifier with scikit-learn's and river's models of texts: errors, calibration, time and memory.

    SPAMNB_CORPORA=… python scripts/compare_models.py [--corpus 20news|sms|spamassassin|lingspam|enron1] [--model NAME]

Models of 20news learn train/ and classify test/. Of the other corpora three quarters are learned, by the md5 of a name
or of a text. All models get the same str: of a file its bytes as Latin-1. Each model runs in a process of its own, on
one thread. Times are processor time; memory is the largest resident size of the process, with the texts. The log loss
in nats and the expected calibration error (15 bins of the largest probability) are those of ``predict_proba``, which
LinearSVC lacks. "nb-lr" is logistic regression on presence times naive Bayes' log-ratios, one class against the rest.
river's model needs river.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from mail_corpora import complain, corpora_folder, sources
from table import print_head, print_row

from spamnb import MailVectorizer, MultinomialNB, SpamClassifier
from spamnb.evaluation.metrics import expected_calibration_error, log_loss, reliability_table
from spamnb.sources.entries import Entry
from spamnb.sources.spec import find_labelled_entries

CORPORA = "sms", "20news", "spamassassin", "lingspam"
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def read_corpus(name: str) -> tuple[tuple[list[str], list[str]], tuple[list[str], list[str]]]:
    """Return the texts and labels to learn, and those to classify."""
    folder = corpora_folder()
    if name == "20news":
        parts = [find_labelled_entries([f"{folder}/20news-bydate/{part}"], complain) for part in ("train", "test")]
        train, test = map(list, parts)
    else:
        entries = list(find_labelled_entries(sources(name, folder), complain))
        quarter = [hashlib.md5(entry.read()).digest()[0] % 4 for entry in entries]
        train = [entry for entry, q in zip(entries, quarter) if q]
        test = [entry for entry, q in zip(entries, quarter) if not q]
    return as_texts(train), as_texts(test)


def as_texts(entries: Iterable[Entry]) -> tuple[list[str], list[str]]:
    pairs = [(entry.read().decode("latin-1").removeprefix("\n"), entry.label) for entry in entries]
    return [text for text, _ in pairs], [label for _, label in pairs]


def of_tokens(model: Any, **parameters: Any) -> Any:
    from sklearn.pipeline import make_pipeline

    return make_pipeline(MailVectorizer(n_jobs=1, **parameters), model)


def tf_idf(model: Any, words: int = 1) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfVectorizer(sublinear_tf=True, ngram_range=(1, words)), model)


def logistic(C: float, **parameters: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=C, max_iter=1000, **parameters)


def linear_svc() -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC()


def counts_multinomial() -> Any:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB as TheirMultinomialNB
    from sklearn.pipeline import make_pipeline

    return make_pipeline(CountVectorizer(), TheirMultinomialNB())


def nb_lr() -> Any:
    """Wang and Manning 2012, with logistic regression in place of an SVM, of words and pairs."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(LogRatios(), logistic(1.0, solver="liblinear", dual=True))
    return make_pipeline(CountVectorizer(binary=True, ngram_range=(1, 2)), OneVsRestClassifier(model))


class LogRatios:
    """Columns times ln (N_j1 + 1)/|N_1 + 1| − ln (N_j0 + 1)/|N_0 + 1|."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {}

    def fit(self, X: Any, y: np.ndarray) -> LogRatios:
        one, zero = (1 + np.asarray(X[np.asarray(y) == c].sum(axis=0)).ravel() for c in (1, 0))
        self.ratios = np.log(one / one.sum()) - np.log(zero / zero.sum())
        return self

    def transform(self, X: Any) -> Any:
        from scipy.sparse import diags_array

        return X @ diags_array(self.ratios)


class River:
    """river's multinomial naive Bayes, which learns one text at a time."""

    def fit(self, X: list[str], y: list[str]) -> River:
        from river.feature_extraction import BagOfWords
        from river.naive_bayes import MultinomialNB as RiverNB

        self.model, self.classes_ = BagOfWords() | RiverNB(alpha=0.1), np.unique(y)
        for text, label in zip(X, y):
            self.model.learn_one(text, label)
        return self

    def predict_proba(self, X: list[str]) -> np.ndarray:
        probabilities = map(self.model.predict_proba_one, X)
        return np.array([[p.get(name, 0.0) for name in self.classes_.tolist()] for p in probabilities])


MODELS: dict[str, tuple[str, Callable[[], Any]]] = {
    "default": ("`SpamClassifier()`", lambda: SpamClassifier(n_jobs=1)),
    "text": ("`SpamClassifier(mail=False)`", lambda: SpamClassifier(n_jobs=1, mail=False)),
    "tokens-svc": ("`MailVectorizer(binary=True)`, LinearSVC", lambda: of_tokens(linear_svc(), binary=True)),
    "tokens-nb": ("`MailVectorizer(ngrams=1)`, `MultinomialNB`", lambda: of_tokens(MultinomialNB(), ngrams=1)),
    "svc": ("tf-idf of words and pairs, LinearSVC", lambda: tf_idf(linear_svc(), 2)),
    "logistic": ("tf-idf, logistic regression (C=10)", lambda: tf_idf(logistic(10.0))),
    "nb-lr": ("words and pairs, NB-LR", nb_lr),
    "multinomial": ("counts, scikit-learn's MultinomialNB", counts_multinomial),
    "river": ("river's MultinomialNB (α = .1)", River),
}


def run(corpus: str, name: str) -> dict[str, float | None]:
    """Return the figures of one model on one corpus."""
    (X, y), (T, truth) = read_corpus(corpus)
    model = MODELS[name][1]()
    times = [time.process_time()]
    model.fit(X, y)
    times.append(time.process_time())
    predict = getattr(model, "predict_proba", None)
    scores = predict(T) if predict else model.decision_function(T)
    times.append(time.process_time())
    classes = model.classes_.tolist()
    codes = np.array([classes.index(label) for label in truth])
    best = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)
    figures: dict[str, float | None] = {"accuracy": 100 * float((best == codes).mean())}
    figures["fit"], figures["predict"] = np.diff(times).tolist()
    figures["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures["log loss"] = figures["ECE"] = None
    if predict:
        figures["log loss"] = log_loss(codes, scores)
        figures["ECE"] = expected_calibration_error(reliability_table(codes, scores))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", choices=[*CORPORA, "enron1"], action="append")
    parser.add_argument("--model", choices=MODELS, action="append", help="[default: all]")
    parser.add_argument("--run", nargs=2, metavar=("CORPUS", "MODEL"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        print(json.dumps(run(*arguments.run)))
        return
    for corpus in arguments.corpus or CORPORA:
        print_head(corpus, "accuracy %", "log loss", "ECE %", "fit s", "predict s", "MB")
        for name in arguments.model or MODELS:
            command = [sys.executable, str(Path(__file__)), "--run", corpus, name]
            child = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **ONE_THREAD})
            if child.returncode:
                print_row(name, f"failed: {child.stderr.strip().splitlines()[-1]}")
                continue
            figures = json.loads(child.stdout.splitlines()[-1])
            digits = {"accuracy": 2, "log loss": 3, "ECE": 1, "fit": 2, "predict": 2, "memory": 0}
            cells = ["–" if figures[key] is None else f"{figures[key]:.{n}f}" for key, n in digits.items()]
            print_row(MODELS[name][0], *cells)


if __name__ == "__main__":
    main()
