"""The bootstrap against slow resampling, and the figures of made-up answers."""

import json
import math

import numpy as np
import pytest
from scipy.special import softmax

from spamnb.evaluation import intervals, metrics
from spamnb.evaluation.figures import compute_figures, to_json
from spamnb.evaluation.result import Result


def sample(rng: np.random.Generator, ham: int = 150, spam: int = 100) -> tuple[np.ndarray, np.ndarray]:
    label = np.repeat([False, True], [ham, spam])
    return label, rng.normal(size=ham + spam) + 2.0 * label


def test_the_fast_resampling_is_the_slow_one():
    label, score = sample(np.random.default_rng(3))
    fast = intervals.roc_estimates(metrics.roc_counts(label, score), replicates=3000)[0]
    rng = np.random.default_rng(4)
    logits = []
    for _ in range(600):
        ham, spam = rng.choice(score[~label], 150), rng.choice(score[label], 100)
        rate = metrics.one_minus_roca(label, np.r_[ham, spam]) / 100
        logits.append(math.log(rate / (1 - rate)))
    width = math.log(fast.high / (100 - fast.high)) - math.log(fast.low / (100 - fast.low))
    assert width == pytest.approx(2 * intervals.Z * np.std(logits, ddof=1), rel=0.12)


def test_intervals_hold_the_truth_about_19_times_in_20():
    # Two normals 2 apart: 1 − ROCA = Φ(−2/√2) = 7.865 %.
    rng = np.random.default_rng(5)
    trials, covered = 200, 0
    for _ in range(trials):
        label, score = sample(rng)
        found = intervals.roc_estimates(metrics.roc_counts(label, score), replicates=150)[0]
        covered += found.low <= 7.865 <= found.high
    assert 0.90 <= covered / trials <= 0.99


def test_where_the_bootstrap_is_blind_it_claims_no_certainty():
    perfect = intervals.roc_estimates(metrics.roc_counts([False, True], [0, 1]))[0]
    assert perfect == (0.0, 0.0, pytest.approx(97.5))
    same = intervals.roc_estimates(metrics.roc_counts([False] * 60 + [True] * 60, np.zeros(120)))[0]
    assert same.value == 50 and math.isnan(same.low) and math.isnan(same.high)


def test_a_limit_that_the_good_mail_is_too_little_to_measure_has_no_interval():
    rng = np.random.default_rng(9)
    few, many = (
        intervals.roc_estimates(metrics.roc_counts(*sample(rng, ham, 200)), replicates=50)[1] for ham in (1000, 3688)
    )
    assert few.value > 0 and math.isnan(few.low) and math.isnan(few.high)
    assert many.low < many.value < many.high


def made_up(classes: tuple[str, ...], n: int = 400) -> Result:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, len(classes), n)
    scores = rng.normal(size=(n, len(classes))) + 2.5 * np.eye(len(classes))[truth]
    p = softmax(scores, axis=1)
    verdicts = np.where(p.max(axis=1) > 0.55, p.argmax(axis=1), -1)
    names = [f"{i}" for i in range(n)]
    return Result("made up", classes, names, truth, scores, p, verdicts)


def test_two_classes():
    result = made_up(("ham", "spam"))
    found = compute_figures(result, replicates=100)
    spam = found.spam
    assert spam is not None
    assert spam.one_minus_roca.value == metrics.one_minus_roca(result.truth == 1, result.probabilities[:, 1])
    ham_row, spam_row = found.confusion
    assert spam.hm.value == pytest.approx(100 * ham_row[1] / sum(ham_row))
    assert spam.sm.value == pytest.approx(100 * (spam_row[0] + spam_row[2]) / sum(spam_row))
    assert spam.unsure_ham == pytest.approx(100 * ham_row[2] / sum(ham_row))
    assert compute_figures(result, replicates=100) == found != compute_figures(result, replicates=100, seed=1)


def test_of_many_classes_each_has_its_row():
    result = made_up(tuple(f"group.{i:02}" for i in range(20)))
    found = compute_figures(result, replicates=50)
    assert found.spam is None and found.accuracy.low < found.accuracy.value < found.accuracy.high
    areas = [metrics.one_minus_roca(result.truth == c, result.margins[:, c]) for c in range(20)]
    assert [c.one_minus_roca for c in found.by_class] == areas
    cells = np.array(found.confusion)
    assert [c.recall for c in found.by_class] == pytest.approx(100 * np.diagonal(cells) / cells.sum(axis=1))


def test_json_has_no_nan_and_comes_back():
    found = to_json(compute_figures(made_up(("ham", "spam"), n=40), replicates=50))
    assert json.loads(json.dumps(found, allow_nan=False))["spam"]["sm_at_hm"].keys() == {"value", "low", "high"}
    assert to_json({"a": math.inf, "b": [math.nan, 1]}) == {"a": None, "b": [None, 1]}
    json.dumps(to_json(compute_figures(made_up(("ham", "spam"), n=1), replicates=50)), allow_nan=False)
