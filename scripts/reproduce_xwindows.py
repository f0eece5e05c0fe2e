"""X windows against MS windows: Murphy, Machine Learning (2012), table 3.1 and figure 3.8, beside ours.

    SPAMNB_CORPORA=… python scripts/reproduce_xwindows.py [--figures DIR]

DIR holds xwindows/XwindowsDocData.mat: 900 + 900 posts, 600 words, 0/1. Prints the published table and error
rates beside ours and ends 1 where a printed digit differs; ``--figures`` draws the class-conditional densities
θ_jc over the vocabulary (needs matplotlib).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from reproduction import BLUE, RUST, reproduce
from scipy.io import loadmat
from scipy.sparse import csr_array

from spamnb import BernoulliNB, MultinomialNB
from spamnb.model.top_words import top_words

CLASSES = {1: "X", 2: "MS"}

# As printed: three decimals for the table, whole errors, four decimals for the mean negative log-likelihood.
PUBLISHED = {
    "X": [("subject", 0.998), ("this", 0.628), ("with", 0.535), ("but", 0.471), ("you", 0.431)],
    "MS": [("subject", 0.998), ("windows", 0.639), ("this", 0.540), ("with", 0.538), ("but", 0.518)],
    "information": [
        ("windows", 0.215), ("microsoft", 0.095), ("dos", 0.092), ("motif", 0.078), ("window", 0.067),
    ],
    "Bernoulli errors, train": 75,
    "Bernoulli errors, test": 168,
    "Bernoulli confusion, test": [[367, 83], [85, 365]],
    "Bernoulli mean NLL, train": 0.2326,
    "Bernoulli mean NLL, test": 0.4658,
    "multinomial errors, train": 77,
    "multinomial errors, test": 179,
}  # fmt: skip


class Posts(NamedTuple):
    """The data set: word occurrence as 0/1 and class names."""

    X_train: csr_array
    y_train: list[str]
    X_test: csr_array
    y_test: list[str]
    vocabulary: list[str]


def load(corpora: Path) -> Posts:
    data = loadmat(corpora / "xwindows" / "XwindowsDocData.mat")
    X_train, X_test = (csr_array(data[part]).astype(np.int32) for part in ("xtrain", "xtest"))
    y_train, y_test = ([CLASSES[c] for c in data[part].ravel()] for part in ("ytrain", "ytest"))
    return Posts(X_train, y_train, X_test, y_test, [str(cell[0]) for cell in data["vocab"].ravel()])


def ours(posts: Posts) -> dict[str, Any]:
    """Compute the quantities of PUBLISHED, to the same digits."""
    X_train, y_train, X_test, y_test, vocabulary = posts
    fitted = BernoulliNB().fit(X_train, y_train)
    counts = fitted.sums_.documents, csr_array(fitted.sums_.columns)
    likeliest, informative = top_words(fitted.classes_.tolist(), *counts, vocabulary, n=5, alpha=1.0)
    quantities: dict[str, Any] = {
        name: [(word.token, round(word.value, 3)) for word in words]
        for name, words in [*likeliest.items(), ("information", informative)]
    }
    for name, model in (("Bernoulli", BernoulliNB(alpha=1.0)), ("multinomial", MultinomialNB(alpha=1.0))):
        model.fit(X_train, y_train)
        for part, X, y in (("train", X_train, y_train), ("test", X_test, y_test)):
            predicted = model.predict(X)
            quantities[f"{name} errors, {part}"] = int((predicted != y).sum())
            if name == "Bernoulli":
                log_proba = model.predict_log_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
                quantities[f"{name} mean NLL, {part}"] = round(float(-log_proba.mean()), 4)
        if name == "Bernoulli":
            quantities[f"{name} confusion, test"] = [
                [int(((predicted == b) & (np.array(y_test) == a)).sum()) for b in CLASSES.values()]
                for a in CLASSES.values()
            ]
    return quantities


def table(columns: dict[str, list[tuple[str, float]]]) -> str:
    lines = ["   ".join(f"{name:15}" for name in columns)]
    for row in zip(*columns.values()):
        lines.append("   ".join(f"{word:9} {value:.3f}" for word, value in row))
    return "\n".join(lines)


def draw(corpora: Path) -> Any:
    """Figure 3.8: θ_jc of every column for both classes; "subject" is the spike they share."""
    import matplotlib.pyplot as plt

    posts = load(corpora)
    model = BernoulliNB().fit(posts.X_train, posts.y_train)
    figure, axes = plt.subplots(2, 1, figsize=(8, 5), sharex=True, sharey=True, layout="constrained")
    for axis, name, colour in zip(axes, CLASSES.values(), (BLUE, RUST)):
        c = model.classes_.tolist().index(name)
        theta = np.exp(model.feature_log_prob_[c])
        axis.vlines(np.arange(len(theta)), 0, theta, color=colour, linewidth=0.8)
        for j in np.argsort(-theta)[:3]:
            axis.annotate(posts.vocabulary[j], (j, theta[j]), xytext=(4, -2), textcoords="offset points", fontsize=9)
        axis.set(ylabel=f"P(word in post | {name})", ylim=(0, 1.05), xlim=(-5, len(theta) + 5))
    axes[1].set_xlabel("column of the vocabulary")
    figure.suptitle("Posts about X windows and MS windows: θ of 600 words, α = 1")
    return figure


def compare(corpora: Path) -> list[str]:
    """Print both; what differs."""
    quantities = ours(load(corpora))
    tables = ("X", "MS", "information")
    for title, source in (("published", PUBLISHED), ("ours", quantities)):
        print(f"{title}: likeliest words of each class, and mutual information in bits")
        print(table({name: source[name] for name in tables}), end="\n\n")  # type: ignore[misc]
    print(f"{'':28} {'published':>26} {'ours':>26}")
    for name, value in PUBLISHED.items():
        if name not in tables:
            print(f"{name:28} {value!s:>26} {quantities[name]!s:>26}")
    return [name for name in PUBLISHED if quantities[name] != PUBLISHED[name]]


if __name__ == "__main__":
    agreed = "\nEvery printed digit agrees."
    reproduce("Murphy's X windows table beside ours.", compare, agreed, {"xwindows.png": draw}, "xwindows")
