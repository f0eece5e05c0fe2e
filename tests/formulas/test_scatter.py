"""The sums against their definition: two passes in exact fractions, and the algebra of +, − and scaling."""

from fractions import Fraction

import numpy as np
import pytest

from spamnb.formulas.scatter import Scatter

KINDS = ("full", "pooled", "diagonal")


def rows(seed: int, n: int = 60, d: int = 4, centre: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + y[:, None] + centre, y


def assert_same(ours: Scatter, expected: Scatter, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(ours.documents, expected.documents, rtol=1e-12)
    np.testing.assert_allclose(ours.mean, expected.mean, rtol=tolerance, atol=tolerance)
    scale = max(1.0, np.abs(expected.scatter).max())
    np.testing.assert_allclose(ours.scatter, expected.scatter, rtol=tolerance, atol=tolerance * scale)


def by_definition(X: np.ndarray, y: np.ndarray, weight: np.ndarray, kind: str) -> np.ndarray:
    """Two passes in exact arithmetic."""
    exact = [[Fraction(float(value)) for value in row] for row in X]
    d = X.shape[1]
    classes = []
    for c in range(3):
        chosen = [(Fraction(float(w)), row) for w, row, label in zip(weight, exact, y) if label == c]
        total = sum(w for w, _ in chosen)
        mean = [sum(w * row[j] for w, row in chosen) / total for j in range(d)]
        classes.append(
            [
                [float(sum(w * (r[i] - mean[i]) * (r[j] - mean[j]) for w, r in chosen)) for j in range(d)]
                for i in range(d)
            ]
        )
    full = np.array(classes)
    return {"full": full, "pooled": full.sum(axis=0), "diagonal": np.einsum("cii->ci", full)}[kind]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_definition_in_fractions(kind: str, weighted: bool) -> None:
    X, y = rows(0, n=40, d=3)
    weight = np.random.default_rng(1).uniform(0, 2, len(y)) if weighted else np.ones(len(y))
    sums = Scatter.from_rows(X, y, 3, weight if weighted else None, kind)
    np.testing.assert_allclose(sums.scatter, by_definition(X, y, weight, kind), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_mean_of_1e8_costs_no_digits(kind: str) -> None:
    X, y = rows(2, n=300, d=3, centre=1e8)
    expected = by_definition(X, y, np.ones(len(y)), kind)
    at_once = Scatter.from_rows(X, y, 3, kind=kind)
    batches = Scatter.zeros(3, 3, kind)
    for i in range(0, 300, 50):
        batches = batches + Scatter.from_rows(X[i : i + 50], y[i : i + 50], 3, kind=kind)
    singly = Scatter.zeros(3, 3, kind)
    for i in range(300):
        singly = singly + Scatter.from_rows(X[i : i + 1], y[i : i + 1], 3, kind=kind)
    left = (at_once + Scatter.from_rows(X[:100], y[:100], 3, kind=kind)) - Scatter.from_rows(
        X[:100], y[:100], 3, kind=kind
    )
    for sums in (at_once, batches, singly, left):
        np.testing.assert_allclose(sums.scatter, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())
    # The textbook sum of squares loses everything here: the test would notice.
    naive = (X[y == 0, 0] ** 2).sum() - (y == 0).sum() * X[y == 0, 0].mean() ** 2
    true = by_definition(X, y, np.ones(len(y)), "diagonal")[0, 0]
    assert abs(naive / true - 1) > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_adding_subtracting_and_scaling(kind: str) -> None:
    X, y = rows(3)
    total = Scatter.from_rows(X, y, 3, kind=kind)
    a, b = (Scatter.from_rows(X[part], y[part], 3, kind=kind) for part in (slice(0, 25), slice(25, None)))
    assert_same(a + b, total)
    assert_same(b + a, total)
    assert_same(total - b, a)
    assert_same(a + b - a, b)
    assert_same(0.5 * (total + total), total)
    assert_same(total * 3, total + total + total)
    empty = Scatter.zeros(3, 4, kind)
    assert_same(empty + total, total)
    assert_same(total + empty, total)
    assert_same(total - empty, total)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_taken_out_whole_leaves_exactly_nothing(kind: str) -> None:
    X, y = rows(4)
    weight = np.random.default_rng(0).uniform(0.1, 1, len(y))
    total = Scatter.from_rows(X, y, 3, weight, kind)
    order = np.random.default_rng(1).permutation(len(y))
    nothing = total - Scatter.from_rows(X[order], y[order], 3, weight[order], kind)
    assert not nothing.documents.any() and not nothing.scatter.any() and not nothing.mean.any()
    one_class = y == 1
    without = total - Scatter.from_rows(X[one_class], y[one_class], 3, weight[one_class], kind)
    assert_same(without, Scatter.from_rows(X[~one_class], y[~one_class], 3, weight[~one_class], kind))
    assert without.documents[1] == 0


def test_too_much_taken_out_is_refused() -> None:
    X, y = rows(5)
    few = Scatter.from_rows(X[:10], y[:10], 3)
    with pytest.raises(ValueError, match="not all learned"):
        few - Scatter.from_rows(X, y, 3)
    with pytest.raises(ValueError, match="do not go with"):
        few + Scatter.from_rows(X[:10], y[:10], 3, kind="diagonal")


@pytest.mark.parametrize("kind", KINDS)
def test_reindex_moves_classes(kind: str) -> None:
    X, y = rows(6)
    moved = Scatter.from_rows(X, y, 3, kind=kind).reindex(np.array([0, 2, 4]), 5)
    assert_same(moved, Scatter.from_rows(X, np.array([0, 2, 4])[y], 5, kind=kind))


@pytest.mark.parametrize("kind", KINDS)
def test_overall_variance(kind: str) -> None:
    X, y = rows(7, centre=1e6)
    sums = Scatter.from_rows(X, y, 3, kind=kind)
    np.testing.assert_allclose(sums.variance(), X.var(axis=0), rtol=1e-9)
    np.testing.assert_allclose(sums.origin + sums.overall_offset(), X.mean(axis=0), rtol=1e-14)
