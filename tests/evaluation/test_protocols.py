"""Protocols: folds, splits, leave-one-out and streams are learning and classifying, written out."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from mail import fail, mail, make_model, message, train_file

from spamnb.engines.counting import count_parallel
from spamnb.errors import SpamnbError
from spamnb.evaluation import protocols
from spamnb.evaluation.online import evaluate_model, evaluate_stream, sort_by_date
from spamnb.evaluation.protocols import Mail, make_mail
from spamnb.evaluation.result import Result
from spamnb.filter import Classifier
from spamnb.settings import Settings
from spamnb.sources.entries import Entry

COPIES = [("ham", message("ham", 3)), ("spam", message("spam", 4))]
THREE = [*mail(9), *COPIES, *[("list", message("ham", n)) for n in range(40, 47)], ("spam", b"")]
SETTINGS = [
    Settings(),
    Settings(model_type="bernoulli", pooling="sum", alpha=1.0),
    Settings(model_type="multinomial", pooling="sum"),
]


def counted(folder: Path, messages: list[tuple[str, bytes]], settings: Settings) -> Mail:
    entries = [Entry(label, f"{label}/{n}", "", content=raw) for n, (label, raw) in enumerate(messages)]
    return make_mail(count_parallel(entries, settings, fail), [entry.name for entry in entries])


def test_the_oldest_are_learned_and_copies_stay_together(tmp_path: Path) -> None:
    hours = [5, 1, 4, 2, 3, 9, 8, None, 6, 7]
    messages = [
        (label, raw if hour is None else b"Received: by here; Thu, 22 Aug 2002 %02d:00:00 +0000\n" % hour + raw)
        for (label, raw), hour in zip(mail(5), hours)
    ]
    found = counted(tmp_path, [*messages, messages[5]], Settings())
    part = protocols.split_by_date(found, 0.7).tolist()
    assert [hour for hour, number in zip([*hours, 9], part) if number == 0] == [9, 8, 7, 9]
    assert not (protocols.split_by_date(found, 0.001)[[n for n, hour in enumerate(hours) if hour]]).any()
    with pytest.raises(SpamnbError, match="a split of 1 leaves one part empty"):
        protocols.split_by_date(found, 1)
    (tmp_path / "undated").mkdir()
    with pytest.raises(SpamnbError, match="no message has a date"):
        protocols.split_by_date(counted(tmp_path / "undated", mail(5), Settings()), 0.5)


def check(folder: Path, result: Result, settings: Settings, learned: Callable[[int], list[int]]) -> None:
    """Every row of the result is what a model file trained on the messages ``learned(row)`` says."""
    models: dict[tuple[int, ...], Classifier] = {}
    for row, name in enumerate(result.names):
        own = int(name.rsplit("/")[-1])
        assert result.classes[result.truth[row]] == THREE[own][0]
        key = tuple(learned(own))
        if key not in models:
            part = folder / f"{len(models)}"
            part.mkdir()
            held = counted(part, [THREE[n] for n in key], settings)
            train_file(part / "model", held.training_set, settings)
            models[key] = Classifier.open(part / "model")
        classification = models[key].classify(THREE[own][1])
        known = [result.classes.index(c) for c in classification.probabilities]
        np.testing.assert_allclose(result.scores[row, known], classification.scores, atol=1e-9, err_msg=name)
        missing = sorted(set(range(len(result.classes))) - set(known))
        assert (result.scores[row, missing] == -np.inf).all() and not result.probabilities[row, missing].any()
        if result.protocol != "Leave-one-out":  # which has one calibration for all
            told = list(classification.probabilities.values())
            np.testing.assert_allclose(result.probabilities[row, known], told, atol=1e-9)
            assert [*result.classes, "unsure"][result.verdicts[row]] == classification.verdict
            if row in result.errors:
                ours, theirs = result.errors[row].evidence, dict(classification.evidence)
                heaviest = [abs(weight) for weight in theirs.values()][:12]  # equal ones stand in any order
                assert [abs(weight) for _, weight in ours] == pytest.approx(heaviest)
                assert [weight for _, weight in ours] == pytest.approx([theirs[token] for token, _ in ours])
    for model in models.values():
        model.close()


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: s.model_type)
def test_split_is_training_on_one_part_and_classifying_the_other(tmp_path, settings):
    held = counted(tmp_path, THREE, settings)
    learned = np.arange(len(THREE)) % 3 > 0
    result = protocols.evaluate_parts(held, settings, np.where(learned, -1, 0), "by hand")
    assert len(result) == (~learned).sum() and result.protocol == "by hand"
    check(tmp_path, result, settings, lambda _: np.flatnonzero(learned).tolist())
    assert all(answer.evidence or answer.name.endswith(f"/{len(THREE) - 1}") for answer in result.errors.values())


@pytest.mark.parametrize("settings", SETTINGS[:2], ids=lambda s: s.model_type)
def test_folds_are_training_again_on_the_rest_of_each(tmp_path, settings):
    held = counted(tmp_path, THREE, settings)
    fold = protocols.assign_folds(held.digests, held.rows.labels, 4, 3)
    result = protocols.evaluate_parts(held, settings, fold, "4 folds")
    assert sorted(result.names) == sorted(f"{label}/{n}" for n, (label, _) in enumerate(THREE))
    check(tmp_path, result, settings, lambda own: np.flatnonzero(fold != fold[own]).tolist())


def test_leave_one_out_is_forgetting_each(tmp_path):
    settings = Settings("boolean")
    held = counted(tmp_path, THREE, settings)
    result = protocols.evaluate_leave_one_out(held, settings)
    assert len(result) == len(THREE) - len(COPIES)  # the last copy stands for a message
    check(tmp_path, result, settings, lambda own: [n for n in range(len(THREE)) if THREE[n][1] != THREE[own][1]])
    assert set(result.errors) == set(np.flatnonzero(~result.is_right).tolist())


def test_copies_stay_together_and_parts_are_even(tmp_path):
    messages = mail(50) + mail(10)
    held = counted(tmp_path, messages, Settings())
    group, order = protocols.group_copies(held.digests, held.rows.labels, 0)
    assert len(order) == 100 and group[:20].tolist() == group[100:].tolist()
    learned = protocols.split_by_chance(held, 0.3, 7) < 0
    assert learned[:20].tolist() == learned[100:].tolist()
    per_class = [learned[:100][np.array([label == c for label, _ in messages[:100]])].sum() for c in ("ham", "spam")]
    assert per_class == [15, 15]
    assert ((protocols.split_by_chance(held, 0.3, 7) < 0) == learned).all()
    assert ((protocols.split_by_chance(held, 0.3, 8) < 0) != learned).any()


def test_what_cannot_be_split_is_said(tmp_path):
    held = counted(tmp_path, mail(3), Settings())
    for call, said in (
        (lambda: protocols.split_by_chance(held, 1.5, 0), "between 0 and 1"),
        (lambda: protocols.evaluate_parts(held, Settings(), np.zeros(6, int), ""), "leaves one part empty"),
        (lambda: protocols.assign_folds(held.digests, held.rows.labels, 7), "folds"),
        (lambda: evaluate_stream(stream(MAIL), Settings("lda", embedding="lsa:10"), fail), "no training mail"),
    ):
        with pytest.raises(SpamnbError, match=said):
            call()


def stream(messages: list[tuple[str, bytes]]) -> list[Entry]:
    return [Entry(label, str(n), "", content=raw) for n, (label, raw) in enumerate(messages)]


MAIL = mail(15)
N = len(MAIL)


def test_each_message_is_classified_by_those_before_it():
    result = evaluate_stream(stream(MAIL), Settings(), fail)
    assert len(result) == N
    with Classifier.create(":memory:", Settings()) as classifier:
        for row, (label, raw) in enumerate(MAIL):
            told = dict(zip(result.classes, result.probabilities[row]))
            for name, p in classifier.classify(raw).probabilities.items():
                assert told[name] == pytest.approx(p, abs=1e-12)
            classifier.learn(label, raw)


def test_mail_of_a_stream_is_not_kept_in_memory(tmp_path):
    entries = []
    for n in range(40):
        (tmp_path / str(n)).write_bytes(b"Content-Type: image/jpeg\n" + message("spam", n) + b"%d\n" % n * 500_000)
        entries.append(Entry("spam", str(n), str(tmp_path / str(n))))
    tracemalloc.start()
    try:
        assert len(evaluate_stream(entries, Settings(), fail)) == 40
        with make_model([("spam", b"Subject: x")]) as classifier:
            assert len(evaluate_model(entries, classifier, fail)) == 40
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
    assert [int(entry.name) for entry in sort_by_date(entries, fail)] == [5, 6, 2, 3, 4, 0, 1]


def test_an_unreadable_message_is_told_and_passed_over(tmp_path):
    told: list[str] = []
    entries = [*stream(MAIL), Entry("ham", "gone", str(tmp_path / "gone"))]
    result = evaluate_stream(entries, Settings(), lambda name, error: told.append(name))
    assert told == ["gone"] and len(result) == N
    assert len(sort_by_date(entries, lambda name, error: told.append(name))) == N and len(told) == 2


def test_a_class_that_never_came_is_not_impossible() -> None:
    some = [(label, b"Subject: %d\n\nsome words" % i) for i, label in enumerate("hhhs")]
    found = evaluate_stream(stream(some), Settings(spam="s"), fail)
    np.testing.assert_allclose(found.margins[:, found.classes.index("s")], [0.0, -np.log(2), -np.log(3), -np.log(4)])
