"""The charts of an evaluation page as inline SVG: ROC and reliability.

The charts are drawn without matplotlib, which takes 100 MB of disk space, 0.4 s to import and 0.2 s per chart. The SVG
of matplotlib also has style attributes, which the content security policy of the page forbids.
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
from spamnb.report.evaluation import format_percent
from spamnb.shown_text import pluralize

WIDTH, HEIGHT = 360, 300  # px; the screen of a phone is 390 px wide, so a chart fits
LEFT, RIGHT, TOP, BOTTOM = 52, 352, 12, 254  # px, the edges of the plot
LETTER_WIDTH = 6.4  # px, the mean width of a letter of a note
LINE_HEIGHT = 15  # px, of a note
NOTE_GAP = 9  # px between a note and the centre of its point, whose radius is at most 6 px


class Scale(NamedTuple):
    """A scale of values from ``low`` to ``high`` at positions from ``start`` to ``end``. Other values are clipped.

    With ``is_logit`` the values are percentages on a logit scale, as in the ROC curves of the TREC spam track.

    >>> scale = Scale(0.01, 50, 0, 100, is_logit=True)
    >>> scale.position(0.01), scale.position(50), scale.position(0)
    (0.0, 100.0, 0.0)
    """

    low: float
    high: float
    start: float
    end: float
    is_logit: bool = False

    def position(self, value: float) -> float:
        """Return the position of a value."""
        clipped = min(max(value, self.low), self.high)
        low, high, v = (math.log(x / (100 - x)) if self.is_logit else x for x in (self.low, self.high, clipped))
        return self.start + (v - low) / (high - low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return the values of grid lines: fifths of a linear scale; powers of ten and 50 of a logit scale."""
        if not self.is_logit:
            return [round(self.low + (self.high - self.low) * fifth / 5, 12) for fifth in range(6)]
        return [*(10.0**e for e in range(math.ceil(math.log10(self.low) - 1e-9), 2)), 50.0]


class Plot:
    """A chart with two axes. The methods take values on the axes, not positions in px."""

    def __init__(self, label: str, x: Scale, y: Scale, x_label: str, y_label: str) -> None:
        self._label, self._x, self._y = label, x, y
        self._marks: list[str] = []
        for tick in x.ticks():
            self._polyline([(x.position(tick), TOP), (x.position(tick), BOTTOM)], "grid")
            self._text(x.position(tick), BOTTOM + 16, f"{tick:g}", "tick", "middle")
        for tick in y.ticks():
            self._polyline([(x.start, y.position(tick)), (x.end, y.position(tick))], "grid")
            self._text(x.start - 7, y.position(tick) + 4, f"{tick:g}", "tick", "end")
        self._polyline([(x.start, TOP), (x.start, BOTTOM), (x.end, BOTTOM)], "axis")
        self._text((x.start + x.end) / 2, BOTTOM + 36, x_label, "label", "middle")
        rotation = f' transform="rotate(-90 14 {(TOP + BOTTOM) / 2})"'
        self._text(14, (TOP + BOTTOM) / 2, y_label, "label", "middle", rotation)

    def line(self, points: Iterable[tuple[float, float]], css_class: str) -> None:
        """Draw a line through points. A point at the same position as the previous one is left out."""
        positions = [(round(self._x.position(a), 1), round(self._y.position(b), 1)) for a, b in points]
        self._polyline([p for i, p in enumerate(positions) if i == 0 or p != positions[i - 1]], css_class)

    def dot(self, a: float, b: float, radius: float, css_class: str, title: str) -> None:
        """Draw a disc with a tooltip."""
        attributes = f'cx="{self._x.position(a):.1f}" cy="{self._y.position(b):.1f}" r="{radius:.1f}"'
        self._marks.append(f'<circle {attributes} class="{css_class}"><title>{escape(title)}</title></circle>')

    def note(self, a: float, b: float, *lines: str) -> None:
        """Write lines of text on the lower right of a point, or on its upper left if there is no room.

        A rising curve through the point does not cross the text there. If both corners have no room, the text is moved
        up or down.
        """
        x, y, width = self._x.position(a), self._y.position(b), LETTER_WIDTH * max(map(len, lines))
        height = LINE_HEIGHT * len(lines)
        fits_above = x - NOTE_GAP - width >= LEFT and y - NOTE_GAP - height >= TOP
        is_right = x + NOTE_GAP + width <= RIGHT and (y + NOTE_GAP + height <= BOTTOM or not fits_above)
        top = min(y + NOTE_GAP, BOTTOM - height) if is_right else max(y - NOTE_GAP - height, TOP)
        for number, line in enumerate(lines, 1):
            anchor = "start" if is_right else "end"
            text_x = x + NOTE_GAP if is_right else x - NOTE_GAP
            self._text(text_x, top + number * LINE_HEIGHT - 3, line, "note", anchor)

    def _polyline(self, points: Iterable[tuple[float, float]], css_class: str) -> None:
        self._marks.append(
            f'<polyline points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}" class="{css_class}"/>'
        )

    def _text(self, x: float, y: float, text: str, css_class: str, anchor: str, extra: str = "") -> None:
        attributes = f'x="{x:.1f}" y="{y:.1f}" class="{css_class}" text-anchor="{anchor}"{extra}'
        self._marks.append(f"<text {attributes}>{escape(text)}</text>")

    def __str__(self) -> str:
        head = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(self._label)}">'
        return head + "".join(self._marks) + "</svg>"


def roc_chart(result: Result, figures: Figures, spam: int) -> str:
    """Return the ROC curve on logit axes, because errors below 2 % are only a corner of linear axes."""
    assert figures.spam is not None
    is_spam = result.truth == spam
    n_ham, n_spam = int((~is_spam).sum()), int(is_spam.sum())
    x = Scale(_least_tick(n_ham), 50, LEFT, RIGHT, is_logit=True)
    y = Scale(_least_tick(n_spam), 50, TOP, BOTTOM, is_logit=True)
    plot = Plot("ROC on logit axes", x, y, "good mail called spam, hm% (logit scale)", "spam let through, sm%")
    if not n_ham or not n_spam:
        plot.note(5, 5, "needs good mail and spam")
        return str(plot)
    plot.line((100 * roc_curve(roc_counts(is_spam, result.margins[:, spam]))).tolist(), "curve")
    sm_at_hm = figures.spam.sm_at_hm.value
    plot.dot(HM_LIMIT, sm_at_hm, 3.5, "point", f"sm {format_percent(sm_at_hm)} % at hm ≤ {HM_LIMIT:g} %")
    hm, sm = figures.spam.hm.value, figures.spam.sm.value
    figures_of_verdicts = f"hm {format_percent(hm)} %", f"sm {format_percent(sm)} %"
    plot.dot(hm, sm, 6, "verdict", f"verdicts: {', '.join(figures_of_verdicts)}")
    plot.note(hm, sm, *figures_of_verdicts)
    return str(plot)


def _least_tick(messages: int) -> float:
    """Return the largest power of ten, in percent, that is at most the share of one message."""
    return min(1.0, 10.0 ** math.floor(math.log10(100 / max(messages, 1)) + 1e-9))


def reliability_chart(table: list[Bin], x_label: str) -> str:
    """Return a chart of the observed share of each bin, with its 95 % interval, against the predicted share.

    The dots of bins with more messages are larger.
    """
    plot = Plot(
        "Reliability of the probabilities",
        Scale(0, 1, LEFT, RIGHT),
        Scale(0, 1, BOTTOM, TOP),
        x_label,
        "observed share",
    )
    plot.line([(0, 0), (1, 1)], "diagonal")
    for row in table:
        if row.messages:
            bounds = binomial_interval(round(row.observed * row.messages), row.messages)[1:]
            plot.line([(row.predicted, bound / 100) for bound in bounds], "whisker")
            title = f"{pluralize(row.messages, 'message')}: predicted {row.predicted:.3f}, observed {row.observed:.3f}"
            plot.dot(row.predicted, row.observed, 2.5 + math.log10(row.messages), "point", title)
    return str(plot)
