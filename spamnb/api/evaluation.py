"""What an evaluation hands back: figures, the answers behind them, and pages and tables of both."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from spamnb.api.mislabelled import Mislabelled
from spamnb.api.options import FilePath
from spamnb.errors import SpamnbError
from spamnb.evaluation.figures import Figures
from spamnb.evaluation.mcnemar import McNemar
from spamnb.evaluation.result import Result
from spamnb.naming import pluralize
from spamnb.settings import Settings


@dataclass(frozen=True)
class Evaluation:
    """A filter that was measured: ``print`` shows the command line's tables, a notebook figures and curves.

    - ``figures``: every figure with its 95 % interval, in percent
    - ``result``: the answers. Of n messages and C classes: ``names`` (n,), ``truth`` and ``verdicts`` (n,) class
      numbers (−1: unsure), ``scores`` (n, C) in nats, ``probabilities`` (n, C)
    - ``settings``: of the models that judged
    - ``model``: the file of the model that judged as it is, ":memory:" of one that is in none; None where models were
      trained on parts of the mail
    - ``unreadable``: messages that could not be read
    - ``mislabelled``: messages that look as if they stood in the wrong folder; None where nobody asked
    - ``command``: what the page names as its origin

    >>> import spamnb
    >>> found = spamnb.evaluate("corpora/mail", leave_one_out=True)
    >>> found
    Evaluation(127 messages, accuracy% 96.06, hm% 0, sm% 8.06, 1-ROCA% 0...)
    """

    figures: Figures
    result: Result
    settings: Settings
    model: Path | None = None
    unreadable: int = 0
    mislabelled: Mislabelled | None = None
    command: str = "spamnb.evaluate in Python"

    def __repr__(self) -> str:
        from spamnb.report.numbers import percent

        found, spam = self.figures, self.figures.spam
        told = {"accuracy%": found.accuracy.value}
        if spam is None:
            told["macro F1%"] = found.macro_f1.value
        else:
            told |= {"hm%": spam.hm.value, "sm%": spam.sm.value, "1-ROCA%": spam.one_minus_roca.value}
        values = ", ".join(f"{name} {percent(value)}" for name, value in told.items())
        return f"Evaluation({pluralize(found.messages, 'message')}, {values})"

    def to_dict(self) -> dict[str, Any]:
        """Every figure as what json can hold, under the names of 'spamnb evaluate --format json'; None for what is no
        number.

        >>> import spamnb
        >>> told = spamnb.evaluate("corpora/mail", folds=2).to_dict()
        >>> told["messages"], sorted(told["spam"]["hm"])
        (127, ['high', 'low', 'value'])
        """
        from spamnb.evaluation.figures import as_json

        told = {**as_json(self.figures), "unreadable": self.unreadable}
        return told if self.mislabelled is None else {**told, "mislabelled": self.mislabelled.to_dict()}

    def to_frame(self, of: Literal["figures", "messages", "classes", "confusion"] = "figures") -> Any:
        """A data frame of pandas.

        - ``"figures"``: a row for each figure, with value, low and high (95 %)
        - ``"messages"``: a row for each message, as --scores writes it: name, truth, verdict, ``score:CLASS`` in nats
          and ``p:CLASS``
        - ``"classes"``: a row for each class: messages, precision, recall, f1 and 1-ROCA, in percent
        - ``"confusion"``: a row for each true class and verdict, with how many messages these are

        Raises SpamnbError without pandas, and for another table.

        >>> import spamnb
        >>> found = spamnb.evaluate("corpora/mail", folds=2)
        >>> found.to_frame("messages").columns.tolist()
        ['name', 'truth', 'verdict', 'score:ham', 'score:spam', 'p:ham', 'p:spam']
        """
        from spamnb.report.frames import frame

        tables = {
            "figures": self._figures,
            "messages": self._messages,
            "classes": self._classes,
            "confusion": self._confusion,
        }
        if of not in tables:
            raise SpamnbError(f"no table is called {of!r}; they are {', '.join(tables)}")
        return frame(tables[of]())

    def _figures(self) -> dict[str, Any]:
        from spamnb.evaluation.figures import FigureRow, figure_rows

        rows = figure_rows(self.figures)
        return {name: [row[i] for row in rows] for i, name in enumerate(FigureRow._fields)}

    def _messages(self) -> dict[str, Any]:
        from spamnb.formulas.decision import UNSURE

        result = self.result
        verdicts = [*result.classes, UNSURE]  # index −1 is the last
        return {
            "name": list(result.names),
            "truth": [result.classes[c] for c in result.truth],
            "verdict": [verdicts[c] for c in result.verdicts],
            **{f"score:{name}": result.scores[:, c] for c, name in enumerate(result.classes)},
            **{f"p:{name}": result.probabilities[:, c] for c, name in enumerate(result.classes)},
        }

    def _classes(self) -> dict[str, Any]:
        names = ("class", "messages", "precision", "recall", "f1", "1-ROCA")
        return {name: [row[i] for row in self.figures.by_class] for i, name in enumerate(names)}

    def _confusion(self) -> dict[str, Any]:
        from spamnb.formulas.decision import UNSURE

        said = [*self.figures.classes, UNSURE]
        cells = [
            (true, verdict, messages)
            for true, row in zip(self.figures.classes, self.figures.confusion)
            for verdict, messages in zip(said, row)
        ]
        return {what: [cell[i] for cell in cells] for i, what in enumerate(("class", "verdict", "messages"))}

    def compare(self, other: Evaluation | FilePath) -> McNemar:
        """McNemar's exact test against another evaluation of the same messages, or one whose scores were written: how
        many messages only one of the two got right, and the probability p of so uneven a split by chance.

        Raises SpamnbError where the other holds other messages, or its file cannot be read.

        >>> import spamnb
        >>> one = spamnb.evaluate("corpora/mail", folds=2)
        >>> one.compare(spamnb.evaluate("corpora/mail", folds=2, model_type="multinomial")).p_value <= 1
        True
        """
        from spamnb.evaluation.scores import read_scores

        result = other.result if isinstance(other, Evaluation) else read_scores(Path(other))
        try:
            return self.result.against(result)
        except ValueError as error:
            raise SpamnbError(str(error) if isinstance(other, Evaluation) else f"{other}: {error}") from None

    def write_page(self, path: FilePath) -> None:
        """Write a page with figures, curves and the worst errors to ``path``. Raises SpamnbError where it cannot be
        written.

        >>> import spamnb
        >>> spamnb.evaluate("corpora/mail", folds=2, subjects=True).write_page("page.html")
        """
        from spamnb.report.page import write_page
        from spamnb.report.provenance import provenance

        kind = self.settings.model_type
        trained = f"{self.model}, as it is" if self.model else f"{kind}, trained on parts of this mail"
        write_page(self.result, self.figures, provenance(self.command, trained, self.settings), Path(path))

    def write_scores(self, path: FilePath) -> None:
        """Write each message's scores to ``path``, for other programs and for ``compare``. Raises SpamnbError where it
        cannot be written.

        >>> import spamnb
        >>> spamnb.evaluate("corpora/mail", folds=2).write_scores("scores.tsv")
        """
        from spamnb.evaluation.scores import write_scores

        write_scores(self.result, Path(path))

    def __str__(self) -> str:
        from io import StringIO

        from rich.console import Console

        from spamnb.report.evaluation import tables
        from spamnb.report.mislabelled import doubtful_lines

        text = StringIO()
        console = Console(file=text, width=Console().width)
        for table in tables(self.figures):
            console.print(table)
        doubts = doubtful_lines(*self.mislabelled) if self.mislabelled is not None else []
        return "\n".join([text.getvalue().rstrip("\n"), *doubts])

    def _repr_html_(self) -> str:
        from spamnb.report.notebook import evaluation_html

        return evaluation_html(self.result, self.figures)
