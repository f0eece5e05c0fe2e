"""Pseudo-counts: what four heads in a row say of a coin, by ML, MAP and posterior mean.

    python scripts/reproduce_coin.py [--figures DIR]

The formulas of the texts for N_0 = 4 heads, N_1 = 0 tails and a Dirichlet(a_0, a_1) prior, in exact fractions, beside
``class_log_prior``, which estimates class priors by the same three ways; ends 1 where they differ. ``--figures``
draws the posteriors.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from reproduction import BLUE, GOLD, GREEN, RUST, reproduce

from spamnb.model.priors import class_log_prior

HEADS, TAILS = 4, 0
PRIORS = ((1, 1), (2, 2), (5, 5), (1, 3))


def by_formula(a: tuple[int, int]) -> dict[str, Fraction]:
    """Probability of tails: N_1/N, (N_1+a_1−1)/(N−2+Σa), (N_1+a_1)/(N+Σa)."""
    n, total = HEADS + TAILS, sum(a)
    return {
        "mle": Fraction(TAILS, n),
        "map": Fraction(TAILS + a[1] - 1, n - 2 + total),
        "dirichlet": Fraction(TAILS + a[1], n + total),
    }


def ours(kind: str, a: tuple[int, int]) -> float:
    return float(np.exp(class_log_prior([HEADS, TAILS], kind, a))[1])


def compare() -> list[str]:
    """Print both; what differs."""
    different = []
    print("tosses 0000; probability of tails, by formula and by class_log_prior")
    print(f"{'prior':16}{'ML':>20}{'MAP':>20}{'posterior mean':>20}")
    for a in PRIORS:
        cells = []
        for kind, exact in by_formula(a).items():
            estimate = ours(kind, a)
            cells.append(f"{exact!s:>6} {float(exact):.4f} {estimate:.4f}")
            if abs(estimate - exact) > 1e-12:
                different.append(f"{kind} under {a}")
        print(f"Dirichlet{a!s:7}" + "".join(f"{cell:>20}" for cell in cells))
    return different


def draw_posteriors() -> Any:
    """Return the density of P(tails) before and after the tosses, for each prior, and its three estimates."""
    import matplotlib.pyplot as plt
    from scipy.stats import beta

    figure, axes = plt.subplots(1, len(PRIORS), figsize=(11, 2.9), sharey=True, layout="constrained")
    x = np.linspace(0, 1, 401)
    for axis, (heads, tails) in zip(axes, PRIORS):
        axis.plot(x, beta.pdf(x, tails, heads), ":", color="grey", label="prior")
        axis.plot(x, beta.pdf(x, tails + TAILS, heads + HEADS), color=BLUE, label="posterior")
        # Lines of different heights, because two estimates may be the same.
        for number, ((kind, exact), colour) in enumerate(zip(by_formula((heads, tails)).items(), (RUST, GOLD, GREEN))):
            height = 4.5 - 1.2 * number
            axis.vlines(float(exact), 0, height, color=colour, linewidth=1.6, label=kind)
            axis.plot(float(exact), height, "o", color=colour, clip_on=False)
        axis.set(title=f"Beta({tails}, {heads})", xlabel="P(tails)", ylim=(0, 6), xlim=(-0.03, 1))
    axes[0].set_ylabel("density after 0000")
    axes[0].legend(loc="upper right")
    return figure


if __name__ == "__main__":
    about = "ML, MAP and posterior mean after four heads."
    reproduce(about, compare, "\nAll agree.", {"coin_posteriors.png": draw_posteriors})
