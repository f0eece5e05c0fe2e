"""One self-contained page about one evaluation: what was lost, figures, charts, the worst errors and what decided them.

Names, subjects and tokens come out of hostile mail. The template escapes all but our own style sheet and SVG, whose
texts svg.py escapes; the page holds no script, and its content security policy forbids everything but that style
sheet, which it names by hash.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spamnb.errors import SpamnbError
from spamnb.evaluation.figures import Figures
from spamnb.evaluation.rates import Estimate
from spamnb.evaluation.result import Result
from spamnb.report import charts
from spamnb.report.confusion import matrix, mistakes
from spamnb.report.numbers import count, interval, percent, ratio
from spamnb.report.provenance import Provenance
from spamnb.report.worst import worst

if TYPE_CHECKING:
    from jinja2 import Environment


def write_page(result: Result, found: Figures, provenance: Provenance, path: str | Path) -> None:
    """Write the page to ``path``. Raises SpamnbError where that cannot be written."""
    try:
        Path(path).write_text(page(result, found, provenance), encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise SpamnbError(f"{path}: cannot be written: {error.strerror}") from error


def page(result: Result, found: Figures, provenance: Provenance) -> str:
    """The page as HTML."""
    environment = _environment()
    assert environment.loader is not None
    css = environment.loader.get_source(environment, "page.css")[0]
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    per_class = ", ".join(f"{count(c.messages)} {c.name}" for c in found.by_class[:6])
    more = f" and {len(found.by_class) - 6} more" if len(found.by_class) > 6 else ""
    return environment.get_template("page.html").render(
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        css=css,
        found=found,
        provenance=provenance,
        first_line=summary_line(result),
        unsure=unsure_line(result),
        of_classes=f"{count(found.messages, 'message')}: {per_class}{more}",
        cards=_cards(found),
        charts=_charts(result, found),
        matrix=matrix(result),
        tables=_tables(result, found),
        errors=worst(result),
    )


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # 45 ms: for who asks for a page only

    environment = Environment(
        loader=PackageLoader("spamnb.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_unbroken,
    )
    environment.filters.update(percent=percent, interval=interval, short=charts.short)
    return environment


def _unbroken(value: Any) -> Any:
    """No line may end inside a number: the thin spaces between thousands become such as do not break."""
    return value.replace("\u2009", "\u202f") if isinstance(value, str) else value


def summary_line(result: Result) -> str:
    """What a person asks first, in numbers of messages: good mail lost and spam let through, or messages right.

    Spam that is called unsure was let through, as in sm%; good mail that is called unsure was not lost.
    """
    cells, spam = result.confusion, result.spam_index
    if not len(result):
        return "No message was judged"
    if spam is None:
        return f"{count(int(np.trace(cells)))} of {count(len(result), 'message')} right"
    good, bad = np.delete(cells, spam, axis=0), cells[spam]
    parts = []
    if good.any():
        parts.append(f"{count(int(good[:, spam].sum()))} of {count(int(good.sum()), 'good message')} lost")
    if bad.any():
        parts.append(f"{count(int(bad.sum() - bad[spam]))} of {count(int(bad.sum()))} spam let through")
    return ", ".join(parts)


def unsure_line(result: Result) -> str:
    """What the first line leaves out: verdicts of unsure, and good mail of one class called another."""
    cells, spam = result.confusion, result.spam_index
    unsure = cells[:, -1]
    if spam is None:
        return f"Called unsure: {count(int(unsure.sum()), 'message')}." if unsure.any() else ""
    said = []
    if unsure.any():
        good_unsure = count(int(unsure.sum() - unsure[spam]), "good message")
        let_through = f"{count(int(unsure[spam]))} spam, counted as let through"
        said.append(f"Called unsure, and delivered: {good_unsure}, not counted as lost, and {let_through}.")
    good = np.delete(np.delete(cells[:, :-1], spam, axis=0), spam, axis=1)
    if other := int(good.sum() - np.trace(good)):
        said.append(f"Good mail called another class of good mail: {count(other)}.")
    return " ".join(said)


class Card(NamedTuple):
    """A figure in percent: what it means and the name of the measure."""

    means: str
    estimate: Estimate
    name: str


def _cards(found: Figures) -> list[Card]:
    cards = []
    if found.spam is not None:
        spam = found.spam
        level, at_level = next(iter(spam.sm_at_hm.items()))
        cards += [
            Card("Good mail called spam", spam.hm, "hm%"),
            Card("Spam let through, unsure included", spam.sm, "sm%"),
            Card("Both averaged on the logit scale", spam.lam, "lam%"),
            Card("Chance that good mail scores above spam", spam.one_minus_roca, "1-ROCA%"),
            Card(f"Spam let through at {level:g} % of good mail lost", at_level, f"sm% at hm≤{level:g}"),
        ]
    else:
        cards.append(Card("Verdicts that are the true class", found.accuracy, "accuracy"))
    cards.append(Card("Mean over classes of precision and recall together", found.macro_f1, "macro F1"))
    if found.calibration is not None:
        error = Estimate(found.calibration.expected_calibration_error)
        cards.append(Card("Mean gap between probability and outcome", error, "calibration error"))
    return cards


class Chart(NamedTuple):
    """A picture with what stands above and below it."""

    title: str
    picture: str
    caption: str


def _charts(result: Result, found: Figures) -> list[Chart]:
    if not len(result):
        return []
    drawn = []
    if len(result.classes) > 1:
        if found.spam is not None:
            levels = ", ".join(f"{level:g}" for level in found.spam.sm_at_hm)
            caption = (
                "Every threshold's two errors; up and left is better. Large dot: the verdicts as given;"
                f" small dots: the best at {levels} % of good mail lost."
            )
        else:
            caption = "Each class against the others; up and left is better. In colour: the highest 1-ROCA%."
        drawn.append(Chart("Receiver operating characteristic", charts.roc_chart(result, found), caption))
    caption = (
        "Counts on a log scale. What lies on the wrong side of the gap is an error at any threshold."
        if found.spam
        else "Counts on a log scale. Left of 0 another class scored higher than the true one."
    )
    drawn.append(Chart("Scores", charts.histogram_chart(result), caption))
    if found.calibration is not None:
        what = "probability of spam" if found.spam else "probability of the likeliest class"
        caption = (
            "On the dashed line a probability means what it says. Log loss"
            f" {found.calibration.log_loss:.4f} nats, Brier score {found.calibration.brier:.4f}."
        )
        picture = charts.reliability_chart(found.calibration.reliability, what)
        drawn.append(Chart("Reliability of the probabilities", picture, caption))
    if len(found.learning_curve) > 1:
        caption = "Errors so far, the first ones of an empty filter included."
        drawn.append(Chart("Learning curve", charts.learning_chart(found.learning_curve), caption))
    return drawn


class Section(NamedTuple):
    """A table with what stands above and below it; the first cell of a row is its name."""

    title: str
    head: tuple[str, ...]
    rows: list[tuple[str, ...]]
    said: str = ""


def _tables(result: Result, found: Figures) -> list[Section]:
    head = ("class", "messages", "precision %", "recall %", "F1 %", "1-ROCA %")
    rows = [(c.name, count(c.messages), *map(percent, c[2:])) for c in found.by_class]
    tables = [
        Section("Classes", head, rows, f"Accuracy {percent(found.accuracy.value)} % ({interval(found.accuracy)}).")
    ]
    if len(found.classes) > 2 and (often := mistakes(result)):
        tables.append(Section("Most frequent mistakes", ("class → verdict", "messages", "% of class"), [*often]))
    if found.spam is None:
        return tables
    levels = [(f"hm ≤ {level:g} %", percent(e.value), interval(e)) for level, e in found.spam.sm_at_hm.items()]
    ham, spam = found.spam.unsure_ham, found.spam.unsure_spam
    said = f"Unsure: {percent(ham)} % of good mail and {percent(spam)} % of spam." if ham > 0 or spam > 0 else ""
    tables.append(Section("Spam let through where little good mail is lost", ("limit", "sm%", "95 %"), [*levels], said))
    if found.spam.total_cost_ratio:
        costs = [(str(cost), ratio(value)) for cost, value in found.spam.total_cost_ratio.items()]
        said = "λ: cost of a good message lost, in spam let through. Above 1 the filter is cheaper than none."
        tables.append(Section("Total cost ratio", ("λ", "TCR"), [*costs], said))
    return tables
