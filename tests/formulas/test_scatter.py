"""The sums against their definition, and the algebra of + and −."""

import numpy as np
import pytest

from spamnb.formulas.scatter import Scatter

by_kind = pytest.mark.parametrize("diagonal", [False, True])
EVERY = np.arange(60)


def rows(seed: int, centre: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, their classes and weights."""
    rng = np.random.default_rng(seed)
    y = np.append([0, 1, 2], rng.integers(0, 3, 57))
    X = rng.standard_normal((60, 4)) @ rng.standard_normal((4, 4)) + y[:, None]
    return np.round(X * 1024) / 1024 + centre, y, rng.uniform(0.1, 2, 60)  # so that shifted numbers are exact


def of(part: np.ndarray, seed: int, diagonal: bool, centre: float = 0.0) -> Scatter:
    X, y, weight = rows(seed, centre)
    return Scatter.from_rows(X[part], y[part], 3, weight[part], diagonal)


def assert_same(ours: Scatter, expected: Scatter, tolerance: float = 1e-12) -> None:
    for name in ("documents", "mean", "scatter"):
        mine, other = getattr(ours, name), getattr(expected, name)
        np.testing.assert_allclose(mine, other, rtol=tolerance, atol=tolerance * max(1.0, np.abs(other).max()))


@by_kind
def test_equals_numpys_covariances(diagonal: bool) -> None:
    X, y, weight = rows(0)
    sums = of(EVERY, 0, diagonal)
    for c in range(3):
        own = np.cov(X[y == c].T, aweights=weight[y == c], ddof=0) * weight[y == c].sum()
        np.testing.assert_allclose(sums.scatter[c], np.diag(own) if diagonal else own, rtol=1e-12)
        np.testing.assert_allclose(sums.mean[c], np.average(X[y == c], axis=0, weights=weight[y == c]), rtol=1e-12)
    np.testing.assert_allclose(sums.overall_mean(), np.average(X, axis=0, weights=weight), rtol=1e-12)
    variance = np.average((X - sums.overall_mean()) ** 2, axis=0, weights=weight)
    np.testing.assert_allclose(sums.overall_variance(), variance, rtol=1e-12)


@by_kind
def test_a_mean_of_1e8_costs_few_digits(diagonal: bool) -> None:
    near, at_once = of(EVERY, 2, diagonal), of(EVERY, 2, diagonal, 1e8)
    singly = at_once - at_once
    for i in EVERY:
        singly = singly + of(EVERY[i : i + 1], 2, diagonal, 1e8)
    for sums in (at_once, singly):
        np.testing.assert_allclose(sums.scatter, near.scatter, atol=1e-6 * np.abs(near.scatter).max())
    # The textbook sum of squares loses everything here: the test would notice.
    X, y, _ = rows(2, 1e8)
    naive = (X[y == 0, 0] ** 2).sum() - (y == 0).sum() * X[y == 0, 0].mean() ** 2
    assert abs(naive / (X[y == 0, 0].var() * (y == 0).sum()) - 1) > 1e-3


@by_kind
def test_adding_and_subtracting(diagonal: bool) -> None:
    total, a, b = (of(part, 3, diagonal) for part in (EVERY, EVERY[:25], EVERY[25:]))
    nothing = of(EVERY[:0], 3, diagonal)
    for sums in (a + b, b + a, nothing + total, total + nothing, total - nothing):
        assert_same(sums, total)
    assert_same(total - b, a, 1e-10)
    left = total - of(np.random.default_rng(1).permutation(60), 3, diagonal)
    assert not left.documents.any() and not left.scatter.any() and not left.mean.any(), "exactly nothing"
    _, y, _ = rows(3)
    assert_same(total - of(EVERY[y == 1], 3, diagonal), of(EVERY[y != 1], 3, diagonal))
    with pytest.raises(ValueError, match="more would be taken out than was learned"):
        a - total


@by_kind
def test_reindex_moves_classes(diagonal: bool) -> None:
    X, y, weight = rows(6)
    positions = np.array([0, 2, 4])
    assert_same(of(EVERY, 6, diagonal).reindex(positions, 5), Scatter.from_rows(X, positions[y], 5, weight, diagonal))
