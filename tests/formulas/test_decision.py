"""decision.py against brute force over the actions, and the thresholds of the texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.errors import SpamnbError
from spamnb.formulas.decision import Loss

costs = st.floats(0.1, 1000)


@given(p=st.floats(0, 1), cost=costs, unsure=st.none() | st.floats(0.01, 10))
def test_verdict_has_least_expected_loss(p: float, cost: float, unsure: float | None) -> None:
    loss = Loss(cost, unsure)
    expected = {"ham": p, "spam": cost * (1 - p)} | ({} if unsure is None else {"unsure": unsure})
    verdict = loss.verdicts(["ham", "spam"], np.array([[1 - p, p]]), "spam")[0]
    assert expected[verdict] <= min(expected.values()) + 1e-9
    if abs(p - loss.threshold) > 1e-6:
        assert (verdict == "spam") == (p > loss.threshold)


@given(st.lists(st.floats(0.001, 1), min_size=2, max_size=6))
def test_without_a_class_of_spam_the_most_probable_class_wins(weights: list[float]) -> None:
    p = np.array(weights) / sum(weights)
    names = [f"group{i}" for i in range(len(p))]
    (verdict,) = Loss(99).verdicts(names, p[None, :], "spam")
    assert p[names.index(verdict)] >= p.max() - 1e-11  # closer ones are ties


def test_threshold_is_the_cost_ratio_of_androutsopoulos() -> None:
    assert [round(Loss(cost).threshold, 3) for cost in (1, 9, 999)] == [0.5, 0.9, 0.999]


def test_the_cost_of_spam_holds_among_many_classes() -> None:
    p = np.array([[0.05, 0.15, 0.8]])
    assert Loss(1).verdicts(["ham", "lists", "spam"], p, "spam") == ["spam"]
    assert Loss(9).verdicts(["ham", "lists", "spam"], p, "spam") == ["lists"]


def test_a_tie_is_not_spam() -> None:
    even = np.array([[0.5, 0.5]])
    assert Loss(1).verdicts(["ham", "spam"], even, "spam") == ["ham"]
    assert Loss(1).verdicts(["spam", "work"], even, "spam") == ["work"]


@pytest.mark.parametrize(
    "arguments", [(0.0, None), (-1.0, None), (9.0, 0.0), (float("nan"), None), (1e300, None), (9.0, float("inf"))]
)
def test_costs_that_make_no_sense_are_refused(arguments: tuple[float, float | None]) -> None:
    with pytest.raises(SpamnbError, match="must be above 0"):
        Loss(*arguments)


def test_nothing_is_called_spam_before_enough_was_seen_nor_anything_by_one_class() -> None:
    p = np.array([[0.01, 0.99], [0.99, 0.01]])
    assert Loss(9).verdicts(["ham", "spam"], p, "spam", enough=False) == ["unsure", "ham"]
    assert Loss(9).verdicts(["spam"], np.ones((2, 1)), "spam") == ["unsure", "unsure"]
