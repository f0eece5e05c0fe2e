"""Points that agree with the verdict, and names that fit into a header line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.serve.score import _ROWS, Score, name_of, points_of

nats = st.floats(-1e6, 1e6)
thresholds = st.floats(-10, 20)


@given(nats, nats, thresholds)
def test_points_rise_with_the_log_odds(a, b, threshold):
    low, high = sorted((a, b))
    assert points_of(low, threshold) <= points_of(high, threshold)
    assert points_of(threshold, threshold) == 5.0


@given(st.floats(1, 20))
def test_zero_is_even_odds(threshold):
    assert points_of(0.0, threshold) == 0.0


@given(nats, thresholds, st.sampled_from(["spam", "ham", "unsure"]))
def test_printed_points_never_contradict_the_verdict(log_odds, threshold, verdict):
    score = Score.of(verdict, log_odds, threshold)
    assert (float(score.text) >= 5.0) == score.spam == (verdict == "spam")
    assert "." in score.text and score.text != "-0.0"
    if verdict == ("spam" if log_odds >= threshold else "ham"):
        assert abs(score.points - points_of(log_odds, threshold)) < 0.11  # its own points


def test_infinite_odds_have_finite_points():
    assert Score.of("spam", float("inf"), 2.0).text == "99.9"
    assert Score.of("ham", float("-inf"), 2.0).text == "-99.9"
    with pytest.raises(ValueError):
        points_of(float("nan"), 2.0)


@given(st.text())
def test_names_are_one_printable_word(token):
    name = name_of(token)
    assert name and all("!" <= c <= "~" and c != "," for c in name) and len(name) <= 480


def test_fields_of_spam_and_ham():
    evidence = [("subject:win", 2.5), ("meeting", -1.0), ("free", 0.5)]
    fields = dict(Score.of("spam", 4.6, 2.3, tuple(evidence)).fields())
    assert fields["X-Spam-Flag"] == "YES" and fields["X-Spam-Level"] == "*" * 10
    assert fields["X-Spam-Status"].startswith(
        "Yes, score=10.0 required=5.0 verdict=spam tests=subject:win, meeting, free autolearn=no"
    )
    fields = dict(Score.of("unsure", 0.0, 2.3).fields())
    assert "X-Spam-Flag" not in fields and "X-Spam-Level" not in fields
    assert fields["X-Spam-Status"].startswith("No, score=0.0 required=5.0 verdict=unsure tests=none")


def test_the_longest_report_fits_exim():
    evidence = [("\U0001f4b0" * 100, float(n)) for n in range(_ROWS)]
    assert len(Score.of("spam", 9.0, 2.3, tuple(evidence)).report()) < 32_000
