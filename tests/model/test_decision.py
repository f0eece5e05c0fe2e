"""model/decision.py: spam is called what is likely spam, and typical of the spam that is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.model.decision import (
    SPREAD,
    TRAINING_MESSAGES,
    UNIT,
    KnownMail,
    Loss,
    describe_doubt,
    is_typical,
    least_place,
    log_ratios,
    sum_typicality,
)
from spamnb.settings import STRICTNESS

NATS = st.floats(-50, 50)


def known(spam: float, good: float, judged: int = 0, messages: int = 400) -> np.ndarray:
    """Return the sums of known mail with these means, in nats."""
    sums = [KnownMail(messages, round(messages * mean / UNIT), judged) for mean in (spam, good)]
    return np.array(sums, np.int64)


@given(st.floats(0.001, 1), st.sampled_from(sorted(STRICTNESS.values())))
def test_at_the_least_place_spam_is_as_dense_as_its_cost_allows(novelty: float, cost: float) -> None:
    place = float(least_place(cost, np.array(novelty)))
    density = np.exp(-(1 - place) / SPREAD) / (2 * SPREAD)
    assert density == pytest.approx(cost * novelty) or (place == 1 and cost * novelty >= density)


@given(st.lists(st.floats(0.0001, 1), min_size=2), st.floats(0.1, 100))
def test_more_new_kinds_and_higher_costs_need_more_typical_spam(novelties: list[float], cost: float) -> None:
    places = least_place(cost, np.sort(novelties))
    assert (np.diff(places) >= 0).all() and (places <= 1).all()
    assert (least_place(2 * cost, np.sort(novelties)) >= places).all()


@given(NATS, NATS, st.integers(0, 10**6), st.lists(NATS, min_size=1), st.floats(0, 1))
def test_a_more_typical_message_is_spam_if_a_less_typical_one_is(
    spam: float, good: float, judged: int, typicality: list[float], share: float
) -> None:
    sorted_typicality, shares = np.sort(typicality), np.full(len(typicality), share)
    is_spam = is_typical(sorted_typicality, known(spam, good, judged), shares, 9.0)
    assert (np.diff(is_spam.astype(int)) >= 0).all()
    assert (is_typical(sorted_typicality, known(spam, good, judged + 100), shares, 9.0) >= is_spam).all()
    assert (is_typical(sorted_typicality, known(spam, good, judged), np.minimum(shares + 0.1, 1), 9.0) >= is_spam).all()
    if spam <= good:
        assert not is_spam.any()


def test_units_of_the_scale_do_not_matter() -> None:
    typicality = np.linspace(-9, 2, 50)
    one, ten = (is_typical(f * typicality, known(f, -9 * f), np.ones(50), 9.0) for f in (1.0, 10.0))
    assert one.any() and not one.all() and (one == ten).all()


def test_a_message_of_which_nothing_is_known_is_no_spam_and_without_known_mail_none_is() -> None:
    assert not is_typical(np.zeros(1), known(1, -9), np.zeros(1), 9.0)
    for side in (0, 1):
        sums = known(1, -9)
        sums[side] = 0
        assert not is_typical(np.array([5.0]), sums, np.ones(1), 9.0)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(2, 4))
def test_sums_add_up_and_subtract_exactly(seed: int, n: int, classes: int) -> None:
    chance = np.random.default_rng(seed)
    typicality, labels = chance.normal(0, 5, (n, classes)), chance.integers(0, classes, n)
    part = chance.random(n) < 0.5
    whole = sum_typicality(typicality, labels)
    assert np.array_equal(
        whole - sum_typicality(typicality[part], labels[part]), sum_typicality(typicality[~part], labels[~part])
    )
    assert (whole[:, :, 0].sum(axis=1) == n).all()


@pytest.mark.parametrize("wrong", [0.05, 0.2])
def test_wrong_labels_do_not_switch_the_rule_off(wrong: float) -> None:
    """A quantile of the known spam would be in the middle of good mail."""
    chance = np.random.default_rng(1)
    labels = np.repeat([0, 1], 500)
    spam = np.where(labels == 1, chance.normal(1.3, 0.5, 1000), chance.normal(-8, 1.5, 1000))
    learned = np.where(chance.random(1000) < wrong, 1 - labels, labels)
    sums = sum_typicality(np.stack([-spam, spam], axis=1), learned)[1]
    between = np.linspace(-6, -3, 20)
    assert not is_typical(between, sums, np.ones(20), 9.0).any()
    assert is_typical(spam[labels == 1], sums, np.ones(500), 9.0).mean() > 0.9


def test_a_veto_makes_only_spam_unsure() -> None:
    loss, p = Loss("normal", None), np.array([[0.01, 0.99], [0.99, 0.01]])
    assert loss.verdicts(["ham", "spam"], p, "spam", np.array([False, False])) == ["unsure", "ham"]
    assert loss.verdicts(["ham", "spam"], p, "spam") == ["spam", "ham"]


def test_unread_parts_make_all_but_spam_unsure() -> None:
    loss, p = Loss("normal", None), np.array([[0.01, 0.99], [0.99, 0.01], [0.99, 0.01]])
    assert loss.verdicts(["ham", "spam"], p, "spam", True, np.array([False, False, True])) == ["spam", "unsure", "ham"]


def test_the_log_ratio_of_a_whole_message_is_bounded_for_spam_and_not_for_good_mail() -> None:
    ratios = log_ratios(np.array([[-900.0, 0.0], [0.0, -900.0]]))
    np.testing.assert_allclose(ratios[:, 1], [np.log(2), np.log(2) - 900])


def test_doubts_are_told_apart() -> None:
    assert describe_doubt(0.3, 0.9) == "unlike the spam that this model knows"
    assert describe_doubt(-0.3, 0.9) == "as much like good mail as like spam"
    assert "next to nothing" in describe_doubt(0.3, 0.1)
    assert "parts were not read" in describe_doubt(0.3, 0.9, is_whole=False)


def test_of_training_mail_few_messages_count_and_of_judged_mail_all() -> None:
    typicality = np.linspace(-9, 1, 1001)

    def least(messages: int, judged: int) -> float:
        is_spam = is_typical(typicality, known(1, -9, judged, messages), np.ones(1001), 9.0)
        return float(typicality[is_spam][0])

    assert least(10, 0) > least(100, 0) > least(TRAINING_MESSAGES, 0) == least(100_000, 0) > least(100_000, 1000)
    assert least(1000, 1000) == least(1000, 100_000)
