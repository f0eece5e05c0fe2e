"""Pseudo-counts: what four heads in a row say of a coin, by ML, MAP and posterior mean.

    python scripts/reproduce_coin.py [--figures DIR]

The formulas of the texts for N_0 = 4 heads, N_1 = 0 tails and a Dirichlet(a_0, a_1) prior, in exact fractions, beside
``class_log_prior``, which estimates class priors by the same three ways; ends 1 where they differ. ``--figures`` draws
the posteriors and how the estimates of tails fade as heads go on (needs matplotlib).
"""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

from spamnb.formulas.priors import class_log_prior

HEADS, TAILS = 4, 0
PRIORS = ((1, 1), (2, 2), (5, 5), (1, 3))
BLUE, RUST, GREY = "#1f6f8b", "#b5532d", "#9aa5ab"


def by_formula(a: tuple[int, int]) -> dict[str, Fraction]:
    """Probability of tails: N_1/N, (N_1+a_1−1)/(N−2+Σa), (N_1+a_1)/(N+Σa)."""
    n, total = HEADS + TAILS, sum(a)
    return {
        "mle": Fraction(TAILS, n),
        "map": Fraction(TAILS + a[1] - 1, n - 2 + total),
        "dirichlet": Fraction(TAILS + a[1], n + total),
    }


def ours(kind: str, a: tuple[int, int], heads: int = HEADS) -> float:
    return float(np.exp(class_log_prior([heads, TAILS], kind, a))[1])


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


def draw(path: Path) -> None:
    """Left: posterior densities with their mode and mean. Right: estimates against the number of heads in a row."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from scipy.stats import beta

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    x = np.linspace(0, 1, 501)
    heads = np.arange(1, 41)
    for a, colour in zip(PRIORS[:3], (GREY, BLUE, RUST)):
        posterior = beta(a[1] + TAILS, a[0] + HEADS)
        left.plot(x, posterior.pdf(x), color=colour, label=f"Dirichlet({a[0]}, {a[1]})")
        mode, mean = ours("map", a), ours("dirichlet", a)
        left.plot(mode, posterior.pdf(mode), "^", color=colour, clip_on=False)
        left.plot(mean, posterior.pdf(mean), "o", color=colour)
        right.plot(heads, [ours("dirichlet", a, n) for n in heads], color=colour)
        right.plot(heads, [ours("map", a, n) for n in heads], color=colour, linestyle="--")
    left.plot([], [], "^", color="black", label="MAP")
    left.plot([], [], "o", color="black", label="posterior mean")
    left.axvline(0, color="black", linewidth=3, alpha=0.5, label="ML: 0")
    left.set(xlabel="probability of tails", ylabel="posterior density", ylim=(0, None), title="after 0000")
    left.legend(frameon=False, fontsize=9)
    right.plot([], [], color="black", label="posterior mean")
    right.plot([], [], color="black", linestyle="--", label="MAP")
    right.axhline(0, color="black", linewidth=3, alpha=0.5, label="ML")
    right.axvline(HEADS, color="black", linewidth=0.6, linestyle=":")
    right.annotate("0000", (HEADS, 0.5), xytext=(3, 0), textcoords="offset points", fontsize=9)
    right.set(xlabel="heads in a row", ylabel="estimate for tails", ylim=(-0.01, 0.55), title="the prior fades, slowly")
    right.legend(frameon=False, fontsize=9)
    for axis in (left, right):
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description="ML, MAP and posterior mean after four heads.")
    parser.add_argument("--figures", type=Path, help="folder for coin.png")
    options = parser.parse_args()
    different = compare()
    if options.figures:
        options.figures.mkdir(parents=True, exist_ok=True)
        draw(options.figures / "coin.png")
    if different:
        sys.exit(f"not as by the formulas: {', '.join(different)}")
    print("\nAll agree.")


if __name__ == "__main__":
    main()
