"""What an evaluation hands back: figures, the answers behind them, and pages and tables of both."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spamnb.api.arguments import FilePath
from spamnb.api.mislabelled import Mislabelled
from spamnb.api.report import Report
from spamnb.errors import SpamnbError
from spamnb.evaluation.figures import Figures
from spamnb.evaluation.metrics import McNemar
from spamnb.evaluation.result import Result
from spamnb.naming import pluralize
from spamnb.settings import Settings


@dataclass(frozen=True)
class Evaluation(Report):
    """A filter that was measured: ``print`` shows the command line's tables, a notebook its page.

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

    def page(self) -> str:
        """A page of HTML with figures, curves and the worst errors, which needs nothing else and holds no script.

        >>> import spamnb
        >>> spamnb.evaluate("corpora/mail", folds=2).page()[:15]
        '<!DOCTYPE html>'
        """
        from spamnb.report.page import page

        kind = self.settings.model_type
        trained = f"{self.model}, as it is" if self.model else f"{kind}, trained on parts of this mail"
        return page(self.result, self.figures, self.settings, {"Command": self.command, "Model": trained})

    def write_page(self, path: FilePath) -> None:
        """Write the page to ``path``. Raises SpamnbError where it cannot be written.

        >>> import spamnb
        >>> spamnb.evaluate("corpora/mail", folds=2, subjects=True).write_page("page.html")
        """
        try:
            Path(path).write_text(self.page(), encoding="utf-8")
        except OSError as error:
            raise SpamnbError(f"{path}: cannot be written: {error.strerror}") from error

    def write_scores(self, path: FilePath) -> None:
        """Write each message's scores to ``path``, for other programs and for ``compare``. Raises SpamnbError where it
        cannot be written.

        >>> import spamnb
        >>> spamnb.evaluate("corpora/mail", folds=2).write_scores("scores.tsv")
        """
        from spamnb.evaluation.scores import write_scores

        write_scores(self.result, Path(path))

    def __str__(self) -> str:
        return self.text()

    def text(self, verbose: bool = False) -> str:
        """What ``print`` shows; where ``verbose``, also the figures that serve to compare filters.

        >>> import spamnb
        >>> print(spamnb.evaluate("corpora/mail", folds=2).text(verbose=True))
        2 folds: 127 messages...
        """
        from spamnb.report.evaluation import text

        doubts = self.mislabelled.lines() if self.mislabelled is not None else []
        return "\n".join([text(self.figures, verbose), *doubts])

    def _repr_html_(self) -> str:
        from html import escape

        # A frame of its own: neither the page's style nor the notebook's reaches the other's.
        return f'<iframe srcdoc="{escape(self.page())}" style="width: 100%; height: 640px; border: 0"></iframe>'
