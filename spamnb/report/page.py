"""One self-contained page about one evaluation: what was lost, figures, charts, the worst errors and what decided them.

Names, subjects and tokens come out of hostile mail. The template escapes all but our own style sheet and SVG, whose
texts charts.py escapes; the page holds no script, and its content security policy forbids everything but that style
sheet, which it names by hash.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spamnb import __version__
from spamnb.evaluation.figures import Figures
from spamnb.evaluation.intervals import HM_LIMIT
from spamnb.evaluation.result import EvaluatedMessage, Result
from spamnb.formulas.decision import UNSURE
from spamnb.reader.meaning import meaning
from spamnb.report import charts
from spamnb.report.evaluation import MATRIX_CLASSES, class_table, confusion_table, headline, percent
from spamnb.report.table import Table
from spamnb.settings import SETTINGS, Settings
from spamnb.shown_text import pluralize

if TYPE_CHECKING:
    from jinja2 import Environment

MISTAKES = 12  # kinds of mistake of many classes
WORST = 12  # errors shown of each kind


def page(result: Result, found: Figures, settings: Settings, made: Mapping[str, str]) -> str:
    """The page as HTML; ``made`` says by which command, and of which model."""
    environment = _environment()
    assert environment.loader is not None
    css = environment.loader.get_source(environment, "page.css")[0]
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    per_class = ", ".join(f"{c.messages:,} {c.name}" for c in found.by_class[:6])
    more = f" and {len(found.by_class) - 6} more" if len(found.by_class) > 6 else ""
    tables = [class_table(found)]
    if len(found.classes) <= MATRIX_CLASSES:
        tables.append(confusion_table(found.classes, found.confusion))
    elif often := mistakes(result):
        tables.append(Table("Most frequent mistakes", ("class → verdict", "messages", "% of class"), often))
    html = environment.get_template("page.html").render(
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        css=css,
        protocol=found.protocol,
        first_line=summary_line(result),
        of_classes=f"{pluralize(found.messages, 'message')}: {per_class}{more}",
        cards=[(name.partition("  "), value, bounds) for name, value, bounds in headline(found)],
        charts=_charts(result, found),
        tables=tables,
        errors=worst(result),
        made=_made(settings, made),
    )
    return html.encode(errors="backslashreplace").decode()  # a lone surrogate can be in no file


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # 45 ms: for who asks for a page only

    loader = PackageLoader("spamnb.report")
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters["meaning"] = lambda token: meaning(token) or token
    return made


def summary_line(result: Result) -> str:
    """What a person asks first, in numbers of messages: good mail lost and spam let through, or messages right.

    Spam that is called unsure was let through, as in sm%; good mail that is called unsure was not lost.
    """
    cells, spam = result.confusion, result.spam_index
    if spam is None:
        return f"{int(np.trace(cells)):,} of {pluralize(len(result), 'message')} right"
    good, bad = np.delete(cells, spam, axis=0), cells[spam]
    parts = []
    if good.any():
        parts.append(f"{int(good[:, spam].sum()):,} of {pluralize(int(good.sum()), 'good message')} lost")
    if bad.any():
        parts.append(f"{int(bad.sum() - bad[spam]):,} of {int(bad.sum()):,} spam let through")
    return ", ".join(parts)


def _charts(result: Result, found: Figures) -> list[tuple[str, str, str]]:
    """Pictures, each between its title and its caption."""
    drawn = []
    if found.spam is not None and result.spam_index is not None:
        caption = (
            "Every threshold's two errors; up and left is better. Large dot: the verdicts as given; small dot: the best"
            f" at {HM_LIMIT:g} % of good mail lost."
        )
        drawn.append(("ROC", charts.roc_chart(result, found, result.spam_index), caption))
    what = "probability of spam" if found.spam else "probability of the likeliest class"
    picture = charts.reliability_chart(found.calibration.reliability, what)
    return [*drawn, ("Reliability", picture, "On the dashed line a probability means what it says.")]


def mistakes(result: Result) -> list[tuple[str, ...]]:
    """(class and verdict, messages, percent of the class), most messages first."""
    cells = result.confusion.copy()
    of = cells.sum(axis=1)
    np.fill_diagonal(cells, 0)
    names = [*result.classes, UNSURE]
    found: list[tuple[str, ...]] = []
    for place in np.argsort(-cells, axis=None, kind="stable")[:MISTAKES].tolist():
        true, said = divmod(place, cells.shape[1])
        if n := int(cells[true, said]):
            found.append((f"{names[true]} → {names[said]}", f"{n:,}", percent(100 * n / int(of[true]))))
    return found


class Group(NamedTuple):
    """Errors of one kind, the worst first: the answer, its class's probability, and the likeliest class."""

    title: str
    shown: str  # how many of how many
    errors: list[tuple[EvaluatedMessage, float, str]]


def worst(result: Result) -> list[Group]:
    """Errors by kind; good mail lost before all others. Nothing where every verdict is right."""
    wrong = np.flatnonzero(~result.is_right)
    if not len(wrong):
        return []
    wrong = wrong[np.argsort(result.probabilities[wrong, result.truth[wrong]], kind="stable")]
    spam = result.spam_index
    if spam is None:
        return [_group(result, "Worst errors", wrong)]
    lost = (result.verdicts[wrong] == spam) & (result.truth[wrong] != spam)
    missed = result.truth[wrong] == spam
    groups = [_group(result, "Good mail called spam", wrong[lost]), _group(result, "Spam let through", wrong[missed])]
    others = wrong[~lost & ~missed]
    return [*groups, _group(result, "Other errors", others)] if len(others) else groups


def _group(result: Result, title: str, rows: NDArray[np.int64]) -> Group:
    shown = f"{len(rows):,}" if len(rows) else "none"
    if len(rows) > WORST:
        shown = f"the worst {WORST} of {shown}"
    errors = []
    for row in rows[:WORST].tolist():
        p = result.probabilities[row]
        likeliest = result.classes[int(p.argmax())]  # the evidence is for it; another class may have the highest score
        errors.append((result.errors[row], float(p[result.truth[row]]), likeliest))
    return Group(title, shown, errors)


def _made(settings: Settings, made: Mapping[str, str]) -> dict[str, str]:
    """When, how and of what the page was made, and every setting; beside what is not usual, what is."""
    usual = Settings().by_name()
    said = {"Date": f"{datetime.now().astimezone():%Y-%m-%d %H:%M %z}", **made}
    for name, value in settings.by_name().items():
        other = "" if value == usual[name] else f" (default {SETTINGS[name].shown(usual[name])})"
        said[name] = SETTINGS[name].shown(value) + other
    return {**said, "spamnb": __version__}
