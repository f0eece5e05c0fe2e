"""Learned messages in the store: kept lessons, rows of messages, and what is said of them."""

import json
import random
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mail import count_messages, import_store, kept_lessons, mail, message, train_file

from spamnb.errors import Damaged, SpamnbError, SpamnbWarning
from spamnb.filter import Classifier
from spamnb.settings import Settings
from spamnb.sources.formats import MAX_MESSAGE
from spamnb.store.jsonl import export
from spamnb.store.lessons import (
    ROW_BYTES,
    Lesson,
    add_lessons,
    compress,
    count_lessons,
    count_unkept_lessons,
    decompress,
    measure_lessons,
    read_lessons,
    write_lessons_bound,
)


@pytest.fixture
def classifier(tmp_path: Path) -> Iterator[Classifier]:
    train_file(tmp_path / "m", count_messages(mail(3)), Settings())
    with Classifier.open(tmp_path / "m", writable=True) as made:
        yield made


@given(st.binary(max_size=5000))
def test_a_message_comes_back_as_it_was(raw: bytes) -> None:
    assert decompress(compress(raw)) == raw


BOMB = zlib.compress(bytes(3 * MAX_MESSAGE), 9)


@pytest.mark.parametrize("spoilt", [b"", b"no", compress(b"tea")[:-1], compress(b"tea") + b"x", BOMB], ids=range(5))
def test_what_is_no_packed_message_is_refused(spoilt: bytes) -> None:
    with pytest.raises(Damaged, match="a kept lesson that is"):
        decompress(spoilt)


def test_what_a_person_teaches_is_kept_and_what_training_saw_is_not(classifier: Classifier) -> None:
    assert kept_lessons(classifier.store) == []
    classifier.learn("spam", message("spam", 50))
    classifier.learn("ham", message("ham", 51))
    assert kept_lessons(classifier.store) == [("spam", message("spam", 50)), ("ham", message("ham", 51))]
    found = measure_lessons(classifier.store)
    packed = len(compress(message("spam", 50))) + len(compress(message("ham", 51)))
    assert found == (2, packed + 2 * ROW_BYTES, 64_000_000)
    assert count_unkept_lessons(classifier.store) == 0
    assert count_lessons(classifier.store) == {"ham": 1, "spam": 1}


@settings(max_examples=20)
@given(st.lists(st.tuples(st.sampled_from(("ham", "spam")), st.integers(0, 4)), max_size=12), st.integers(0, 2**32))
def test_to_learn_and_then_forget_changes_nothing_lessons_included(steps: list[tuple[str, int]], seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder, Classifier.create(Path(folder, "m")) as classifier:
        for label, raw in mail(3):
            classifier.learn(label, raw)
        before = list(export(classifier.store, with_lessons=True))
        last: dict[int, str] = {}
        for label, number in steps:
            classifier.learn(label, message("spam", 100 + number))
            last[number] = label
        order = list(last)
        random.Random(seed).shuffle(order)
        for number in order:
            assert classifier.forget(last[number], message("spam", 100 + number))
        assert list(export(classifier.store, with_lessons=True)) == before


def test_what_is_forgotten_is_nowhere_in_the_file(classifier: Classifier, tmp_path: Path) -> None:
    raw = random.Random(7).randbytes(20_000)  # no zlib makes less of it, so the file holds it as it is
    raw = b"Subject: tea\n\n" + raw
    classifier.learn("spam", raw)
    classifier.store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    inside = raw[9000:9050]
    assert inside in (tmp_path / "m").read_bytes()
    classifier.forget("spam", raw)
    classifier.store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert inside not in (tmp_path / "m").read_bytes()


def test_the_bound_is_kept_and_the_oldest_leave(classifier: Classifier) -> None:
    write_lessons_bound(classifier.store, 0.02)
    rng, taught = random.Random(1), []
    for n in range(150):
        raw = message("spam", 100 + n) + bytes(rng.randrange(32, 127) for _ in range(rng.randrange(700)))
        classifier.learn("spam", raw)
        taught.append(("spam", raw))
        if n % 3 == 2:  # holes must not let more in
            gone = taught.pop(-2)
            classifier.forget(*gone)
        found = measure_lessons(classifier.store)
        assert found.bytes <= found.bound == 20_000
    assert kept_lessons(classifier.store) == taught[-found.messages :]
    assert found.bytes > 17_000


def test_messages_that_are_stored_again_displace_no_others(classifier: Classifier) -> None:
    write_lessons_bound(classifier.store, 0.1)
    raws = [b"Subject: %d\n\n" % n + random.Random(n).randbytes(2000).hex().encode() for n in range(10)]
    for raw in raws:
        classifier.learn("spam", raw)
    for label in ("ham", "spam") * 25:
        classifier.learn(label, raws[0]), classifier.learn(label, raws[1])
    assert len(kept_lessons(classifier.store)) == 10


def test_a_smaller_bound_holds_at_once_and_0_takes_everything_out(classifier: Classifier) -> None:
    for n in range(20):
        classifier.learn("spam", message("spam", 100 + n))
    write_lessons_bound(classifier.store, 0.003)
    found = measure_lessons(classifier.store)
    assert 0 < found.messages < 20 and found.bytes <= 3000
    write_lessons_bound(classifier.store, 0)
    assert kept_lessons(classifier.store) == []
    classifier.learn("spam", message("spam", 200))
    assert kept_lessons(classifier.store) == []
    assert count_unkept_lessons(classifier.store) == 21


def test_a_message_that_is_a_large_part_of_the_bound_is_learned_and_not_kept(classifier: Classifier) -> None:
    write_lessons_bound(classifier.store, 0.1)
    large, small = b"Subject: a\n\n" + b"x" * 6240, b"Subject: b\n\n" + b"x" * 6200
    assert classifier.learn("spam", large) and classifier.learn("spam", small)
    assert kept_lessons(classifier.store) == [("spam", small)]


@pytest.mark.parametrize(
    "spoilt",
    [
        {"base64": "AAAA"},
        {"base64": "!"},
        {"class": "list"},
        {"kept": "00"},
        {"taught_at": -1},
    ],
)
def test_spoilt_lessons_are_not_imported(classifier: Classifier, spoilt: dict[str, object]) -> None:
    classifier.learn("ham", message("ham", 70))
    lines = list(export(classifier.store, with_lessons=True))
    assert "kept" in lines[-2]
    lines[-2] = json.dumps({**json.loads(lines[-2]), **spoilt})
    with pytest.raises(SpamnbError, match=f"^x: (line {len(lines) - 1} is not of an exported model|.* kept_lessons)"):
        import_store(lines, "x")


@pytest.mark.parametrize("value", [-1, "64", None, 1e9, True, float("nan")])
def test_a_bound_that_is_none_is_damage(classifier: Classifier, value: object) -> None:
    classifier.store.put_meta({"keep_lessons": value})
    with pytest.raises(SpamnbError, match="keep_lessons in table meta"):
        classifier.learn("spam", b"x")


def test_lessons_of_another_file_are_kept_within_the_bound(classifier: Classifier) -> None:
    write_lessons_bound(classifier.store, 0.002)
    lessons = [Lesson(bytes([n]) * 16, "spam", n, compress(message("spam", n))) for n in range(9)]
    add_lessons(classifier.store, lessons)
    found = list(read_lessons(classifier.store))
    assert found == lessons[-len(found) :] and 0 < len(found) < 9
    assert measure_lessons(classifier.store).bytes <= 2000


def test_a_damaged_lesson_of_the_first_class_is_told_and_stays_when_the_second_class_begins(tmp_path: Path) -> None:
    with Classifier.create(tmp_path / "m") as model:
        model.learn_all(["ham"] * 3, [message("ham", n) for n in range(3)])
        with model.store.writing():
            model.store.execute("UPDATE kept_lessons SET message = x'ffff' WHERE position = 0")
        with pytest.warns(SpamnbWarning, match=r"lesson [0-9a-f]{32}: a kept lesson that is damaged; it counts"):
            assert model.learn("spam", message("spam", 1))
        assert model.model.totals.documents.tolist() == [3, 1]
        assert model.model.histogram[0, 0].sum() == 1  # the first message has no score either
