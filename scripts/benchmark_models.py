"""Fit and predict times of the models beside scikit-learn's twins, interleaved, as ratios from one run.

    python scripts/benchmark_models.py --corpora DIR [--runs 9]

DIR holds 20news-bydate. Each round times ours and theirs one after the other, the order changing from round
to round; the ratio is the median over rounds of ours/theirs: 1.00 or less means at least as fast.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from spamnb import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
)
from spamnb.counts.class_counts import ClassCounts
from spamnb.formulas.mutual_information import mutual_information

WORD = re.compile(r"\w+")


def posts(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """(group, lower-cased words) of every post below ``folder``, headers and all."""
    for group in sorted(path for path in folder.iterdir() if path.is_dir()):
        for post in sorted(group.iterdir()):
            yield group.name, WORD.findall(post.read_bytes().decode("latin-1").lower())


def seconds(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def compare(name: str, ours: Callable[[], Any], theirs: Callable[[], Any], runs: int) -> None:
    """Time both ``runs`` times in turn and print medians and the median ratio."""
    mine: list[float] = []
    yours: list[float] = []
    for run in range(runs):
        for call, times in ((ours, mine), (theirs, yours))[:: 1 if run % 2 else -1]:
            times.append(seconds(call))
    ratio = median(a / b for a, b in zip(mine, yours))
    print(f"{name:42} {median(mine) * 1e3:9.2f} ms {median(yours) * 1e3:9.2f} ms   ratio {ratio:.2f}")


def compare_models(title: str, pairs: list[tuple[Any, Any]], data: tuple[Any, Any, Any], runs: int) -> None:
    """``pairs`` of (ours, theirs); ``data`` is X, y and the X to predict."""
    X, y, X_test = data
    print(f"\n{title}: fit {X.shape}, predict {X_test.shape}\n{'':42} {'ours':>12} {'scikit-learn':>12}")
    for ours, theirs in pairs:
        name = type(ours).__name__
        compare(f"{name}.fit", lambda: ours.fit(X, y), lambda: theirs.fit(X, y), runs)  # noqa: B023
        compare(f"{name}.predict", lambda: ours.predict(X_test), lambda: theirs.predict(X_test), runs)  # noqa: B023
        compare(
            f"{name}.predict_log_proba",
            lambda: ours.predict_log_proba(X_test),  # noqa: B023
            lambda: theirs.predict_log_proba(X_test),  # noqa: B023
            runs,
        )


def compare_gaussian(classes: int, runs: int) -> None:
    """The Gaussian models and logistic regression on 20,000 real rows of 100 columns, correlated."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as TwinLDA
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis as TwinQDA
    from sklearn.linear_model import LogisticRegression as TwinLogistic
    from sklearn.naive_bayes import GaussianNB as TwinGaussianNB

    rng = np.random.default_rng(classes)
    y = rng.integers(0, classes, 20_000)
    mixing = np.eye(100) + 0.1 * rng.standard_normal((100, 100))
    X = rng.standard_normal((20_000, 100)) @ mixing + 0.2 * rng.standard_normal((classes, 100))[y]
    pairs = [
        (GaussianNB(), TwinGaussianNB()),
        (LinearDiscriminantAnalysis(shrinkage=None), TwinLDA()),
        (QuadraticDiscriminantAnalysis(shrinkage=None), TwinQDA()),
        (LogisticRegression(), TwinLogistic(max_iter=1000)),
    ]
    compare_models(f"dense, {classes} Gaussian classes", pairs, (X, y, X), runs)


def compare_information(X: Any, labels: np.ndarray, columns: int) -> None:
    """Mutual information of every column, beside scikit-learn's time for the first ``columns`` of them."""
    from sklearn.feature_selection import mutual_info_classif

    counts = ClassCounts.from_matrix(X, labels.tolist())
    times = [
        seconds(lambda: mutual_information(counts.document_counts, counts.documents, 0)) for _ in range(9)
    ]
    some = (X[:, :columns] > 0).astype(np.int32)
    started = time.perf_counter()
    theirs = mutual_info_classif(some, labels, discrete_features=True)
    took = time.perf_counter() - started
    ours = mutual_information(counts.document_counts, counts.documents, 0)[:columns] * np.log(2)
    print(f"\nmutual information: all {X.shape[1]} columns {median(times) * 1e3:.1f} ms; mutual_info_classif")
    print(f"{took:.2f} s for the first {columns}; largest difference {np.abs(ours - theirs).max():.1e} nats")


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the models beside scikit-learn's twins.")
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    from sklearn import naive_bayes as twin
    from sklearn.feature_extraction.text import CountVectorizer

    news = options.corpora / "20news-bydate"
    vectorizer = CountVectorizer(analyzer=list)
    y, documents = zip(*posts(news / "train"))
    X = csr_array(vectorizer.fit_transform(documents))
    X_test = csr_array(vectorizer.transform([words for _, words in posts(news / "test")]))
    labels = np.array(y)
    pairs: list[tuple[Any, Any]] = [
        (MultinomialNB(), twin.MultinomialNB()),
        (BernoulliNB(), twin.BernoulliNB()),
        (ComplementNB(), twin.ComplementNB()),
    ]
    compare_models("20news, sparse", pairs, (X, labels, X_test), options.runs)
    compare_models("20news, sparse, one row", pairs, (X, labels, X_test[:1]), options.runs)

    rng = np.random.default_rng(0)
    dense, two = rng.integers(0, 5, size=(20_000, 100)), rng.integers(0, 2, size=20_000)
    pairs.append((CategoricalNB(), twin.CategoricalNB()))
    compare_models("dense counts, two classes", pairs, (dense, two, dense), options.runs)

    for classes in (2, 10):
        compare_gaussian(classes, options.runs)

    compare_information(X, labels, columns=300)


if __name__ == "__main__":
    main()
