"""What the scripts that reproduce published results share: sums of a table, their command line, and how they end."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mail_corpora import corpora_folder
from scipy.sparse import csr_array

BLUE, RUST, GREEN, VIOLET, GOLD = "#1f6f8b", "#b5532d", "#2a8a4a", "#5b3e8f", "#d08a00"  # of pictures


class ClassCounts(NamedTuple):
    """Sums of messages in a table, by class."""

    classes: list[str]  # sorted, C of them
    documents: np.ndarray  # (C,) N_c
    document_counts: csr_array  # (C, V) N_jc
    occurrences: csr_array  # (C, V) T_jc


def class_counts(X: csr_array, labels: list[str]) -> ClassCounts:
    """Return the sums of messages in the CSR array X (n, V) of occurrences, by their ``labels`` (n,)."""
    classes, codes, documents = np.unique(labels, return_inverse=True, return_counts=True)
    members = csr_array((np.ones(len(codes), np.int64), (codes, np.arange(len(codes)))), (len(classes), len(codes)))
    return ClassCounts(classes.tolist(), documents, csr_array(members @ (X > 0)), csr_array(members @ X))


def count_words(texts: Iterable[list[str]]) -> tuple[csr_array, list[str]]:
    """Occurrences (n, V) of the words of each text, and the words of the columns, sorted."""
    vocabulary: dict[str, int] = {}
    columns = [[vocabulary.setdefault(word, len(vocabulary)) for word in words] for words in texts]
    words = sorted(vocabulary)
    place = np.empty(len(words), np.int64)
    place[[vocabulary[word] for word in words]] = np.arange(len(words))
    ends = np.cumsum([0, *map(len, columns)])
    cells = place[np.concatenate([np.array(row, np.int64) for row in columns])]
    X = csr_array((np.ones(len(cells), np.int64), cells, ends), shape=(len(columns), len(words)))
    X.sum_duplicates()
    return X, words


def reproduce(
    description: str,
    compare: Callable[..., list[str]],
    agreed: str,
    pictures: Mapping[str, Callable[..., Any]] | None = None,
    corpus: str = "",
) -> None:
    """Run ``compare``, which prints tables and returns the differences, and exit with 1 if there are any.

    ``pictures`` has a function for each file name that makes a figure; ``--figures DIR`` writes them (needs
    matplotlib). If a ``corpus`` is needed, all functions take the folder of all corpora.
    """
    parser = argparse.ArgumentParser(description=description)
    if pictures:
        parser.add_argument("--figures", type=Path, help=f"folder for {', '.join(pictures)}")
    options = parser.parse_args()
    data = [corpora_folder(corpus)] if corpus else []
    different = compare(*data)
    if pictures and options.figures:
        import matplotlib

        matplotlib.use("Agg")
        matplotlib.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False})
        options.figures.mkdir(parents=True, exist_ok=True)
        for name, draw in pictures.items():
            draw(*data).savefig(options.figures / name, dpi=100)
    if different:
        sys.exit(f"not as it should be: {'; '.join(different)}")
    print(agreed)
