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

from spamnb.evaluation.metrics import UNSURE, confusion_matrix
from spamnb.judgement import Judgement

EVIDENCE = 12  # tokens kept of a wrong verdict


class Answer(NamedTuple):
    """What a filter said of one message: its verdict, and per class a score in nats and a probability."""

    verdict: str  # a class, or "unsure"
    scores: Mapping[str, float]
    probabilities: Mapping[str, float]
    evidence: Sequence[tuple[str, float]] = ()  # (token, nats), heaviest first
    unknown: float = -np.inf  # the score of each class that was not known when the message came

    @classmethod
    def of(cls, judgement: Judgement) -> Answer:
        """What an evaluation keeps of a judgement of a message."""
        scores = dict(zip(judgement.probabilities, judgement.scores.tolist()))
        return cls(judgement.verdict, scores, judgement.probabilities, judgement.evidence)


class Head(NamedTuple):
    """By what a person knows a message."""

    sender: str = ""
    subject: str = ""


NO_HEAD = Head()


class ErrorDetail(NamedTuple):
    """What explains an error to a person: kept for wrong verdicts only, or memory would hold the mail."""

    head: Head
    evidence: Sequence[tuple[str, float]]


@dataclass(frozen=True)
class Result:
    """Answers to n messages of C classes: ``truth``, ``verdicts`` (n,), ``scores``, ``probabilities`` (n, C).

    A verdict of −1 is unsure. ``spam`` is the class of hm% and sm%, where it occurs.
    """

    protocol: str
    classes: tuple[str, ...]
    names: Sequence[str]
    truth: NDArray[np.int64]
    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    verdicts: NDArray[np.int64]
    spam: str = "spam"
    details: Mapping[int, ErrorDetail] = field(default_factory=dict)

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

    def margin(self, of_class: int) -> NDArray[np.float64]:
        """Log-odds of one class in the scores, in nats: its score less the log-sum-exp of the others', (n,).

        For two classes the difference of the two scores. Unlike a probability it never saturates at 1, so
        it ranks.
        """
        rest = np.delete(self.scores, of_class, axis=1)
        with np.errstate(invalid="ignore"):
            odds = self.scores[:, of_class] - np.logaddexp.reduce(rest, axis=1)
        return np.where(np.isnan(odds), 0.0, odds)  # neither it nor any other class was known yet


class Recorder:
    """Collects answers one at a time into a :class:`Result`; classes may turn up on the way.

    >>> recorder = Recorder()
    >>> recorder.add("in/1", "ham", Answer("ham", {"ham": 0.0, "spam": -3.0}, {"ham": 0.9, "spam": 0.1}))
    >>> recorder.add("in/2", "spam", Answer("unsure", {"ham": 0.0, "spam": 0.0}, {"ham": 0.5, "spam": 0.5}))
    >>> recorder.result("by hand").confusion
    array([[1, 0, 0],
           [0, 0, 1]])
    """

    def __init__(self) -> None:
        self._names: list[str] = []
        self._truth: list[str] = []
        self._answers: list[Answer] = []
        self._details: dict[int, ErrorDetail] = {}

    def add(self, name: str, truth: str, answer: Answer, head: Head = NO_HEAD) -> None:
        """Record the answer to one message whose true class is ``truth``."""
        if answer.verdict != truth:
            self._details[len(self._names)] = ErrorDetail(head, tuple(answer.evidence))
        self._names.append(name)
        self._truth.append(truth)
        self._answers.append(answer._replace(evidence=()))

    def result(self, protocol: str, spam: str = "spam") -> Result:
        """Everything recorded so far. A class not known when a message came has the answer's score, probability 0."""
        classes = tuple(sorted({*self._truth, *(c for answer in self._answers for c in answer.probabilities)}))
        column = {c: i for i, c in enumerate(classes)}
        scores, probabilities = np.zeros((2, len(self._names), len(classes)))
        for i, answer in enumerate(self._answers):
            scores[i] = answer.unknown
            for c, value in answer.scores.items():
                scores[i, column[c]] = value
            for c, value in answer.probabilities.items():
                probabilities[i, column[c]] = value
            if not answer.probabilities:  # before anything was learned every class is as likely
                probabilities[i] = 1 / len(classes)
        truth = np.array([column[name] for name in self._truth], np.int64)
        verdicts = np.array([column.get(answer.verdict, UNSURE) for answer in self._answers], np.int64)
        return Result(protocol, classes, self._names, truth, scores, probabilities, verdicts, spam, self._details)
