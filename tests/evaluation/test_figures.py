"""The summary against the functions it sums up, for two classes and many, and as json."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.metrics import precision_recall_fscore_support

from spamnb.evaluation import roc
from spamnb.evaluation.figures import as_json, figures, learning_curve
from spamnb.evaluation.result import Recorder, Result


def made_up(classes: tuple[str, ...], n: int = 400, ordered: bool = False, seed: int = 0) -> Result:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, len(classes), n)
    scores = rng.normal(size=(n, len(classes))) + 2.5 * np.eye(len(classes))[truth]
    p = softmax(scores, axis=1)
    verdicts = np.where(p.max(axis=1) > 0.55, p.argmax(axis=1), -1)
    names = [f"{i}" for i in range(n)]
    return Result("made up", classes, names, truth, scores, p, verdicts, ordered)


def test_two_classes():
    result = made_up(("ham", "spam"))
    found = figures(result, replicates=100)
    spam = found.spam
    assert spam is not None and found.calibration is not None
    assert spam.one_minus_roca.value == roc.one_minus_roca(result.truth == 1, result.probabilities[:, 1])
    ham_row, spam_row = found.confusion
    assert spam.hm.value == pytest.approx(100 * ham_row[1] / sum(ham_row))
    assert spam.sm.value == pytest.approx(100 * (spam_row[0] + spam_row[2]) / sum(spam_row))
    assert spam.unsure_ham == pytest.approx(100 * ham_row[2] / sum(ham_row))
    assert spam.sm_at_hm[0.1].value >= spam.sm_at_hm[1.0].value
    assert set(spam.total_cost_ratio) == {1, 9, 999}
    assert found.learning_curve == []
    assert found.by_class[0].one_minus_roca == pytest.approx(found.by_class[1].one_minus_roca)
    assert figures(result, replicates=100) == found
    assert figures(result, replicates=100, seed=1).macro_f1 != found.macro_f1


def test_many_classes_without_spam():
    result = made_up(tuple(f"group.{i:02}" for i in range(20)))
    found = figures(result, replicates=50)
    assert found.spam is None
    assert len(found.by_class) == 20 and sum(c.messages for c in found.by_class) == 400
    told = [(c.precision / 100, c.recall / 100, c.f1 / 100, c.messages) for c in found.by_class]
    expected = precision_recall_fscore_support(result.truth, result.verdicts, labels=range(20), zero_division=0)
    np.testing.assert_allclose(told, np.transpose(expected))
    assert [c.one_minus_roca for c in found.by_class] == [
        roc.one_minus_roca(result.truth == c, result.margin(c)) for c in range(20)
    ]
    assert found.accuracy.low < found.accuracy.value < found.accuracy.high


def test_spam_against_several_classes_of_good_mail():
    result = made_up(("ham", "list", "spam"))
    spam = figures(result, replicates=50).spam
    assert spam is not None
    good = result.truth != 2
    assert spam.hm.value == pytest.approx(100 * ((result.verdicts == 2) & good).sum() / good.sum())


def test_learning_curve_is_cumulative_and_ends_with_the_whole():
    result = made_up(("ham", "spam"), ordered=True)
    curve = learning_curve(result)
    whole = figures(result, replicates=50)
    assert whole.spam is not None
    last = curve[-1]
    assert last.messages == 400 and curve[0].messages == 50
    assert last.error == pytest.approx(100 - whole.accuracy.value)
    assert (last.hm, last.sm) == pytest.approx((whole.spam.hm.value, whole.spam.sm.value))
    assert last.one_minus_roca == whole.spam.one_minus_roca.value
    assert [p.messages for p in curve] == sorted({p.messages for p in curve})
    half = next(p for p in curve if p.messages >= 200)
    wrong = (~result.right[: half.messages]).mean()
    assert half.error == pytest.approx(100 * wrong)


def test_learning_curve_without_spam_is_that_of_the_errors():
    result = made_up(("a", "b", "c"), ordered=True)
    curve = learning_curve(result)
    assert [point.error for point in curve] == [
        pytest.approx(100 * (~result.right[: point.messages]).mean()) for point in curve
    ]
    assert all(math.isnan(value) for point in curve for value in (point.hm, point.sm, point.one_minus_roca))


def test_scores_alone_give_no_calibration():
    whole = made_up(("ham", "spam"))
    result = Result(
        "", whole.classes, whole.names, whole.truth, whole.scores, np.full((400, 2), np.nan), whole.verdicts
    )
    found = figures(result, replicates=50)
    assert found.calibration is None and found.spam is not None and found.spam.total_cost_ratio == {}


def test_json_has_no_nan_and_comes_back():
    found = as_json(figures(made_up(("ham", "spam"), n=40, ordered=True), replicates=50))
    text = json.dumps(found, allow_nan=False)
    assert json.loads(text)["spam"]["sm_at_hm"].keys() == {"0.1", "0.5", "1"}
    assert as_json({"a": math.inf, 0.5: [math.nan, 1]}) == {"a": None, "0.5": [None, 1]}


def test_no_messages_and_one_message():
    nothing = as_json(figures(Recorder().result("empty"), replicates=50))
    assert nothing["messages"] == 0 and nothing["accuracy"]["value"] is None
    json.dumps(as_json(figures(made_up(("ham", "spam"), n=1, ordered=True), replicates=50)), allow_nan=False)
