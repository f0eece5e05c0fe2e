"""Lessons that last: through train --force, another type of model and two versions of the tokens."""

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from commands import output_of, run
from mail import export_lines, kept_lessons, mail, message, without_calibration, without_correction, write_folders

from spamnb.filter import Classifier
from spamnb.settings import TOKENS_VERSION
from spamnb.store.database import APPLICATION_ID
from spamnb.store.store import Store


def refused(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code == 1 and isinstance(result.exception, SystemExit), result.output
    *_, last = result.output.splitlines()
    assert last.startswith("Error: ")
    return last


def set_meta(model: Path, **values: Any) -> None:
    with Store.open(model, writable=True) as store:
        store.put_meta(values)


def held(model: Path) -> list[tuple[str, bytes]]:
    with Store.open(model) as store:
        return kept_lessons(store)


def content(model: Path) -> list[str]:
    """Return the lines of an export, without the time of training."""
    return [re.sub('"trained_at": "[^"]*", ', "", line) for line in export_lines(model, lessons=True)]


def facts(model: Path) -> dict[str, Any]:
    found = json.loads(output_of("info", "-m", model, "--format", "json"))
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model that was trained on 40 messages, and taught two, and with these messages."""
    folder = tmp_path_factory.mktemp("taught")
    output_of("train", "-m", folder / "model", write_folders(folder / "mail", mail(20)))
    for label, raw in LESSONS:
        output_of("learn", "-m", folder / "model", label, stdin=raw)
    return folder


@pytest.fixture
def model(taught: Path, tmp_path: Path) -> Path:
    """Return a copy of the model, trained from a copy of its mail, which a test may change."""
    shutil.copytree(taught, tmp_path, dirs_exist_ok=True)
    set_meta(tmp_path / "model", trained_from=[str(tmp_path / "mail")])
    return tmp_path / "model"


LESSONS = [("spam", message("spam", 70)), ("ham", message("ham", 71))]


@pytest.mark.parametrize(("version", "page_bytes"), [(5, 4096), (8, 1024)])
def test_train_replaces_an_older_format_and_counts_the_lessons_that_are_lost(
    model: Path, tmp_path: Path, version: int, page_bytes: int
) -> None:
    old = tmp_path / "old"
    with closing(sqlite3.connect(old)) as database:
        for name, value in {"page_size": page_bytes, "application_id": APPLICATION_ID, "user_version": version}.items():
            database.execute(f"PRAGMA {name} = {value}")
        database.executescript(
            "PRAGMA journal_mode = WAL;"
            "CREATE TABLE messages (digest BLOB PRIMARY KEY, class INTEGER, taught INTEGER, bins TEXT) WITHOUT ROWID;"
            "INSERT INTO messages VALUES (x'01', 1, 1, '[3]'), (x'02', 2, 1, '[4]'), (x'03', 2, 0, NULL)"
        )
    assert "made by an older spamnb" in refused("upgrade", "-m", old)
    made = run("train", "--force", "-m", old, tmp_path / "mail")
    assert made.exit_code == 0, made.output
    assert "spamnb: lost: 2 lessons of the replaced model" in made.stderr
    output_of("train", "-m", tmp_path / "new", tmp_path / "mail")
    assert content(old) == content(tmp_path / "new")
    output_of("learn", "-m", old, "spam", stdin=message("spam", 72))


def test_train_with_force_teaches_the_lessons_again_and_says_how_many(model: Path, tmp_path: Path) -> None:
    for _ in range(2):
        told = output_of("train", "--force", "-m", model, tmp_path / "mail")
        assert "learned again: 2 lessons of the replaced model\n" in told
        assert held(model) == LESSONS and facts(model)["messages"] == {"ham": 21, "spam": 21}
        assert facts(model)["lessons"]["learned"] == 2
    output_of("learn", "-m", model, "spam", stdin=message("ham", 0))  # a person says that the folder is wrong
    told = output_of("train", "--force", "-m", model, "--set", "model_type=boolean", tmp_path / "mail")
    assert "learned again: 3 lessons" in told
    assert f"{model}: 40 messages and 2 lessons, {facts(model)['tokens']:,} different tokens\n" in told
    assert facts(model)["messages"] == {"ham": 20, "spam": 22}


def test_lessons_do_not_outlive_a_bound_of_0(model: Path, tmp_path: Path) -> None:
    output_of("learn", "-m", model, "--keep-lessons", 0, "spam", stdin=message("spam", 75))
    lessons = facts(model)["lessons"]
    assert sum(lessons.pop("learned_by_class").values()) == lessons.pop("learned") == 3
    assert lessons == {"kept": 0, "not_kept": 3, "bytes": 0, "bound": 0}
    told = output_of("train", "--force", "-m", model, tmp_path / "mail")
    assert "not learned again: 3 lessons that the replaced model does not keep" in told
    assert facts(model)["messages"] == {"ham": 20, "spam": 20}
    assert facts(model)["lessons"]["bound"] == 0, "the new model's bound is that of the old"


def test_it_is_said_that_a_file_which_everybody_may_read_keeps_nothing(model: Path) -> None:
    model.chmod(0o644)
    told = output_of("learn", "-m", model, "spam", stdin=message("spam", 90))
    assert "everybody can read the file" in told and "learned 1 of 1" in told and held(model) == LESSONS
    told = output_of("info", "-m", model)
    assert "2, 0.0 of at most 64 MB; 1 lesson not kept; no more" in told
    model.chmod(0o640)  # a service's group may
    assert "everybody" not in output_of("info", "-m", model)
    assert "everybody" not in output_of("learn", "-m", model, "spam", stdin=message("spam", 91))
    assert held(model) == [*LESSONS, ("spam", message("spam", 91))]


def test_the_sources_are_remembered_as_they_can_be_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_folders(tmp_path / "mail", mail(5))
    (tmp_path / "rows.csv").write_text("a,b\nspam,pills\nham,tea\n")
    monkeypatch.chdir(tmp_path)
    columns = ["--label-column", "a", "--text-column", "b"]
    output_of("train", "-m", "m", "mail", "ham=mail/ham", "rows.csv", *columns)
    settings = facts(Path("m"))["origin"]
    assert settings["trained_from"] == [f"{tmp_path}/mail", f"ham={tmp_path}/mail/ham", f"{tmp_path}/rows.csv"]
    assert settings["read_options"] == {"text_column": "b", "label_column": "a"}
    before = without_calibration(content(Path("m")))[1:]
    set_meta(Path("m"), tokens_version=1)
    monkeypatch.chdir("/")
    output_of("upgrade", "-m", tmp_path / "m")
    assert without_calibration(content(tmp_path / "m"))[1:] == before


def test_upgrade_makes_a_model_of_older_tokens_anew(model: Path, tmp_path: Path) -> None:
    output_of("train", "--force", "-m", model, "--set", "alpha=0.5", tmp_path / "mail")
    before = content(model)
    assert "nothing to do" in output_of("upgrade", "-m", model) and content(model) == before
    for version in (1, TOKENS_VERSION - 1):  # through two versions
        set_meta(model, tokens_version=version)
        for command in (["classify", tmp_path / "mail"], ["learn", "spam", tmp_path / "mail"], ["serve", "--port", 0]):
            assert "'spamnb upgrade' trains it again" in run(*command, "-m", model).output
        told = output_of("upgrade", "-m", model)
        assert f"training {model} again from {tmp_path / 'mail'}" in told and "learned again: 2 lessons" in told
        assert without_calibration(content(model))[1:] == without_calibration(before)[1:]
        assert facts(model)["settings"]["alpha"] == 0.5
        assert "ham" in output_of("classify", "-m", model, stdin=message("ham", 5))


def test_upgrade_takes_sources_that_moved(model: Path, tmp_path: Path) -> None:
    before = without_correction(content(model))[1:]
    set_meta(model, tokens_version=1)
    (tmp_path / "mail").rename(tmp_path / "moved")
    told = run("upgrade", "-m", model)
    assert told.exit_code == 1 and "not changed, because messages are missing" in told.stderr
    assert f"spamnb: {tmp_path / 'mail'}: no such file or folder" in told.stderr
    output_of("upgrade", "-m", model, tmp_path / "moved")
    trained = {json.dumps(record, sort_keys=True) for record in before}
    assert {json.dumps(record, sort_keys=True) for record in without_correction(content(model))[1:]} == trained
    assert facts(model)["origin"]["trained_from"] == [str(tmp_path / "moved")]


def test_upgrade_of_a_model_that_was_only_ever_taught_needs_no_source(tmp_path: Path) -> None:
    with Classifier.create(tmp_path / "m") as classifier:
        for label, raw in mail(5):
            classifier.learn(label, raw)
    before = without_correction(content(tmp_path / "m"))
    set_meta(tmp_path / "m", tokens_version=1)
    assert "again from the lessons that it keeps" in output_of("upgrade", "-m", tmp_path / "m")

    def tokens(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [record for record in records if "token" in record]

    assert tokens(without_correction(content(tmp_path / "m"))) == tokens(before)
    assert facts(tmp_path / "m")["lessons"]["kept"] == 10


def test_upgrade_from_a_folder_that_lost_its_mail_leaves_the_model_as_it_is(model: Path, tmp_path: Path) -> None:
    set_meta(model, tokens_version=1)
    for path in sorted((tmp_path / "mail" / "ham").iterdir())[:3]:
        path.unlink()
    before = content(model)
    told = refused("upgrade", "-m", model)
    assert "(3 of 21 of class 'ham'): they are neither in the sources nor in the model" in told
    assert content(model) == before
    told = output_of("upgrade", "-m", model, "--incomplete")
    assert "missing in the new model: 3 of 21 of class 'ham'" in told


def test_a_lesson_that_is_damaged_is_missing_after_an_upgrade(model: Path) -> None:
    set_meta(model, tokens_version=1)
    with Store.open(model, writable=True) as store, store.writing():
        store.execute("UPDATE kept_lessons SET message = x'ffff' WHERE position = 0")
    assert "missing in the new model: 1 of 21 of class 'spam'" in output_of("upgrade", "-m", model)


@pytest.mark.parametrize(
    "spoilt", [{"trained_from": "mail"}, {"trained_from": [3]}, {"read_options": {"recursive": "x"}}]
)
def test_a_model_that_says_nonsense_of_its_sources_is_refused(model: Path, spoilt: dict[str, Any]) -> None:
    set_meta(model, tokens_version=1, **spoilt)
    assert "its list of sources cannot be read" in refused("upgrade", "-m", model)


def test_export_and_import_carry_lessons_where_asked_to(model: Path, tmp_path: Path) -> None:
    (tmp_path / "lines").write_text(output_of("export", "--lessons", "-m", model))
    output_of("import", "-m", tmp_path / "copy", tmp_path / "lines")
    assert held(tmp_path / "copy") == LESSONS
    (tmp_path / "plain").write_text(output_of("export", "-m", model))
    output_of("import", "-m", tmp_path / "other", tmp_path / "plain")
    assert held(tmp_path / "other") == [] and "trained_from" not in facts(tmp_path / "other")["origin"]
    output_of("merge", "-m", tmp_path / "both", model, tmp_path / "copy")
    assert held(tmp_path / "both") == LESSONS
