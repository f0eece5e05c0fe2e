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
            about, head = json.loads(first.removeprefix(_MARK)), stream.readline(1 << 20)
            delimiter = "," if head.startswith("name,") else "\t"
            columns = next(csv.reader([head], delimiter=delimiter))
            classes = tuple(c.removeprefix("score:") for c in columns if c.startswith("score:"))
            if not isinstance(about, dict) or columns != _columns(classes):
                raise ValueError("its first two lines name other columns")
            rows = list(csv.reader(stream, delimiter=delimiter))
        number = {name: c for c, name in enumerate(classes)} | {UNSURE_NAME: UNSURE}
        for line, row in enumerate(rows, 3):
            if len(row) != len(columns):
                raise SpamnbError(f"{path}:{line}: {len(row)} columns where {len(columns)} are expected")
            for said, known in ((row[1], classes), (row[2], number)):
                if said not in known:
                    raise SpamnbError(f"{path}:{line}: {said!r} is none of the classes that its second line names")
        numbers = np.array([[float(n) for n in row[3:]] for row in rows]).reshape(len(rows), 2 * len(classes))
    except OSError as error:
        raise SpamnbError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, csv.Error, StopIteration) as error:
        raise SpamnbError(f"{path}: a damaged scores file: {error}") from error
    truth, verdicts = (np.array([number[row[n]] for row in rows], dtype=np.int64) for n in (1, 2))
    return Result(
        str(about.get("protocol", "")),
        classes,
        [row[0] for row in rows],
        truth,
        numbers[:, : len(classes)],
        numbers[:, len(classes) :],
        verdicts,
        bool(about.get("ordered", False)),
        str(about.get("spam", "spam")),
    )


def _columns(classes: tuple[str, ...]) -> list[str]:
    return ["name", "truth", "verdict", *(f"score:{c}" for c in classes), *(f"p:{c}" for c in classes)]
