"""Pseudo-counts: what four heads in a row say of a coin, by ML, MAP and posterior mean.

    python scripts/reproduce_coin.py

The formulas of the texts for N_0 = 4 heads, N_1 = 0 tails and a Dirichlet(a_0, a_1) prior, in exact fractions, beside
``class_log_prior``, which estimates class priors by the same three ways; ends 1 where they differ.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from reproduction import reproduce

from spamnb.formulas.priors import class_log_prior

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
            found = ours(kind, a)
            cells.append(f"{exact!s:>6} {float(exact):.4f} {found:.4f}")
            if abs(found - exact) > 1e-12:
                different.append(f"{kind} under {a}")
        print(f"Dirichlet{a!s:7}" + "".join(f"{cell:>20}" for cell in cells))
    return different


if __name__ == "__main__":
    reproduce("ML, MAP and posterior mean after four heads.", compare, "\nAll agree.")
