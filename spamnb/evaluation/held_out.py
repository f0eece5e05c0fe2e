"""Some counted messages judged by the sums of others: what every protocol that is no stream comes down to.

The messages were read, parsed and counted once, into a training set. A model of some of them is the sum of their rows,
or all sums less the others'. Asking it about a message is one look at the counts of the message's own tokens. Nothing
is read or parsed twice, however many folds there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spamnb.counts.training_set import TrainingSet
from spamnb.evaluation.metrics import UNSURE
from spamnb.evaluation.mislabelled import surest
from spamnb.evaluation.result import ErrorDetail, Result
from spamnb.formulas.calibration import Calibration
from spamnb.learners.learner import learner_for
from spamnb.learners.without_message import WithoutMessage
from spamnb.settings import Settings
from spamnb.store.store import Store
from spamnb.training import LeaveOneOutResult, model_of

EVIDENCE = 12  # tokens kept of a wrong verdict
BATCH = 512  # messages scored at once


class Mail(NamedTuple):
    """Labelled messages, counted. Arrays are by message in the given order; those that could not be read are absent."""

    training_set: TrainingSet
    names: list[str]  # of every place in the given order, unreadable ones included
    positions: NDArray[np.int64]  # (n,) places of the messages that are there, rising
    labels: NDArray[np.intp]  # (n,) index into the training set's classes
    digests: NDArray[np.void]  # (n,) 16 bytes: equal for copies of a message
    dates: NDArray[np.int64]  # (n,) when each was received, in seconds since 1970; UNDATED where it does not say

    @property
    def classes(self) -> tuple[str, ...]:
        return self.training_set.counts.classes


def mail_of(training_set: TrainingSet, names: list[str]) -> Mail:
    """A training set and the names of its messages, by place."""
    messages = training_set.messages
    keys = messages.digests.view("V16").ravel()
    return Mail(training_set, names, messages.positions, messages.labels, keys, messages.dates)


class Answers:
    """Collects what models of parts of the mail say, into one result."""

    def __init__(self, mail: Mail, settings: Settings) -> None:
        n, c = len(mail.positions), len(mail.classes)
        self._mail, self._settings = mail, settings
        self._index = {name: c for c, name in enumerate(mail.classes)}
        self._scores = np.full((n, c), -np.inf)
        self._probabilities = np.zeros((n, c))
        self._verdicts = np.full(n, UNSURE, dtype=np.int64)
        self._asked = np.zeros(n, bool)
        self._details: dict[int, ErrorDetail] = {}

    def ask(self, trained: TrainingSet, places: NDArray[np.bool_]) -> None:
        """Judge the messages at ``places`` by a model of ``trained``."""
        with model_of(trained, self._settings) as store:
            totals = store.totals()
            calibration = Calibration.from_cells(totals.classes, store.calibration(), totals.documents)
            column = self._columns(totals.classes)
            enough = calibration.enough(self._settings.spam_column(totals.classes))
            learner = learner_for(self._settings)
            for batch in self._mail.training_set.select(places).batches(BATCH):
                columns, sparse = batch.rows.renumbered()
                scored = learner.score(store, totals, self._mail.training_set.tokens.take(columns), sparse)
                p = calibration.probabilities(scored.scores)
                rows = np.searchsorted(self._mail.positions, batch.positions)
                self._scores[np.ix_(rows, column)] = scored.scores
                self._probabilities[np.ix_(rows, column)] = p
                said = self._settings.loss.verdicts(totals.classes, p, self._settings.spam, enough)
                self._verdicts[rows] = [self._index.get(verdict, UNSURE) for verdict in said]
                self._asked[rows] = True
                for i in np.flatnonzero(self._verdicts[rows] != self._mail.labels[rows]):
                    self._details[int(rows[i])] = ErrorDetail("", scored.heaviest(int(i), p[i], EVIDENCE))

    def explain(self, store: Store, rows: Iterable[int]) -> None:
        """Keep what decided these rows, whose answers are known, in the model in ``store`` without each of them: it
        holds them, and stays as it is."""
        learner = learner_for(self._settings)
        totals = store.totals()
        column = self._columns(totals.classes)
        for row in rows:
            places = np.zeros(len(self._mail.names), bool)
            places[self._mail.positions[row]] = True
            (batch,) = self._mail.training_set.select(places).batches()
            columns, sparse = batch.rows.renumbered()
            tokens = list(self._mail.training_set.tokens.take(columns))
            counted = {tokens[j]: int(n) for j, n in zip(sparse.ids, sparse.counts)}
            own = totals.classes.index(self._mail.classes[self._mail.labels[row]])
            if store.learned(self._mail.digests[row].tobytes()) is None:  # its label was doubted
                scored = learner.score(store, totals, tokens, sparse)
                self._details[row] = ErrorDetail("", scored.heaviest(0, self._probabilities[row, column], EVIDENCE))
            elif totals.documents[own] > 1:
                rest = WithoutMessage(store, totals.classes, own, counted, self._mail.digests[row].tobytes())
                scored = learner.score(rest, rest.totals(totals), tokens, sparse)
                self._details[row] = ErrorDetail("", scored.heaviest(0, self._probabilities[row, column], EVIDENCE))

    def _columns(self, classes: Sequence[str]) -> NDArray[np.intp]:
        """Columns of a model's classes among all classes of the mail."""
        return np.array([self._index[name] for name in classes], dtype=np.intp)

    def take(self, rows: NDArray[np.intp], left_out: LeaveOneOutResult) -> None:
        """The answers of a leave-one-out estimate, for these rows of the mail."""
        cells = np.ix_(rows, self._columns(left_out.classes))
        self._scores[cells], self._probabilities[cells] = left_out.scores, left_out.probabilities
        self._verdicts[rows] = [self._index.get(verdict, UNSURE) for verdict in left_out.verdicts]
        self._asked[rows] = True

    def wrong(self) -> NDArray[np.intp]:
        """Rows whose verdict is not the true class, the worst first: those that gave it the least probability."""
        rows = np.flatnonzero(self._asked & (self._verdicts != self._mail.labels))
        return rows[np.argsort(self._probabilities[rows, self._mail.labels[rows]], kind="stable")]

    def suspects(self) -> NDArray[np.intp]:
        """Rows that look mislabelled, the surest first."""
        rows = np.flatnonzero(self._asked)
        told = self._scores, self._probabilities, self._mail.labels, self._verdicts
        return rows[surest(*(values[rows] for values in told))]

    def result(self, protocol: str, subjects: Callable[[set[int]], dict[int, str]]) -> Result:
        """The messages that were asked about, in the given order; ``subjects`` finds those at the given places."""
        mail, rows = self._mail, np.flatnonzero(self._asked)
        place = {int(row): int(mail.positions[row]) for row in rows if row in self._details}
        found = subjects(set(place.values())) if place else {}
        details = {
            i: self._details[row]._replace(subject=found.get(place[row], ""))
            for i, row in enumerate(rows.tolist())
            if row in place
        }
        return Result(
            protocol,
            mail.classes,
            [mail.names[number] for number in mail.positions[rows]],
            mail.labels[rows].astype(np.int64),
            self._scores[rows],
            self._probabilities[rows],
            self._verdicts[rows],
            spam=self._settings.spam,
            details=details,
        )
