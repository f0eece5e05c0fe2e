"""drift.py: histograms of scores now and at training, and what is said of a model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mail import learned_model, mail, message

from spamnb.classifier import Classifier
from spamnb.journal.entries import Verdict, entry_of
from spamnb.journal.figures import days
from spamnb.journal.journal import Journal
from spamnb.serve.drift import EDGES, columns, scores_of, state_of
from spamnb.serve.score import score_message

NOW = 1_800_000_000


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return learned_model(tmp_path / "model.spamnb")


def entry(points: float, verdict: str, log_odds: float = 0.0, unknown: float = -1.0) -> Verdict:
    digest = np.random.default_rng(int(1000 * abs(points)) + len(verdict)).bytes(16)
    return Verdict(NOW, "", digest, digest, "", "", "", "", verdict, points, log_odds, "[]", "", b"", unknown)


def test_each_message_stands_in_the_column_of_its_points():
    points = [-40.0, -20.0, -19.9, 0.0, 2.4, 2.5, 4.9, 5.0, 7.5, 19.9, 20.0, 99.9]
    with Journal.at(":memory:") as journal:
        journal.add([entry(each, "spam" if each >= 5 else "ham") for each in points])
        found = scores_of(journal, 0)
    assert found == np.histogram(points, bins=[-1000, *EDGES, 1000])[0].tolist()
    assert len(found) == len(columns()) and scores_of_nothing() == [0] * len(columns())


def scores_of_nothing() -> list[int]:
    with Journal.at(":memory:") as journal:
        return scores_of(journal, 0)


def test_the_histogram_at_training_counts_each_message_once_and_on_its_side(model):
    with Classifier.open(model) as classifier:
        state = state_of(classifier)
        assert state.at_training is not None
        scored = sum(state.at_training)
        assert 0 < scored <= sum(state.messages.values()) and state.bytes > 0 and state.trained_at is None
        at_least_5 = sum(state.at_training[EDGES.index(5.0) + 1 :])
        judged = [score_message(classifier, raw).points >= 5 for _, raw in mail(30)]
        assert abs(at_least_5 / scored - sum(judged) / len(judged)) < 0.25
    with Classifier.create(":memory:") as classifier:
        for label in ("spam", "work", "lists"):
            classifier.learn(label, message("ham", len(label)))
        assert state_of(classifier).at_training is None
        classifier.store.put_meta({"trained_at": "no time at all"})
    with Classifier.create(":memory:") as classifier:
        classifier.store.put_meta({"trained_at": "2026-11-22T10:00:00+00:00"})
        assert state_of(classifier).trained_at == 1_795_341_600.0


def test_the_journal_keeps_what_was_expected_to_be_wrong_and_what_was_unknown(model):
    raw = b"Subject: prize\n\nprize offer and neverseenbefore otherneverseen"
    with Classifier.open(model) as classifier, Journal.at(":memory:") as journal:
        read = classifier.read(raw)
        found = score_message(classifier, read)
        known = classifier.store.look_up(list(read.counts)).positions
        assert found.unknown == pytest.approx(1 - len(known) / len(read.counts)) and 0 < found.unknown < 1
        noted = entry_of(read, found, classifier.settings)._replace(at=NOW)
        journal.add([noted, entry(0.1, "unsure", 1.0), entry(-3.0, "ham", -2.0, 0.5)])
        row = journal.of_message(read.digest)
        assert row is not None and row.entry.unknown == pytest.approx(found.unknown, abs=1e-4)
        (today,) = days(journal, 1, now=NOW)
    p = 1 / (1 + np.exp(-found.log_odds))
    assert today.expected == pytest.approx((1 - p if found.verdict == "spam" else p) + 1 / (1 + np.exp(2)))
    assert today.unknown == pytest.approx((found.unknown + 0.5) / 2, abs=1e-4)
