"""What the default tokens and pooling owe their form to: each choice beside its alternatives, on every corpus.

    SPAMNB_CORPORA=DIR python scripts/experiment_evidence.py [--only pooling|groups|alpha|pairs|tokens] [--salts 3]

Prints 1-ROCA% (a mean over 2 × salts halvings of each corpus by md5(file name + salt), either half trained on in turn),
and accuracy % on 20news-bydate without the headers that name the group. Boolean multinomial naive Bayes throughout.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from mail_corpora import complain, corpora_folder, sources
from scipy.sparse import csr_array

from spamnb.api.vectorizer import MailVectorizer
from spamnb.evaluation.metrics import one_minus_roca
from spamnb.formulas import pooling as evidence
from spamnb.formulas.naive_bayes import token_log_probability
from spamnb.sources.entries import read_entries
from spamnb.sources.spec import find_labelled_entries

NAMES = {"SA": "spamassassin", **{f"enron{n}": f"enron{n}" for n in (1, 2, 3)}, "Ling": "lingspam", "SMS": "sms"}
ALPHA = 0.1
# Contributions (C, nnz), indptr and groups → scores (n, C).
Pooling = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class Corpus:
    """Messages of one corpus, and what is known of each: its class and which half it is in."""

    def __init__(self, specs: list[str]) -> None:
        read = list(read_entries(find_labelled_entries(specs, complain), complain))
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


def rows(corpus: Corpus, without: str = "", **options: Any) -> tuple[csr_array, np.ndarray]:
    """0/1 matrix of a corpus and its columns' groups; tokens that begin with ``without`` are left out."""
    vectorizer = MailVectorizer(binary=True, **options)
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


def pooled(of: str = "01234", pooling: str = "mean", **constants: float) -> Pooling:
    """Pool with other ``constants``. ``of`` maps each group to the group that it becomes part of."""

    def run(contributions: np.ndarray, indptr: np.ndarray, groups: np.ndarray) -> np.ndarray:
        ones, groups = np.ones(contributions.shape[1]), np.array(list(of), int)[groups]
        with mock.patch.dict(vars(evidence), constants):
            return evidence.pool(contributions, ones, indptr, np.zeros(len(contributions)), groups, pooling)[0]

    return run


DEFAULT = pooled()
GROUPED = {
    "one": "00000",
    "text and headers": "00110",
    "pairs with the text": "00234",
    "subject with the text": "01034",
    "subject with the headers": "01334",
    "structure with the text": "01230",
    "structure with the headers": "01233",
}
LEFT_OUT = "p: caps: length: line: capitals: subject:p: # received: header: url: html: from: to: x-mailer: message-id:"
LINES: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "pooling": [
        ("sum", {"pooling": pooled(pooling="sum")}),
        *((f"weights I^{a:g}", {"pooling": pooled(INFORMATION_EXPONENT=a)}) for a in (0.0, 1.0, 1.5, 2.0, 3.0)),
        *((f"groups to the power of {b:g}", {"pooling": pooled(GROUP_EXPONENT=b)}) for b in (0.0, 0.5, 0.8, 1.0)),
        *((f"groups, doubt {w:g}", {"pooling": pooled(PRIOR_WEIGHT=w)}) for w in (0.0, 1.0, 5.0, 10.0)),
    ],
    "groups": [(name, {"pooling": pooled(of)}) for name, of in GROUPED.items()],
    "alpha": [(f"alpha {alpha:g}", {"alpha": alpha}) for alpha in (0.01, 0.03, 0.1, 0.3, 1.0)],
    "pairs": [("no pairs", {"ngrams": 1}), ("and triples", {"ngrams": 3})],
    "tokens": [
        *((f"without {without}", {"without": without}) for without in LEFT_OUT.split()),
        ("text only", {"body_only": True}),
    ],
}


class Table:
    """A column for each corpus, and one for 20 Newsgroups where it is there."""

    def __init__(self, root: Path, salts: int) -> None:
        self.salts = salts
        self.corpora = {shown: Corpus(sources(name, root)) for shown, name in NAMES.items()}
        news = root / "20news-bydate"
        self.news = Corpus([str(news / "train"), str(news / "test")]) if news.is_dir() else None
        self.first = len(list((news / "train").glob("*/*"))) if self.news else 0
        self.kept: dict[int, tuple[csr_array, np.ndarray]] = {}
        print(f"{'':34}" + "".join(f"{name:>9}" for name in self.corpora) + "   20news" * bool(self.news))

    def rows(self, corpus: Corpus, options: dict[str, Any]) -> tuple[csr_array, np.ndarray]:
        """Return the rows of a corpus. Rows without ``options`` are read once."""
        if options:
            return rows(corpus, **options)
        if id(corpus) not in self.kept:
            self.kept[id(corpus)] = rows(corpus)
        return self.kept[id(corpus)]

    def line(self, name: str, pooling: Pooling = DEFAULT, alpha: float = ALPHA, **options: Any) -> None:
        cells = []
        for corpus in self.corpora.values():
            made, areas = self.rows(corpus, options), []
            for train in corpus.halvings(self.salts):
                found = scores(*made, corpus.y, train, pooling, alpha)
                areas.append(one_minus_roca(corpus.y[~train] == 1, found[:, 1] - found[:, 0]))
            cells.append(f"{np.mean(areas):9.4f}")
        if self.news:
            y, train = self.news.y, np.arange(len(self.news.y)) < self.first
            found = scores(*self.rows(self.news, options), y, train, pooling, alpha)
            cells.append(f"{100 * (found.argmax(axis=1) == y[~train]).mean():9.2f}")
        print(f"{name:34}" + "".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=LINES)
    parser.add_argument("--salts", type=int, default=3)
    arguments = parser.parse_args()
    table = Table(corpora_folder(), arguments.salts)
    for kind, lines in LINES.items():
        if arguments.only in (None, kind):
            for name, how in lines:
                table.line(name, **how)


if __name__ == "__main__":
    main()
