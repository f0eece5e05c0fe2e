"""McNemar's test against the sum of binomial coefficients."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.evaluation.mcnemar import mcnemar


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
def test_p_is_twice_the_smaller_tail_exactly(pairs):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    found = mcnemar(first, second)
    n, least = found.only_first_right + found.only_second_right, min(found[:2])
    tail = 2 * sum(Fraction(math.comb(n, k), 2**n) for k in range(least + 1))
    assert found.p_value == pytest.approx(float(min(Fraction(1), tail)))
    assert mcnemar(second, first).p_value == found.p_value


def test_a_worked_example():
    # 10 only by the first, 2 only by the second: 2·(1+12+66)/4096.
    first = [True] * 10 + [False] * 2 + [True] * 5
    second = [False] * 10 + [True] * 2 + [True] * 5
    assert mcnemar(first, second) == (10, 2, pytest.approx(158 / 4096))


def test_different_messages_are_refused():
    with pytest.raises(ValueError, match="same messages"):
        mcnemar([True], [True, False])
