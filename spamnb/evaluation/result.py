"""The result of one evaluation: a row per message, from which every table and figure is computed.

A filter classifies a message before it learns it. Only its verdict, scores and probabilities are stored, so that
figures of different filters, protocols and machines are computed alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spamnb.classification import Classification
from spamnb.evaluation.metrics import UNSURE, confusion_matrix
from spamnb.formulas.calibration import margins
from spamnb.reader.message import read_field

EVIDENCE = 12  # tokens stored for a wrong verdict


class EvaluatedMessage(NamedTuple):
    """A message's true class, verdict, and for each class a score in nats and a probability.

    Evidence, sender, subject and date explain a wrong verdict. They are not stored for a right one, to save memory.
    """

    name: str
    truth: str
    verdict: str  # a class, or "unsure"
    scores: Mapping[str, float]
    probabilities: Mapping[str, float]
    evidence: Sequence[tuple[str, float]] = ()  # (token, nats), heaviest first
    unknown: float = -np.inf  # the score of the classes that had no message yet
    sender: str = ""
    subject: str = ""
    date: str = ""  # of the Date field, as the sender wrote it

    @classmethod
    def of(cls, name: str, truth: str, classification: Classification, raw: bytes = b"") -> EvaluatedMessage:
        """Return the row of a message of class ``truth``. The raw message provides sender, subject and date."""
        scores = dict(zip(classification.probabilities, classification.scores.tolist()))
        row = cls(name, truth, classification.verdict, scores, classification.probabilities)
        return row if row.verdict == truth else row._replace(evidence=classification.evidence).with_heading(raw)

    def with_heading(self, raw: bytes) -> EvaluatedMessage:
        """Return a copy with sender, subject and date of the raw message."""
        sender, subject, date = (read_field(raw, name) for name in ("from", "subject", "date"))
        return self._replace(sender=sender, subject=subject, date=date)


@dataclass(frozen=True)
class Result:
    """Evaluation of n messages of C classes: ``truth``, ``verdicts`` (n,), ``scores``, ``probabilities`` (n, C).

    A verdict of −1 is unsure. ``spam`` is the class of hm% and sm%, if it occurs. ``errors`` are the messages with a
    wrong verdict, by row.
    """

    protocol: str
    classes: tuple[str, ...]
    names: Sequence[str]
    truth: NDArray[np.int64]
    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    verdicts: NDArray[np.int64]
    spam: str = "spam"
    errors: Mapping[int, EvaluatedMessage] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def spam_index(self) -> int | None:
        """Return the column of the spam class, or None if that class or every other one is missing."""
        return self.classes.index(self.spam) if self.spam in self.classes and len(self.classes) > 1 else None

    @cached_property
    def confusion(self) -> NDArray[np.int64]:
        """Return the messages by true class and verdict, (C, C+1). The last column is unsure."""
        return confusion_matrix(self.truth, self.verdicts, len(self.classes))

    @property
    def is_right(self) -> NDArray[np.bool_]:
        """Return for each message whether its verdict is the true class, (n,)."""
        return self.truth == self.verdicts

    @cached_property
    def margins(self) -> NDArray[np.float64]:
        """Return the log-odds of each class by the scores, in nats, (n, C).

        A margin is 0 if no class had a message yet. Margins rank messages, because they do not saturate at 1 as
        probabilities do.
        """
        return margins(self.scores)


def make_result(messages: Sequence[EvaluatedMessage], protocol: str, spam: str = "spam") -> Result:
    """Return a result of messages. A class without a message yet has the score ``unknown`` and the probability 0.

    >>> sure = EvaluatedMessage("in/1", "ham", "ham", {"ham": 0.0, "spam": -3.0}, {"ham": 0.9, "spam": 0.1})
    >>> unsure = EvaluatedMessage("in/2", "spam", "unsure", {"ham": 0.0, "spam": 0.0}, {"ham": 0.5, "spam": 0.5})
    >>> make_result([sure, unsure], "by hand").confusion
    array([[1, 0, 0],
           [0, 0, 1]])
    """
    classes = tuple(sorted({*(row.truth for row in messages), *(c for row in messages for c in row.probabilities)}))
    column = {c: i for i, c in enumerate(classes)}
    scores, probabilities = np.zeros((2, len(messages), len(classes)))
    for i, row in enumerate(messages):
        scores[i] = row.unknown
        for c, value in row.scores.items():
            scores[i, column[c]] = value
        for c, value in row.probabilities.items():
            probabilities[i, column[c]] = value
        if not row.probabilities:  # a model that has learned nothing: all classes are equally likely
            probabilities[i] = 1 / len(classes)
    names, truth = [row.name for row in messages], np.array([column[row.truth] for row in messages], np.int64)
    verdicts = np.array([column.get(row.verdict, UNSURE) for row in messages], np.int64)
    errors = {i: row for i, row in enumerate(messages) if row.verdict != row.truth}
    return Result(protocol, classes, names, truth, scores, probabilities, verdicts, spam, errors)
