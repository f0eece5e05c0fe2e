"""The scores file: a line per message, for spreadsheets and other programs.

The columns are name, truth, verdict, ``score:CLASS`` in nats for each class, and ``p:CLASS`` for each class. Columns
are separated by tabs, or by commas if the file's name ends in ``.csv``. Unprintable characters of a name are escaped.
"""

from __future__ import annotations

import csv
from pathlib import Path

from spamnb.evaluation.result import Result
from spamnb.model.decision import UNSURE
from spamnb.shown_text import escape
from spamnb.sources.entries import write_private


def write_scores(result: Result, path: str | Path) -> None:
    """Write the rows of a result to ``path``. Raise SpamnbError if the file cannot be written."""
    scores, probabilities = ([f"{prefix}:{name}" for name in result.classes] for prefix in ("score", "p"))
    verdict_names = [*result.classes, UNSURE]  # the verdict −1 is the last name
    with write_private(path) as stream:
        writer = csv.writer(stream, delimiter="," if str(path).endswith(".csv") else "\t", lineterminator="\n")
        writer.writerow(["name", "truth", "verdict", *scores, *probabilities])
        for i, (truth, verdict) in enumerate(zip(result.truth.tolist(), result.verdicts.tolist())):
            numbers = [*result.scores[i].tolist(), *result.probabilities[i].tolist()]
            texts = escape(result.names[i]), verdict_names[truth], verdict_names[verdict]
            writer.writerow([*texts, *map(repr, numbers)])
