"""Class priors against the formulas of the texts, in exact fractions: four heads in a row of a coin."""

from fractions import Fraction

import numpy as np
import pytest

from spamnb.formulas.priors import class_log_prior

HEADS, TAILS = 4, 0


@pytest.mark.parametrize("a", [(1, 1), (2, 2), (5, 5), (1, 3)])
def test_what_is_said_of_tails(a: tuple[int, int]) -> None:
    expected = {
        "mle": Fraction(TAILS, HEADS + TAILS),
        "map": Fraction(TAILS + a[1] - 1, HEADS + TAILS - 2 + sum(a)),
        "dirichlet": Fraction(TAILS + a[1], HEADS + TAILS + sum(a)),
        "uniform": Fraction(1, 2),
    }
    for kind, exact in expected.items():
        assert np.exp(class_log_prior([HEADS, TAILS], kind, a))[1] == pytest.approx(float(exact), abs=1e-12)
