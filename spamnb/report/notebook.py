"""Words, an explanation, an evaluation as pieces of HTML for a notebook, in the style of the page.

As in the page, names, subjects and tokens come out of hostile mail, and the template escapes them all. A piece stands
in somebody else's page: every rule of its style sheet is nested in the class of its own element.
"""

from __future__ import annotations

from html import escape
from typing import Any

from spamnb.counts.top_words import TopWords
from spamnb.evaluation.figures import Figures
from spamnb.evaluation.result import Result
from spamnb.judgement import Judgement
from spamnb.naming import escape as printable
from spamnb.report.confusion import matrix
from spamnb.report.page import _cards, _charts, _environment, _tables, summary_line, unsure_line
from spamnb.report.worst import _tokens

CLASSES = 5  # of an explanation, the likeliest
TABLES = 6  # classes whose likeliest words are shown beside each other


def text_html(text: str) -> str:
    """Lines of a terminal as they are.

    >>> text_html("a < b")
    '<pre>a &lt; b</pre>'
    """
    return f"<pre>{escape(text)}</pre>"


def words_html(report: TopWords) -> str:
    """Tables beside each other: the words that tell the classes apart, with bars, and each class's likeliest."""
    most = max((word.value for word in report.informative), default=0.0) or 1.0
    telling = [
        (printable(word.token), word.value / most, f"{word.value:.3f}", printable(word.label))
        for word in report.informative
    ]
    named = list(report.likeliest.items())
    columns = [
        (printable(name), [(printable(word.token), f"{word.value:.3f}") for word in words])
        for name, words in named[:TABLES]
    ]
    return _piece("words", telling=telling, columns=columns, more=len(named) - len(columns))


def explanation_html(judgement: Judgement, spam: str, top: int) -> str:
    """The verdict, a bar for each likely class, and one for each of the ``top`` tokens: to the right for the likeliest
    class, in orange for spam (or, where the likeliest class is no spam, against it)."""
    ranked = sorted(judgement.probabilities.items(), key=lambda pair: -pair[1])
    best = ranked[0][0] if ranked else ""
    return _piece(
        "explanation",
        judgement=judgement,
        ranked=[(printable(name), p, f"{100 * p:.2f} %") for name, p in ranked[:CLASSES]],
        best=printable(best),
        second=printable(ranked[1][0]) if len(ranked) > 1 else "",
        tokens=_tokens(
            [(printable(token), weight) for token, weight in judgement.evidence[:top]], best == spam
        ),
        more=max(0, len(judgement.evidence) - top),
    )


def evaluation_html(result: Result, found: Figures) -> str:
    """What the page says, but for the errors: the first line, figures, curves, confusion matrix and tables."""
    return _piece(
        "evaluation",
        found=found,
        first_line=summary_line(result),
        unsure=unsure_line(result),
        cards=_cards(found),
        charts=_charts(result, found),
        matrix=matrix(result),
        tables=_tables(result, found),
    )


def _piece(what: str, **values: Any) -> str:
    environment = _environment()
    assert environment.loader is not None
    css = environment.loader.get_source(environment, "page.css")[0]
    # Nested, ``&`` is the element of the piece, in which there is neither root nor body.
    nested = css.replace(":root {", "& {").replace("\nbody {", "\n& {")
    html = environment.get_template("notebook.html").render(what=what, css=f".spamnb {{\n{nested}}}", **values)
    return html.encode(errors="backslashreplace").decode()  # a lone surrogate can be in no notebook's file
