"""Figures as a person reads them."""

from __future__ import annotations

import math

from spamnb.evaluation.intervals import Estimate

NONE = "–"


def percent(value: float) -> str:
    """A percentage to the digits that tell filters apart: three that count below 10, two decimals above, and more
    where what is not 100 would look like it.

    >>> percent(0.03854), percent(3.661), percent(99.971), percent(99.9964), percent(0.0), percent(float("nan"))
    ('0.0385', '3.66', '99.97', '99.996', '0', '–')
    """
    if math.isnan(value):
        return NONE
    if value == 0:
        return "0"
    if round(value, 2) == 100 > value:
        return f"{value:.{-math.floor(math.log10(100 - value))}f}"
    return f"{value:.2f}" if value >= 10 else f"{value:#.3g}" if value >= 0.001 else f"{value:.1e}"


def interval(estimate: Estimate) -> str:
    """The 95 % interval, or nothing where there is none.

    >>> interval(Estimate(0.0385, 0.0212, 0.0699))
    '0.0212 – 0.0699'
    """
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return ""
    return f"{percent(estimate.low)} – {percent(estimate.high)}"
