"""The result of an evaluation: verdict, scores and probabilities of each message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spamnb.errors import SpamnbError
from spamnb.evaluation.metrics import UNSURE_NUMBER, McNemar, confusion_matrix, mcnemar, mislabelled_rows
from spamnb.model.calibration import margins
from spamnb.model.classification import Classification
from spamnb.model.decision import UNSURE
from spamnb.model.new_senders import NO_NEW_SENDERS, NewSenders
from spamnb.reader.message import first_fields
from spamnb.shown_text import escape

EVIDENCE = 12  # tokens stored for a wrong verdict: the page shows them in a few lines


class EvaluatedMessage(NamedTuple):
    """A message's true class, verdict, and for each class a score in nats and a probability.

    Evidence, sender, subject and date are stored only for a wrong verdict, to save memory.
    """

    name: str
    truth: str
    verdict: str  # a class, or "unsure"
    scores: Mapping[str, float]
    probabilities: Mapping[str, float]
    evidence: Sequence[tuple[str, float]] = ()  # (token, nats), heaviest first
    new_class_score: float = -np.inf  # score of the classes that the model did not have
    sender: str = ""
    subject: str = ""
    date: str = ""  # text of the Date field

    @classmethod
    def of(cls, name: str, truth: str, classification: Classification, raw: bytes = b"") -> EvaluatedMessage:
        """Return a message with its classification. The raw message provides sender, subject and date."""
        scores = dict(zip(classification.probabilities, classification.scores.tolist()))
        message = cls(name, truth, classification.verdict, scores, classification.probabilities)
        if message.verdict == truth:
            return message
        return message._replace(evidence=classification.evidence).with_heading(raw)

    def with_heading(self, raw: bytes) -> EvaluatedMessage:
        """Return a copy with sender, subject and date of the raw message."""
        fields = first_fields(raw)
        return self._replace(
            sender=fields.get("from", ""), subject=fields.get("subject", ""), date=fields.get("date", "")
        )


@dataclass(frozen=True)
class Result:
    """Evaluation of n messages of C classes.

    ``truth`` and ``verdicts`` (n,) are class numbers, and the verdict −1 is unsure. ``scores`` (n, C) are in nats.
    ``names`` is empty if the messages have no names. ``spam`` is the name of the class of spam. ``errors`` are the
    messages with a wrong verdict, by row.
    ``new_senders`` has no message if models classified no good mail of senders that they had never seen.
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
    new_senders: NewSenders = NO_NEW_SENDERS

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def spam_index(self) -> int | None:
        """Return the column of the spam class, or None if there is no spam or only spam."""
        return self.classes.index(self.spam) if self.spam in self.classes and len(self.classes) > 1 else None

    @cached_property
    def confusion(self) -> NDArray[np.int64]:
        """Return the messages by true class and verdict, (C, C+1). The last column is unsure."""
        return confusion_matrix(self.truth, self.verdicts, len(self.classes))

    @property
    def is_right(self) -> NDArray[np.bool_]:
        """Return whether each verdict is the true class, (n,)."""
        return self.truth == self.verdicts

    @cached_property
    def mislabelled(self) -> list[int]:
        """Return the rows whose verdict is wrong and whose label is probably wrong, the least trusted label first."""
        return [row for row in mislabelled_rows(self.scores, self.truth).tolist() if not self.is_right[row]]

    @cached_property
    def margins(self) -> NDArray[np.float64]:
        """Return the log-odds of each class, computed from the scores, in nats, (n, C).

        Messages are ranked by these margins and not by probabilities, because many probabilities are rounded to 1.
        """
        return margins(self.scores)

    def message(self, row: int) -> EvaluatedMessage:
        """Return a message without evidence, sender, subject and date."""
        classes = *self.classes, UNSURE
        scores, probabilities = (dict(zip(classes, each[row].tolist())) for each in (self.scores, self.probabilities))
        truth, verdict = classes[self.truth[row]], classes[self.verdicts[row]]
        return EvaluatedMessage(self.names[row], truth, verdict, scores, probabilities)


def verdict_numbers(verdicts: Sequence[str], classes: Sequence[str]) -> NDArray[np.int64]:
    """Return verdicts as class numbers, −1 for unsure.

    >>> verdict_numbers(["spam", "unsure"], ["ham", "spam"])
    array([ 1, -1])
    """
    column = {name: c for c, name in enumerate(classes)}
    return np.array([column.get(verdict, UNSURE_NUMBER) for verdict in verdicts], np.int64)


def compare_results(first: Result, second: Result) -> McNemar:
    """Return McNemar's test of two results of the same messages, which are paired by name.

    Raise SpamnbError if the results have different messages, or different true classes of a message.
    """
    one, other = (
        {
            name: (result.classes[truth], is_right)
            for name, truth, is_right in zip(result.names, result.truth.tolist(), result.is_right.tolist())
        }
        for result in (first, second)
    )
    if one.keys() != other.keys():
        name = min(one.keys() ^ other.keys())
        raise SpamnbError(f"the runs have different messages: {escape(name)} is in only one of them")
    for name, (truth, _) in one.items():
        if truth != other[name][0]:
            raise SpamnbError(f"the runs disagree about the true class of {escape(name)}")
    return mcnemar([is_right for _, is_right in one.values()], [other[name][1] for name in one])


def make_result(messages: Sequence[EvaluatedMessage], protocol: str, spam: str = "spam") -> Result:
    """Return the result of messages. A class that a model did not have gets ``new_class_score`` and probability 0.

    >>> sure = EvaluatedMessage("in/1", "ham", "ham", {"ham": 0.0, "spam": -3.0}, {"ham": 0.9, "spam": 0.1})
    >>> unsure = EvaluatedMessage("in/2", "spam", "unsure", {"ham": 0.0, "spam": 0.0}, {"ham": 0.5, "spam": 0.5})
    >>> make_result([sure, unsure], "by hand").confusion
    array([[1, 0, 0],
           [0, 0, 1]])
    """
    true_classes = {message.truth for message in messages}
    classes = tuple(sorted(true_classes.union(*(message.probabilities for message in messages))))
    column = {name: c for c, name in enumerate(classes)}
    scores, probabilities = np.zeros((2, len(messages), len(classes)))
    for i, message in enumerate(messages):
        scores[i] = message.new_class_score
        for name, score in message.scores.items():
            scores[i, column[name]] = score
        for name, probability in message.probabilities.items():
            probabilities[i, column[name]] = probability
        if not message.probabilities:  # for a model that has learned nothing all classes have the same probability
            probabilities[i] = 1 / len(classes)
    names = [message.name for message in messages]
    truth = np.array([column[message.truth] for message in messages], np.int64)
    verdicts = verdict_numbers([message.verdict for message in messages], classes)
    errors = {i: message for i, message in enumerate(messages) if message.verdict != message.truth}
    return Result(protocol, classes, names, truth, scores, probabilities, verdicts, spam, errors)
