"""Gaussian classes in two dimensions: the boundaries of LDA and QDA, logistic regression beside them.

    python scripts/reproduce_gaussians.py [--figures DIR]

What the texts state as formulas is checked on data drawn from known classes: with a shared covariance P(c|x) is a
logistic function of wᵀx + w₀, w = Σ⁻¹(μ₁−μ₀); with covariances of their own the boundary is a quadric; with Poisson
features P(c|x) is logistic too, w = ln λ₁/λ₀, w₀ = Σ(λ₀−λ₁) + ln P(c₁)/P(c₀), though no class is Gaussian. Prints the
true weights beside those that LDA and logistic regression find, and every model's error on 200,000 fresh rows beside
the smallest that any classifier can have; ends 1 where the closed form and LDA differ, or a model misses what theory
promises it. Then the mean errors of LDA and of logistic regression that learn few rows, 6 to 96. ``--figures`` draws
them (needs matplotlib).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from reproduction import BLUE, GOLD, GREEN, RUST, VIOLET, reproduce
from scipy.special import expit
from scipy.stats import multivariate_normal, poisson

from spamnb import GaussianNB, LinearDiscriminantAnalysis, LogisticRegression, QuadraticDiscriminantAnalysis

TRAIN, TEST = 2_000, 200_000
FEW, DRAWS = (6, 12, 24, 96), 200  # rows to learn from, half of each class, and how often they are drawn
COLOURS = (BLUE, RUST, GREEN)


class Problem(NamedTuple):
    """Two equally likely classes of known distributions, which scipy draws from and has the logarithms of."""

    title: str
    classes: tuple[Any, Any]
    weights: np.ndarray | None  # (w, w₀) of the true log-odds where they are linear

    @property
    def is_integer(self) -> bool:
        return isinstance(self.classes[0], PoissonFeatures)

    def log_odds(self, X: np.ndarray) -> np.ndarray:
        """Return ln P(x|c₁) − ln P(x|c₀), (n,)."""
        zero, one = self.classes
        return one.logpdf(X) - zero.logpdf(X)


class PoissonFeatures(NamedTuple):
    """Independent counts, with the methods of scipy's multivariate_normal."""

    rates: np.ndarray

    def rvs(self, n: int, random_state: np.random.Generator) -> np.ndarray:
        return poisson.rvs(self.rates, size=(n, len(self.rates)), random_state=random_state)

    def logpdf(self, X: np.ndarray) -> np.ndarray:
        return poisson.logpmf(X, self.rates).sum(axis=-1)


def problems() -> list[Problem]:
    shared, means = [[1.0, 0.6], [0.6, 1.0]], ([0.0, 0.0], [1.8, 0.2])
    w = np.linalg.solve(shared, np.subtract(means[1], means[0]))
    w0 = -0.5 * w @ np.add(*means)
    unequal = ([0.0, 0.0], [[2.0, 0.9], [0.9, 1.2]]), ([1.6, 0.4], [[0.3, -0.1], [-0.1, 0.4]])
    rates = np.array([1.0, 6.0]), np.array([6.0, 8.0])
    poisson_weights = np.append(np.log(rates[1] / rates[0]), rates[0].sum() - rates[1].sum())
    return [
        Problem("one covariance", tuple(multivariate_normal(mean, shared) for mean in means), np.append(w, w0)),
        Problem("two covariances", tuple(multivariate_normal(*each) for each in unequal), None),
        Problem("Poisson", tuple(PoissonFeatures(each) for each in rates), poisson_weights),
    ]


def sample(problem: Problem, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = np.empty((n, 2))
    for c, distribution in enumerate(problem.classes):
        X[y == c] = distribution.rvs(int((y == c).sum()), random_state=rng)
    return X, y


def models() -> dict[str, Any]:
    return {
        "naive Bayes": GaussianNB(),
        "LDA": LinearDiscriminantAnalysis(),  # of six rows of counts a column may be constant
        "QDA": QuadraticDiscriminantAnalysis(shrinkage=None),
        "logistic": LogisticRegression(C=1e4, tol=1e-8),
    }


def fitted(problem: Problem) -> dict[str, Any]:
    X, y = sample(problem, TRAIN, seed=1)
    return {name: model.fit(X, y) for name, model in models().items()}


def closed_form(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(w, w₀) of the texts, written out."""
    zero, one = X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)
    residual = X - np.where(y[:, None] == 1, one, zero)
    inverse = np.linalg.inv(residual.T @ residual / len(X))
    w0 = -0.5 * one @ inverse @ one + 0.5 * zero @ inverse @ zero + np.log((y == 1).sum() / (y == 0).sum())
    return np.append(inverse @ (one - zero), w0)


def compare() -> list[str]:
    """Print every problem's table; what is not as it should be."""
    wrong = []
    for problem in problems():
        fits = fitted(problem)
        X, y = sample(problem, TEST, seed=2)
        best = (problem.log_odds(X) > 0) == y
        print(f"{problem.title}: {TRAIN} rows to learn from, {TEST} to test; error in %")
        print(f"  {'true classes':14}{100 * (1 - best.mean()):8.2f}   weights", _shown(problem.weights))
        errors = {name: float(np.mean(model.predict(X) != y)) for name, model in fits.items()}
        for name, model in fits.items():
            weights = np.append(model.coef_, model.intercept_) if hasattr(model, "coef_") else None
            print(f"  {name:14}{100 * errors[name]:8.2f}" + ("   weights " + _shown(weights)) * (weights is not None))
        formula = closed_form(*sample(problem, TRAIN, seed=1))
        print(f"  {'closed form':14}{'':8}   weights {_shown(formula)}\n")
        if not np.allclose(formula, np.append(fits["LDA"].coef_, fits["LDA"].intercept_), rtol=1e-9):
            wrong.append(f"{problem.title}: LDA is not the closed form")
        # Half a point is some five standard errors of an error rate near 20 % learned from 2,000 rows.
        promised = {"one covariance": ("LDA", "logistic", "QDA"), "two covariances": ("QDA",), "Poisson": ("logistic",)}
        wrong += [
            f"{problem.title}: {name} errs on {errors[name]:.4f}, the true classes on {1 - best.mean():.4f}"
            for name in promised[problem.title]
            if errors[name] > 1 - best.mean() + 0.005
        ]
    return wrong + compare_few_rows()


def compare_few_rows() -> list[str]:
    """Print the mean errors of models of few rows; what differs from theory: LDA needs fewer if they are Gaussian."""
    wrong = []
    print(f"few rows, mean error in % of {DRAWS} draws" + "".join(f"{n:>8}" for n in FEW))
    for problem in (problems()[0], problems()[2]):
        X, y = sample(problem, TEST // 20, seed=2)
        errors = {name: [mean_error(problem, name, n, X, y) for n in FEW] for name in ("LDA", "logistic")}
        for name, row in errors.items():
            print(f"  {problem.title}, {name}".ljust(38) + "".join(f"{100 * error:8.2f}" for error in row))
        if problem.title == "one covariance" and errors["LDA"][0] > errors["logistic"][0]:
            wrong.append("LDA errs more than logistic regression on 6 rows of one covariance")
    return wrong


def mean_error(problem: Problem, name: str, n: int, X: np.ndarray, y: np.ndarray) -> float:
    """Return the mean error on (X, y) of a model that learns n rows, of ``DRAWS`` draws."""
    means = []
    for seed in range(DRAWS):
        rng, model = np.random.default_rng(seed), models()[name]
        rows = np.concatenate([each.rvs(n // 2, random_state=rng) for each in problem.classes])
        means.append(np.mean(model.fit(rows, np.repeat([0, 1], n // 2)).predict(X) != y))
    return float(np.mean(means))


def _shown(weights: np.ndarray | None) -> str:
    return "not linear" if weights is None else " ".join(f"{weight:7.3f}" for weight in weights)


def grid_of(low: np.ndarray, high: np.ndarray, points: int = 301) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the coordinates of a grid (points,) twice, and its points (points², 2)."""
    across, up = (np.linspace(a, b, points) for a, b in zip(low, high))
    return across, up, np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)


def draw_densities() -> Any:
    """Gaussian densities of two dimensions as surfaces, and below each its contours."""
    import matplotlib.pyplot as plt

    shown = [((0, 0), 0.0), ((1, 1), 0.0), ((1, -1), 0.0), ((0, 0), 0.5), ((0, 0), -0.5), ((0, 0), 0.8)]
    figure = plt.figure(figsize=(14, 5.2), layout="constrained")
    across, up, grid = grid_of(np.full(2, -3.0), np.full(2, 3.0), 81)
    for column, (mean, off) in enumerate(shown):
        density = multivariate_normal(mean, [[1, off], [off, 1]]).pdf(grid).reshape(81, 81)
        surface = figure.add_subplot(2, len(shown), column + 1, projection="3d")
        surface.plot_surface(*np.meshgrid(across, up), density, cmap="viridis", rcount=40, ccount=40)
        surface.set(zlim=(0, 0.27), xticks=[-2, 0, 2], yticks=[-2, 0, 2], zticks=[0, 0.1, 0.2])
        surface.set_title(f"μ = {list(mean)}, Σ₁₂ = {off:g}", fontsize=10)
        contours = figure.add_subplot(2, len(shown), len(shown) + column + 1)
        contours.contour(across, up, density, levels=8)
        contours.plot(*mean, "+", color=RUST)
        contours.set(aspect="equal", xlabel="x₁", ylabel="x₂" if column == 0 else None)
    return figure


def draw_posterior() -> Any:
    """Draw the logistic sigmoid; two classes of one covariance; and their posterior, a sigmoid of wᵀx + w₀."""
    import matplotlib.pyplot as plt

    problem = problems()[0]
    assert problem.weights is not None
    across, up, grid = grid_of(np.array([-3.0, -3.0]), np.array([4.5, 3.5]), 101)
    plane, posterior = np.meshgrid(across, up), expit(problem.log_odds(grid)).reshape(101, 101)
    figure = plt.figure(figsize=(12, 3.9), layout="constrained")
    sigmoid = figure.add_subplot(1, 3, 1)
    a = np.linspace(-6, 6, 201)
    sigmoid.plot(a, expit(a), color=BLUE)
    sigmoid.set(title="σ(a) = 1/(1 + exp(−a))", xlabel="a = ln P(x|c₁)P(c₁) / P(x|c₀)P(c₀)")
    densities = figure.add_subplot(1, 3, 2, projection="3d")
    for distribution, colour in zip(problem.classes, COLOURS):
        densities.plot_surface(
            *plane, distribution.pdf(grid).reshape(101, 101), color=colour, alpha=0.7, rcount=40, ccount=40
        )
    densities.set(title="P(x|c₀) and P(x|c₁)", xlabel="x₁", ylabel="x₂")
    surface = figure.add_subplot(1, 3, 3, projection="3d")
    surface.plot_surface(*plane, posterior, cmap="coolwarm", rcount=50, ccount=50)
    surface.contour(*plane, posterior, levels=[0.5], colors="black")
    surface.set(title="P(c₁|x) = σ(wᵀx + w₀)", xlabel="x₁", ylabel="x₂")
    return figure


def draw_three_classes() -> Any:
    """LDA and QDA on three classes, two of one covariance: contours, and where each class is the likeliest."""
    import matplotlib.pyplot as plt

    distributions = [
        multivariate_normal([-1.5, 0], [[0.6, 0.2], [0.2, 0.5]]),
        multivariate_normal([1.5, 0.5], [[0.6, 0.2], [0.2, 0.5]]),
        multivariate_normal([0, 2.6], [[2.0, -0.9], [-0.9, 0.9]]),
    ]
    rng = np.random.default_rng(3)
    X, y = np.concatenate([each.rvs(200, random_state=rng) for each in distributions]), np.repeat([0, 1, 2], 200)
    across, up, grid = grid_of(X.min(axis=0) - 0.5, X.max(axis=0) + 0.5)
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
    colours = np.array([[int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] for colour in COLOURS])
    models = {"LDA": LinearDiscriminantAnalysis(None), "QDA": QuadraticDiscriminantAnalysis(None)}
    for axis, (name, model) in zip(axes, models.items()):
        model.fit(X, y)
        blended = 0.5 + 0.5 * model.predict_proba(grid) @ colours  # with white
        extent = (across[0], across[-1], up[0], up[-1])
        axis.imshow(blended.reshape(301, 301, 3), extent=extent, origin="lower", aspect="auto")
        axis.contour(across, up, model.predict(grid).reshape(301, 301), [0.5, 1.5], colors="black", linewidths=1)
        log_densities = model.predict_joint_log_proba(grid) - model.class_log_prior_
        for c, colour in enumerate(COLOURS):
            axis.plot(*X[y == c].T, ".", color=colour, markersize=3, label=f"class {c}")
            # One, two and three standard deviations from the mean.
            levels = log_densities[:, c].max() - 0.5 * np.array([9.0, 4.0, 1.0])
            axis.contour(across, up, log_densities[:, c].reshape(301, 301), levels, colors=colour, linewidths=0.8)
        right = 100 * model.score(X, y)
        axis.set(title=f"{name}: {right:.1f} % of these rows right", xlabel="x₁")
    axes[0].set_ylabel("x₂")
    axes[0].legend(loc="lower right", frameon=True, markerscale=3)
    return figure


def draw_basis_functions() -> Any:
    """Draw rows that no line separates, and two Gaussian basis functions of them, which a line separates."""
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(5)
    centres = np.array([[-1.0, -1.0], [0.0, 0.0]])
    means, y = np.array([[-1.1, -1.1], [1.1, 1.1], [0.0, 0.0]]), np.repeat([0, 0, 1], 100)
    X = np.repeat(means, 100, axis=0) + 0.28 * rng.standard_normal((300, 2))

    def transform(rows: np.ndarray) -> np.ndarray:
        return np.exp(-((rows[:, None] - centres) ** 2).sum(axis=2) / (2 * 0.5**2))

    model = LogisticRegression(100.0).fit(transform(X), y)
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for axis, rows, features in ((axes[0], X, transform), (axes[1], transform(X), lambda grid: grid)):
        across, up, grid = grid_of(rows.min(axis=0) - 0.1, rows.max(axis=0) + 0.1)
        for c in (0, 1):
            axis.plot(*rows[y == c].T, ".", color=COLOURS[c], label=f"class {c}")
        undecided = model.decision_function(features(grid)).reshape(301, 301)
        axis.contour(across, up, undecided, levels=[0], colors="black")
    axes[0].plot(*centres.T, "+", color=GREEN, markersize=14, markeredgewidth=2, label="centres of φ₁ and φ₂")
    axes[0].set(title="rows x", xlabel="x₁", ylabel="x₂")
    axes[0].legend(frameon=True)
    axes[1].set(title="basis functions φ(x), and wᵀφ + b = 0", xlabel="φ₁", ylabel="φ₂")
    return figure


def draw_boundaries() -> Any:
    """Training rows and where each model is undecided, beside the boundary of the true classes."""
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    styles = {
        "LDA": (GOLD, "-"), "QDA": (VIOLET, "-"), "logistic": (GREEN, "--"), "true": ("black", ":"),
    }  # fmt: skip
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.6), layout="constrained")
    for axis, problem in zip(axes, problems()):
        X, y = sample(problem, TRAIN, seed=1)
        fits = fitted(problem)
        jitter = np.random.default_rng(0).uniform(-0.3, 0.3, X.shape) if problem.is_integer else 0.0
        shown = slice(0, 700)
        for c in (0, 1):
            chosen = y[shown] == c
            axis.plot(*(X + jitter)[shown][chosen].T, ".", color=COLOURS[c], markersize=3, alpha=0.45)
        low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
        across, up, grid = grid_of(low, high)
        scores = {name: fits[name].decision_function(grid) for name in ("LDA", "QDA", "logistic")}
        if problem.weights is None:
            scores["true"] = problem.log_odds(grid)
        else:
            scores["true"] = grid @ problem.weights[:2] + problem.weights[2]
        for name, score in scores.items():
            colour, line = styles[name]
            axis.contour(
                across, up, score.reshape(301, 301), levels=[0], colors=colour, linestyles=line, linewidths=1.8
            )
        axis.set(title=problem.title, xlabel="x₁", ylabel="x₂", xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    handles = [Line2D([], [], color=colour, linestyle=line, label=name) for name, (colour, line) in styles.items()]
    axes[0].legend(handles=handles, frameon=True, framealpha=0.9, loc="upper left", fontsize=9)
    figure.suptitle("Where P(c|x) = ½: LDA, QDA and logistic regression on 2,000 rows (700 shown)")
    return figure


if __name__ == "__main__":
    agreed = "LDA is the closed form; every model reaches what theory promises it."
    about = "LDA, QDA and logistic regression on classes that are known."
    pictures = {
        "gaussians_densities.png": draw_densities,
        "gaussians_posterior.png": draw_posterior,
        "gaussians_three_classes.png": draw_three_classes,
        "basis_functions.png": draw_basis_functions,
        "gaussians_boundaries.png": draw_boundaries,
    }
    reproduce(about, compare, agreed, pictures)
