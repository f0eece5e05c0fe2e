"""Build the starter, the small model of public mail to which a person's own messages are added.

    python scripts/build_starter.py                 # writes spamnb/store/starter.jsonl.xz
    python scripts/build_starter.py --rarest 200    # also shows the rarest tokens
    python scripts/build_starter.py --output FILE --collections spamassassin enron2

A collection is a corpus of public mail. The starter has the tokens that at least two messages of each of at least two
collections have, so no word that only one of them has, such as a name. Left out are the kinds of people's addresses
and of hosts, and tokens with four or more digits in a row. A token of headers or structure is also in at least two good
messages and two spams: a collection of spam alone shows how one mailbox received its mail, not what spam is.

The model is fitted to messages of these tokens alone. It has counts, weights and the histograms of scores and of
typicality, and no message. It is mail of strangers, so few messages count as seen, and few scores count in the curve.
"""

from __future__ import annotations

import argparse
import lzma
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from mail_corpora import complain, corpora_folder, sources

from spamnb.engines.counting import count_parallel
from spamnb.model.class_counts import DOCUMENTS, Cells
from spamnb.model.corrected import Corrected
from spamnb.model.decision import sum_typicality
from spamnb.model.model import STARTER
from spamnb.model.training_set import TrainingSet
from spamnb.reader.evidence import GROUPS
from spamnb.settings import Settings
from spamnb.sources.entries import Entry
from spamnb.sources.spec import find_labelled_entries
from spamnb.store.jsonl import export
from spamnb.store.snapshot import read_sums, write_snapshot
from spamnb.store.store import Store
from spamnb.training import model_of

MIN_MESSAGES = 2  # of a collection, and of a class for tokens of headers and structure
MIN_COLLECTIONS = 2
# Of each class; a person's own messages are added to these numbers: docs/experiments.md#the-starter
SCORES, SEEN = 100, 24
FILE = Path(__file__).resolve().parents[1] / "spamnb" / "store" / "starter.jsonl.xz"
DEFAULT = ("spamassassin", "enron1", "modern-spam")
# Addresses and hosts, in the kinds that have them, and numbers.
_PRIVATE = re.compile(r"(from|to|sender|reply-to|url):|(received|x-[a-z-]+):.*[a-z].*\.|.*\d{4}")


def _ignore(_name: str, _error: Exception) -> None:
    """Skip what is no message, such as the summaries beside Enron's folders."""


def find_collections(names: Sequence[str], root: Path) -> dict[str, list[Entry]]:
    """Return the messages of each collection."""
    specs = {"modern-spam": [f"spam={root}/modern/spam"]}
    return {name: list(find_labelled_entries(specs.get(name) or sources(name, root), _ignore)) for name in names}


def select_tokens(training_set: TrainingSet, collection: np.ndarray) -> np.ndarray:
    """Return the columns of the tokens of the starter; ``collection`` (n,) is the number of each message's."""
    rows, size = training_set.rows, len(training_set.tokens)

    def count(mask: np.ndarray) -> np.ndarray:
        return np.bincount(rows.take(mask).packed().ids, minlength=size)

    in_collections = sum((count(collection == k) >= MIN_MESSAGES).astype(int) for k in range(collection.max() + 1))
    in_classes = sum((count(rows.labels == c) >= MIN_MESSAGES).astype(int) for c in range(len(rows.classes)))
    is_text = training_set.tokens.groups < GROUPS.index("headers")
    columns = np.flatnonzero((in_collections >= MIN_COLLECTIONS) & (is_text | (in_classes == len(rows.classes))))
    tokens = training_set.tokens.take(columns)
    return columns[[_PRIVATE.match(token) is None for token in tokens]]


def thin(histogram: np.ndarray, messages: int) -> np.ndarray:
    """Return a histogram (C, ., bins) with this number of messages of each class on average.

    >>> thin(np.array([[[2, 6, 2], [4, 0, 6]]]), 5).tolist()
    [[[1, 3, 1], [2, 0, 3]]]
    """
    sums = np.cumsum(histogram, axis=2)
    share = messages * len(histogram) / int(sums[:, 0, -1].sum())
    return np.diff(np.floor(sums * share + 0.5).astype(np.int64), axis=2, prepend=0)


def leave_out(training_set: TrainingSet, columns: np.ndarray) -> np.ndarray:
    """Return how typical (n, C) each message, with all of its tokens, is of each class, by a starter without it.

    New messages have tokens, too, that the starter left out.
    """
    cells = training_set.cells
    is_selected = np.isin(cells.token, columns)
    selected = Cells(cells.token[is_selected], cells.label[is_selected], cells.figures[:, is_selected])
    learner = Corrected(Settings())
    return learner.naive_bayes.leave_one_out(TrainingSet(training_set.rows, selected)).typicality


def make_starter(collections: Mapping[str, Sequence[Entry]], path: Path | str) -> Store:
    """Make the starter of these collections at ``path``, and return it."""
    settings, ends = Settings(), np.cumsum([len(entries) for entries in collections.values()])
    entries = [entry for mail in collections.values() for entry in mail]
    training_set = count_parallel(entries, settings, complain).deduplicate()
    collection = np.searchsorted(ends, training_set.rows.positions, side="right")
    columns = select_tokens(training_set, collection)
    columns = columns[np.argsort(training_set.tokens.hashes[columns])]
    with model_of(training_set.select_columns(columns), settings) as model:
        sums = read_sums(model)
    typicality = sum_typicality(leave_out(training_set, columns), training_set.rows.labels)
    typicality[:, 0] = SEEN
    meta, histogram = {**sums.model.meta, STARTER: True}, thin(sums.model.histogram, SCORES)
    unscored = np.zeros_like(sums.model.unscored)  # the few scores stand for all messages
    model = replace(sums.model, meta=meta, histogram=histogram, unscored=unscored, typicality=typicality, curves=None)
    store = Store.create(path, model.meta)
    write_snapshot(store, sums._replace(model=model))
    return store


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=FILE, help="the export  [default: in spamnb/store/]")
    parser.add_argument("--collections", nargs="+", default=DEFAULT, help=f"[default: {' '.join(DEFAULT)}]")
    parser.add_argument("--rarest", type=int, default=0, metavar="N", help="show the N rarest tokens")
    arguments = parser.parse_args()
    with make_starter(find_collections(arguments.collections, corpora_folder("spamassassin")), ":memory:") as store:
        sums, text = read_sums(store), "".join(f"{line}\n" for line in export(store))
    arguments.output.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    cells, tokens = sums.block.cells, list(sums.block.tokens)
    messages = np.bincount(cells.token, cells.figures[DOCUMENTS], len(tokens)).astype(int)
    groups = dict(zip(GROUPS, np.bincount(sums.block.tokens.groups, minlength=len(GROUPS)).tolist()))
    size = arguments.output.stat().st_size
    documents = dict(zip(sums.model.class_ids, sums.model.sums[:, 0].tolist()))
    print(f"{arguments.output}: {len(tokens):,} tokens {groups}, {documents}")
    print(f"{size:,} bytes compressed, {len(text.encode()):,} bytes of JSON lines")
    for position in sorted(range(len(tokens)), key=lambda j: (messages[j], tokens[j]))[: arguments.rarest]:
        print(f"{messages[position]}\t{tokens[position]}")


if __name__ == "__main__":
    main()
