"""The newest fifth: which messages it is, when it tells enough, and that a model of the older ones classifies it."""

import random
import re
from email.utils import formatdate, parsedate_to_datetime
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from mail import count_messages, mail, message, train_file

from spamnb.evaluation.estimates import estimate
from spamnb.filter import Classifier
from spamnb.model import calibration
from spamnb.model.corrected import PASSES
from spamnb.model.decision import UNSURE, decide
from spamnb.model.newest import NoNewest, mark_newest, select_newest
from spamnb.model.pooling import evidence_shares, towards_prior
from spamnb.reader.message import digest
from spamnb.settings import Settings
from spamnb.store.store import Store
from spamnb.training import fit, model_of, prepare

HOUR = 3600
BEGIN = 1_600_000_000


def dated(raw: bytes, hour: int | None) -> bytes:
    if hour is None:
        return raw
    forged = formatdate(BEGIN - hour * HOUR).encode()
    return b"Received: from there by here; %s\nDate: %s\n" % (formatdate(BEGIN + hour * HOUR).encode(), forged) + raw


def drifting(each: int, undated: int = 0) -> list[tuple[str, bytes]]:
    """Mail in no order of time; of the newer half each third message is made of the other class's words."""
    found = []
    for number, (label, raw) in enumerate(mail(each)):
        if number > each and number % 3 == 0:
            raw = message("ham" if label == "spam" else "spam", 10_000 + number)
        found.append((label, dated(raw, None if number < undated else number)))
    random.Random(1).shuffle(found)
    return found


def hour_of(raw: bytes) -> int:
    received = raw.partition(b"\n")[0].rpartition(b"; ")[2].decode()
    return (int(parsedate_to_datetime(received).timestamp()) - BEGIN) // HOUR


@pytest.mark.parametrize(
    ("model_type", "pooling"),
    [*product(["boolean", "multinomial", "bernoulli"], ["sum", "mean"]), ("corrected", "mean")],
)
def test_the_newest_are_classified_by_a_model_that_was_trained_without_them(
    tmp_path: Path, model_type: str, pooling: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spamnb.model.corrected.PASSES_OF_OLDER", PASSES[0])  # as many as of a model that is kept
    unsure_cost = 0.01 if model_type == "corrected" else 0.4  # so that each is right now and then, and not always
    settings = Settings(model_type=model_type, pooling=pooling, unsure_cost=unsure_cost)
    messages = drifting(300, undated=40)
    messages += messages[:30]  # copies count once
    made = count_messages(messages)
    fitted = train_file(tmp_path / "all", made, settings)
    found, scored = estimate(fitted, settings).newest, fitted.newest
    begin = 600 - round((600 - 40) / 5)
    assert scored.since == BEGIN + begin * HOUR and len(found) == len(scored.rows) == 112
    last = {raw: n for n, (_, raw) in enumerate(messages)}
    distinct = [pair for n, pair in enumerate(messages) if last[pair[1]] == n]
    new = [pair for pair in distinct if b"Received" in pair[1] and hour_of(pair[1]) >= begin]
    older = [pair for pair in distinct if pair not in new]
    train_file(tmp_path / "older", count_messages(older), settings)
    with Classifier.open(tmp_path / "older") as classifier:
        of_older = scored.left_out.take(np.argsort(sorted(range(len(new)), key=lambda n: digest(new[n][1]))))
        by_older = [classifier.classify(raw) for _, raw in new]
        np.testing.assert_allclose(of_older.scores, [result.scores for result in by_older], atol=1e-9)
    assert [found.classes[label] for label in found.truth] == [label for label, _ in new]
    with Store.open(tmp_path / "all") as store:  # and calibrated as the model of all
        model = store.model
    typicality = np.array([result.typicality for result in by_older])
    np.testing.assert_allclose(of_older.typicality, typicality, atol=1e-9)
    decisions = decide(settings, model, of_older, np.ones(len(new), bool))
    assert [(*found.classes, UNSURE)[verdict] for verdict in found.verdicts] == decisions.verdicts
    assert len({*decisions.verdicts}) > 1
    assert model_type == "corrected" or not found.is_right.all(), "not all is right"


@pytest.mark.parametrize("model_type", ["boolean", "corrected"])
def test_a_model_is_calibrated_on_what_the_older_mail_says_of_the_newest(model_type: str) -> None:
    settings = Settings(model_type=model_type)
    training_set = prepare(count_messages(drifting(300)))
    fitted = fit(training_set, settings)
    estimates, scored = estimate(fitted, settings), fitted.newest
    left_out = estimates.left_out
    assert not len(fitted.mislabelled)
    rows = np.searchsorted(estimates.positions, training_set.rows.positions[scored.rows])
    is_new = np.isin(np.arange(len(left_out.truth)), rows)
    expected = calibration.histogram(left_out.scores[~is_new], left_out.truth[~is_new])
    expected += calibration.histogram(scored.left_out.scores, left_out.truth[rows])
    with model_of(training_set, settings) as store:
        np.testing.assert_array_equal(store.own.histogram, expected)
    p = calibration.fit_curves(expected).probabilities(left_out.scores)
    shares = evidence_shares(fitted.left_out.votes[np.argsort(training_set.rows.positions)])
    np.testing.assert_array_equal(left_out.probabilities, towards_prior(p, training_set.documents, shares))
    both = scored.left_out.scores, left_out.scores[rows]
    errors = [(scores.argmax(axis=1) != left_out.truth[rows]).sum() for scores in both]
    assert errors[0] > errors[1], "newer mail that was learned tells of mail that is not to come"


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        (drifting(300, undated=301), "only 299 of 600 messages have a date of arrival"),
        (drifting(200), "the newest fifth has only 40 messages of spam, and 50 are needed"),
        (
            [(label, dated(raw, n + 1000 * (label == "spam"))) for n, (label, raw) in enumerate(mail(300))],
            "the newest fifth has only 0 messages of ham, and 50 are needed",
        ),
        (
            [(label, dated(raw, n)) for n, (label, raw) in enumerate(mail(600)) if label == "ham" or n > 999],
            "70 of all 100 messages of spam are in the newest fifth",
        ),
        (
            [
                ("new" if n > 1000 and label == "ham" else label, dated(raw, n))
                for n, (label, raw) in enumerate(mail(600))
            ],
            "all messages of class 'new' are in the newest fifth",
        ),
        ([("ham", dated(raw, n)) for n, (_, raw) in enumerate(mail(300))], "there is only one class"),
    ],
    ids=["dates are few", "messages are few", "only spam is new", "most spam is new", "a class is new", "one class"],
)
def test_the_reason_is_named_where_there_is_no_estimate(messages: list[tuple[str, bytes]], reason: str) -> None:
    training_set = prepare(count_messages(messages))
    with pytest.raises(NoNewest, match=re.escape(reason)):
        select_newest(training_set, "spam")
    fitted = fit(training_set, Settings())
    assert not len(fitted.newest.rows) and fitted.newest.missing_because == reason
    assert len(training_set.classes) == 1 or estimate(fitted, Settings()).newest_missing_because == reason


@pytest.mark.parametrize("spam", ["spam", "junk"])
def test_just_enough_messages_are_enough(spam: str) -> None:
    assert select_newest(prepare(count_messages(drifting(300, undated=100))), spam).sum() == 100


def test_models_that_would_have_to_be_trained_again_are_not_asked() -> None:
    training_set = prepare(count_messages(drifting(300)))
    fitted = fit(training_set, Settings("lda", embedding="lsa:2"))
    assert not len(fitted.newest.rows) and "lda would have to be trained once more" in fitted.newest.missing_because
    assert len(fit(training_set, Settings()).newest.rows)


def test_of_one_second_the_last_in_the_mail_is_the_newest() -> None:
    assert mark_newest(np.array([7, 7, 7, 7]), np.array([3, 0, 2, 1]), 0.5).tolist() == [True, False, True, False]
    assert not mark_newest(np.zeros(0, np.int64), np.zeros(0, np.int64), 0.2).any()
