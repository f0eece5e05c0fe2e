"""scikit-learn's usual text pipelines on mail: ``sklearn_pipelines.py KIND split|stream``, with lists of mail as JSON.

KIND is logistic or multinomial, on "raw" (the whole file as latin-1) or on "mail" (subject and visible text). The
settings are the best ones for these corpora, not the defaults.
"""

from __future__ import annotations

import json
import pickle
import sys
import time
from pathlib import Path

import numpy as np


def text(path: str, kind: str) -> str:
    raw = Path(path).read_bytes()
    if kind.endswith("raw"):
        return raw.decode("latin-1")
    from spamnb.reader.message import parse

    message = parse(raw)
    return "\n".join([message.header("subject"), *message.texts])


def split(kind: str, train: list, test: list) -> dict:
    """Return scores of the test list by a pipeline that is fitted to the training list."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    if kind.startswith("logistic"):
        vectors = TfidfVectorizer(binary=True, use_idf=False, norm="l2")
        pipeline = make_pipeline(vectors, LogisticRegression(C=100, solver="liblinear"))
    else:
        pipeline = make_pipeline(CountVectorizer(), MultinomialNB())
    start = time.perf_counter()
    pipeline.fit((text(path, kind) for _, path in train), [label == "spam" for label, _ in train])
    between = time.perf_counter()
    # Log-odds rank messages even if their probabilities are 0 or 1 in floating point.
    X = pipeline[0].transform(text(path, kind) for _, path in test)
    log_p = pipeline[1].predict_log_proba(X)
    scores = log_odds(log_p)
    return {"scores": scores, "train": between - start, "score": time.perf_counter() - between, **size(pipeline)}


def stream(kind: str, test: list) -> dict:
    """Return scores of a stream. Features are hashed, because a vocabulary would contain tokens of later messages."""
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import SGDClassifier
    from sklearn.naive_bayes import MultinomialNB

    logistic = kind.startswith("logistic")
    vectors = HashingVectorizer(
        n_features=2**18, binary=logistic, norm="l2" if logistic else None, alternate_sign=False
    )
    model = (
        SGDClassifier(loss="log_loss", alpha=1e-7, learning_rate="constant", eta0=5.0) if logistic else MultinomialNB()
    )
    scores: list[float] = []
    scoring = learning = 0.0
    for number, (label, path) in enumerate(test):
        x = vectors.transform([text(path, kind)])
        start = time.perf_counter()
        scores += log_odds(model.predict_log_proba(x)) if number else [0.0]
        between = time.perf_counter()
        model.partial_fit(x, [label == "spam"], classes=[False, True])
        scoring, learning = scoring + between - start, learning + time.perf_counter() - between
    return {"scores": scores, "train": learning, "score": scoring, **size(model)}


def log_odds(log_p: np.ndarray) -> list[float]:
    with np.errstate(divide="ignore"):
        return np.nan_to_num(log_p[:, 1] - log_p[:, 0], posinf=1e6, neginf=-1e6).tolist()


def size(model: object) -> dict:
    """Return the size of the pickled model."""
    return {"model_mb": len(pickle.dumps(model)) / 1e6}


if __name__ == "__main__":
    train, test = json.load(sys.stdin)
    kind, what = sys.argv[1:]
    json.dump(split(kind, train, test) if what == "split" else stream(kind, test), sys.stdout)
