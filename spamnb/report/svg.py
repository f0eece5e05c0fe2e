"""Inline SVG: scales, axes and marks, as strings. Colours and fonts are the style sheet's, by class name.

Own code, since a page should have its charts wherever spamnb is. matplotlib's SVG was tried: 100 MB more to install,
0.4 s to import and 0.2 s a chart, and one ROC curve has 104 style attributes, all of which the page's policy refuses.
pygal (1.3 MB, 0.1 s) has no logit axis, and a script and a style sheet in each chart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple


class Scale(NamedTuple):
    """Values between ``low`` and ``high`` on positions from ``start`` to ``end``; others sit on the edge.

    ``kind`` is linear, log or logit (of percentages, as the TREC spam track draws its ROC).

    >>> scale = Scale(0.01, 50, 0, 100, "logit")
    >>> scale.at(0.01), scale.at(50), scale.at(0)
    (0.0, 100.0, 0.0)
    """

    low: float
    high: float
    start: float
    end: float
    kind: str = "linear"

    def at(self, value: float) -> float:
        """Position of a value."""
        low, high, v = (_straight(x, self.kind) for x in (self.low, self.high, self._inside(value)))
        return self.start + (v - low) / (high - low) * (self.end - self.start)

    def _inside(self, value: float) -> float:
        return min(max(value, self.low), self.high)

    def ticks(self) -> list[float]:
        """Values worth a grid line: powers of ten, or about five steps of 1, 2 or 5."""
        if self.kind == "linear":
            rough = (self.high - self.low) / 5
            power = 10 ** math.floor(math.log10(rough))
            step = power * next(s for s in (1, 2, 5, 10) if s * power >= rough * 0.99)
            first = math.ceil(self.low / step - 1e-9)
            return [round(i * step, 12) for i in range(first, math.floor(self.high / step + 1e-9) + 1)]
        powers = [10.0**e for e in range(math.ceil(math.log10(self.low) - 1e-9), 9)]
        if self.kind == "logit":
            powers = [p for p in powers if p <= 10] + [50.0, 90.0]
        return [p for p in powers if p <= self.high * (1 + 1e-9)]


def _straight(value: float, kind: str) -> float:
    if kind == "log":
        return math.log(value)
    if kind == "logit":
        return math.log(value / (100 - value))
    return value


def number(value: float) -> str:
    """A tick's label.

    >>> number(0.01), number(5000), number(-0.5), number(1000000.0)
    ('0.01', '5000', '-0.5', '1000000')
    """
    return f"{value:.10g}"


def text(x: float, y: float, content: str, css: str = "", anchor: str = "start", turn: int = 0) -> str:
    """Escaped text; ``turn`` rotates it, in degrees."""
    rotate = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{css}" text-anchor="{anchor}"{rotate}>{escape(content)}</text>'


def line(points: Iterable[tuple[float, float]], css: str, title: str = "") -> str:
    """A polyline, with a tooltip."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" class="{css}">{_title(title)}</polyline>'


def rect(x: float, y: float, width: float, height: float, css: str, title: str = "", extra: str = "") -> str:
    """A rectangle, with a tooltip."""
    box = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}"'
    return f'<rect {box} class="{css}"{extra}>{_title(title)}</rect>'


def dot(x: float, y: float, radius: float, css: str, title: str = "") -> str:
    """A disc, with a tooltip."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" class="{css}">{_title(title)}</circle>'


def _title(content: str) -> str:
    return f"<title>{escape(content)}</title>" if content else ""


def picture(width: float, height: float, label: str, marks: Sequence[str]) -> str:
    """A whole picture that scales with its column; ``label`` is what a screen reader says."""
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{escape(label)}">'
        + "".join(marks)
        + "</svg>"
    )


def axes(x: Scale, y: Scale, x_label: str, y_label: str) -> list[str]:
    """Grid lines, tick labels and axis titles of a plot whose edges the two scales give."""
    marks = []
    bottom, top = max(y.start, y.end), min(y.start, y.end)
    left, right = min(x.start, x.end), max(x.start, x.end)
    for tick in x.ticks():
        at = x.at(tick)
        marks.append(line([(at, top), (at, bottom)], "grid"))
        marks.append(text(at, bottom + 16, number(tick), "tick", "middle"))
    for tick in y.ticks():
        at = y.at(tick)
        marks.append(line([(left, at), (right, at)], "grid"))
        marks.append(text(left - 7, at + 4, number(tick), "tick", "end"))
    marks.append(line([(left, top), (left, bottom), (right, bottom)], "axis"))
    marks.append(text((left + right) / 2, bottom + 36, x_label, "label", "middle"))
    marks.append(text(14, (top + bottom) / 2, y_label, "label", "middle", turn=-90))
    return marks
