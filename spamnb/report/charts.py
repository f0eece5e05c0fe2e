"""The figures of an evaluation page: ROC, score histograms, reliability, learning curve."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from spamnb.evaluation import roc
from spamnb.evaluation.figures import Figures, Point
from spamnb.evaluation.probability import Bin
from spamnb.evaluation.result import Result
from spamnb.report import svg
from spamnb.report.numbers import count, percent

WIDTH, HEIGHT = 360, 300  # about what a telephone of 390 px gives: the style sheet's 12 px stay 12 px
LEFT, RIGHT, TOP, BOTTOM = 52, 352, 12, 254
LETTER = 6.4  # width of a letter of a note, on average
NAMED_CLASSES = 3  # of many classes this many, the worst, are drawn in colour: more could not be told apart


def roc_chart(result: Result, found: Figures) -> str:
    """ROC on logit axes: with two percent and less of error, linear axes show a corner.

    Spam against the rest where there is spam; otherwise every class against the rest, the worst ones in
    colour.
    """
    if result.spam_index is not None:
        return _spam_roc(result, found, result.spam_index)
    worst = sorted(found.by_class, key=lambda c: -c.one_minus_roca if c.messages else 1)[:NAMED_CLASSES]
    smallest = min((c.messages for c in found.by_class if c.messages), default=1)
    x = svg.Scale(_floor(len(result)), 90, LEFT, RIGHT, "logit")
    y = svg.Scale(_floor(smallest), 90, TOP, BOTTOM, "logit")
    marks = svg.axes(x, y, "others taken for it, % (logit scale)", "missed, %")
    drawn = []
    for c, row in enumerate(found.by_class):
        if not 0 < row.messages < len(result):
            continue
        path = _corners(roc.curve(roc.roc_counts(result.truth == c, result.margin(c))), x, y)
        title = f"{row.name}: 1-ROCA {percent(row.one_minus_roca)} %"
        rank = worst.index(row) if row in worst else None
        css = "curve faint" if rank is None else f"curve s{rank}"
        drawn.append((rank is not None, svg.line(path, css, title)))
    marks += [mark for _, mark in sorted(drawn)]
    for rank, row in enumerate(worst):
        at = BOTTOM - 12 - 18 * (len(worst) - 1 - rank)
        marks.append(svg.line([(RIGHT - 30, at - 4), (RIGHT - 8, at - 4)], f"curve s{rank}"))
        said = f"{short(row.name)} {percent(row.one_minus_roca)} %"
        marks.append(svg.text(RIGHT - 36, at, said, "note", "end"))
    return svg.picture(WIDTH, HEIGHT, "ROC of each class against the others", marks)


def _spam_roc(result: Result, found: Figures, spam: int) -> str:
    is_spam = result.truth == spam
    hams, spams = int((~is_spam).sum()), int(is_spam.sum())
    x = svg.Scale(_floor(hams), 50, LEFT, RIGHT, "logit")
    y = svg.Scale(_floor(spams), 50, TOP, BOTTOM, "logit")
    marks = svg.axes(x, y, "good mail called spam, hm% (logit scale)", "spam let through, sm%")
    marks.append(svg.line(_corners(roc.curve(roc.roc_counts(is_spam, result.margin(spam))), x, y), "curve s0"))
    assert found.spam is not None
    if not hams or not spams:
        note = svg.text((LEFT + RIGHT) / 2, (TOP + BOTTOM) / 2, "needs good mail and spam", "note", "middle")
        return svg.picture(WIDTH, HEIGHT, "No ROC: only one kind of message", [*marks, note])
    for level, estimate in found.spam.sm_at_hm.items():
        if math.isnan(estimate.value) or level < x.low:
            continue
        title = f"sm {percent(estimate.value)} % at hm ≤ {level:g} %"
        marks.append(svg.dot(x.at(level), y.at(estimate.value), 3.5, "point", title))
    at_x, at_y = x.at(found.spam.hm.value), y.at(found.spam.sm.value)
    said = f"verdicts: hm {percent(found.spam.hm.value)}, sm {percent(found.spam.sm.value)}"
    marks.append(svg.dot(at_x, at_y, 6, "verdict", said))
    half = LETTER * len(said) / 2
    inside = min(max(at_x, LEFT + half), RIGHT - half)
    marks.append(svg.text(inside, at_y + (20 if at_y < BOTTOM - 30 else -12), said, "note", "middle"))
    return svg.picture(WIDTH, HEIGHT, "ROC on logit axes", marks)


def _floor(messages: int) -> float:
    """The power of ten, in percent, at or below one error in so many messages."""
    return min(1.0, 10.0 ** math.floor(math.log10(100 / max(messages, 1)) + 1e-9))


def _corners(curve: roc.Curve, x: svg.Scale, y: svg.Scale) -> list[tuple[float, float]]:
    """Positions along the curve, without the many points that share one: what cannot be seen is not sent."""
    points = [(round(x.at(100 * float(h)), 1), round(y.at(100 * float(s)), 1)) for h, s in zip(*curve)]
    return [p for i, p in enumerate(points) if i == 0 or p != points[i - 1]]


def histogram_chart(result: Result) -> str:
    """Messages by score: good mail below, spam above, counts on a log scale so that the few errors show.

    Without spam: the lead of the true class over the best of the others, right verdicts above and wrong ones below.
    """
    spam = result.spam_index
    if spam is not None:
        values, upper = result.margin(spam), result.truth == spam
        names, label = ("spam", "good mail"), "score: log-odds of spam, nats"
        css = ("spam", "ham")
    else:
        values = _lead(result)
        upper = result.right
        names, label = ("right", "wrong or unsure"), "lead of the true class over the next, nats"
        css = ("ham", "spam")
    low, high = _range(values)
    edges = np.linspace(low, high, 61)
    kept = np.clip(values, low, high)
    up, down = np.histogram(kept[upper], edges)[0], np.histogram(kept[~upper], edges)[0]
    x = svg.Scale(low, high, LEFT, RIGHT)
    middle = (TOP + BOTTOM) / 2
    top = max(float(up.max(initial=1)), float(down.max(initial=1)), 10.0)
    decades = math.log10(top) + 0.3
    unit = (BOTTOM - TOP) / 2 / decades  # a bar of one message is .3 of a decade high, so that it is seen

    def height(n: float) -> float:
        return unit * (math.log10(n) + 0.3) if n >= 1 else 0.0

    marks = []
    for tick in x.ticks():
        marks.append(svg.line([(x.at(tick), TOP), (x.at(tick), BOTTOM)], "grid"))
        marks.append(svg.text(x.at(tick), BOTTOM + 16, svg.number(tick), "tick", "middle"))
    for power in range(math.floor(math.log10(top)) + 1):
        for sign in (-1, 1):
            at = middle + sign * height(10.0**power)
            marks.append(svg.line([(LEFT, at), (RIGHT, at)], "grid"))
            marks.append(svg.text(LEFT - 7, at + 4, svg.number(10.0**power), "tick", "end"))
    for i, (n, m) in enumerate(zip(up.tolist(), down.tolist())):
        left, wide = x.at(edges[i]), x.at(edges[i + 1]) - x.at(edges[i]) - 0.8
        between = f"{edges[i]:.3g} to {edges[i + 1]:.3g}"
        if n:
            title = f"{count(n)} {names[0]}, {between}"
            marks.append(svg.rect(left, middle - height(n), wide, height(n), f"bar {css[0]}", title))
        if m:
            title = f"{count(m)} {names[1]}, {between}"
            marks.append(svg.rect(left, middle, wide, height(m), f"bar {css[1]}", title))
    marks.append(svg.line([(LEFT, middle), (RIGHT, middle)], "axis"))
    marks.append(svg.text(LEFT + 8, TOP + 14, names[0], f"note name-{css[0]}"))
    marks.append(svg.text(RIGHT - 8, BOTTOM - 8, names[1], f"note name-{css[1]}", "end"))
    marks.append(svg.text((LEFT + RIGHT) / 2, BOTTOM + 36, label, "label", "middle"))
    marks.append(svg.text(14, middle, "messages (log scale)", "label", "middle", turn=-90))
    return svg.picture(WIDTH, HEIGHT, "Messages by score", marks)


def _lead(result: Result) -> NDArray[np.float64]:
    """Score of the true class less the highest of the others', (n,): below 0 another class was preferred."""
    if len(result.classes) < 2:
        return np.zeros(len(result))
    rows = np.arange(len(result))
    rest = result.scores.copy()
    rest[rows, result.truth] = -np.inf
    own, best = result.scores[rows, result.truth], rest.max(axis=1, initial=-np.inf)
    return np.subtract(own, best, where=own != best, out=np.zeros(len(result)))  # both may be −∞


def _range(values: NDArray[np.float64]) -> tuple[float, float]:
    """All but the outermost hundredth of the scores; the end bins hold those."""
    finite = np.clip(values[np.isfinite(values)], -1e9, 1e9)  # beyond that axes run out of digits
    low, high = np.quantile(finite, [0.005, 0.995]).tolist() if len(finite) else (0.0, 0.0)
    return (low, high) if high - low > 1e-6 else (low - 1.0, low + 1.0)


def reliability_chart(table: list[Bin], what: str) -> str:
    """Predicted against observed share per bin with 95 % intervals (Wilson 1927)."""
    x, y = svg.Scale(0, 1, LEFT, RIGHT), svg.Scale(0, 1, BOTTOM - 62, TOP)
    marks = svg.axes(x, y, "", "share that came true")[:-2]
    marks.append(svg.line([(x.at(0), y.at(0)), (x.at(1), y.at(1))], "diagonal"))
    most = max((row.messages for row in table), default=1) or 1
    floor = BOTTOM + 20
    for row in table:
        if not row.messages:
            continue
        low, high = _wilson(row.observed, row.messages)
        title = f"{count(row.messages, 'message')}: said {row.predicted:.3f}, came true {row.observed:.3f}"
        at = x.at(row.predicted)
        marks.append(svg.line([(at, y.at(low)), (at, y.at(high))], "whisker"))
        marks.append(svg.dot(at, y.at(row.observed), 4.5, "point", title))
        tall = 42 * (0.3 + math.log10(row.messages)) / (0.3 + math.log10(most))
        wide = x.at(row.high) - x.at(row.low) - 1
        marks.append(svg.rect(x.at(row.low) + 0.5, floor - tall, wide, tall, "bar muted", title))
    marks.append(svg.line([(LEFT, floor), (RIGHT, floor)], "axis"))
    marks.append(svg.text(LEFT, floor - 48, "messages, log scale", "tick"))
    marks.append(svg.text((LEFT + RIGHT) / 2, BOTTOM + 40, what, "label", "middle"))
    marks.append(svg.text(14, (TOP + BOTTOM - 62) / 2, "share that came true", "label", "middle", turn=-90))
    return svg.picture(WIDTH, HEIGHT, "Reliability of the probabilities", marks)


def _wilson(share: float, n: int) -> tuple[float, float]:
    z2 = 1.96**2
    centre, spread = share + z2 / (2 * n), 1.96 * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return (centre - spread) / (1 + z2 / n), (centre + spread) / (1 + z2 / n)


def learning_chart(curve: list[Point]) -> str:
    """Cumulative error against messages seen, both on log scales; a figure of 0 lies on the bottom edge."""
    lines = {
        name: [(p.messages, getattr(p, attribute)) for p in curve if not math.isnan(getattr(p, attribute))]
        for name, attribute in (("sm%", "sm"), ("hm%", "hm"), ("1-ROCA%", "one_minus_roca"))
    }
    if not any(lines.values()):
        lines = {"error %": [(p.messages, p.error) for p in curve]}
    values = [v for points in lines.values() for _, v in points if v > 0]
    low = 10.0 ** math.floor(math.log10(min(values, default=0.1)) + 1e-9)
    high = min(100.0, 10.0 ** math.ceil(math.log10(max(values, default=10)) - 1e-9))
    x = svg.Scale(curve[0].messages, max(curve[-1].messages, curve[0].messages + 1), LEFT, RIGHT - 54, "log")
    y = svg.Scale(low, max(high, low * 10), BOTTOM, TOP, "log")
    marks = svg.axes(x, y, "messages seen (log scale)", "cumulative, %")
    ends: list[float] = []
    css = {"sm%": "spam", "hm%": "ham", "1-ROCA%": "area", "error %": "ham"}
    for name, points in lines.items():
        if not points:
            continue
        marks.append(svg.line([(x.at(n), y.at(v)) for n, v in points], f"curve line-{css[name]}"))
        for n, v in points:
            title = f"{name} {percent(v)} after {count(n)}"
            marks.append(svg.dot(x.at(n), y.at(v), 2.2, f"bar {css[name]}", title))
        at = y.at(points[-1][1])
        while any(abs(at - other) < 13 for other in ends):  # labels beside each other are not read
            at -= 13
        ends.append(at)
        marks.append(svg.text(RIGHT - 49, at + 4, name, f"note name-{css[name]}"))
    return svg.picture(WIDTH, HEIGHT, "Learning curve", marks)


def short(name: str) -> str:
    """A class's name, cut in its middle where it is longer than a picture has room for."""
    return name if len(name) <= 26 else name[:12] + "…" + name[-13:]
