"""One self-contained page about one evaluation: figures, charts, and the worst errors with what decided them.

Names, subjects and tokens come out of hostile mail. They are escaped, the page holds no script, and its
content security policy forbids everything but its own style sheet, which it names by hash.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from spamnb.errors import SpamnbError
from spamnb.evaluate.figures import Figures
from spamnb.evaluate.rates import Estimate
from spamnb.evaluate.result import Result
from spamnb.formulas.decision import UNSURE as UNSURE_NAME
from spamnb.report import charts, svg
from spamnb.report.numbers import count, interval, percent, ratio
from spamnb.report.style import CSS

WORST = 12  # errors shown of each kind
TOKENS = 12  # of each error's evidence


def write_page(result: Result, found: Figures, path: str | Path) -> None:
    """Write the page to ``path``. Raises SpamnbError where that cannot be written."""
    try:
        Path(path).write_text(page(result, found), encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise SpamnbError(f"{path}: cannot be written: {error.strerror}") from error


def page(result: Result, found: Figures) -> str:
    """The page as HTML."""
    digest = base64.b64encode(hashlib.sha256(CSS.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    number = count(found.messages, "message")
    per_class = ", ".join(f"{count(c.messages)} {escape(c.name)}" for c in found.by_class[:6])
    more = f" and {len(found.by_class) - 6} more" if len(found.by_class) > 6 else ""
    parts = [
        "<h1>How well the filter did</h1>",
        f'<p class="soft">{escape(found.protocol)}. {number}: {per_class}{more}.</p>',
        _cards(found),
        _charts(result, found),
        _tables(found),
        _errors(result),
        "<footer>Ranges are 95 % intervals: of shares of messages exact binomial ones, of areas and F1 by"
        " bootstrap, on the logit scale; none where the mail is too little for one. Made by spamnb.</footer>",
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>spamnb: {escape(found.protocol)}</title><style>{CSS}</style></head>\n"
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )


def _cards(found: Figures) -> str:
    cards: list[tuple[str, Estimate, str]] = []
    if found.spam is not None:
        spam = found.spam
        level, at_level = next(iter(spam.sm_at_hm.items()))
        cards += [
            ("hm%", spam.hm, "good mail called spam"),
            ("sm%", spam.sm, "spam let through, unsure included"),
            ("lam%", spam.lam, "the two averaged on the logit scale, no error as half of one"),
            ("1-ROCA%", spam.one_minus_roca, "chance that good mail scores above spam"),
            (f"sm% at hm≤{level:g}", at_level, "spam let through at the threshold that loses so little"),
        ]
    else:
        cards += [("accuracy", found.accuracy, "verdicts that are the true class")]
    cards.append(("macro F1", found.macro_f1, "mean over classes of precision and recall together"))
    if found.calibration is not None:
        error = Estimate(found.calibration.expected_calibration_error)
        cards.append(("calibration error", error, "mean gap between probability and outcome"))
    return '<dl class="cards">' + "".join(_card(*card) for card in cards) + "</dl>"


def _card(name: str, estimate: Estimate, means: str) -> str:
    return (
        f'<div class="card"><dt>{escape(name)}</dt><dd><div class="value">{percent(estimate.value)}'
        f'<span class="unit"> %</span></div><div class="range">{interval(estimate)}</div>'
        f'<div class="means">{escape(means)}</div></dd></div>'
    )


def _charts(result: Result, found: Figures) -> str:
    if not len(result):
        return '<p class="empty">No message was classified, so there is nothing to draw.</p>'
    figures = []
    if len(result.classes) > 1:
        if found.spam is not None:
            levels = ", ".join(f"{level:g}" for level in found.spam.sm_at_hm)
            caption = (
                "Every threshold's two errors; up and left is better. Large dot: the verdicts as given;"
                f" small dots: the best at {levels} % of good mail lost."
            )
        else:
            caption = "Each class against the others; up and left is better. Hover a line for its class."
        figures.append(_figure("Receiver operating characteristic", charts.roc_chart(result, found), caption))
    caption = (
        "Counts on a log scale. What lies on the wrong side of the gap is an error at any threshold."
        if found.spam
        else "Counts on a log scale. Left of 0 another class scored higher than the true one."
    )
    figures.append(_figure("Scores", charts.histogram_chart(result), caption))
    if found.calibration is not None:
        what = "probability of spam" if found.spam else "probability of the likeliest class"
        caption = (
            "On the dashed line a probability means what it says. Log loss"
            f" {found.calibration.log_loss:.4f} nats, Brier score {found.calibration.brier:.4f}."
        )
        chart = charts.reliability_chart(found.calibration.reliability, what)
        figures.append(_figure("Reliability of the probabilities", chart, caption))
    if len(found.learning_curve) > 1:
        caption = "Errors so far, the first ones of an empty filter included."
        chart = charts.learning_chart(found.learning_curve)
        figures.append(_figure("Learning curve", chart, caption))
    caption = "Rows are true classes, columns verdicts; shaded by share of the row, errors four times as strongly."
    confusion = charts.confusion_chart(result, found)
    css = "compact" if len(result.classes) < 4 else "wide"
    matrix = _figure("Confusion matrix", confusion, caption, css)
    if css == "compact":
        return f'<div class="charts">{"".join(figures)}{matrix}</div>'
    return f'<div class="charts">{"".join(figures)}</div>{matrix}'


def _figure(title: str, chart: str, caption: str, css: str = "") -> str:
    head, below = f"<h2>{escape(title)}</h2>", f"<figcaption>{escape(caption)}</figcaption>"
    return f'<figure class="{css}">{head}{chart}{below}</figure>'


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = "".join(f"<th>{escape(h)}</th>" for h in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>'


def _tables(found: Figures) -> str:
    head = ("class", "messages", "precision %", "recall %", "F1 %", "1-ROCA %")
    rows = [(c.name, count(c.messages), *map(percent, c[2:])) for c in found.by_class]
    right = f"Accuracy {percent(found.accuracy.value)} % ({interval(found.accuracy)})."
    parts = [_section("Classes", _table(head, rows), right)]
    if found.spam is not None:
        spam = found.spam
        levels = [
            (f"hm ≤ {level:g} %", percent(estimate.value), interval(estimate))
            for level, estimate in spam.sm_at_hm.items()
        ]
        unsure = f"{percent(spam.unsure_ham)} % of good mail and {percent(spam.unsure_spam)} % of spam"
        said = f"Unsure: {unsure}." if spam.unsure_ham > 0 or spam.unsure_spam > 0 else ""
        table = _table(("limit", "sm%", "95 %"), levels)
        parts.append(_section("Spam let through where little good mail is lost", table, said))
        if spam.total_cost_ratio:
            costs = [(str(cost), ratio(value)) for cost, value in spam.total_cost_ratio.items()]
            said = "λ: cost of a good message lost, in spam let through. Above 1 the filter is cheaper than none."
            parts.append(_section("Total cost ratio", _table(("λ", "TCR"), costs), said))
    return f'<div class="tables">{"".join(parts)}</div>'


def _section(title: str, table: str, said: str) -> str:
    below = f'<p class="soft">{escape(said)}</p>' if said else ""
    return f"<section><h2>{escape(title)}</h2>{table}{below}</section>"


def _errors(result: Result) -> str:
    """The wrong verdicts that gave the true class least; good mail lost before all others."""
    wrong = np.flatnonzero(~result.right)
    if not len(wrong):
        return "<h2>Worst errors</h2><p>None: every verdict is right.</p>"
    true = result.truth[wrong]
    if result.calibrated:
        weight = -result.probabilities[wrong, true]
    else:
        weight = result.scores[wrong].max(axis=1) - result.scores[wrong, true]
    wrong = wrong[np.argsort(-weight, kind="stable")]
    spam = result.spam_index
    if spam is None:
        groups = [("Worst errors", wrong)]
    else:
        lost = (result.verdicts[wrong] == spam) & (result.truth[wrong] != spam)
        missed = result.truth[wrong] == spam
        groups = [
            ("Good mail called spam", wrong[lost]),
            ("Spam let through", wrong[missed]),
            ("Other errors", wrong[~lost & ~missed]),
        ]
    parts = []
    for title, rows in groups:
        if len(rows) or title != "Other errors":
            shown = f"the worst {WORST} of {count(len(rows))}" if len(rows) > WORST else count(len(rows))
            parts.append(f'<h2>{title} <span class="soft">({shown})</span></h2><ul class="errors">')
            parts += [_error(result, int(row), opened=i < 3) for i, row in enumerate(rows[:WORST])]
            parts.append("</ul>")
    return "".join(parts)


def _error(result: Result, row: int, opened: bool) -> str:
    names = [*result.classes, UNSURE_NAME]  # index −1 is the last
    true, said = result.classes[result.truth[row]], names[result.verdicts[row]]
    remark = result.remarks.get(row)
    subject = remark.subject if remark and remark.subject else "(no subject)"
    tags = f'<span class="tag">{escape(true)} → {escape(said)}</span>'
    if result.calibrated:
        p = result.probabilities[row, result.truth[row]]
        tags += f'<span class="tag">p({escape(true)}) = {p:.4f}</span>'
    head = f'{tags}<b class="subject">{escape(subject[:300])}</b>'
    where = f'<div class="where">{escape(result.names[row][-300:])}</div>'
    if not remark or not remark.evidence:
        return f"<li>{head}{where}</li>"
    # By probability, as the evidence is: it may be another class than that of the highest score.
    best = result.classes[int((result.probabilities if result.calibrated else result.scores)[row].argmax())]
    return (
        f"<li><details{' open' if opened else ''}><summary>{head}</summary>{where}"
        f'<div class="evidence">{_evidence(remark.evidence[:TOKENS], best == result.spam)}</div>'
        f'<p class="soft">Nats for {escape(best)}, the likeliest class (to the right), or against it.</p>'
        "</details></li>"
    )


def _evidence(tokens: Sequence[tuple[str, float]], for_spam: bool) -> str:
    """A bar per token; orange speaks for spam, where the likeliest class is spam, else against the likeliest."""
    largest = max((abs(weight) for _, weight in tokens), default=1.0) or 1.0
    rows = []
    for token, weight in tokens:
        wide = 86 * abs(weight) / largest
        bar = svg.rect(
            90 if weight > 0 else 90 - wide, 1, wide, 10, "bar spam" if (weight > 0) == for_spam else "bar ham"
        )
        middle = svg.line([(90, 0), (90, 12)], "axis")
        shown = token if len(token) <= 60 else token[:59] + "…"
        rows.append(
            f"<code>{escape(shown)}</code>{svg.picture(180, 12, f'{weight:+.2f} nats', [bar, middle])}"
            f"<span>{weight:+.2f}</span>"
        )
    return "".join(rows)
