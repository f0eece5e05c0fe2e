"""What the default tokens and pooling owe their form to: each choice beside its alternatives, on every corpus.

    SPAMNB_CORPORA=DIR python scripts/experiment_evidence.py [--only pooling|groups|alpha|pairs|tokens] [--salts 3]
                                                             [--at HM] [--in-order]

Prints 1-ROCA% (a mean over 2 × salts halvings of each corpus by md5(file name + salt), either half trained on in turn;
with --in-order the first half of each class's files and the second, which are of other times and places),
or with --at the sm% of the threshold that loses HM % of good mail, and accuracy % on 20news-bydate without the headers
that name the group. Boolean multinomial naive Bayes throughout.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from mail_corpora import corpora_folder, sources
from scipy.sparse import csr_array

from spamnb.api.vectorizer import MailVectorizer
from spamnb.evaluation.roc import one_minus_roca, roc_counts, spam_missed_at
from spamnb.formulas import pooling as evidence
from spamnb.formulas.naive_bayes import token_log_probability
from spamnb.sources.entries import messages
from spamnb.sources.spec import entries

NAMES = {"SA": "spamassassin", **{f"enron{n}": f"enron{n}" for n in (1, 2, 3)}, "Ling": "lingspam", "SMS": "sms"}
ALPHA = 0.1
# Contributions (C, nnz), indptr and groups → scores (n, C).
Pooling = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def complain(name: str, error: Exception) -> None:
    print(f"{name}: {error}", file=sys.stderr)


class Corpus:
    """Messages of one corpus, and what is known of each: its class and which half it is in."""

    def __init__(self, specs: list[str]) -> None:
        read = list(messages(entries(specs, complain), complain))
        self.raws = [raw for _, raw in read]
        self.classes = sorted({entry.label for entry, _ in read})
        self.y = np.array([self.classes.index(entry.label) for entry, _ in read])
        self.names = [Path(entry.name).name for entry, _ in read]

    def halvings(self, salts: int) -> Iterator[np.ndarray]:
        for salt in ("", "a", "b", "c", "d")[:salts]:
            digests = [hashlib.md5((name + salt).encode()).hexdigest() for name in self.names]
            even = np.array([int(digest, 16) % 2 == 0 for digest in digests])
            yield even
            yield ~even

    def in_order(self) -> Iterator[np.ndarray]:
        first = np.zeros(len(self.y), bool)
        for c in range(len(self.classes)):
            own = np.flatnonzero(self.y == c)
            first[own[: len(own) // 2]] = True
        yield first
        yield ~first


def rows(corpus: Corpus, without: tuple[str, ...] = (), **options: Any) -> tuple[csr_array, np.ndarray]:
    """0/1 matrix of a corpus and its columns' groups; tokens that begin with one of ``without`` are left out."""
    vectorizer = MailVectorizer(binary=True, dtype=np.int32, **options)
    X = vectorizer.fit_transform(corpus.raws)
    kept = np.array([not (without and token.startswith(without)) for token in vectorizer.tokens_])
    return csr_array(X[:, kept]), vectorizer.tokens_.groups[kept]


def scores(
    X: csr_array, groups: np.ndarray, y: np.ndarray, train: np.ndarray, pooling: Pooling, alpha: float = ALPHA
) -> np.ndarray:
    """Scores (n, C) of the rest by the sums of the rows in ``train``."""
    classes = int(y.max()) + 1
    sums = np.stack([np.asarray(X[train & (y == c)].sum(axis=0)).ravel() for c in range(classes)])
    known = sums.sum(axis=0) > 0
    test = csr_array(X[~train][:, known])
    sums, groups = sums[:, known], groups[known]
    table = token_log_probability(sums, sums.sum(axis=1), alpha * sums.shape[1], alpha)
    return pooling(table[:, test.indices], test.indptr, groups[test.indices])


def missed_at(margin: np.ndarray, spam: np.ndarray, hm: float) -> float:
    """sm% of the threshold above which ``hm`` % of good messages are, or fewer."""
    return 100 * float(spam_missed_at(roc_counts(spam, margin), hm / 100))


def pooled(
    power: float = evidence.INFORMATION_EXPONENT,
    root: float = evidence.GROUP_EXPONENT,
    doubt: float = evidence.PRIOR_WEIGHT,
    of: str = "01234",
) -> Pooling:
    """The mean with other constants; ``of`` says which group each group is made part of."""

    def run(contributions: np.ndarray, indptr: np.ndarray, groups: np.ndarray) -> np.ndarray:
        before = evidence.INFORMATION_EXPONENT, evidence.GROUP_EXPONENT, evidence.PRIOR_WEIGHT
        evidence.INFORMATION_EXPONENT, evidence.GROUP_EXPONENT, evidence.PRIOR_WEIGHT = power, root, doubt  # type: ignore[assignment]
        try:
            ones, groups = np.ones(contributions.shape[1]), np.array(list(of), int)[groups]
            return evidence.pool(contributions, ones, indptr, np.zeros(len(contributions)), groups)[0]
        finally:
            evidence.INFORMATION_EXPONENT, evidence.GROUP_EXPONENT, evidence.PRIOR_WEIGHT = before

    return run


def summed(contributions: np.ndarray, indptr: np.ndarray, groups: np.ndarray) -> np.ndarray:
    ones = np.ones(contributions.shape[1])
    return evidence.pool(contributions, ones, indptr, np.zeros(len(contributions)), groups, pooling="sum")[0]


def floored(floor: float) -> Pooling:
    """The mean over tokens that tell two classes apart by at least ``floor`` nats."""

    def run(contributions: np.ndarray, indptr: np.ndarray, groups: np.ndarray) -> np.ndarray:
        told = contributions.max(axis=0) - contributions.min(axis=0) >= floor
        total = np.stack([np.add.reduceat(np.append(row * told, 0.0), indptr[:-1]) for row in contributions], axis=1)
        used = np.add.reduceat(np.append(told, 0.0), indptr[:-1])
        return total / np.maximum(used, 1.0)[:, None]

    return run


DEFAULT = pooled()


class Table:
    def __init__(self, root: Path, salts: int, at: float | None = None, in_order: bool = False) -> None:
        self.salts, self.at, self.in_order = salts, at, in_order
        self.corpora = {shown: Corpus(sources(name, root)) for shown, name in NAMES.items()}
        news = root / "20news-bydate"
        self.news = Corpus([str(news / "train"), str(news / "test")]) if news.is_dir() else None
        self.first = len(list((news / "train").glob("*/*"))) if self.news else 0
        self.kept: dict[str, tuple[csr_array, np.ndarray]] = {}
        print(f"{'':34}" + "".join(f"{name:>9}" for name in self.corpora) + "   20news")

    def line(
        self,
        name: str,
        pooling: Pooling = DEFAULT,
        alpha: float = ALPHA,
        without: tuple[str, ...] = (),
        **options: Any,
    ) -> None:
        plain = not (options or without)
        cells = [f"{name:34}"]
        for which, corpus in [*self.corpora.items(), ("20news", self.news)]:
            if corpus is None:
                continue
            made = self.kept.get(which) if plain else None
            if made is None:
                made = rows(corpus, without, **options)
            if plain:
                self.kept[which] = made
            if which == "20news":
                train = np.arange(len(corpus.y)) < self.first
                right = scores(*made, corpus.y, train, pooling, alpha).argmax(axis=1) == corpus.y[~train]
                cells.append(f"{100 * right.mean():9.2f}")
                continue
            found = []
            for train in corpus.in_order() if self.in_order else corpus.halvings(self.salts):
                s, spam = scores(*made, corpus.y, train, pooling, alpha), corpus.y[~train] == 1
                margin = s[:, 1] - s[:, 0]
                found.append(one_minus_roca(spam, margin) if self.at is None else missed_at(margin, spam, self.at))
            cells.append(f"{np.mean(found):9.4f}")
        print("".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["pooling", "groups", "alpha", "pairs", "tokens"])
    parser.add_argument("--salts", type=int, default=3)
    parser.add_argument("--at", type=float, metavar="HM")
    parser.add_argument("--in-order", action="store_true")
    arguments = parser.parse_args()
    table = Table(corpora_folder(), arguments.salts, arguments.at, arguments.in_order)
    if arguments.only in (None, "pooling"):
        table.line("sum", summed)
        table.line("mean of tokens of 2 nats", floored(2.0))
        table.line("one group, weights I^2, doubt 2", pooled(2.0, 1.0, 2.0, "00000"))
        for power in (0.0, 1.0, 1.5, 2.0, 3.0):
            table.line(f"groups, weights I^{power:g}", pooled(power))
        for root in (0.0, 0.5, 0.8, 1.0):
            table.line(f"groups to the power of {root:g}", pooled(root=root))
        for doubt in (0.0, 1.0, 5.0, 10.0):
            table.line(f"groups, doubt {doubt:g}", pooled(doubt=doubt))
    if arguments.only in (None, "groups"):
        for name, of in (
            ("one", "00000"),
            ("text and headers", "00110"),
            ("pairs with the text", "00234"),
            ("subject with the text", "01034"),
            ("subject with the headers", "01334"),
            ("structure with the text", "01230"),
            ("structure with the headers", "01233"),
        ):
            table.line(name, pooled(of=of))
    if arguments.only in (None, "alpha"):
        for alpha in (0.01, 0.03, 0.1, 0.3, 1.0):
            table.line(f"alpha {alpha:g}", alpha=alpha)
    if arguments.only in (None, "pairs"):
        table.line("no pairs", ngrams=1)
        table.line("and triples", ngrams=3)
    if arguments.only in (None, "tokens"):
        for without in (
            "p:",
            "caps:",
            "length:",
            "line:",
            "capitals:",
            "subject:p:",
            "#",
            "received:",
            "header:",
            "url:",
            "html:",
            "from:",
            "to:",
            "x-mailer:",
            "message-id:",
        ):
            table.line(f"without {without}", without=(without,))
        table.line("text only", body_only=True)


if __name__ == "__main__":
    main()
