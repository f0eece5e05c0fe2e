"""What the library's estimators are worth: the figures of docs/experiments.md#the-library.

    python scripts/experiment_library.py CORPORA [folds] [time] [reader] [search]

CORPORA is the folder of public corpora (corpora/README.md). ``folds``: SpamClassifier's answers in cross-validation
beside ``spamnb evaluate --folds 10``. ``time``: processor time to fit and to predict beside TfidfVectorizer and
LogisticRegression, in turn. ``reader``: MailVectorizer with LinearSVC beside CountVectorizer on raw text. ``search``:
GridSearchCV over twelve settings on SMS.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from spamnb import HashingMailVectorizer, MailVectorizer, MessageFolds, SpamClassifier
from spamnb.sources.entries import messages
from spamnb.sources.spec import entries

TIMES = 3
SPAMASSASSIN = ("ham=easy_ham", "ham=easy_ham_2", "ham=hard_ham", "spam=spam", "spam=spam_2")


def left_out(name: str, error: Exception) -> None:
    """Said, as the command line does."""
    print(f"{name}: {error}; left out", file=sys.stderr)


def sources(corpora: Path) -> dict[str, list[str]]:
    """The sources of each collection, as the command line takes them."""
    mail = [spec.replace("=", f"={corpora}/spamassassin/") for spec in SPAMASSASSIN]
    sms, news = corpora / "sms_spam_collection" / "SMSSpamCollection", corpora / "20news-bydate" / "train"
    return {"SMS": [str(sms)], "SpamAssassin": mail, "20news, training part": [str(news)]}


def read(specs: list[str]) -> tuple[list[bytes], list[str]]:
    """The messages of sources and their classes."""
    found = list(messages(entries(specs, left_out), left_out))
    return [raw for _, raw in found], [str(entry.label) for entry, _ in found]


def folds(corpora: Path) -> None:
    """Accuracy in the same folds, by scikit-learn and by the command line."""
    for name, specs in sources(corpora).items():
        X, y = read(specs)
        by_fold = cross_val_score(SpamClassifier(), X, y, cv=MessageFolds(10))
        predicted = cross_val_predict(SpamClassifier(), X, y, cv=MessageFolds(10))
        command = [sys.executable, "-m", "spamnb", "evaluate", "--folds", "10", "--format", "json", *specs]
        told = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        accuracy = 100 * np.mean(predicted == np.array(y))
        told_by_evaluate = told["accuracy"]["value"]
        print(f"{name}: {accuracy:.4f} % ({100 * by_fold.mean():.4f} by fold), evaluate {told_by_evaluate:.4f} %")


def timing(corpora: Path) -> None:
    """Ratios of processor time, one process each, the two in turn."""
    collections = sources(corpora)
    test = [str(corpora / "20news-bydate" / "test")]
    for name in ("SMS", "20news, training part"):
        X, y = read(collections[name])
        if name == "SMS":
            X, y, unseen, truth = X[::2], y[::2], X[1::2], y[1::2]
        else:
            unseen, truth = read(test)
        texts, unseen_texts = ([raw.decode("latin-1") for raw in part] for part in (X, unseen))
        fits, predicts = [], []
        for _ in range(TIMES):
            ours, theirs = SpamClassifier(n_jobs=1), make_pipeline(TfidfVectorizer(), LogisticRegression())
            times = [time.process_time()]
            ours.fit(X, y)
            times.append(time.process_time())
            theirs.fit(texts, y)
            times.append(time.process_time())
            right = [ours.score(unseen, truth)]
            times.append(time.process_time())
            right.append(theirs.score(unseen_texts, truth))
            times.append(time.process_time())
            fit, fit_theirs, predict, predict_theirs = np.diff(times)
            fits.append((fit / fit_theirs, fit, fit_theirs))
            predicts.append((predict / predict_theirs, predict, predict_theirs))
        told = [tuple(round(float(median(column)), 3) for column in zip(*rows)) for rows in (fits, predicts)]
        print(f"{name}: fit, predict (ratio, ours, theirs): {told}; right: {right}")


def reader(corpora: Path) -> None:
    """1-ROCA% and errors of LinearSVC on SpamAssassin, in the same three folds."""
    X, y = read(sources(corpora)["SpamAssassin"])
    texts = [raw.decode("latin-1") for raw in X]
    ways: dict[str, tuple[Any, Any]] = {
        "MailVectorizer, presence": (MailVectorizer(binary=True), X),
        "CountVectorizer, presence": (CountVectorizer(binary=True), texts),
        "CountVectorizer, presence, pairs": (CountVectorizer(binary=True, ngram_range=(1, 2)), texts),
        "HashingMailVectorizer, presence": (HashingMailVectorizer(binary=True), X),
        "MailVectorizer": (MailVectorizer(), X),
        "CountVectorizer": (CountVectorizer(), texts),
    }
    splits = list(MessageFolds(3).split(X, y))
    for name, (vectorizer, given) in ways.items():
        model = make_pipeline(vectorizer, LinearSVC())
        scores = cross_val_predict(model, given, y, cv=splits, method="decision_function")
        area = 100 * (1 - roc_auc_score(np.array(y) == "spam", scores))
        print(f"{name}: 1-ROCA% {area:.4f}, wrong {int(((scores > 0) != (np.array(y) == 'spam')).sum())} of {len(y)}")
    scores = cross_val_predict(SpamClassifier(), X, y, cv=splits, method="decision_function")
    print(f"SpamClassifier: 1-ROCA% {100 * (1 - roc_auc_score(np.array(y) == 'spam', scores)):.4f}")


def search(corpora: Path) -> None:
    """The best of twelve settings on SMS."""
    X, y = read(sources(corpora)["SMS"])
    settings = {"alpha": [0.03, 0.1, 1.0], "pooling": ["mean", "sum"], "ngrams": [1, 2]}
    start = time.monotonic()
    found = GridSearchCV(SpamClassifier(n_jobs=1), settings, cv=5, scoring="neg_log_loss").fit(X, y)
    print(f"{found.best_params_}: log loss {-found.best_score_:.4f}; {time.monotonic() - start:.0f} s")


def main() -> None:
    """Run what was chosen, or all."""
    corpora, chosen = Path(sys.argv[1]), sys.argv[2:] or ["folds", "time", "reader", "search"]
    for name in chosen:
        {"folds": folds, "time": timing, "reader": reader, "search": search}[name](corpora)


if __name__ == "__main__":
    main()
