"""What training hands back: what was learned, and how well each message is judged when it is left out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any
from unicodedata import combining, east_asian_width

import numpy as np
from numpy.typing import NDArray

from spamnb.api.mislabelled import Conflicts, Mislabelled
from spamnb.api.report import Report
from spamnb.evaluation.metrics import confusion_matrix, surest
from spamnb.formulas.decision import UNSURE
from spamnb.naming import escape, pluralize
from spamnb.report.numbers import percent
from spamnb.settings import Settings
from spamnb.training import LeaveOneOutResult

NONE = Conflicts()
FEW = 50  # messages of a class below which its error estimate is worth little
MATRIX_VERDICTS = 8  # with more the table of verdicts is wider than a terminal


@dataclass(frozen=True)
class TrainingReport(Report):
    """A model that was trained: ``print`` shows what the command line does.

    - ``model``: its file
    - ``settings``: what it was made with
    - ``left_out``: every training message judged by the model without it. Of n messages and C classes: ``labels`` (n,),
      ``scores`` (n, C) in nats, ``probabilities`` (n, C), ``verdicts``; and ``newest``, how the newest messages are
      judged by a model of the older ones
    - ``read``: messages that were read, copies included
    - ``unreadable``: messages that could not be
    - ``mislabelled``: messages that look as if they stood in the wrong folder; None where nobody asked
    - ``conflicts``: messages whose copies stand in several classes

    >>> import spamnb
    >>> report = spamnb.train("corpora/mail", "model.spamnb")
    >>> report
    TrainingReport(model.spamnb: ham 65, spam 62; left out: 3.94 % wrong, 0 % unsure)
    """

    model: Path
    settings: Settings
    left_out: LeaveOneOutResult
    read: int
    unreadable: int = 0
    mislabelled: Mislabelled | None = None
    conflicts: Conflicts = NONE

    def __repr__(self) -> str:
        classes = ", ".join(f"{name} {messages:,}" for name, messages in self.classes.items())
        told = self.to_dict()
        judged = None
        if told["wrong"] is not None:  # of one class there is nothing to judge
            judged = f"left out: {percent(told['wrong'])} % wrong, {percent(told['unsure'])} % unsure"
        return f"TrainingReport({escape(str(self.model))}: {'; '.join(filter(None, (classes, judged)))})"

    @property
    def classes(self) -> dict[str, int]:
        """The messages that were learned, by class, each copy once.

        >>> import spamnb
        >>> spamnb.train("corpora/mail", "model.spamnb").classes
        {'ham': 65, 'spam': 62}
        """
        return dict(zip(self.left_out.classes, self.left_out.documents.tolist()))

    @cached_property
    def _cells(self) -> NDArray[np.int64]:
        """Left-out messages by class and verdict, (C, C+1): the last verdict is unsure."""
        return confusion_matrix(self.left_out.labels, self.left_out.verdict_numbers(), len(self.left_out.classes))

    def to_dict(self) -> dict[str, Any]:
        """All of it as what json can hold: model, messages, tokens, classes, copies, unreadable, the confusion of the
        left-out verdicts {class: {verdict: messages}}, and of these the shares in percent that are wrong and unsure.

        >>> import spamnb
        >>> told = spamnb.train("corpora/mail", "model.spamnb").to_dict()
        >>> told["messages"], told["confusion"]["spam"]
        (127, {'ham': 5, 'spam': 57, 'unsure': 0})
        """
        left_out, cells = self.left_out, self._cells
        names = left_out.classes if len(left_out.labels) else ()
        judged, unsure = int(cells.sum()), int(cells[:, -1].sum())
        wrong = judged - unsure - int(np.trace(cells))
        return {
            "model": str(self.model),
            "messages": int(left_out.documents.sum()),
            "tokens": left_out.tokens,
            "classes": self.classes,
            "copies": self.read - int(left_out.documents.sum()) - left_out.doubted,
            "doubted": left_out.doubted,
            "unreadable": self.unreadable,
            "confusion": {name: dict(zip((*names, UNSURE), row)) for name, row in zip(names, cells.tolist())},
            "wrong": 100 * wrong / judged if judged else None,
            "unsure": 100 * unsure / judged if judged else None,
            "mislabelled": None if self.mislabelled is None else self.mislabelled.to_dict(),
        }

    def __str__(self) -> str:
        left_out, told = self.left_out, self.to_dict()
        messages, tokens = pluralize(told["messages"], "message"), pluralize(left_out.tokens, "different token")
        lines = [f"{self.model}: {messages}, {tokens}"]
        if told["copies"]:
            lines.append(f"copies of these, not learned again: {told['copies']:,}")
        if self.unreadable:
            lines.append(f"left out, as told above: {self.unreadable:,}")
        if len(left_out.classes) < 2:
            lines.append(f"Only class {left_out.classes[0]!r}: nothing to tell it from. Learn another class.")
        else:
            lines += [*self._judged(), *self._newest()]
        if self.mislabelled is not None:
            lines += self.mislabelled.lines()
        return "\n".join([*lines, *self.conflicts.lines()])

    def _judged(self) -> list[str]:
        """How the messages that were left out are judged, and what to think of it."""
        left_out, spam = self.left_out, self.settings.spam
        parts = f"The messages in {left_out.n_folds} parts, each judged by a model of the others:"
        lines = [parts if left_out.n_folds else "Each message judged by the model without it:", *self._table()]
        lines += self._errors(left_out.labels, left_out.verdicts)
        if spam not in left_out.classes:
            lines.append(f"  there is no class {spam!r}, so all errors cost the same; --set spam=CLASS names another")
        verdicts = left_out.verdict_numbers()
        suspects = len(surest(left_out.scores, left_out.probabilities, left_out.labels, verdicts))
        if suspects and self.mislabelled is None:
            told = f"{pluralize(suspects, 'message')} {'looks' if suspects == 1 else 'look'} mislabelled"
            lines.append(f"  {told}: --doubtful {suspects} says which and why")
        if n := left_out.doubted:
            them = "it was" if n == 1 else "they were"
            lines.append(f"  The labels of {pluralize(n, 'message')} contradict all the others: {them} not learned.")
        few = [f"{name!r} ({n})" for name, n in self.classes.items() if n < FEW]
        if few:
            lines.append(f"  few messages of class {', '.join(few)}: these figures and all probabilities are rough")
        return lines

    def _table(self) -> list[str]:
        """A row for each class, with the verdicts on its messages; nothing where it would be too wide."""
        unsure = bool(self._cells[:, -1].any())
        actions = [*self.left_out.classes, *([UNSURE] if unsure else [])]
        if len(actions) > MATRIX_VERDICTS:
            return []
        width = max(map(_columns, actions))
        gap = {name: " " * (width - _columns(name)) for name in actions}
        lines = [" " * (width + 12) + " ".join(f" {gap[name]}→ {name}" for name in actions)]
        for name, row in zip(self.left_out.classes, self._cells.tolist()):
            cells = " ".join(f"{count:>{width + 3},}" for count in row[: len(actions)])
            lines.append(f"  {name}{gap[name]} {sum(row):>8,} {cells}")
        return lines

    def _newest(self) -> list[str]:
        newest = self.left_out.newest
        if newest is None:
            return []
        since, messages = datetime.fromtimestamp(newest.since, UTC).date(), pluralize(len(newest.labels), "message")
        return [
            f"The newest fifth, {messages} since {since}, judged by a model of the older ones:",
            *self._errors(newest.labels, newest.verdicts),
            "  For mail to come believe these: above, messages were judged by a model that knew newer mail.",
        ]

    def _errors(self, labels: NDArray[np.intp], verdicts: list[str]) -> list[str]:
        """How many verdicts are wrong, and what that means for good mail and spam."""
        spam = self.settings.spam
        truth, said = np.array(self.left_out.classes)[labels], np.array(verdicts)
        unsure = said == UNSURE
        wrong = (said != truth) & ~unsure
        also = f", unsure: {unsure.sum():,} ({percent(100 * unsure.mean())} %)" if unsure.any() else ""
        lines = [f"  wrong: {wrong.sum():,} of {len(truth):,} ({percent(100 * wrong.mean())} %){also}"]
        good = truth != spam
        if not good.all():
            lost, through = (said[good] == spam).mean(), (said[~good] != spam).mean()
            doubted = unsure[~good].mean()  # delivered, so let through, and yet not wrong
            of_it = f" ({percent(100 * (through - doubted))} % called good, {percent(100 * doubted)} % unsure)"
            told = f"  good mail lost {percent(100 * lost)} %, spam let through {percent(100 * through)} %"
            lines.append(told + (of_it if doubted else ""))
        return lines


def _columns(name: str) -> int:
    """Columns that a name takes in a terminal: rich would count them too, but training does without it."""
    return sum(2 if east_asian_width(letter) in "WF" else 0 if combining(letter) else 1 for letter in name)
