"""The scores file: a line per message, for spreadsheets, other programs, and comparing runs later.

Columns: name, truth, verdict, then ``score:CLASS`` (nats) for each class and ``p:CLASS`` for each. Tabs between
them, or commas where the file is called ``.csv``; quoted as the csv module does. A message is always one line:
unprintable characters of its name are escaped. Floats are written so that they read back to the last bit. The
first line, a comment, holds what is true of all messages.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

from spamnb.errors import SpamnbError
from spamnb.evaluation.metrics import UNSURE
from spamnb.evaluation.result import Result
from spamnb.formulas.decision import UNSURE as UNSURE_NAME
from spamnb.naming import escape

_MARK = "# spamnb scores "


def write_scores(result: Result, path: str | Path) -> None:
    """Write a result's rows to ``path``. Raises SpamnbError where that cannot be written."""
    about = {"protocol": result.protocol, "ordered": result.ordered, "spam": result.spam}
    verdicts = [*result.classes, UNSURE_NAME]  # index −1 is the last
    try:
        with open(path, "w", encoding="utf-8", newline="") as stream:
            stream.write(f"{_MARK}{json.dumps(about)}\n")
            writer = csv.writer(stream, delimiter="," if str(path).endswith(".csv") else "\t", lineterminator="\n")
            writer.writerow(_columns(result.classes))
            for i, name in enumerate(result.names):
                numbers = [*result.scores[i].tolist(), *result.probabilities[i].tolist()]
                truth, verdict = result.classes[result.truth[i]], verdicts[result.verdicts[i]]
                writer.writerow([escape(name), truth, verdict, *map(repr, numbers)])
    except OSError as error:
        raise SpamnbError(f"{path}: cannot be written: {error.strerror}") from error


def read_scores(path: str | Path) -> Result:
    """A result as :func:`write_scores` left it, without details. SpamnbError where the file is not one."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
            first = stream.readline(1 << 16)
            if not first.startswith(_MARK):
                raise SpamnbError(f"{path}: no scores file; spamnb evaluate --scores FILE writes one")
            about = json.loads(first.removeprefix(_MARK))
            head = stream.readline(1 << 20)
            delimiter = "," if head.startswith("name,") else "\t"
            rows = csv.reader(stream, delimiter=delimiter)
            columns = next(csv.reader([head], delimiter=delimiter))
            classes = tuple(c.removeprefix("score:") for c in columns if c.startswith("score:"))
            if not isinstance(about, dict) or columns != _columns(classes):
                raise ValueError("its first two lines name other columns")
            read = [_row(row, classes, path, number) for number, row in enumerate(rows, 3)]
    except OSError as error:
        raise SpamnbError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, csv.Error, StopIteration) as error:
        raise SpamnbError(f"{path}: a damaged scores file: {error}") from error
    names = [name for name, *_ in read]
    numbers = np.array([values for *_, values in read], dtype=np.float64).reshape(len(read), 2 * len(classes))
    return Result(
        str(about.get("protocol", "")),
        classes,
        names,
        np.array([truth for _, truth, *_ in read], dtype=np.int64),
        numbers[:, : len(classes)],
        numbers[:, len(classes) :],
        np.array([verdict for _, _, verdict, _ in read], dtype=np.int64),
        bool(about.get("ordered", False)),
        str(about.get("spam", "spam")),
    )


def _columns(classes: tuple[str, ...]) -> list[str]:
    return ["name", "truth", "verdict", *(f"score:{c}" for c in classes), *(f"p:{c}" for c in classes)]


def _row(row: list[str], classes: tuple[str, ...], path: str | Path, number: int) -> tuple[str, int, int, list[float]]:
    """Name, true class, verdict and the 2C numbers of one line."""
    if len(row) != 3 + 2 * len(classes):
        raise SpamnbError(f"{path}:{number}: {len(row)} columns where {3 + 2 * len(classes)} are expected")
    name, truth, verdict, *numbers = row
    for said, known in ((truth, classes), (verdict, (*classes, UNSURE_NAME))):
        if said not in known:
            raise SpamnbError(f"{path}:{number}: {said!r} is none of the classes that its second line names")
    return (
        name,
        classes.index(truth),
        UNSURE if verdict == UNSURE_NAME else classes.index(verdict),
        [float(n) for n in numbers],
    )
