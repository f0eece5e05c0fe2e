"""Overfitting: logistic regression on data that a line separates, without and with a penalty.

    python scripts/reproduce_overfitting.py [--figures DIR]

The lecture's example has w₀ = −1, w₁ = 1, so the boundary −w₀/w₁ stands at x = 1. Both weights times s leave it
there, harden the posterior into a step and bring the error E(w) = −Σ ln P(t_n|x_n) ever nearer 0: the likelihood has
no maximum. With |w|²/(2C) added it has one for every C. Ends 1 where a fitted slope is not the root of the derivative,
found by bisection. ``--figures`` draws both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from reproduction import BLUE, RUST, reproduce
from scipy.optimize import brentq
from scipy.special import expit

from spamnb import LogisticRegression

# Three points a side at equal distances, so that the penalised boundary stays at 1 too and one number is left: the
# slope.
X = np.array([-1.0, 0.0, 0.5, 1.5, 2.0, 3.0])[:, None]
T = np.array([0, 0, 0, 1, 1, 1])
SCALES = (1, 2, 5, 20, 100)
PENALTIES = (0.1, 1.0, 1e2, 1e4, 1e6)


def error(slope: float) -> float:
    """E(w) for w₁ = slope, w₀ = −slope, in nats."""
    signed = np.where(T == 1, 1, -1) * slope * (X[:, 0] - 1)
    return float(np.logaddexp(0, -signed).sum())


def best_slope(C: float) -> float:
    """Return the slope at which the derivative of E(w) + w₁²/(2C) is zero."""
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
        print(f"  {C:<8g}{slope:8.4f}{expected:12.4f}{-model.intercept_[0] / slope:15.4f}{error(slope):12.6f}")
        if abs(slope - expected) > 1e-3 * expected:
            wrong.append(f"C = {C:g}: slope {slope:.4f}, by bisection {expected:.4f}")
    return wrong


def draw_sigmoids() -> Any:
    """P(1|x) for both weights times s, and for each C."""
    import matplotlib.pyplot as plt

    x = np.linspace(-1.5, 3.5, 601)
    slopes = {"without a penalty: w = s (−1, 1)": [(f"s = {s}", float(s)) for s in SCALES]}
    slopes["with a penalty: LogisticRegression(C)"] = [
        (f"C = {C:g}", float(LogisticRegression(C, tol=1e-10).fit(X, T).coef_[0, 0])) for C in PENALTIES
    ]
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), sharey=True, layout="constrained")
    for axis, (title, curves) in zip(axes, slopes.items()):
        for number, (label, slope) in enumerate(curves):
            axis.plot(x, expit(slope * (x - 1)), color=BLUE, alpha=(number + 1) / len(curves), label=label)
        axis.plot(X[:, 0], T, "o", color=RUST)
        axis.set(title=title, xlabel="x")
        axis.legend(loc="lower right")
    axes[0].set_ylabel("P(1 | x)")
    return figure


if __name__ == "__main__":
    agreed = "\nEvery penalised slope is where the derivative vanishes; nothing diverges."
    reproduce("Logistic regression on separable data.", compare, agreed, {"overfitting_sigmoids.png": draw_sigmoids})
