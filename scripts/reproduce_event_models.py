"""The two event models of naive Bayes against vocabulary size: McCallum and Nigam (1998) on 20 Newsgroups.

    SPAMNB_CORPORA=… python scripts/reproduce_event_models.py [--trials 5]

Their procedure: headers skipped, runs of letters as words, a stop list, no stemming, words seen once dropped,
Laplace smoothing, vocabulary of the K words with the highest mutual information with the class, a fifth of the
posts held out at random, mean accuracy over the trials. DIR holds 20news-bydate, whose 18,846 posts are theirs
less the duplicates; its own split by date, which is harder, is printed beside. Needs scikit-learn, also for its stop
list.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from mail_corpora import corpora_folder
from scipy.sparse import csr_array, vstack
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from spamnb import BernoulliNB, MultinomialNB, mutual_information
from spamnb.model.mutual_information import top_columns

WORD = re.compile(r"[a-z]+")
SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
MODELS = {"multinomial": MultinomialNB(alpha=1.0), "Bernoulli": BernoulliNB(alpha=1.0)}
PUBLISHED = {"multinomial": (62_258, 0.85), "Bernoulli": (1_000, 0.74)}  # best size and accuracy, second-hand


class Split(NamedTuple):
    X_train: csr_array
    y_train: np.ndarray
    X_test: csr_array
    y_test: np.ndarray


def posts(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """(group, words) of every post below ``folder``."""
    for group in sorted(path for path in folder.iterdir() if path.is_dir()):
        for post in sorted(group.iterdir()):
            body = post.read_bytes().partition(b"\n\n")[2].decode("latin-1").lower()
            yield group.name, [word for word in WORD.findall(body) if word not in ENGLISH_STOP_WORDS]


def by_date(corpora: Path) -> tuple[Split, list[str]]:
    train, test = (list(posts(corpora / "20news-bydate" / part)) for part in ("train", "test"))
    counter = CountVectorizer(analyzer=list)
    X = csr_array(counter.fit_transform(words for _, words in (*train, *test)))
    y_train, y_test = (np.array([group for group, _ in part]) for part in (train, test))
    split = Split(X[: len(train)], y_train, X[len(train) :], y_test)
    return split, counter.get_feature_names_out().tolist()


def at_random(split: Split, seed: int) -> Split:
    """All posts, a fifth of them held out."""
    X, y = vstack([split.X_train, split.X_test]).tocsr(), np.concatenate([split.y_train, split.y_test])
    order = np.random.default_rng(seed).permutation(len(y))
    test, train = np.split(order, [len(y) // 5])
    return Split(X[train], y[train], X[test], y[test])


def accuracies(split: Split, tokens: list[str]) -> dict[str, list[float]]:
    """Accuracy per model, for each of SIZES and last for all words seen more than once in training."""
    seen = np.flatnonzero(split.X_train.sum(axis=0) > 1)
    information = mutual_information(split.X_train, split.y_train, alpha=1.0)
    ranked = seen[top_columns(information[seen], len(seen), [tokens[j] for j in seen])]
    shares: dict[str, list[float]] = {name: [] for name in MODELS}
    for size in (*SIZES, len(ranked)):
        columns = np.sort(ranked[:size])
        X_train, X_test = split.X_train[:, columns], split.X_test[:, columns]
        for name, model in MODELS.items():
            shares[name].append(model.fit(X_train, split.y_train).score(X_test, split.y_test))
    shares["size"] = [len(ranked)]
    return shares


def main() -> None:
    parser = argparse.ArgumentParser(description="McCallum and Nigam's comparison of event models, redone.")
    parser.add_argument("--trials", type=int, default=5)
    options = parser.parse_args()
    split, tokens = by_date(corpora_folder("20news-bydate"))
    dated = accuracies(split, tokens)
    trials = [accuracies(at_random(split, seed), tokens) for seed in range(options.trials)]
    random = {name: np.mean([trial[name] for trial in trials], axis=0) for name in (*MODELS, "size")}
    sizes = [*SIZES, round(float(random["size"][0]))]
    print(f"mean accuracy of {options.trials} random splits; by date in brackets (all: {dated['size'][0]} words)")
    print(f"{'words':>8} {'multinomial':>16} {'Bernoulli':>16}")
    for i, size in enumerate(sizes):
        print(f"{size:8}" + "".join(f"{random[n][i]:9.4f} ({dated[n][i]:.3f})" for n in MODELS))
    for name, (size, accuracy) in PUBLISHED.items():
        best, near = int(random[name].argmax()), int(np.abs(np.subtract(sizes, size)).argmin())
        print(
            f"{name}: published best {accuracy:.2f} near {size} words; ours {random[name][near]:.4f} at {sizes[near]},"
            f" best {random[name][best]:.4f} at {sizes[best]}"
        )
    print(
        "The best accuracies agree within a point or so. The Bernoulli model's peak does not: theirs is near 1,000\n"
        "words, ours far above. The published figures are second-hand; their stop list, and the posts that\n"
        "20news-bydate leaves out as duplicates, are not ours."
    )


if __name__ == "__main__":
    main()
