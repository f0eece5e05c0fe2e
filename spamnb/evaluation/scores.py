"""The scores file: a line per message, for spreadsheets, other programs, and comparisons of runs.

The columns are name, truth, verdict, ``score:CLASS`` in nats for each class, and ``p:CLASS`` for each class. Columns
are separated by tabs, or by commas if the file's name ends in ``.csv``. Unprintable characters of a name are escaped.
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

_FIRST_COLUMNS = ["name", "truth", "verdict"]


class TruthAndVerdict(NamedTuple):
    """The true class of a message, and its verdict."""

    truth: str
    verdict: str


Verdicts = dict[str, TruthAndVerdict]  # by the name of the message


def write_scores(result: Result, path: str | Path) -> None:
    """Write the rows of a result to ``path``. Raise SpamnbError if the file cannot be written."""
    scores, probabilities = ([f"{prefix}:{name}" for name in result.classes] for prefix in ("score", "p"))
    try:
        with open(path, "w", encoding="utf-8", newline="", opener=open_private) as stream:
            writer = csv.writer(stream, delimiter="," if str(path).endswith(".csv") else "\t", lineterminator="\n")
            writer.writerow([*_FIRST_COLUMNS, *scores, *probabilities])
            for i, (name, truth, verdict) in enumerate(_rows(result)):
                numbers = [*result.scores[i].tolist(), *result.probabilities[i].tolist()]
                writer.writerow([name, truth, verdict, *map(repr, numbers)])
    except OSError as error:
        raise SpamnbError(f"{path}: cannot be written: {error.strerror}") from error


def _rows(result: Result) -> Iterable[tuple[str, str, str]]:
    """Yield the name, the true class and the verdict of each message."""
    verdict_names = [*result.classes, UNSURE]  # the verdict −1 is the last name
    for name, truth, verdict in zip(result.names, result.truth.tolist(), result.verdicts.tolist()):
        yield escape(name), verdict_names[truth], verdict_names[verdict]


def verdicts_by_name(result: Result) -> Verdicts:
    """Return the verdicts of a result by the names of its messages."""
    return {name: TruthAndVerdict(truth, verdict) for name, truth, verdict in _rows(result)}


def read_verdicts(path: str | os.PathLike[str]) -> Verdicts:
    """Return the verdicts in a scores file. Raise SpamnbError for any other file."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
            first_line = stream.readline(1 << 20)
            delimiter = "," if first_line.startswith("name,") else "\t"
            columns = first_line.rstrip("\n").split(delimiter)
            if columns[:3] != _FIRST_COLUMNS:
                raise SpamnbError(f"{path}: not a scores file; to write one, run 'spamnb evaluate --scores FILE'")
            rows = list(csv.reader(stream, delimiter=delimiter))
    except OSError as error:
        raise SpamnbError(f"{path}: cannot be read: {error.strerror}") from error
    except csv.Error as error:
        raise SpamnbError(f"{path}: the scores file is damaged: {error}") from error
    for line, row in enumerate(rows, 2):
        if len(row) < len(_FIRST_COLUMNS):
            raise SpamnbError(f"{path}:{line}: the scores file is damaged: the line has fewer than three columns")
    return {name: TruthAndVerdict(truth, verdict) for name, truth, verdict, *_ in rows}


def compare_verdicts(first: Verdicts, second: Verdicts) -> McNemar:
    """Return McNemar's test of two runs over the same messages, paired by name.

    Raise SpamnbError if the runs have different messages, or different true classes of a message.
    """
    if first.keys() != second.keys():
        name = min(first.keys() ^ second.keys())
        raise SpamnbError(f"the runs have different messages: {name} is in only one of them")
    for name, row in first.items():
        if row.truth != second[name].truth:
            raise SpamnbError(f"the runs disagree about the true class of {name}")
    return mcnemar(*([run[name].truth == run[name].verdict for name in first] for run in (first, second)))
