"""The figures of an evaluation page as inline SVG: ROC and reliability.

Own code, since a page should have its charts wherever spamnb is. matplotlib's SVG was tried: 100 MB more to install,
0.4 s to import and 0.2 s a chart, and one ROC curve has 104 style attributes, all of which the page's policy refuses.
Colours and fonts are the style sheet's, by class name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape
from typing import NamedTuple

from spamnb.evaluation.figures import Figures
from spamnb.evaluation.intervals import HM_LIMIT, binomial_interval
from spamnb.evaluation.metrics import Bin, roc_counts, roc_curve
from spamnb.evaluation.result import Result
from spamnb.report.evaluation import percent
from spamnb.shown_text import pluralize

WIDTH, HEIGHT = 360, 300  # about what a telephone of 390 px gives: the style sheet's 12 px stay 12 px
LEFT, RIGHT, TOP, BOTTOM = 52, 352, 12, 254
LETTER = 6.4  # width of a letter of a note, on average


class Scale(NamedTuple):
    """Values between ``low`` and ``high`` on positions from ``start`` to ``end``; others sit on the edge.

    They are logits of percentages where ``is_logit``, as the TREC spam track draws its ROC.

    >>> scale = Scale(0.01, 50, 0, 100, is_logit=True)
    >>> scale.at(0.01), scale.at(50), scale.at(0)
    (0.0, 100.0, 0.0)
    """

    low: float
    high: float
    start: float
    end: float
    is_logit: bool = False

    def at(self, value: float) -> float:
        """Position of a value."""
        inside = min(max(value, self.low), self.high)
        low, high, v = (math.log(x / (100 - x)) if self.is_logit else x for x in (self.low, self.high, inside))
        return self.start + (v - low) / (high - low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Values worth a grid line: fifths of a linear scale, else powers of ten and the half."""
        if not self.is_logit:
            return [round(self.low + (self.high - self.low) * fifth / 5, 12) for fifth in range(6)]
        return [*(10.0**e for e in range(math.ceil(math.log10(self.low) - 1e-9), 2)), 50.0]


class Plot:
    """A picture of marks on two scales, with axes; points are given as values."""

    def __init__(self, label: str, x: Scale, y: Scale, x_label: str, y_label: str) -> None:
        self._label, self._x, self._y = label, x, y
        self._marks: list[str] = []
        for tick in x.ticks():
            self._polyline([(x.at(tick), TOP), (x.at(tick), BOTTOM)], "grid")
            self._text(x.at(tick), BOTTOM + 16, f"{tick:g}", "tick", "middle")
        for tick in y.ticks():
            self._polyline([(x.start, y.at(tick)), (x.end, y.at(tick))], "grid")
            self._text(x.start - 7, y.at(tick) + 4, f"{tick:g}", "tick", "end")
        self._polyline([(x.start, TOP), (x.start, BOTTOM), (x.end, BOTTOM)], "axis")
        self._text((x.start + x.end) / 2, BOTTOM + 36, x_label, "label", "middle")
        turned = f' transform="rotate(-90 14 {(TOP + BOTTOM) / 2})"'
        self._text(14, (TOP + BOTTOM) / 2, y_label, "label", "middle", turned)

    def line(self, points: Iterable[tuple[float, float]], css: str) -> None:
        """A line through points; what cannot be seen of it, since several share a position, is not drawn."""
        at = [(round(self._x.at(a), 1), round(self._y.at(b), 1)) for a, b in points]
        self._polyline([p for i, p in enumerate(at) if i == 0 or p != at[i - 1]], css)

    def dot(self, a: float, b: float, radius: float, css: str, title: str) -> None:
        """A disc, with a tooltip."""
        place = f'cx="{self._x.at(a):.1f}" cy="{self._y.at(b):.1f}" r="{radius:.1f}"'
        self._marks.append(f'<circle {place} class="{css}"><title>{escape(title)}</title></circle>')

    def note(self, a: float, b: float, text: str) -> None:
        """Words beside a point, inside of the picture: above it, or below where it lies high."""
        half, y = LETTER * len(text) / 2, self._y.at(b)
        x = min(max(self._x.at(a), LEFT + half), RIGHT - half)
        self._text(x, y - 12 if y > TOP + 30 else y + 20, text, "note", "middle")

    def _polyline(self, points: Iterable[tuple[float, float]], css: str) -> None:
        self._marks.append(f'<polyline points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}" class="{css}"/>')

    def _text(self, x: float, y: float, text: str, css: str, anchor: str, extra: str = "") -> None:
        place = f'x="{x:.1f}" y="{y:.1f}" class="{css}" text-anchor="{anchor}"{extra}'
        self._marks.append(f"<text {place}>{escape(text)}</text>")

    def __str__(self) -> str:
        head = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(self._label)}">'
        return head + "".join(self._marks) + "</svg>"


def roc_chart(result: Result, found: Figures, spam: int) -> str:
    """ROC on logit axes: with two percent and less of error, linear axes show a corner."""
    assert found.spam is not None
    is_spam = result.truth == spam
    hams, spams = int((~is_spam).sum()), int(is_spam.sum())
    x = Scale(_floor(hams), 50, LEFT, RIGHT, is_logit=True)
    y = Scale(_floor(spams), 50, TOP, BOTTOM, is_logit=True)
    plot = Plot("ROC on logit axes", x, y, "good mail called spam, hm% (logit scale)", "spam let through, sm%")
    if not hams or not spams:
        plot.note(5, 5, "needs good mail and spam")
        return str(plot)
    plot.line((100 * roc_curve(roc_counts(is_spam, result.margins[:, spam]))).tolist(), "curve")
    least = found.spam.sm_at_hm.value
    plot.dot(HM_LIMIT, least, 3.5, "point", f"sm {percent(least)} % at hm ≤ {HM_LIMIT:g} %")
    hm, sm = found.spam.hm.value, found.spam.sm.value
    said = f"verdicts: hm {percent(hm)}, sm {percent(sm)}"
    plot.dot(hm, sm, 6, "verdict", said)
    plot.note(hm, sm, said)
    return str(plot)


def _floor(messages: int) -> float:
    """The power of ten, in percent, at or below one error in so many messages."""
    return min(1.0, 10.0 ** math.floor(math.log10(100 / max(messages, 1)) + 1e-9))


def reliability_chart(table: list[Bin], what: str) -> str:
    """Predicted against observed share per bin with 95 % intervals; larger dots are more messages."""
    plot = Plot(
        "Reliability of the probabilities",
        Scale(0, 1, LEFT, RIGHT),
        Scale(0, 1, BOTTOM, TOP),
        what,
        "share that came true",
    )
    plot.line([(0, 0), (1, 1)], "diagonal")
    for row in table:
        if row.messages:
            bounds = binomial_interval(round(row.observed * row.messages), row.messages)[1:]
            plot.line([(row.predicted, bound / 100) for bound in bounds], "whisker")
            title = f"{pluralize(row.messages, 'message')}: said {row.predicted:.3f}, came true {row.observed:.3f}"
            plot.dot(row.predicted, row.observed, 2.5 + math.log10(row.messages), "point", title)
    return str(plot)
