"""What training hands back: what was learned, and how well each message is judged when it is left out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spamnb.api.mislabelled import Conflicts, Mislabelled
from spamnb.naming import escape
from spamnb.settings import Settings
from spamnb.training import LeaveOneOutResult

if TYPE_CHECKING:
    from collections.abc import Iterator


NONE = Conflicts()


@dataclass(frozen=True)
class TrainingReport:
    """A model that was trained: ``print`` shows what the command line does, a notebook the same.

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
        from spamnb.report.numbers import percent

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

    def to_dict(self) -> dict[str, Any]:
        """All of it as what json can hold: model, messages, tokens, classes, copies, unreadable, the confusion of the
        left-out verdicts {class: {verdict: messages}}, and of these the shares in percent that are wrong and unsure.

        >>> import spamnb
        >>> told = spamnb.train("corpora/mail", "model.spamnb").to_dict()
        >>> told["messages"], told["confusion"]["spam"]
        (127, {'ham': 5, 'spam': 57, 'unsure': 0})
        """
        confusion: dict[str, dict[str, int]] = {}
        for name, verdict, messages in self._cells():
            confusion.setdefault(name, {})[verdict] = messages
        judged = sum(sum(row.values()) for row in confusion.values())
        right = sum(row[name] for name, row in confusion.items())
        unsure = sum(row["unsure"] for row in confusion.values())
        return {
            "model": str(self.model),
            "messages": sum(self.classes.values()),
            "tokens": self.left_out.tokens,
            "classes": self.classes,
            "copies": self.read - sum(self.classes.values()) - self.left_out.doubted,
            "doubted": self.left_out.doubted,
            "unreadable": self.unreadable,
            "confusion": confusion,
            "wrong": 100 * (judged - right - unsure) / judged if judged else None,
            "unsure": 100 * unsure / judged if judged else None,
            "mislabelled": None if self.mislabelled is None else self.mislabelled.to_dict(),
        }

    def to_frame(self) -> Any:
        """A data frame of pandas: a row for each class and each verdict on its left-out messages, with how
        many messages these are. Raises SpamnbError without pandas.

        >>> import spamnb
        >>> spamnb.train("corpora/mail", "model.spamnb").to_frame().query("messages > 0")
          class verdict  messages
        0   ham     ham        65
        3  spam     ham         5
        4  spam    spam        57
        """
        from spamnb.report.frames import frame

        cells = list(self._cells())
        return frame({what: [cell[i] for cell in cells] for i, what in enumerate(("class", "verdict", "messages"))})

    def _cells(self) -> Iterator[tuple[str, str, int]]:
        """(class, verdict, messages); none where there was one class, so nothing to judge."""
        from spamnb.evaluation.metrics import confusion_matrix
        from spamnb.formulas.decision import UNSURE

        left_out = self.left_out
        if not len(left_out.labels):
            return
        number = {name: c for c, name in enumerate(left_out.classes)}
        said = [number.get(verdict, -1) for verdict in left_out.verdicts]
        cells = confusion_matrix(left_out.labels, said, len(number)).tolist()
        for name, row in zip(left_out.classes, cells):
            yield from ((name, verdict, n) for verdict, n in zip((*left_out.classes, UNSURE), row))

    def lines(self) -> list[str]:
        """What the command line prints, line by line.

        >>> import spamnb
        >>> spamnb.train("corpora/mail", "model.spamnb").lines()[0]
        'model.spamnb: 127 messages, ... different tokens'
        """
        from spamnb.report.mislabelled import conflict_lines, doubtful_lines
        from spamnb.report.training import training_report

        asked = self.mislabelled is not None
        text = training_report(self.model, self.left_out, self.settings.spam, self.read, self.unreadable, asked)
        doubts = doubtful_lines(*self.mislabelled) if self.mislabelled is not None else []
        return [*text.splitlines(), *doubts, *conflict_lines(self.conflicts.groups, self.conflicts.messages)]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        from spamnb.report.notebook import text_html

        return text_html(str(self))
