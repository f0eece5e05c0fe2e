"""Slips of the hand that turned the filter off: each is refused in a line that says what was meant, or does no harm."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from mail import folders, mail, message

from spamnb.classifier import Classifier
from spamnb.cli import cli
from spamnb.errors import SpamnbError
from spamnb.serve.users import class_of_label
from spamnb.store.store import Store


def run(*words: object, given: bytes | None = None) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words], input=given)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folders(tmp_path / "mail", mail(30))
    path = tmp_path / "model"
    assert run("train", "-m", path, tmp_path / "mail").exit_code == 0
    return path


@pytest.mark.parametrize("label", ["spma", "hma", "list"])
def test_learning_a_class_that_the_model_lacks_is_refused(model: Path, label: str) -> None:
    done = run("learn", "-m", model, label, given=message("spam", 70))
    assert done.exit_code == 1 and f"{label!r} is none of the classes ham, spam" in done.output
    assert ("did you mean" in done.output) == (label != "list")
    with Store.open(model) as store:
        assert store.totals().classes == ("ham", "spam")


def test_a_new_class_is_made_when_told(model: Path) -> None:
    assert run("learn", "-m", model, "--new-class", "list", given=message("ham", 70)).exit_code == 0
    with Store.open(model) as store:
        assert store.totals().classes == ("ham", "list", "spam")


@pytest.mark.parametrize("words", [[], ["--new-class"]])
def test_a_class_in_capitals_is_never_a_third_one(model: Path, words: list[str]) -> None:
    done = run("learn", "-m", model, *words, "SPAM", given=message("spam", 70))
    assert done.exit_code == 1 and "'SPAM' differs from class spam in case alone" in done.output


def test_one_message_of_a_third_class_leaves_spam_what_it_was(model: Path) -> None:
    asked = [message("spam", n) for n in range(100, 120)]
    with Classifier.open(model, writable=True) as classifier:
        before = [classifier.classify(raw).verdict for raw in asked]
        assert before.count("spam") > 15
        classifier.learn("list", message("ham", 99))
        after = [classifier.classify(raw).verdict for raw in asked]
    assert after.count("spam") > len(after) // 2


def test_a_model_of_lessons_takes_its_first_two_classes_without_asking(tmp_path: Path) -> None:
    path = tmp_path / "model"
    assert run("learn", "-m", path, "spma", given=message("spam", 1)).exit_code == 1
    assert not path.exists()
    assert run("learn", "-m", path, "good", given=message("ham", 1)).exit_code == 0
    assert run("learn", "-m", path, "spam", given=message("spam", 1)).exit_code == 0
    assert run("learn", "-m", path, "other", given=message("ham", 2)).exit_code == 1


def test_swapped_arguments_of_learn_are_put_right(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "message.eml"
    path.write_bytes(message("spam", 70))
    done = run("learn", "-m", model, path, "spam")
    assert done.exit_code == 1 and f"write 'spamnb learn spam {path}'" in done.output


def test_the_protocol_makes_no_class_beside_those_that_a_model_has(model: Path) -> None:
    with Classifier.open(model, writable=True) as classifier:
        assert class_of_label(classifier, "ham") == "ham"
        for number, label in enumerate(("news", "list"), 90):
            classifier.learn(label, message("ham", number))
        assert class_of_label(classifier, "ham") == "ham"
        for _, raw in mail(30):
            classifier.forget("ham", raw)
        with pytest.raises(SpamnbError, match="'ham' is none of its classes list, news"):
            class_of_label(classifier, "ham")


def test_training_refuses_classes_that_differ_in_case_alone(tmp_path: Path) -> None:
    folders(tmp_path / "mail", mail(5))
    (tmp_path / "mail" / "spam").rename(tmp_path / "mail" / "Ham")
    done = run("train", "-m", tmp_path / "model", tmp_path / "mail")
    assert done.exit_code == 1 and "classes 'Ham' and 'ham' differ in case alone" in done.output
    assert not (tmp_path / "model").exists()


def test_training_refuses_a_name_of_spam_that_no_class_has(tmp_path: Path) -> None:
    folders(tmp_path / "mail", mail(5))
    done = run("train", "-m", tmp_path / "model", "--spam", "spma", tmp_path / "mail")
    assert done.exit_code == 1 and "--spam spma: no class has this name; the classes are ham, spam" in done.output


def test_what_force_throws_away_is_said_with_its_number(model: Path, tmp_path: Path) -> None:
    assert run("learn", "-m", model, "spam", given=message("spam", 70)).exit_code == 0
    done = run("train", "--force", "-m", model, tmp_path / "mail")
    assert done.exit_code == 0 and "had learned 1 message one by one" in done.output
    assert "one by one" not in run("train", "--force", "-m", model, tmp_path / "mail").output


def test_an_empty_file_is_called_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "model").touch()
    done = run("classify", "-m", tmp_path / "model", given=b"x")
    assert done.exit_code == 1 and "an empty file and no model" in done.output


def test_a_model_is_for_its_owner_alone_and_stays_as_its_owner_opens_it(model: Path, tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        assert stat.S_IMODE(model.stat().st_mode) == 0o600
        model.chmod(0o640)
        assert run("train", "--force", "-m", model, tmp_path / "mail").exit_code == 0
        assert stat.S_IMODE(model.stat().st_mode) == 0o640
        assert run("learn", "-m", tmp_path / "lessons", "spam", given=message("spam", 1)).exit_code == 0
        assert stat.S_IMODE((tmp_path / "lessons").stat().st_mode) == 0o600
    finally:
        os.umask(umask)
