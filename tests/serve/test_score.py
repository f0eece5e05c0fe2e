"""Points that agree with the verdict, and names that fit into a header line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from served import mail

from spamnb.classifier import Classifier
from spamnb.serve.score import _MAX_REPORT_ROWS, Score, name_of, points_of, score_message

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


@pytest.mark.parametrize(("log_odds", "stars"), [(1e9, 50), (2.3, 5), (0.46, 1), (0.4, 0), (-1e9, 0)])
def test_a_star_for_each_point_and_no_more_than_fit_a_line(log_odds, stars):
    verdict = "spam" if log_odds >= 2.3 else "ham"
    assert dict(Score.of(verdict, log_odds, 2.3).fields()).get("X-Spam-Level", "") == "*" * stars


def test_evidence_is_for_spam_whatever_is_likeliest():
    with Classifier.create(":memory:") as classifier:
        for number in range(20):
            for label in ("work", "spam"):
                classifier.learn(label, mail("spam" if label == "spam" else "ham", number) + label.encode())
        for label, sign in (("spam", 1), ("ham", -1)):
            raw = mail(label, 99)
            found, judgement = score_message(classifier, raw), classifier.classify(raw)
            assert found.spam == (label == "spam") and found.log_odds == judgement.score
            strongest = judgement.evidence[:_MAX_REPORT_ROWS]
            assert found.evidence == tuple((token, sign * weight) for token, weight in strongest)
            assert sign * sum(weight for _, weight in found.evidence) > 0


def test_evidence_is_for_spam_where_two_classes_of_good_mail_are_alike():
    with Classifier.create(":memory:") as classifier:
        for number in range(20):
            for label in ("spam", "home", "work"):
                classifier.learn(label, mail("spam" if label == "spam" else "ham", number) + label.encode())
        found = score_message(classifier, mail("ham", 99))
        assert sum(weight for _, weight in found.evidence) < -0.1, "home and work tell nothing of each other"
        assert sum(weight for _, weight in score_message(classifier, mail("spam", 99)).evidence) > 0.1


def test_the_longest_report_fits_exim():
    evidence = [("\U0001f4b0" * 100, float(n)) for n in range(_MAX_REPORT_ROWS)]
    assert len(Score.of("spam", 9.0, 2.3, tuple(evidence)).report()) < 32_000
