"""The ROC against scikit-learn, a count of all pairs, and a try of every threshold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from sklearn.metrics import roc_auc_score

from spamnb.evaluation import roc

# Few distinct scores, so that ties are the rule.
messages = st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=40).filter(
    lambda rows: {label for label, _ in rows} == {True, False}
)


def vectors(rows: list[tuple[bool, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([label for label, _ in rows]), np.array([score for _, score in rows], dtype=float)


@given(messages)
def test_area_is_scikit_learns_and_a_count_of_all_pairs(rows):
    label, score = vectors(rows)
    pairs = [(h, s) for h in score[~label] for s in score[label]]
    by_hand = sum(1.0 if h > s else 0.5 if h == s else 0.0 for h, s in pairs) / len(pairs)
    assert roc.one_minus_roca(label, score) == pytest.approx(100 * by_hand, abs=1e-12)
    assert roc.one_minus_roca(label, score) == pytest.approx(100 * (1 - roc_auc_score(label, score)), abs=1e-9)


@given(messages, st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 1.0]))
def test_spam_missed_at_a_ham_limit_is_the_best_of_all_thresholds(rows, limit):
    label, score = vectors(rows)
    tried = []
    for threshold in [math.inf, *score]:
        called = score >= threshold
        if (called & ~label).sum() <= limit * (~label).sum() + 1e-9:
            tried.append((label & ~called).sum() / label.sum())
    assert roc.spam_missed_at(roc.roc_counts(label, score), limit) == pytest.approx(min(tried))


@given(messages)
def test_merged_steps_keep_every_message_and_the_corners_of_the_curve(rows):
    label, score = vectors(rows)
    step = roc.roc_counts(label, score)
    assert step.ham.sum() == (~label).sum() and step.spam.sum() == label.sum()
    line = roc.curve(step)
    assert (line.ham_misclassified[0], line.spam_misclassified[0]) == (0, 1)
    assert (line.ham_misclassified[-1], line.spam_misclassified[-1]) == (1, 0)
    area = trapezoid(1 - line.spam_misclassified, line.ham_misclassified)
    assert 100 * (1 - area) == pytest.approx(roc.one_minus_roca(label, score))


def test_one_pair_in_ten_million_is_not_lost():
    label = np.repeat([False, True], [10_000, 1_000])
    score = label.astype(float)
    score[0] = 1.0  # one ham tied with all spam: half of 1000 pairs in 10,000,000
    assert roc.one_minus_roca(label, score) == 100 * 500 / 10_000_000


def test_a_stack_of_resampled_steps_is_each_of_them():
    rng = np.random.default_rng(1)
    label, score = rng.random(200) < 0.5, rng.normal(size=200).round(1)
    step = roc.roc_counts(label, score)
    stack = roc.RocCounts(np.stack([step.ham, step.ham * 2]), np.stack([step.spam, step.spam * 3]))
    single = float(roc.misordered(step))
    assert roc.misordered(stack).tolist() == pytest.approx([single, single])
    assert roc.spam_missed_at(stack, 0.1).shape == (2,)


def test_what_cannot_be_ordered_or_compared_is_said():
    assert math.isnan(roc.one_minus_roca([True, True], [0.1, 0.2]))
    assert math.isnan(roc.one_minus_roca([], []))
    with pytest.raises(ValueError, match="NaN"):
        roc.roc_counts([True, False], [0.1, math.nan])
    with pytest.raises(ValueError, match="one length"):
        roc.roc_counts([True, False], [0.1])
    with pytest.raises(ValueError, match="between 0 and 1"):
        roc.spam_missed_at(roc.roc_counts([True, False], [1, 0]), 10)
