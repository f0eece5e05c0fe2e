"""old_models.py: a file of an older format is trained again, and a hostile one is refused."""

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from commands import output_of, run
from mail import count_messages, export_lines, learned_class, mail, message, train_file, write_folders

from spamnb.api.train import train
from spamnb.errors import Outdated, SpamnbError
from spamnb.filter import Classifier
from spamnb.settings import COST_SETTINGS, TOKEN_SETTINGS, Settings
from spamnb.store.old_models import OLD_TABLES, readable_model
from spamnb.store.store import OLD_FORMATS, Store


def write_old(path: Path, version: int = 9) -> None:
    """Rewrite a model as a version of spamnb with an older format would have written it."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        tokens, classes, examples = OLD_TABLES[version]
        connection.execute("ALTER TABLE classes RENAME TO new_classes")
        for statement in ("DROP TABLE tokens", tokens, classes, "DROP TABLE examples", examples):
            connection.execute(statement)
        width = len(connection.execute("SELECT * FROM tokens").description)
        connection.execute(f"INSERT INTO tokens VALUES (1{', x' * (width - 1)})".replace("x", "x'ff'"))  # noqa: S608
        names = ", ".join(name for (name, *_) in connection.execute("SELECT * FROM classes").description)
        connection.execute(f"INSERT INTO classes SELECT {names} FROM new_classes")  # noqa: S608
        connection.execute("DROP TABLE new_classes")
        connection.execute(f"PRAGMA user_version = {version}")
        if version > 9:
            return
        select = "SELECT digest, facts FROM messages WHERE facts IS NOT NULL"
        for digest, facts in connection.execute(select).fetchall():
            old = {key: value for key, value in json.loads(facts).items() if key != "typicality"}
            connection.execute("UPDATE messages SET facts = ? WHERE digest = ?", (json.dumps(old), digest))
        meta = dict(connection.execute("SELECT key, value FROM meta WHERE content IS NULL"))
        for group, names in (("tokens", TOKEN_SETTINGS), ("loss", COST_SETTINGS)):
            values = {name: json.loads(meta[name]) for name in names if name in meta}
            if values:
                connection.execute("INSERT INTO meta VALUES (?, ?, NULL)", (group, json.dumps(values)))
            connection.executemany("DELETE FROM meta WHERE key = ?", [(name,) for name in names])
        connection.execute("INSERT INTO meta VALUES ('prior', '\"mle\"', NULL), ('revision', '', x'00')")
        connection.execute("UPDATE meta SET key = 'base' WHERE key = 'shared_model'")
        connection.execute("UPDATE meta SET value = '13' WHERE key = 'tokens_version'")


@pytest.fixture(params=["corrected", "bernoulli", "lda"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    kind = {"model_type": request.param} | ({"embedding": "lsa:2"} if request.param == "lda" else {})
    train(write_folders(tmp_path / "mail", mail(25)), tmp_path / "m", starter=False, **kind)
    with Classifier.open(tmp_path / "m", writable=True) as classifier:
        for label, number in (("ham", 90), ("spam", 91), ("ham", 92)):
            classifier.learn(label, message("spam", number))
    return tmp_path / "m"


@pytest.mark.parametrize("version", OLD_FORMATS)
def test_a_file_of_an_older_format_is_trained_again_with_all_that_it_learned(model: Path, version: int) -> None:
    before = export_lines(model, lessons=True)[1:]  # without the time of the training
    write_old(model, version)
    with pytest.raises(Outdated, match="'spamnb upgrade' trains it again"):
        Store.open(model)
    result = run("upgrade", "-m", model)
    assert result.exit_code == 0, result.output
    assert export_lines(model, lessons=True)[1:] == before
    assert run("upgrade", "-m", model).output.startswith(f"{model}: nothing to do")


@pytest.mark.parametrize("model", ["corrected"], indirect=True)
def test_a_new_training_learns_the_lessons_of_the_format_before(model: Path) -> None:
    write_old(model)
    assert "learned again: 3 lessons" in output_of("train", "--force", "-m", model, model.parent / "mail")
    assert learned_class(model, message("spam", 91)) == "spam"


@pytest.mark.parametrize("model", ["corrected"], indirect=True)
def test_a_file_whose_mail_is_gone_is_not_trained_again_unless_one_says_so(model: Path) -> None:
    write_old(model)
    shutil.rmtree(model.parent / "mail")
    before = model.read_bytes()
    missing = run("upgrade", "-m", model)
    assert missing.exit_code == 1 and "not changed" in missing.output and "25 of 26 of class 'spam'" in missing.output
    assert model.read_bytes() == before and [path.name for path in model.parent.iterdir()] == [model.name]
    assert run("upgrade", "-m", model, "--incomplete").exit_code == 0
    assert learned_class(model, message("spam", 91)) == "spam"


def test_users_models_are_trained_again_after_the_shared_one(tmp_path: Path) -> None:
    shared, users = tmp_path / "shared", tmp_path / "users"
    users.mkdir()
    train(write_folders(tmp_path / "mail", mail(25)), shared, starter=False)
    assert run("learn", "-m", users / "ann.spamnb", "--shared", shared, "spam", stdin=message("ham", 9)).exit_code == 0
    with Classifier.open(users / "ann.spamnb") as classifier:
        before = classifier.classify(message("ham", 8)).scores
    write_old(users / "ann.spamnb")
    write_old(shared)
    assert "trained again on 1 lesson" in run("upgrade", "-m", shared, "--models", users).output
    with Classifier.open(users / "ann.spamnb") as classifier:
        assert np.array_equal(classifier.classify(message("ham", 8)).scores, before)


def test_if_no_file_can_be_written_beside_an_old_one_the_error_names_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / ("m" * 245)  # the name of a file beside it would be too long
    Classifier.create(tmp_path / "new").close()
    (tmp_path / "new").rename(path)
    write_old(path)
    with pytest.raises(SpamnbError, match=r"m: cannot be written \(File name too long\); ") as error:
        readable_model(path).__enter__()
    assert ".read.new" not in str(error.value)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        ("UPDATE classes SET documents = -1", "documents in table classes|out of range|classes"),
        ("UPDATE meta SET value = '[' WHERE key = 'vocabulary_size'", "vocabulary_size in table meta"),
        ("UPDATE messages SET class = 9", "table messages"),
        ("CREATE TABLE more (x)", "other tables"),
        ("CREATE TRIGGER t AFTER INSERT ON messages BEGIN DELETE FROM hard; END", "other tables"),
    ],
)
def test_a_damaged_old_file_stays_and_is_told_in_one_line(tmp_path: Path, spoil: str, says: str) -> None:
    path = tmp_path / "m"
    train_file(path, count_messages(mail(8)), Settings())
    write_old(path)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(spoil)
    shutil.copy(path, tmp_path / "copy")
    with pytest.raises(SpamnbError, match=says) as error:
        readable_model(path).__enter__()
    assert "\n" not in str(error.value) and str(path) in str(error.value)
    with (
        contextlib.closing(sqlite3.connect(path)) as one,
        contextlib.closing(sqlite3.connect(tmp_path / "copy")) as two,
    ):
        assert list(one.iterdump()) == list(two.iterdump())
