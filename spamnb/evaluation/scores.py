"""The scores file: a line per message, for spreadsheets, other programs, and comparing runs later.

Columns: name, truth, verdict, then ``score:CLASS`` (nats) for each class and ``p:CLASS`` for each. Tabs between
them, or commas where the file is called ``.csv``; quoted as the csv module does. A message is always one line:
unprintable characters of its name are escaped. Floats are written so that they read back to the last bit.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from spamnb.errors import SpamnbError
from spamnb.evaluation.metrics import McNemar, mcnemar
from spamnb.evaluation.result import Result
from spamnb.formulas.decision import UNSURE
from spamnb.shown_text import escape
from spamnb.sources.entries import open_private

_FIRST = ["name", "truth", "verdict"]


class Verdict(NamedTuple):
    """What a message is, and what it was called."""

    truth: str
    said: str


Verdicts = dict[str, Verdict]  # by name


def write_scores(result: Result, path: str | Path) -> None:
    """Write a result's rows to ``path``. Raises SpamnbError where that cannot be written."""
    scores, probabilities = ([f"{what}:{name}" for name in result.classes] for what in ("score", "p"))
    try:
        with open(path, "w", encoding="utf-8", newline="", opener=open_private) as stream:
            writer = csv.writer(stream, delimiter="," if str(path).endswith(".csv") else "\t", lineterminator="\n")
            writer.writerow([*_FIRST, *scores, *probabilities])
            for i, (name, truth, said) in enumerate(_rows(result)):
                numbers = [*result.scores[i].tolist(), *result.probabilities[i].tolist()]
                writer.writerow([name, truth, said, *map(repr, numbers)])
    except OSError as error:
        raise SpamnbError(f"{path}: cannot be written: {error.strerror}") from error


def _rows(result: Result) -> Iterable[tuple[str, str, str]]:
    """Name, class and verdict of each message."""
    said = [*result.classes, UNSURE]  # index −1 is the last
    for name, truth, verdict in zip(result.names, result.truth.tolist(), result.verdicts.tolist()):
        yield escape(name), said[truth], said[verdict]


def verdicts_of(result: Result) -> Verdicts:
    """The verdicts of a result."""
    return {name: Verdict(truth, said) for name, truth, said in _rows(result)}


def read_verdicts(path: str | os.PathLike[str]) -> Verdicts:
    """The verdicts that a scores file holds. SpamnbError where the file is none."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
            head = stream.readline(1 << 20)
            delimiter = "," if head.startswith("name,") else "\t"
            columns = head.rstrip("\n").split(delimiter)
            if columns[:3] != _FIRST:
                raise SpamnbError(f"{path}: no scores file; spamnb evaluate --scores FILE writes one")
            rows = list(csv.reader(stream, delimiter=delimiter))
    except OSError as error:
        raise SpamnbError(f"{path}: cannot be read: {error.strerror}") from error
    except csv.Error as error:
        raise SpamnbError(f"{path}: a damaged scores file: {error}") from error
    for line, row in enumerate(rows, 2):
        if len(row) < len(_FIRST):
            raise SpamnbError(f"{path}:{line}: a damaged scores file: the line ends before its third column")
    return {name: Verdict(truth, said) for name, truth, said, *_ in rows}


def compare(first: Verdicts, second: Verdicts) -> McNemar:
    """McNemar's test of a run against another over the same messages, paired by name.

    SpamnbError where the other run holds other messages, or gives one of them another true class.
    """
    if first.keys() != second.keys():
        lone = min(first.keys() ^ second.keys())
        raise SpamnbError(f"the runs hold different messages: {lone} is in only one")
    for name, verdict in first.items():
        if verdict.truth != second[name].truth:
            raise SpamnbError(f"the runs disagree about the true class of {name}")
    return mcnemar(*([run[name].truth == run[name].said for name in first] for run in (first, second)))
