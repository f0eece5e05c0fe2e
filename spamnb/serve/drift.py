"""Whether mail is still such as the model was made of: its scores beside those at training; age and size."""

from __future__ import annotations

import math
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from spamnb.classifier import Classifier
from spamnb.formulas.calibration import Calibration
from spamnb.journal.journal import Journal
from spamnb.serve.score import THRESHOLD, points_of
from spamnb.store.facts import origin

EDGES = (-20.0, -10.0, -5.0, 0.0, 2.5, THRESHOLD, 7.5, 10.0, 20.0)  # points between the columns of a histogram


class ModelState(NamedTuple):
    """A model as it is now.

    - ``trained_at``: seconds since 1970 when it was trained; None where it never was
    - ``bytes``: of its file and what lies beside it
    - ``messages``: how many it holds, by class
    - ``at_training``: how many messages had a score in each column of the histogram when they were judged without
      themselves; None for a model of other than two classes
    """

    trained_at: float | None
    bytes: int
    tokens: int
    messages: dict[str, int]
    at_training: list[int] | None


def columns() -> list[str]:
    """The columns of a histogram of points, in words.

    >>> columns()[0], columns()[1], columns()[-1]
    ('under -20', '-20 to -10', '20 and more')
    """
    inner = [f"{low:g} to {high:g}" for low, high in pairwise(EDGES)]
    return [f"under {EDGES[0]:g}", *inner, f"{EDGES[-1]:g} and more"]


def scores_of(journal: Journal, since: float, user: str | None = None) -> list[int]:
    """How many messages of the journal had points in each column, since a time."""
    # By the index alone: "unsure" and good mail lies below the threshold by its doubt, spam above it.
    with journal.reading():
        found = journal.execute(
            "SELECT CASE WHEN verdict = 'spam' THEN ? + doubt ELSE ? - doubt END AS points, count(*)"
            " FROM verdicts INDEXED BY verdicts_by_time WHERE at >= ? AND (? IS NULL OR user = ?) GROUP BY 1",
            (THRESHOLD, THRESHOLD, int(since), user, user),
        ).fetchall()
    return _counted([points for points, _ in found], [number for _, number in found])


def state_of(classifier: Classifier) -> ModelState:
    """What is to be said of a model.

    >>> state_of(Classifier.create(":memory:")).messages
    {}
    """
    store, settings = classifier.store, classifier.settings
    with store.reading():
        totals, cells, meta = store.totals(), store.calibration(), origin(store)
    histogram = None
    if len(totals.classes) == 2 and settings.spam in totals.classes:
        calibration = Calibration.from_cells(totals.classes, cells, totals.documents)
        log_odds, numbers = calibration.log_odds_at_training(totals.classes.index(settings.spam))
        p = settings.loss.threshold
        threshold = math.log(p / (1 - p))
        histogram = _counted([points_of(each, threshold) for each in log_odds.tolist()], numbers.tolist())
    size = store.size() if store.file != ":memory:" else 0
    messages = dict(zip(totals.classes, totals.documents.tolist()))
    return ModelState(_seconds(meta.get("trained_at")), size, totals.vocabulary_size, messages, histogram)


def _seconds(trained_at: object) -> float | None:
    """The time that a model's file says, which anybody may have written."""
    try:
        return datetime.fromisoformat(str(trained_at)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _counted(points: list[float], numbers: list[int]) -> list[int]:
    places = np.searchsorted(EDGES, np.round(points, 1), side="right")
    return np.bincount(places, weights=numbers, minlength=len(EDGES) + 1).astype(int).tolist()
