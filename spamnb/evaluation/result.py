"""The record of one evaluation: a row per message, from which every table and figure is derived.

A filter is asked about a message before it may learn it; what it answered is all that is kept, so results of
different filters, protocols and machines are judged alike.
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
from spamnb.reader.message import header_of

EVIDENCE = 12  # tokens kept of a wrong verdict


class Answer(NamedTuple):
    """What a filter said of one message: its verdict, and per class a score in nats and a probability.

    Evidence, sender and subject explain a wrong verdict; of others they are not wanted, or memory would hold the mail.
    """

    name: str
    truth: str
    verdict: str  # a class, or "unsure"
    scores: Mapping[str, float]
    probabilities: Mapping[str, float]
    evidence: Sequence[tuple[str, float]] = ()  # (token, nats), heaviest first
    unknown: float = -np.inf  # the score of each class that was not known when the message came
    sender: str = ""
    subject: str = ""

    @classmethod
    def of(cls, name: str, truth: str, classification: Classification, raw: bytes = b"") -> Answer:
        """Return what an evaluation keeps of a message of class ``truth``; ``raw`` has sender and subject."""
        scores = dict(zip(classification.probabilities, classification.scores.tolist()))
        said = cls(name, truth, classification.verdict, scores, classification.probabilities)
        return said if said.verdict == truth else said._replace(evidence=classification.evidence).with_head(raw)

    def with_head(self, raw: bytes) -> Answer:
        """The same with sender and subject of the message."""
        return self._replace(sender=header_of(raw, "from"), subject=header_of(raw, "subject"))


@dataclass(frozen=True)
class Result:
    """Answers to n messages of C classes: ``truth``, ``verdicts`` (n,), ``scores``, ``probabilities`` (n, C).

    A verdict of −1 is unsure. ``spam`` is the class of hm% and sm%, where it occurs. ``errors`` are the wrong
    answers, by row.
    """

    protocol: str
    classes: tuple[str, ...]
    names: Sequence[str]
    truth: NDArray[np.int64]
    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    verdicts: NDArray[np.int64]
    spam: str = "spam"
    errors: Mapping[int, Answer] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def spam_index(self) -> int | None:
        """The column of the spam class, or None where there is no such class or no other."""
        return self.classes.index(self.spam) if self.spam in self.classes and len(self.classes) > 1 else None

    @cached_property
    def confusion(self) -> NDArray[np.int64]:
        """Messages by true class and verdict, (C, C+1); the last column is unsure."""
        return confusion_matrix(self.truth, self.verdicts, len(self.classes))

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which verdicts are the true class, (n,)."""
        return self.truth == self.verdicts

    @cached_property
    def margins(self) -> NDArray[np.float64]:
        """Log-odds of each class in the scores, in nats, (n, C); 0 where neither it nor another class was known yet.
        Unlike a probability a margin never saturates at 1, so it ranks."""
        return margins(self.scores)


def result_of(answers: Sequence[Answer], protocol: str, spam: str = "spam") -> Result:
    """Answers as a result. A class not known when a message came has the answer's score for such, probability 0.

    >>> sure = Answer("in/1", "ham", "ham", {"ham": 0.0, "spam": -3.0}, {"ham": 0.9, "spam": 0.1})
    >>> unsure = Answer("in/2", "spam", "unsure", {"ham": 0.0, "spam": 0.0}, {"ham": 0.5, "spam": 0.5})
    >>> result_of([sure, unsure], "by hand").confusion
    array([[1, 0, 0],
           [0, 0, 1]])
    """
    classes = tuple(sorted({*(answer.truth for answer in answers), *(c for a in answers for c in a.probabilities)}))
    column = {c: i for i, c in enumerate(classes)}
    scores, probabilities = np.zeros((2, len(answers), len(classes)))
    for i, answer in enumerate(answers):
        scores[i] = answer.unknown
        for c, value in answer.scores.items():
            scores[i, column[c]] = value
        for c, value in answer.probabilities.items():
            probabilities[i, column[c]] = value
        if not answer.probabilities:  # before anything was learned every class is as likely
            probabilities[i] = 1 / len(classes)
    names, truth = [answer.name for answer in answers], np.array([column[a.truth] for a in answers], np.int64)
    verdicts = np.array([column.get(answer.verdict, UNSURE) for answer in answers], np.int64)
    errors = {i: answer for i, answer in enumerate(answers) if answer.verdict != answer.truth}
    return Result(protocol, classes, names, truth, scores, probabilities, verdicts, spam, errors)
