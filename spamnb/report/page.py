"""A page about one evaluation by itself: figures, charts, labels that look wrong, and the worst errors with evidence.

Names, subjects and tokens come from hostile mail. The template escapes all texts, and charts.py escapes the texts of
the SVG. The page has no script, and its content security policy allows nothing but its style sheet.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spamnb import __version__
from spamnb.evaluation.figures import Figures
from spamnb.evaluation.intervals import HM_LIMIT
from spamnb.evaluation.result import EvaluatedMessage, Result
from spamnb.model.decision import UNSURE
from spamnb.reader.meaning import meaning
from spamnb.report import charts
from spamnb.report.evaluation import MATRIX_CLASSES, class_table, confusion_table, format_percent, headline_rows
from spamnb.report.table import Table
from spamnb.settings import SETTINGS, Settings
from spamnb.shown_text import make_environment, pluralize

MAX_MISTAKES = 12  # pairs of class and verdict that are listed, about half a screen
MAX_ERRORS = 12  # errors of each kind that are shown, so that the page of a large corpus stays small
MAX_CLASSES = 6  # classes whose numbers of messages are in the heading


def render_page(result: Result, figures: Figures, settings: Settings, origin: Mapping[str, str]) -> str:
    """Return the page as HTML. ``origin`` has headings and texts, for example of the command."""
    environment = make_environment("spamnb.report", meaning=meaning)
    assert environment.loader is not None
    css = environment.loader.get_source(environment, "page.css")[0]
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    per_class = ", ".join(f"{c.messages:,} {c.name}" for c in figures.by_class[:MAX_CLASSES])
    more = f" and {len(figures.by_class) - MAX_CLASSES} more" if len(figures.by_class) > MAX_CLASSES else ""
    tables = [class_table(figures)]
    if len(figures.classes) <= MATRIX_CLASSES:
        tables.append(confusion_table(figures.classes, figures.confusion))
    elif mistakes := frequent_mistakes(result):
        tables.append(Table("Most frequent mistakes", ("class → verdict", "messages", "% of class"), mistakes))
    html = environment.get_template("page.html").render(
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        css=css,
        protocol=figures.protocol,
        first_line=summary_line(result),
        of_classes=f"{pluralize(figures.messages, 'message')}: {per_class}{more}",
        cards=[(name.partition("  "), value, bounds) for name, value, bounds in headline_rows(figures)],
        charts=_charts(result, figures),
        tables=tables,
        groups=[*mislabelled(result), *worst_errors(result)],
        origin=_list_origin(settings, origin),
    )
    return html.encode(errors="backslashreplace").decode()  # lone surrogates cannot be written as UTF-8


def summary_line(result: Result) -> str:
    """Return the numbers of good mail lost and of spam let through. Without a class of spam, count right verdicts.

    The verdict unsure lets spam through, but does not lose good mail.
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


def _charts(result: Result, figures: Figures) -> list[tuple[str, str, str]]:
    """Return charts as (title, SVG, caption)."""
    pictures = []
    if figures.spam is not None and result.spam_index is not None:
        caption = (
            "The errors at each threshold. Fewer errors are further up and left. Large dot: the verdicts. Small dot:"
            f" the threshold at which at most {HM_LIMIT:g} % of good mail are lost."
        )
        pictures.append(("ROC", charts.roc_chart(result, figures, result.spam_index), caption))
    x_label = "probability of spam" if figures.spam else "probability of the likeliest class"
    picture = charts.reliability_chart(figures.calibration.reliability, x_label)
    return [*pictures, ("Reliability", picture, "On the dashed line, predicted and observed shares are equal.")]


def frequent_mistakes(result: Result) -> list[tuple[str, ...]]:
    """Return rows of (class and wrong verdict, messages, percent of the class), the most frequent first."""
    cells = result.confusion.copy()
    class_messages = cells.sum(axis=1)
    np.fill_diagonal(cells, 0)
    names = [*result.classes, UNSURE]
    rows: list[tuple[str, ...]] = []
    for position in np.argsort(-cells, axis=None, kind="stable")[:MAX_MISTAKES].tolist():
        truth, verdict = divmod(position, cells.shape[1])
        if n := int(cells[truth, verdict]):
            share = format_percent(100 * n / int(class_messages[truth]))
            rows.append((f"{names[truth]} → {names[verdict]}", f"{n:,}", share))
    return rows


class ErrorGroup(NamedTuple):
    """Errors of one kind, the worst first: the message, the probability of its class, and the likeliest class."""

    title: str
    size: str  # the number of errors, and how many of them are in ``errors``
    errors: list[tuple[EvaluatedMessage, float, str]]
    advice: str = ""  # a sentence below the title
    open: int = 3  # errors whose evidence is shown at first


def mislabelled(result: Result) -> list[ErrorGroup]:
    """Return a group of the errors whose labels are probably wrong, the least likely label first, or no group."""
    advice = "Check these first. A message in the wrong folder is learned as the wrong class, and counts as an error."
    group = _group(result, "Labels that may be wrong", np.array(result.mislabelled, np.int64))
    return [group._replace(advice=advice, open=0)] if result.mislabelled else []


def worst_errors(result: Result) -> list[ErrorGroup]:
    """Return the groups of errors, good mail called spam first. The list is empty if every verdict is right."""
    rows = np.flatnonzero(~result.is_right)
    if not len(rows):
        return []
    rows = rows[np.argsort(result.probabilities[rows, result.truth[rows]], kind="stable")]
    spam = result.spam_index
    if spam is None:
        return [_group(result, "Worst errors", rows)]
    is_missed = result.truth[rows] == spam
    is_lost = (result.verdicts[rows] == spam) & ~is_missed
    groups = [
        _group(result, "Good mail called spam", rows[is_lost]),
        _group(result, "Spam let through", rows[is_missed]),
    ]
    others = rows[~is_lost & ~is_missed]
    return [*groups, _group(result, "Other errors", others)] if len(others) else groups


def _group(result: Result, title: str, rows: NDArray[np.int64]) -> ErrorGroup:
    size = f"{len(rows):,}" if len(rows) else "none"
    if len(rows) > MAX_ERRORS:
        size = f"the worst {MAX_ERRORS} of {size}"
    errors = []
    for row in rows[:MAX_ERRORS].tolist():
        p = result.probabilities[row]
        likeliest = result.classes[int(p.argmax())]  # the evidence is for this class
        errors.append((result.errors[row], float(p[result.truth[row]]), likeliest))
    return ErrorGroup(title, size, errors)


def _list_origin(settings: Settings, origin: Mapping[str, str]) -> dict[str, str]:
    """Return the date, the origin and all settings as texts. The text of a changed setting also has its default."""
    defaults = Settings().to_dict()
    rows = {"Date": f"{datetime.now().astimezone():%Y-%m-%d %H:%M %z}", **origin}
    for name, value in settings.to_dict().items():
        default = "" if value == defaults[name] else f" (default {SETTINGS[name].format(defaults[name])})"
        rows[name] = SETTINGS[name].format(value) + default
    return {**rows, "spamnb": __version__}
