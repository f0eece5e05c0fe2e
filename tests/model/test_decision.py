"""model/decision.py: spam is called what is likely spam, and typical of the spam that is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.core.score import Scores
from spamnb.model import calibration
from spamnb.model.decision import (
    TYPICALITY_BINS,
    decide,
    describe_doubt,
    is_typical,
    least_share,
    sum_typicality,
)
from spamnb.model.model import SIZE, Model
from spamnb.settings import STRICTNESS, Settings

SHARES = st.floats(0, 1)
HAM, SPAM = 0, 1


def known(spam: list[float], n_good: int) -> np.ndarray:
    """Return the known mail of a model with these typicalities of spam, and with good mail."""
    sums = sum_typicality(np.array([spam, spam]).T, np.full(len(spam), SPAM))
    sums[HAM, 0] = n_good
    return sums


@given(st.floats(1, 10**6), st.floats(1, 10**6), st.sampled_from(sorted(STRICTNESS.values())))
def test_the_share_of_spam_that_becomes_unsure_falls_with_good_mail_and_grows_with_the_cost(
    n_good: float, more: float, cost: float
) -> None:
    assert 0 < least_share(n_good + more, cost) < least_share(n_good, cost) < least_share(n_good, 2 * cost) < 1


@given(st.lists(SHARES, max_size=60), st.lists(SHARES, min_size=1), st.integers(0, 10**6), st.integers(0, 10**4))
def test_a_more_typical_message_is_spam_if_a_less_typical_one_is(
    spam: list[float], typicality: list[float], n_good: int, more: int
) -> None:
    in_order = np.sort(typicality)
    is_spam = is_typical(in_order, known(spam, n_good), SPAM, 9.0)
    assert (np.diff(is_spam.astype(int)) >= 0).all()
    assert (is_typical(in_order, known(spam, n_good + more), SPAM, 9.0) >= is_spam).all()
    assert is_spam.any() <= bool(spam)  # a model that knows no spam calls none spam


@pytest.mark.parametrize("n_spam", [10, 50, 100, 400, 10_000])
@pytest.mark.parametrize("n_good", [10, 100, 1000])
def test_the_promised_share_of_known_spam_is_unsure(n_spam: int, n_good: int) -> None:
    spam = np.random.default_rng(0).beta(20, 4, n_spam)
    is_spam = is_typical(spam, known(spam.tolist(), n_good), SPAM, 9.0)
    coarseness = 2 * np.histogram(spam, TYPICALITY_BINS, (0, 1))[0].max() / n_spam
    assert 1 - is_spam.mean() == pytest.approx(least_share(n_good, 9.0), abs=coarseness)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(2, 4))
def test_sums_add_up_and_subtract_exactly(seed: int, n: int, classes: int) -> None:
    chance = np.random.default_rng(seed)
    typicality, labels = chance.random((n, classes)), chance.integers(0, classes, n)
    part = chance.random(n) < 0.5
    whole = sum_typicality(typicality, labels)
    assert np.array_equal(
        whole - sum_typicality(typicality[part], labels[part]), sum_typicality(typicality[~part], labels[~part])
    )
    assert (whole[:, 1:].sum(axis=1) == np.bincount(labels, minlength=classes)).all()


@pytest.mark.parametrize("typicality", [0.0, 0.95])
@pytest.mark.parametrize("is_whole", [True, False])
def test_spam_must_be_typical_and_other_mail_whole(typicality: float, is_whole: bool) -> None:
    scores = np.array([[-9.0, 9.0], [9.0, -9.0]])
    sums, typical = np.full((2, 3), 200), known([0.9] * 200, 200)
    histogram = calibration.histogram(scores.repeat(200, axis=0), np.repeat([SPAM, HAM], 200))
    model = Model({SIZE: 9}, {"ham": HAM, "spam": SPAM}, sums, histogram, np.zeros(2, int), typical, None)
    messages = Scores.zeros(2, 2)._replace(
        scores=scores, typicality=np.full((2, 2), typicality), votes=np.full(2, np.inf)
    )
    decisions = decide(Settings(), model, messages, np.array([is_whole, is_whole]))
    assert decisions.verdicts == ["spam" if typicality else "unsure", "ham" if is_whole else "unsure"]
    assert [bool(doubt) for doubt in decisions.doubts] == [not typicality, not is_whole]
    np.testing.assert_allclose(decisions.probabilities, model.calibration.probabilities(scores), rtol=1e-12)


def test_doubts_are_told_apart() -> None:
    assert describe_doubt(0.7, 0.9) == "unlike the spam that this model knows"
    assert describe_doubt(0.3, 0.9) == "as much like good mail as like spam"
    assert "next to nothing" in describe_doubt(0.3, 0.1)
    assert "parts were not read" in describe_doubt(0.3, 0.9, is_whole=False)
