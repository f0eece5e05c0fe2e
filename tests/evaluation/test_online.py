"""The stream against the loop written out, what feedback leaves out, and the order of dates."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from mail import mail, message, never

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.evaluation.online import Feedback, by_date, judged, online
from spamnb.settings import Settings
from spamnb.sources.entries import Entry


def stream(messages: list[tuple[str, bytes]]) -> list[Entry]:
    return [Entry(label, str(n), "", content=raw) for n, (label, raw) in enumerate(messages)]


def written_out(messages: list[tuple[str, bytes]], hears: list[list[int]]) -> list[dict[str, float]]:
    """Probabilities of each message when after it the messages ``hears[i]`` are learned."""
    out = []
    with Classifier.create(":memory:", Settings()) as classifier:
        for (_, raw), learned in zip(messages, hears):
            out.append(classifier.classify(raw).probabilities)
            for n in learned:
                classifier.learn(*messages[n])
    return out


MAIL = mail(15)
N = len(MAIL)


@pytest.mark.parametrize(
    ("feedback", "hears"),
    [
        (Feedback(), [[n] for n in range(N)]),
        (Feedback(first=10), [[n] if n < 10 else [] for n in range(N)]),
        (Feedback(delay=4), [[n - 4] if n >= 4 else [] for n in range(N)]),
        (Feedback(first=10, delay=4), [[n - 4] if 4 <= n < 14 else [] for n in range(N)]),
        (Feedback(first=0), [[] for _ in range(N)]),
    ],
    ids=str,
)
def test_each_message_is_judged_by_those_whose_truth_was_heard(feedback, hears):
    result = online(stream(MAIL), Settings(), never, feedback)
    assert result.ordered and str(feedback) in result.protocol and len(result) == N
    for row, expected in enumerate(written_out(MAIL, hears)):
        told = dict(zip(result.classes, result.probabilities[row]))
        for name, p in expected.items():
            assert told[name] == pytest.approx(p, abs=1e-12)


def test_partial_feedback_hears_its_share_of_the_same_messages_every_time():
    one, again = (online(stream(MAIL), Settings(), never, Feedback(share=0.5, seed=3)) for _ in range(2))
    whole = online(stream(MAIL), Settings(), never)
    assert np.array_equal(one.scores, again.scores)
    assert not np.array_equal(one.scores, whole.scores)
    assert "share of 0.5" in one.protocol


def test_nothing_known_is_unsure_and_learning_helps():
    result = online(stream(mail(40)), Settings(), never)
    assert result.verdicts[0] == -1
    assert result.right[-40:].mean() > 0.95
    assert all(row in result.details for row in np.flatnonzero(~result.right))


def test_a_model_as_it_is_learns_nothing():
    with Classifier.create(":memory:") as classifier:
        for label, raw in mail(20):
            classifier.learn(label, raw)
        before = classifier.store.totals().documents.tolist()
        result = judged(stream([("spam", message("spam", 99)), ("list", message("ham", 98))]), classifier, never)
        assert classifier.store.totals().documents.tolist() == before
    assert result.classes == ("ham", "list", "spam") and not result.ordered
    assert result.verdicts.tolist() == [2, 0] and result.details[1].subject
    assert result.protocol == "Model in memory"


def test_what_a_model_has_learned_is_told_to_be_no_test_of_it():
    with Classifier.create(":memory:") as classifier:
        for label, raw in mail(20):
            classifier.learn(label, raw)
        result = judged(stream([*mail(20)[:7], ("spam", message("spam", 99))]), classifier, never)
    assert result.protocol == "Model in memory, which had learned 7 of them"


def test_mail_whose_truth_is_awaited_is_not_kept_in_memory(tmp_path):
    entries = []
    for n in range(40):
        (tmp_path / str(n)).write_bytes(b"Content-Type: image/jpeg\n" + message("spam", n) + b"%d\n" % n * 500_000)
        entries.append(Entry("spam", str(n), str(tmp_path / str(n))))
    tracemalloc.start()
    try:
        assert len(online(entries, Settings(), never, Feedback(delay=30))) == 40
        with Classifier.create(":memory:") as classifier:
            assert len(judged(entries, classifier, never)) == 40
        assert tracemalloc.get_traced_memory()[1] < 20e6  # bytes; the messages together are 54 million
    finally:
        tracemalloc.stop()


def test_by_date_sorts_across_zones_and_keeps_the_undated_beside_their_neighbour():
    dates = [
        "Thu, 22 Aug 2002 18:26:25 +0700",  # 11:26 UTC
        "Thu, 22 Aug 2002 12:00:00 +0000",
        "Thu, 22 Aug 2002 06:00:00 -0500",  # 11:00 UTC
        "",
        "yesterday",
        "Wed, 21 Aug 2002 00:00:00",
        "Thu, 99 Foo 99999 99:99:99 +9999",
    ]
    entries = stream([("ham", f"Date: {date}\n\nx".encode()) for date in dates])
    assert [int(entry.name) for entry in by_date(entries, never)] == [5, 6, 2, 3, 4, 0, 1]


def test_by_date_goes_by_the_readers_own_server_and_not_by_what_senders_write():
    own = "Received: from there by here; Thu, 22 Aug 2002 {}:00:00 +0000\nReceived: from x by there; {}\nDate: {}\n\nx"
    forged = ["Fri, 1 Jan 2038 00:00:00 +0000", "Thu, 1 Jan 1998 00:00:00 +0000"]
    told = [own.format(hour, forged[hour % 2], forged[hour % 2]).encode() for hour in (15, 12, 14, 13)]
    entries = stream([("spam", raw) for raw in told])
    assert [int(entry.name) for entry in by_date(entries, never)] == [1, 3, 2, 0]


def test_feedback_that_cannot_be():
    for wrong in ({"share": 1.5}, {"delay": -1}, {"first": -1}):
        with pytest.raises(SpamnbError, match="cannot be"):
            Feedback(**wrong)


@pytest.mark.parametrize(
    "settings", [Settings(top_words=10), Settings(model_type="gaussian", embedding="lsa:5")], ids=lambda s: s.model_type
)
def test_what_needs_mail_before_the_first_message_is_refused(settings):
    with pytest.raises(SpamnbError, match="before the first message"):
        online(stream(MAIL), settings, never)


def test_an_unreadable_message_is_told_and_passed_over(tmp_path):
    told: list[str] = []
    entries = [*stream(MAIL), Entry("ham", "gone", str(tmp_path / "gone"))]
    result = online(entries, Settings(), lambda name, error: told.append(name))
    assert told == ["gone"] and len(result) == N
    assert len(by_date(entries, lambda name, error: told.append(name))) == N and len(told) == 2


def test_the_class_of_spam_is_that_of_the_settings():
    messages = [("junk" if label == "spam" else label, raw) for label, raw in mail(5)]
    result = online(stream(messages), Settings(spam="junk"), never)
    assert (result.spam, result.classes[result.spam_index]) == ("junk", "junk")


def test_a_class_that_never_came_is_not_impossible() -> None:
    some = [(label, b"Subject: %d\n\nsome words" % i) for i, label in enumerate("hhhs")]
    found = online(stream(some), Settings(spam="s"), never)
    np.testing.assert_allclose(found.margin(found.classes.index("s")), [0.0, -np.log(2), -np.log(3), -np.log(4)])
