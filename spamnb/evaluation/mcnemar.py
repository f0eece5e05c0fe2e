"""McNemar's exact test: did two filters differ on the same messages, or was it luck?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class McNemar(NamedTuple):
    """Messages that only one of two runs got right; probability of so uneven a split by chance."""

    only_first_right: int
    only_second_right: int
    p_value: float

    def __str__(self) -> str:
        told = f"{self.only_first_right} right only here, {self.only_second_right} only there"
        return f"{told}, p = {self.p_value:.3g}"


def mcnemar(first_right: ArrayLike, second_right: ArrayLike) -> McNemar:
    """Exact two-sided test: the discordant messages are coin tosses if the two filters are equally good.

    Both arguments are boolean vectors over the same messages in the same order. p = 1 without a discordant
    message.

    >>> mcnemar([True, True, True, True, True, True], [False, False, False, False, False, True])
    McNemar(only_first_right=5, only_second_right=0, p_value=0.0625)
    """
    first, second = np.asarray(first_right, dtype=bool), np.asarray(second_right, dtype=bool)
    if first.shape != second.shape:
        raise ValueError(f"{first.shape} against {second.shape} verdicts: they must be of the same messages")
    a, b = int((first & ~second).sum()), int((second & ~first).sum())
    if a + b == 0:
        return McNemar(a, b, 1.0)
    from scipy.stats import binom

    return McNemar(a, b, min(1.0, float(2 * binom.cdf(min(a, b), a + b, 0.5))))
