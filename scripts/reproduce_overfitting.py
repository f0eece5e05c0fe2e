"""Overfitting: logistic regression on data that a line separates, without and with a penalty.

    python scripts/reproduce_overfitting.py [--figures DIR]

The lecture's example has w₀ = −1, w₁ = 1, so the boundary −w₀/w₁ stands at x = 1. Both weights times s leave it
there, harden the posterior into a step and bring the error E(w) = −Σ ln P(t_n|x_n) ever nearer 0: the likelihood has
no maximum. With |w|²/(2C) added it has one for every C. Ends 1 where a fitted slope is not the root of the derivative,
found by bisection. ``--figures`` draws both (needs matplotlib).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from spamnb import LogisticRegression

# Three points a side at equal distances, so that the penalised boundary stays at 1 too and one number is left: the
# slope.
X = np.array([-1.0, 0.0, 0.5, 1.5, 2.0, 3.0])[:, None]
T = np.array([0, 0, 0, 1, 1, 1])
SCALES = (1, 2, 5, 20, 100)
PENALTIES = (0.1, 1.0, 1e2, 1e4, 1e6)
BLUE, RUST, GREY = "#1f6f8b", "#b5532d", "#9aa5ab"


def error(slope: float) -> float:
    """E(w) for w₁ = slope, w₀ = −slope, in nats."""
    signed = np.where(T == 1, 1, -1) * slope * (X[:, 0] - 1)
    return float(np.logaddexp(0, -signed).sum())


def best_slope(C: float) -> float:
    """The slope where the derivative of E(w) + w₁²/(2C) is zero."""
    signed = np.where(T == 1, 1, -1) * (X[:, 0] - 1)
    return float(brentq(lambda s: s / C - signed @ expit(-s * signed), 0, 1e3, xtol=1e-12))


def compare() -> list[str]:
    wrong = []
    print("without a penalty: (w₀, w₁) = s (−1, 1), the boundary at 1\n  s      E(w)     P(1 | x = 1.1)")
    for s in SCALES:
        print(f"  {s:<5}{error(s):10.6f}{1 / (1 + np.exp(-0.1 * s)):12.4f}")
    print("\nwith a penalty: LogisticRegression(C)\n  C          w₁   by bisection    boundary      E(w)")
    for C in PENALTIES:
        model = LogisticRegression(C, tol=1e-10).fit(X, T)
        slope, expected = model.coef_[0, 0], best_slope(C)
        print(
            f"  {C:<8g}{slope:8.4f}{expected:12.4f}{-model.intercept_[0] / slope:15.4f}{error(slope):12.6f}"
        )
        if abs(slope - expected) > 1e-3 * expected:
            wrong.append(f"C = {C:g}: slope {slope:.4f}, by bisection {expected:.4f}")
    return wrong


def draw(path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    x = np.linspace(-1.5, 3.5, 501)
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    shades = plt.get_cmap("YlGnBu")(np.linspace(0.35, 0.95, 5))
    for axis in axes[:2]:
        for c, colour in ((0, BLUE), (1, RUST)):
            axis.plot(X[c == T], T[c == T], "o", color=colour, markersize=7, zorder=3, clip_on=False)
        axis.axvline(1, color=GREY, linewidth=0.8, linestyle=":")
        axis.set(xlabel="x", ylim=(-0.04, 1.04), xlim=(-1.5, 3.5))
    for s, shade in zip(SCALES, shades):
        axes[0].plot(x, 1 / (1 + np.exp(-s * (x - 1))), color=shade, label=f"s = {s}, E = {error(s):.2g}")
    axes[0].set(title="no penalty: (w₀, w₁) = s (−1, 1)", ylabel="P(1 | x)")
    for C, shade in zip(PENALTIES, shades):
        fitted = LogisticRegression(C, tol=1e-10).fit(X, T).predict_proba(x[:, None])[:, 1]
        axes[1].plot(x, fitted, color=shade, label=f"C = {C:g}, w₁ = {best_slope(C):.2g}")
    axes[1].set(title="penalty |w|²/(2C)")
    for axis in axes[:2]:
        axis.legend(frameon=False, fontsize=8, loc="upper left")
    slopes = np.geomspace(0.3, 60, 300)
    axes[2].plot(slopes, [error(s) for s in slopes], color="black", label="E(w) alone: falls for ever")
    for C, colour in ((1.0, RUST), (1e2, BLUE)):
        axes[2].plot(slopes, [error(s) + s * s / (2 * C) for s in slopes], color=colour, label=f"with C = {C:g}")
        best = best_slope(C)
        axes[2].plot(best, error(best) + best**2 / (2 * C), "o", color=colour)
    axes[2].set(xscale="log", yscale="log", ylim=(1e-6, 30), xlabel="slope w₁", title="error, nats")
    axes[2].legend(frameon=False, fontsize=8, loc="lower left")
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description="Logistic regression on separable data.")
    parser.add_argument("--figures", type=Path, help="folder for overfitting.png")
    options = parser.parse_args()
    wrong = compare()
    if options.figures:
        options.figures.mkdir(parents=True, exist_ok=True)
        draw(options.figures / "overfitting.png")
    if wrong:
        sys.exit("; ".join(wrong))
    print("\nEvery penalised slope is where the derivative vanishes; nothing diverges.")


if __name__ == "__main__":
    main()
