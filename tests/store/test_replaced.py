"""A model file that is removed, and another trained at its path, while programs have it open."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from mail import count_messages, mail, message, train_file

from spamnb.errors import SpamnbError
from spamnb.filter import Classifier
from spamnb.settings import Settings


def train(path: Path, each: int) -> None:
    path.unlink(missing_ok=True)
    train_file(path, count_messages(mail(each)), Settings(), force=True)


def test_without_a_file_mail_is_classified_and_nothing_learned(tmp_path: Path) -> None:
    train(tmp_path / "model", 20)
    with Classifier.open(tmp_path / "model", writable=True) as classifier:
        before = classifier.classify(message("spam", 500)).verdict
        os.remove(tmp_path / "model")
        assert classifier.classify(message("spam", 500)).verdict == before
        with pytest.raises(SpamnbError, match="model: no model there"):
            classifier.learn("spam", message("spam", 500))
        (tmp_path / "model").write_bytes(b"no model")
        assert classifier.classify(message("spam", 500)).verdict == before
        with pytest.raises(SpamnbError, match="model: not a spamnb model"):
            classifier.learn("spam", message("spam", 500))


def test_the_log_of_a_removed_model_is_not_read_into_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "model"
    train(path, 20)
    with Classifier.open(path, writable=True) as classifier:
        classifier.learn("spam", message("spam", 500))
        assert Path(f"{path}-wal").stat().st_size
        train(path, 10)
        with Classifier.open(path) as new:
            assert new.learned(message("spam", 500)) is None
            assert new.model.totals.documents.tolist() == [10, 10]
            assert new.store.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_change_to_a_file_that_was_replaced_meanwhile_is_an_error(tmp_path: Path) -> None:
    train(tmp_path / "model", 20)
    with Classifier.open(tmp_path / "model", writable=True) as classifier:
        replaced = pytest.raises(SpamnbError, match="another file took its place while it was being changed")
        with replaced, classifier.store.writing():
            classifier.learn("spam", message("spam", 500))
            train(tmp_path / "model", 10)
        assert classifier.learned(message("spam", 500)) is None
        assert classifier.learn("spam", message("spam", 500))


@pytest.mark.parametrize("seed", range(3))
def test_no_acknowledged_lesson_is_lost_whenever_the_file_is_replaced(tmp_path: Path, seed: int) -> None:
    chance, path = random.Random(seed), tmp_path / "model"
    train(path, 15)
    kept: set[int] = set()
    with Classifier.open(path, writable=True) as classifier:
        for number in range(1000, 1060):
            if chance.random() < 0.1:
                train(path, 15)
                kept = set()
            elif chance.random() < 0.2 and kept:
                gone = chance.choice(sorted(kept))
                assert classifier.forget("ham", message("spam", gone))
                kept.discard(gone)
            else:
                assert classifier.learn("ham", message("spam", number))
                kept.add(number)
            with Classifier.open(path) as fresh:
                assert {n for n in range(1000, 1060) if fresh.learned(message("spam", n)) == "ham"} == kept
