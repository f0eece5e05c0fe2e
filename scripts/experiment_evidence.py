"""Compare the default tokens and pooling with alternatives, on every corpus.

    SPAMNB_CORPORA=DIR python scripts/experiment_evidence.py [--only pooling|groups|alpha|pairs|tokens] [--salts 3]

Figures are 1-ROCA%, means over 2 × salts models: each corpus is halved by md5(file name + salt), and a model is trained
on either half. For 20news-bydate, without the headers that name the group, the figure is accuracy in percent. All
models are boolean multinomial naive Bayes.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mail_corpora import complain, corpora_folder, sources
from scipy.sparse import csr_array

from spamnb.api.vectorizer import MailVectorizer
from spamnb.core.score import Pooling, ScoreModel
from spamnb.evaluation.metrics import one_minus_roca
from spamnb.model.pooling import pooling_parameters
from spamnb.sources.entries import read_entries
from spamnb.sources.spec import find_labelled_entries

NAMES = {"SA": "spamassassin", **{f"enron{n}": f"enron{n}" for n in (1, 2, 3)}, "Ling": "lingspam", "SMS": "sms"}
ALPHA = 0.1


class Corpus:
    """The messages of one corpus, with their classes and names."""

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
    """Return the 0/1 matrix of a corpus and its columns' groups, without the tokens that begin with ``without``."""
    vectorizer = MailVectorizer(binary=True, **options)
    X = vectorizer.fit_transform(corpus.raws)
    mask = np.array([not (without and token.startswith(without)) for token in vectorizer.tokens_])
    return csr_array(X[:, mask]), vectorizer.tokens_.groups[mask]


class Variant(NamedTuple):
    """A pooling, and the new number of each group."""

    pooling: Pooling
    new_groups: str = "01234"


def make_variant(new_groups: str = "01234", pooling: str = "mean", **parameters: float) -> Variant:
    return Variant(pooling_parameters(pooling)._replace(**parameters), new_groups)


def scores(
    X: csr_array, groups: np.ndarray, y: np.ndarray, train: np.ndarray, variant: Variant, alpha: float = ALPHA
) -> np.ndarray:
    """Return the scores (n, C) of the rows that are not in ``train``, by a model of those in ``train``."""
    classes = int(y.max()) + 1
    counts = np.stack([np.asarray(X[train & (y == c)].sum(axis=0)).ravel() for c in range(classes)], axis=1)
    occurs, test = counts.any(axis=1), csr_array(X[~train])
    groups = np.where(occurs, np.array(list(variant.new_groups), np.int8)[groups], np.int8(-1))
    model = ScoreModel(
        variant.pooling, 5, 3, "boolean", alpha, int(occurs.sum()), counts.astype(np.uint32), groups,
        np.bincount(y[train], minlength=classes), counts.sum(axis=0, dtype=np.int64), np.zeros((1, classes)),
    )  # fmt: skip
    cells = test.indptr.astype(np.int64), test.indices.astype(np.int32), np.ones(test.nnz, np.int64)
    return model.score(*cells).scores


DEFAULT = make_variant()
NEW_GROUPS = {
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
        ("sum", {"variant": make_variant(pooling="sum")}),
        *((f"weights I^{a:g}", {"variant": make_variant(information_exponent=a)}) for a in (0.0, 1.0, 1.5, 2.0, 3.0)),
        *((f"groups to the power of {b:g}", {"variant": make_variant(group_exponent=b)}) for b in (0.0, 0.5, 0.8, 1.0)),
        *((f"groups, prior weight {w:g}", {"variant": make_variant(prior_weight=w)}) for w in (0.0, 1.0, 5.0, 10.0)),
    ],
    "groups": [(name, {"variant": make_variant(new_groups)}) for name, new_groups in NEW_GROUPS.items()],
    "alpha": [(f"alpha {alpha:g}", {"alpha": alpha}) for alpha in (0.01, 0.03, 0.1, 0.3, 1.0)],
    "pairs": [("no pairs", {"ngrams": 1}), ("and triples", {"ngrams": 3})],
    "tokens": [
        *((f"without {without}", {"without": without}) for without in LEFT_OUT.split()),
        ("text only", {"body_only": True}),
    ],
}


class Table:
    """A table with a column for each corpus, and for 20 Newsgroups if the folder has it."""

    def __init__(self, root: Path, salts: int) -> None:
        self.salts = salts
        self.corpora = {title: Corpus(sources(name, root)) for title, name in NAMES.items()}
        news = root / "20news-bydate"
        self.news = Corpus([str(news / "train"), str(news / "test")]) if news.is_dir() else None
        self.n_train = len(list((news / "train").glob("*/*"))) if self.news else 0
        self._rows: dict[int, tuple[csr_array, np.ndarray]] = {}
        print(f"{'':34}" + "".join(f"{name:>9}" for name in self.corpora) + "   20news" * bool(self.news))

    def rows(self, corpus: Corpus, options: dict[str, Any]) -> tuple[csr_array, np.ndarray]:
        """Return the rows of a corpus. Rows without ``options`` are read once."""
        if options:
            return rows(corpus, **options)
        if id(corpus) not in self._rows:
            self._rows[id(corpus)] = rows(corpus)
        return self._rows[id(corpus)]

    def print_line(self, name: str, variant: Variant = DEFAULT, alpha: float = ALPHA, **options: Any) -> None:
        cells = []
        for corpus in self.corpora.values():
            corpus_rows, areas = self.rows(corpus, options), []
            for train in corpus.halvings(self.salts):
                test_scores = scores(*corpus_rows, corpus.y, train, variant, alpha)
                margins = test_scores[:, 1] - test_scores[:, 0]
                areas.append(one_minus_roca(corpus.y[~train] == 1, margins))
            cells.append(f"{np.mean(areas):9.4f}")
        if self.news:
            y, train = self.news.y, np.arange(len(self.news.y)) < self.n_train
            test_scores = scores(*self.rows(self.news, options), y, train, variant, alpha)
            cells.append(f"{100 * (test_scores.argmax(axis=1) == y[~train]).mean():9.2f}")
        print(f"{name:34}" + "".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=LINES)
    parser.add_argument("--salts", type=int, default=3)
    options = parser.parse_args()
    table = Table(corpora_folder(), options.salts)
    for kind, lines in LINES.items():
        if options.only in (None, kind):
            for name, arguments in lines:
                table.print_line(name, **arguments)


if __name__ == "__main__":
    main()
