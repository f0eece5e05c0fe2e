"""moments.py: whole numbers that add and subtract exactly, and the scatter of the same rows by its definition."""

from __future__ import annotations

import numpy as np
import pytest

from spamnb.counts.moments import UNIT, Moments
from spamnb.formulas.scatter import Scatter


def rows(n: int, d: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + 2, rng.integers(0, 3, n)


def test_sums_of_rows_that_the_fixed_point_holds_are_exact() -> None:
    x = np.array([[1.0, -0.5], [2.0, UNIT], [4.0, 3.0]])
    full = Moments.of(x, np.array([0, 0, 2]), 3, diagonal=False)
    assert full.documents.tolist() == [2, 0, 1]
    assert (full.first * UNIT).tolist() == [[3.0, UNIT - 0.5], [0.0, 0.0], [4.0, 3.0]]
    products = [[5.0, 2 * UNIT - 0.5], [2 * UNIT - 0.5, 0.25 + UNIT**2]]
    assert (full.second * UNIT**2).tolist() == [products, [[0.0, 0.0]] * 2, [[16.0, 12.0], [12.0, 9.0]]]
    diagonal = Moments.of(x, np.array([0, 0, 2]), 3, diagonal=True)
    assert diagonal.second.tolist() == np.einsum("cii->ci", full.second).tolist()
    assert {part.dtype.kind for part in (*full, *diagonal)} == {"i"}


def test_what_lies_between_two_units_is_rounded_to_the_nearer() -> None:
    x = np.array([[0.4, 0.6, -0.4, -0.6]]) * UNIT
    assert Moments.of(x, np.array([0]), 1, diagonal=True).first.tolist() == [[0, 1, 0, -1]]


@pytest.mark.parametrize("diagonal", [True, False])
def test_parts_add_up_to_the_whole_and_come_off_it_again(diagonal: bool) -> None:
    x, y = rows(60)
    whole, first, rest = (Moments.of(x[part], y[part], 3, diagonal) for part in (slice(None), slice(9), slice(9, None)))
    for made, expected in ((first.plus(rest), whole), (whole.plus(first, -1), rest)):
        assert all(map(np.array_equal, made, expected))


@pytest.mark.parametrize("kind", ["full", "pooled", "diagonal"])
def test_the_scatter_is_that_of_the_rows(kind: str) -> None:
    x, y = rows(200)
    x = np.rint(x / UNIT) * UNIT
    y[y == 1] = 2  # a class without rows is a class at zero
    made = Moments.of(x, y, 3, kind == "diagonal").scatter(kind)
    expected = Scatter.from_rows(x, y, 3, kind=kind)
    assert made.kind == kind
    assert made.documents.tolist() == expected.documents.tolist()
    np.testing.assert_allclose(made.mean, expected.mean, rtol=1e-12)
    np.testing.assert_allclose(made.scatter, expected.scatter, rtol=1e-10)
