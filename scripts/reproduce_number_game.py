"""The number game: Murphy, Machine Learning (2012), section 3.2, beside ours.

    python scripts/reproduce_number_game.py [--figures DIR]

Prints the published posteriors and predictive probabilities for D = {16} and D = {16, 8, 2, 64} beside ours and ends 1
where a printed digit differs. ``--figures`` draws the predictive probabilities, for D = {16, 23, 19, 20} and {60} with
intervals among the hypotheses, and prior, likelihood and posterior as bars (needs matplotlib).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from reproduction import BLUE, RUST, reproduce

from spamnb.estimators.concept import number_game

DATA = ((16,), (16, 8, 2, 64))

# As printed, digits included.
POSTERIOR = {
    DATA[0]: {
        "powers of 4": ".355836", "powers of 2": ".177918", "squares": ".106751", "even": ".106751",
        "ends in 6": ".106751", "multiples of 8": ".088959", "multiples of 4": ".042700", "all": ".010675",
        "powers of 2 minus 32": ".002135", "powers of 2 plus 37": ".001525",
    },
    DATA[1]: {
        "powers of 2": ".973536", "powers of 2 minus 32": ".020187", "powers of 2 plus 37": ".005255",
        "even": ".001009", "all": ".000013",
    },
}  # fmt: skip
PREDICTIVE = {
    DATA[0]: {4: ".8043", 64: ".8932", 32: ".4285", 37: ".0122", 1: ".1174", 87: ".0107"},
    DATA[1]: {4: "1.0", 32: ".9798", 37: ".00527"},
}
NEAR = (16, 23, 19, 20)
SIXTY = (60,)  # shown to people in the experiment, whose answers are published as a picture only


def as_printed(value: float, published: str) -> str:
    """``value`` with as many decimals as ``published`` has."""
    return f"{value:.{len(published.partition('.')[2])}f}".removeprefix("0")


def compare() -> list[str]:
    """Print both tables; what differs."""
    different = []
    for data in DATA:
        game = number_game().learn(data)
        shown = "{" + ", ".join(map(str, data)) + "}"
        posterior = dict(zip((h.name for h in game.hypotheses), game.posterior()))
        print(f"D = {shown:24} {'published':>10} {'ours':>10}")
        for name, published in POSTERIOR[data].items():
            ours = as_printed(posterior[name], published)
            print(f"  p({name} | D)".ljust(29), f"{published:>10} {ours:>10}")
            if ours != published:
                different.append(f"p({name} | {shown})")
        remainder = sum(value for name, value in posterior.items() if name not in POSTERIOR[data])
        print(
            f"  the other {len(posterior) - len(POSTERIOR[data])} hypotheses".ljust(29), f"{'0':>10} {remainder:>10.3g}"
        )
        if remainder != 0:
            different.append(f"others given {shown}")
        predictive = dict(zip(game.domain, game.predictive()))
        for number, published in PREDICTIVE[data].items():
            ours = as_printed(predictive[number], published)
            print(f"  p({number} in C | D)".ljust(29), f"{published:>10} {ours:>10}")
            if ours != published:
                different.append(f"p({number} in C | {shown})")
        print()
    return different


def draw_predictive() -> Any:
    """p(x in C | D) for every number."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(4, 1, figsize=(10, 8.4), sharex=True, sharey=True, layout="constrained")
    for axis, data in zip(axes, (*DATA, NEAR, SIXTY)):
        game = number_game(intervals=data in (NEAR, SIXTY)).learn(data)
        predictive = game.predictive()
        seen = np.isin(game.domain, data)
        axis.bar(np.array(game.domain)[~seen], predictive[~seen], color=BLUE, width=0.8)
        axis.bar(np.array(game.domain)[seen], predictive[seen], color=RUST, width=0.8, label="examples")
        axis.set(ylabel="p(x in C | D)", xlim=(0, 101), ylim=(0, 1.12))
        axis.set_title("D = {" + ", ".join(map(str, data)) + "}", loc="left", fontsize=10)
        for x in {DATA[0]: (4, 32, 36, 64), DATA[1]: (4, 32, 37), NEAR: (30,), SIXTY: (30, 50, 90)}[data]:
            height = predictive[x - 1]
            label = f"{x}: {height:.2f}" if height > 0.01 else f"{x}: {height:.4f}"
            aside = "left" if x in (30, 36, 37) else "center"
            axis.annotate(label, (x, height), ha=aside, xytext=(0, 3), textcoords="offset points", fontsize=8)
        axis.set_xticks([1, *range(10, 101, 10)])
    axes[0].legend(loc="upper right")
    axes[-1].set_xlabel("x")
    return figure


def draw_bars() -> Any:
    """p(h), p(D|h) and p(h|D) of every hypothesis."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 6, figsize=(11, 6.6), sharey=True, layout="constrained")
    for first, data in zip((0, 3), DATA):
        game = number_game().learn(data)
        names = [hypothesis.name for hypothesis in game.hypotheses]
        columns = {"prior": game.prior, "likelihood": np.exp(game.log_likelihood()), "posterior": game.posterior()}
        for axis, (title, values) in zip(axes[first:], columns.items()):
            axis.barh(names, values, color=RUST if title == "posterior" else BLUE)
            axis.set_title(title, fontsize=10)
            axis.tick_params(labelsize=8)
            axis.locator_params(axis="x", nbins=3)
        axes[first + 1].set_xlabel("D = {" + ", ".join(map(str, data)) + "}")
    axes[0].invert_yaxis()
    return figure


if __name__ == "__main__":
    agreed = "Every printed digit agrees."
    pictures = {"number_game_predictive.png": draw_predictive, "number_game_bars.png": draw_bars}
    reproduce("Murphy's number game beside ours.", compare, agreed, pictures)
