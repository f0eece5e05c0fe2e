"""The record: what is kept of answers, margins and probabilities, runs compared message by message."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax

from spamnb.evaluation.result import Answer, Recorder, Result


def result_of(rows: list[tuple[str, str, str]], classes: tuple[str, ...] = ("ham", "spam")) -> Result:
    recorder = Recorder()
    for name, truth, verdict in rows:
        p = {c: 0.9 if c == verdict else 0.1 / (len(classes) - 1) for c in classes}
        recorder.add(name, truth, Answer(verdict, {c: math.log(p[c]) for c in classes}, p))
    return recorder.result("made up")


@given(st.lists(st.lists(st.floats(-500, 500), min_size=4, max_size=4), min_size=1, max_size=5))
def test_margin_is_the_log_odds_of_the_softmax(rows):
    scores = np.array(rows)
    n = len(rows)
    result = Result("", tuple("abcd"), [""] * n, np.zeros(n, int), scores, softmax(scores, axis=1), np.zeros(n, int))
    for c in range(4):
        expected = scores[:, c] - logsumexp(np.delete(scores, c, axis=1), axis=1)
        assert result.margin(c) == pytest.approx(expected, abs=1e-9)


def test_classes_may_turn_up_on_the_way():
    recorder = Recorder()
    recorder.add("1", "ham", Answer("unsure", {}, {}))
    recorder.add("2", "spam", Answer("ham", {"ham": 0.0}, {"ham": 1.0}))
    recorder.add("3", "list", Answer("spam", {"ham": 0.0, "spam": 1.0}, {"ham": 0.3, "spam": 0.7}))
    result = recorder.result("on-line", ordered=True)
    assert result.classes == ("ham", "list", "spam")
    assert result.verdicts.tolist() == [-1, 0, 2]
    assert result.probabilities[0].tolist() == [1 / 3] * 3
    assert result.probabilities[1].tolist() == [1, 0, 0]
    assert result.scores[2].tolist() == [0, -np.inf, 1]
    assert result.margin(2).tolist() == [0, -np.inf, 1]
    assert result.spam_index == 2


def test_only_errors_keep_their_evidence():
    recorder = Recorder()
    recorder.add("1", "ham", Answer("ham", {}, {}, "Minutes", [("meeting", 2.0)]))
    recorder.add("2", "ham", Answer("spam", {}, {}, "Offer", [("offer", 3.0)]))
    result = recorder.result("")
    assert set(result.details) == {1}
    assert result.details[1].subject == "Offer" and result.details[1].evidence == (("offer", 3.0),)


def test_runs_are_paired_by_name_whatever_their_order():
    first = result_of([("a", "ham", "ham"), ("b", "spam", "spam"), ("c", "spam", "ham"), ("a", "ham", "ham")])
    second = result_of([("b", "spam", "ham"), ("a", "ham", "ham"), ("a", "ham", "spam"), ("c", "spam", "spam")])
    assert first.against(second)[:2] == (2, 1)
    assert second.against(first)[:2] == (1, 2)


def test_runs_over_other_messages_are_refused_by_name():
    one = result_of([("a", "ham", "ham")])
    with pytest.raises(ValueError, match="a is in only one"):
        one.against(result_of([("b", "ham", "ham")]))
    with pytest.raises(ValueError, match="true class of a"):
        one.against(result_of([("a", "spam", "ham")]))


def test_no_spam_class_no_spam_figures():
    assert result_of([("a", "x", "x")], ("x", "y")).spam_index is None
    with pytest.raises(ValueError, match="cannot have arrays"):
        Result("", ("a",), ["1"], np.zeros(2, int), np.zeros((1, 1)), np.zeros((1, 1)), np.zeros(1, int))
