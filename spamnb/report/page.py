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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spamnb import __version__
from spamnb.evaluation.figures import Figures
from spamnb.evaluation.result import Result
from spamnb.report import charts
from spamnb.report.confusion import matrix, mistakes
from spamnb.report.evaluation import Table, class_table, figure_table, headline
from spamnb.report.numbers import count
from spamnb.report.worst import worst
from spamnb.settings import Settings

if TYPE_CHECKING:
    from jinja2 import Environment


def page(result: Result, found: Figures, settings: Settings, made: Mapping[str, str]) -> str:
    """The page as HTML; ``made`` says by which command, and of which model."""
    environment = _environment()
    assert environment.loader is not None
    css = environment.loader.get_source(environment, "page.css")[0]
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    per_class = ", ".join(f"{count(c.messages)} {c.name}" for c in found.by_class[:6])
    more = f" and {len(found.by_class) - 6} more" if len(found.by_class) > 6 else ""
    tables = [figure_table(found, verbose=True)._replace(title="Figures"), class_table(found)]
    if len(found.classes) > 2 and (often := mistakes(result)):
        tables.append(Table("Most frequent mistakes", ("class → verdict", "messages", "% of class"), [*often]))
    html = environment.get_template("page.html").render(
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        css=css,
        protocol=found.protocol,
        first_line=summary_line(result),
        of_classes=f"{count(found.messages, 'message')}: {per_class}{more}",
        cards=[(name.partition("  "), value, bounds) for name, value, bounds in headline(found)],
        charts=_charts(result, found),
        matrix=matrix(result),
        tables=tables,
        errors=worst(result),
        made=_made(settings, made),
    )
    return html.encode(errors="backslashreplace").decode()  # a lone surrogate can be in no file


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # 45 ms: for who asks for a page only

    return Environment(
        loader=PackageLoader("spamnb.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_unbroken,
    )


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


class Chart(NamedTuple):
    """A picture with what stands above and below it."""

    title: str
    picture: str
    caption: str


def _charts(result: Result, found: Figures) -> list[Chart]:
    drawn = []
    if found.spam is not None and result.spam_index is not None and len(result):
        levels = ", ".join(f"{level:g}" for level in found.spam.sm_at_hm)
        caption = (
            "Every threshold's two errors; up and left is better. Large dot: the verdicts as given; small dots: the"
            f" best at {levels} % of good mail lost."
        )
        drawn.append(Chart("ROC", charts.roc_chart(result, found, result.spam_index), caption))
    if found.calibration is not None:
        what = "probability of spam" if found.spam else "probability of the likeliest class"
        picture = charts.reliability_chart(found.calibration.reliability, what)
        drawn.append(Chart("Reliability", picture, "On the dashed line a probability means what it says."))
    if len(found.learning_curve) > 1:
        caption = "Errors so far, the first ones of an empty filter included."
        drawn.append(Chart("Learning curve", charts.learning_chart(found.learning_curve), caption))
    return drawn


def _made(settings: Settings, made: Mapping[str, str]) -> dict[str, str]:
    """When, how and of what the page was made, and every setting; beside what is not usual, what is."""
    usual = Settings().by_name()
    said = {"Date": f"{datetime.now().astimezone():%Y-%m-%d %H:%M %z}", **made}
    for name, value in settings.by_name().items():
        other = "" if value == usual[name] else f" (default {_text(usual[name])})"
        said[name.replace("_", " ")] = _text(value) + other
    return {**said, "spamnb": __version__}


def _text(value: Any) -> str:
    """
    >>> _text(None), _text(False), _text(9.0), _text(("path", "xref"))
    ('none', 'no', '9', 'path, xref')
    """
    if value is None or isinstance(value, bool):
        return {None: "none", False: "no", True: "yes"}[value]
    if isinstance(value, float):
        return f"{value:g}"
    return ", ".join(value) or "none" if isinstance(value, tuple | list) else str(value)
