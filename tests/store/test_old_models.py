"""old_models.py: a file of the format before is rewritten with all that it has, and a hostile one is refused."""

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from commands import run
from mail import count_messages, export_lines, mail, message, train_file

from spamnb.errors import Outdated, SpamnbError
from spamnb.filter import Classifier
from spamnb.model.class_counts import Cells
from spamnb.settings import COST_SETTINGS, TOKEN_SETTINGS, Settings
from spamnb.store.old_models import _COPIED, _OLD_CLASSES, _OLD_HARD, _OLD_TOKENS, rewrite_old_model
from spamnb.store.snapshot import read_snapshot
from spamnb.store.store import OLD_FORMAT, Store


def pack(numbers: list[int]) -> bytes:
    """Pack numbers with 7 bits in a byte, the lowest first."""
    packed = bytearray()
    for number in numbers:
        while number > 127:
            packed.append(number & 127 | 128)
            number >>= 7
        packed.append(number)
    return bytes(packed)


def write_old(path: Path) -> None:
    """Rewrite a model as a version of spamnb with the format before would have written it."""
    with Store.open(path) as store:
        block = read_snapshot(store).block
    rows: list[list[int]] = [[] for _ in block.tokens]
    cells: Cells = block.cells
    for token, label, (documents, occurrences, weight) in zip(
        cells.token.tolist(), cells.label.tolist(), cells.figures.T.tolist()
    ):
        signed = 2 * weight if weight >= 0 else -2 * weight - 1
        rows[token] += [label, documents, occurrences - documents, signed]
    vectors = [vector.tobytes() if vector.any() else None for vector in block.vectors]
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TABLE tokens")
        connection.execute(_OLD_TOKENS)
        classes = connection.execute(f"SELECT {_COPIED['classes']} FROM classes").fetchall()  # noqa: S608
        connection.execute("DROP TABLE classes")
        connection.execute(_OLD_CLASSES)
        marks = ", ".join("?" * len(classes[0])) if classes else ""
        connection.executemany(f"INSERT INTO classes ({_COPIED['classes']}) VALUES ({marks})", classes)  # noqa: S608
        examples = connection.execute(f"SELECT {_COPIED['hard']} FROM hard").fetchall()  # noqa: S608
        connection.execute("DROP TABLE hard")
        connection.execute(_OLD_HARD)
        connection.executemany(f"INSERT INTO hard ({_COPIED['hard']}, offsets) VALUES (?, ?, ?, ?, '')", examples)  # noqa: S608
        select = "SELECT digest, facts FROM messages WHERE facts IS NOT NULL"
        for digest, facts in connection.execute(select).fetchall():
            old = {key: value for key, value in json.loads(facts).items() if key != "typicality"}
            connection.execute("UPDATE messages SET facts = ? WHERE digest = ?", (json.dumps(old), digest))
        hashes = block.tokens.hashes.tolist()
        values = zip(hashes, block.tokens, [24_000] * len(rows), map(pack, rows), vectors)
        connection.executemany("INSERT INTO tokens VALUES (?, ?, ?, ?, ?)", values)
        meta = dict(connection.execute("SELECT key, value FROM meta WHERE content IS NULL"))
        for group, names in (("tokens", TOKEN_SETTINGS), ("loss", COST_SETTINGS)):
            values = {name: json.loads(meta[name]) for name in names if name in meta}
            if values:
                connection.execute("INSERT INTO meta VALUES (?, ?, NULL)", (group, json.dumps(values)))
            connection.executemany("DELETE FROM meta WHERE key = ?", [(name,) for name in names])
        connection.execute("INSERT INTO meta VALUES ('prior', '\"mle\"', NULL), ('revision', '', x'00')")
        connection.execute("UPDATE meta SET key = 'base' WHERE key = 'shared_model'")
        connection.execute(f"PRAGMA user_version = {OLD_FORMAT}")


def read_all_examples(path: Path) -> list[tuple]:
    """Return the rows of table hard, without pending units, which an old file has in its tokens."""
    with Store.open(path) as store:
        return store.execute("SELECT sequence, digest, class, groups, hashes FROM hard ORDER BY sequence").fetchall()


def without_typicality(lines: list[str]) -> list[dict[str, object]]:
    """Return the records of an export without typicality, which the format before had not."""
    return [{key: value for key, value in json.loads(line).items() if key != "typicality"} for line in lines]


@pytest.fixture(params=["corrected", "bernoulli", "lda"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    kind = {"model_type": request.param} | ({"embedding": "lsa:2"} if request.param == "lda" else {})
    train_file(tmp_path / "m", count_messages(mail(15)), Settings(**kind))
    with Classifier.open(tmp_path / "m", writable=True) as classifier:
        for label, number in (("ham", 90), ("spam", 91), ("ham", 92)):
            classifier.learn(label, message("spam", number))
    return tmp_path / "m"


def test_a_file_of_the_format_before_is_rewritten_with_all_that_it_has(model: Path) -> None:
    before, examples = export_lines(model, lessons=True), read_all_examples(model)
    write_old(model)
    with pytest.raises(Outdated, match="'spamnb upgrade' rewrites it"):
        Store.open(model)
    result = run("upgrade", "-m", model)
    assert result.exit_code == 0 and result.output == f"{model}: rewritten in the format of this version of spamnb\n"
    assert without_typicality(export_lines(model, lessons=True)) == without_typicality(before)
    assert read_all_examples(model) == examples
    assert run("upgrade", "-m", model).output.startswith(f"{model}: nothing to do")
    with Classifier.open(model, writable=True) as classifier:
        assert classifier.forget("spam", message("spam", 91))


def test_a_rewritten_model_calls_mail_spam_after_a_few_lessons(tmp_path: Path) -> None:
    path = tmp_path / "m"
    train_file(path, count_messages(mail(60)), Settings())
    new = [message("spam", number) for number in range(90, 110)]
    with Classifier.open(path) as classifier:
        assert [result.verdict for result in classifier.classify_all(new)].count("spam") > 15
    write_old(path)
    assert rewrite_old_model(path)
    with Classifier.open(path, writable=True) as classifier:
        assert classifier.model.known_typicality[:, 0].tolist() == [60, 60]
        assert {result.verdict for result in classifier.classify_all(new)} == {"unsure"}
        for number in range(200, 206):
            classifier.learn("spam", message("spam", number))
        verdicts = [result.verdict for result in classifier.classify_all(new)]
        good = classifier.classify_all([message("ham", number) for number in range(90, 110)])
    assert verdicts.count("spam") > 10 and "spam" not in {result.verdict for result in good}


def test_users_models_are_rewritten_after_the_shared_one(tmp_path: Path) -> None:
    shared, users = tmp_path / "shared", tmp_path / "users"
    users.mkdir()
    train_file(shared, count_messages(mail(15)), Settings())
    assert run("learn", "-m", users / "ann.spamnb", "--shared", shared, "spam", stdin=message("ham", 9)).exit_code == 0
    with Classifier.open(users / "ann.spamnb") as classifier:
        before = classifier.classify(message("ham", 8)).scores
    write_old(users / "ann.spamnb")
    write_old(shared)
    assert run("upgrade", "-m", shared, "--models", users).output.count("rewritten in the format") == 2
    with Classifier.open(users / "ann.spamnb") as classifier:
        assert np.array_equal(classifier.classify(message("ham", 8)).scores, before)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        ("UPDATE tokens SET cells = substr(cells, 2)", "truncated cells"),
        ("UPDATE tokens SET cells = x'808080808080'", "truncated cells"),
        ("UPDATE tokens SET cells = 'x'", "cells in table tokens that are not bytes"),
        ("UPDATE tokens SET cells = x'09010000'", "unknown or repeated classes"),
        ("UPDATE tokens SET cells = x'0001000000010000'", "unknown or repeated classes"),
        ("UPDATE tokens SET token = token || 'x'", "sums of tokens|not in order|another hash"),
        ("UPDATE tokens SET vector = x'00'", "truncated vectors"),
        ("DELETE FROM tokens WHERE hash > 0", "sums of tokens that differ|of no token"),
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
        rewrite_old_model(path)
    assert "\n" not in str(error.value) and str(path) in str(error.value)
    with (
        contextlib.closing(sqlite3.connect(path)) as one,
        contextlib.closing(sqlite3.connect(tmp_path / "copy")) as two,
    ):
        assert list(one.iterdump()) == list(two.iterdump())
