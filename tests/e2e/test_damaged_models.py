"""Model files that somebody edited or that were damaged: one line that names the file, or the answer of the sound one.

Each cell of a model's tables in turn gets a value that it cannot have, then every command that reads models is run.
"""

import contextlib
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import Result
from commands import run
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mail import mail, message, write_folders

from spamnb.filter import Classifier
from spamnb.settings import ORIGIN, Settings
from spamnb.store.store import Store

KINDS = ("bernoulli", "corrected", "lda")
COLUMNS = {
    "meta": ["key", "value", "content"],
    "classes": [
        *("id", "name", "documents", "document_counts", "occurrences", "calibration", "typicality", "unscored"),
        *("slope", "intercept", "knee"),
    ],
    "tokens": "bucket hashes width cells texts vectors".split(),
    "messages": ["digest", "class", "facts"],
    "kept_lessons": ["position", "digest", "class", "taught_at", "message"],
    "examples": ["number", "digest", "class", "pending", "groups", "hashes"],
}
# NULL, text for numbers, numbers for text, what is too large, below 0, broken, empty, and no longer whole.
SPOILT = ("NULL", "'ü'", "7.5", "-3", "4611686018427387905", "x'ff'", "'ü' || char(10) || {0}")
CUT = "CASE typeof({0}) WHEN 'blob' THEN substr({0}, 1, length({0}) - 1) ELSE -1 END"
# The others are full in every kind.
KIND_WITH = {"meta": "lda", "vectors": "lda", "tokens": "corrected", "messages": "corrected", "examples": "corrected"}
NEW_CLASS = "spamnb: made a new class, "


@dataclass(repr=False)  # of all that the commands said
class Models:
    """A folder with a model of each kind and a folder of messages, and what each command says to the sound ones."""

    root: Path
    said: dict[tuple[str, str], str]


def commands(kind: str, root: Path, model: Path) -> Iterator[tuple[str, Result]]:
    """Run each command on the file ``model``; those that write have a copy."""
    raw = message("spam", 3)
    for arguments in (["classify", root / "mail"], ["explain", root / "mail" / "0"], ["info"], ["export", "--lessons"]):
        yield str(arguments[0]), run(*arguments, "-m", model)
    for arguments in (["learn", "spam"], ["learn", "--new-class", "new"] if kind == "lda" else ["learn", "ham"]):
        (root / "copy").unlink(missing_ok=True)
        shutil.copy(model, root / "copy")
        yield " ".join(arguments), run(*arguments, "-m", root / "copy", stdin=raw)
    if kind == "bernoulli":
        yield "words", run("words", "-m", model)
        yield "merge", run("merge", model, root / kind, "-m", root / "merged", "--force")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Models:
    root = tmp_path_factory.mktemp("models")
    write_folders(root / "labelled", mail(8))
    (root / "mail").mkdir()
    for n in range(3):
        (root / "mail" / str(n)).write_bytes(message("ham", n))
    said = {}
    for kind in KINDS:
        embedding = ["--set", "embedding=lsa:2"] if kind == "lda" else []
        path = root / kind
        done = run(
            "train",
            "--no-starter",
            "--workers",
            1,
            "-m",
            path,
            "--set",
            f"model_type={kind}",
            *embedding,
            root / "labelled",
        )
        assert done.exit_code == 0, done.output
        with Classifier.open(path, writable=True) as classifier:
            classifier.learn("spam", message("spam", 30))
            classifier.learn("ham", message("ham", 32))
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
        connection.close()
        for name, result in commands(kind, root, path):
            assert result.exit_code == 0 or name.startswith("forget"), (kind, name, result.output)
            said[kind, name] = result.output
    return Models(root, said)


def amend(connection: sqlite3.Connection, tables: list[tuple[str, str]]) -> None:
    """Write (new, old) definitions of tables into the schema, those that are there."""
    connection.execute("PRAGMA writable_schema = ON")
    connection.executemany("UPDATE sqlite_schema SET sql = ? WHERE sql = ?", tables)
    connection.execute("PRAGMA writable_schema = RESET")


def check(models: Models, kind: str, *spoil: str) -> dict[str, bool]:
    """Spoil a copy of the model; for each command that notices nothing, whether it says the same as before."""
    path, same = models.root / "spoilt", {}
    for old in models.root.glob("spoilt*"):
        old.unlink()
    shutil.copy(models.root / kind, path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        # Whoever edits files is not held back by the tables' constraints, nor is what damages them.
        constrained = connection.execute("SELECT sql FROM sqlite_schema WHERE sql LIKE 'CREATE TABLE%'").fetchall()
        relaxed = [(sql, sql.replace("NOT NULL", "")) for (sql,) in constrained]
        amend(connection, [(after, before) for before, after in relaxed])
        for statement in spoil:
            with contextlib.suppress(sqlite3.IntegrityError):  # no key twice, and nothing but numbers in an INTEGER key
                connection.execute(statement)
        amend(connection, relaxed)
    for name, result in commands(kind, models.root, path):
        told = (kind, name, spoil, result.output)
        assert result.exception is None or isinstance(result.exception, SystemExit), (told, result.exc_info)
        assert all(line.isprintable() for line in result.output.replace("\t", " ").split("\n")), told
        if result.exit_code == 0 or result.output == models.said[kind, name]:
            same[name] = result.output == models.said[kind, name] or name == "info"  # which shows what is there
            continue
        *before, last = result.output.splitlines()
        assert result.exit_code == 1 and all(line.startswith(NEW_CLASS) for line in before), told
        assert last.startswith("Error: "), told
        assert len(last.replace(str(models.root), "")) < 300, told
        assert str(path) in last or str(models.root / "copy") in last or "too few messages" in last, told
    return same


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "column"), [(table, column) for table, columns in COLUMNS.items() for column in columns]
)
def test_a_spoilt_column_is_noticed_or_harmless(models: Models, table: str, column: str) -> None:
    for value in (*SPOILT, CUT):
        spoil = f"UPDATE OR IGNORE {table} SET {column} = {value.format(column)}"  # noqa: S608
        same = check(models, KIND_WITH.get(column, KIND_WITH.get(table, "bernoulli")), spoil)
        # What looks at the whole file notices whatever a single message's verdict would silently be wrong by.
        assert all(same.values()) or not same.get("export"), (spoil, same)


@pytest.mark.parametrize("knee", ["0.0", "-0.0", "1e-320", "9e999", "NULL"])
def test_a_knee_that_no_curve_has_is_noticed(models: Models, knee: str) -> None:
    assert check(models, "bernoulli", f"UPDATE classes SET knee = {knee}") == {}  # noqa: S608


# Of these the file does not show that anything is missing: an empty array or table is what a new model has.
@pytest.mark.slow
@pytest.mark.parametrize("table", COLUMNS)
def test_a_missing_row_or_table_is_noticed_or_harmless(models: Models, table: str) -> None:
    kind = KIND_WITH.get(table, "bernoulli")
    key = {"meta": "key", "messages": "digest"}.get(table, "rowid")
    for which in ("min", "max"):
        row = f"{key} = (SELECT {which}({key}) FROM {table})"  # noqa: S608
        same = check(models, kind, f"DELETE FROM {table} WHERE {row}")  # noqa: S608
        assert all(same.values()) or not same.get("export"), same
    emptied = check(models, kind, f"DELETE FROM {table}")  # noqa: S608
    assert all(emptied.values()) or not emptied.get("export"), emptied
    for gone in (f"DROP TABLE {table}", f"ALTER TABLE {table} RENAME COLUMN {COLUMNS[table][-1]} TO other"):
        assert "export" not in check(models, kind, gone), gone


ENDLESS = (
    "AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
    "SELECT n AS sequence, NULL AS digest, 0 AS class, '' AS groups, '' AS hashes FROM r"
)


@pytest.mark.parametrize(
    "own",
    [
        "CREATE TRIGGER t AFTER INSERT ON messages BEGIN DELETE FROM kept_lessons; END",
        "CREATE INDEX i ON tokens(length(texts))",
        "CREATE VIRTUAL TABLE v USING fts5(a)",
        "CREATE VIEW v " + ENDLESS,
        "DROP TABLE examples; CREATE VIEW examples " + ENDLESS,
        "ALTER TABLE meta ADD COLUMN more AS (hex(zeroblob(100000000)))",
    ],
)
def test_what_computes_in_a_model_of_somebody_else_is_never_run(models: Models, own: str) -> None:
    """It may take gigabytes or never end, in one call of SQLite's that no timer interrupts."""
    statements = [own] if "TRIGGER" in own else own.split("; ")
    assert check(models, "bernoulli", *statements) == {}


BAD = ("null", "true", '"x"', "[]", "{}", "-1", "1e999", "NaN", "1" * 400, "[" * 100_000, "", "[[]]", '{"a": 1}')


KEYS = {
    "lda": ["dense_classes"],  # that only this kind has
    "bernoulli": [*Settings().as_meta(), "vocabulary_size", "label_noise"],
}


def test_each_key_of_meta_is_spoilt_by_a_test(models: Models) -> None:
    """Values of ORIGIN are spoilt in tests/cli/test_commands.py."""
    for kind in KINDS:
        with Store.open(models.root / kind) as store:
            keys = store.own.meta.keys() - {*ORIGIN}
        assert keys == {*KEYS["bernoulli"], *KEYS.get(kind, [])}


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "key"), [(kind, key) for kind, keys in KEYS.items() for key in keys])
def test_spoilt_settings_are_one_line(models: Models, kind: str, key: str) -> None:
    harmless = {
        "null": ("embedding", "stem", "unsure_cost"),
        '"x"': ("spam", "ignore_headers"),
        "true": ("body_only", "starter"),
    }
    harmless |= dict.fromkeys(("[]", "{}", '{"a": 1}'), ("ignore_headers",))
    for value in BAD:
        same = check(models, kind, f"UPDATE meta SET value = '{value}' WHERE key = '{key}'")  # noqa: S608
        if key not in harmless.get(value, ()):
            assert "explain" not in same, (key, value)


@settings(max_examples=30)
@given(
    st.sampled_from(KINDS),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=40)), min_size=1, max_size=8),
    st.booleans(),
)
@example("bernoulli", [(0.0390625, b"\x80")], False)  # in the schema: sqlite3 cannot tell what is wrong
@example("bernoulli", [(0.234375, b"'\x80")], False)  # and there where the file is opened
def test_damaged_bytes_are_one_line(
    models: Models, kind: str, damage: list[tuple[float, bytes]], cut_short: bool
) -> None:
    content = bytearray((models.root / kind).read_bytes())
    for place, others in damage:
        at = int(place * len(content))
        content[at : at + len(others)] = others
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m"
        path.write_bytes(content[: int(damage[0][0] * len(content))] if cut_short else content)
        for arguments in (["classify", models.root / "mail"], ["export"], ["learn", "spam", models.root / "mail"]):
            result = run(*arguments, "-m", path)
            assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
            if result.exit_code:
                assert result.output.splitlines()[-1].startswith("Error: "), result.output


def test_an_odd_byte_in_the_text_of_the_schema_is_one_line(models: Models, tmp_path: Path) -> None:
    content = (models.root / "bernoulli").read_bytes()
    begins = [found.start() for found in re.finditer(rb"CREATE (TABLE|INDEX) \w+", content[: 1 << 16])]
    assert len(begins) >= 5
    for at in {begin + step for begin in begins for step in (0, 3, 7, 14, 30)}:
        path = tmp_path / "m"
        path.write_bytes(content[:at] + b"\x97" + content[at + 1 :])
        for command in (["classify"], ["learn", "spam"], ["export"]):
            result = run(*command, "-m", path, stdin=message("spam", 3))
            assert result.exception is None or isinstance(result.exception, SystemExit), (at, result.exc_info)
            assert result.exit_code == 0 or result.output.count("\n") == 1
            told = result.output
            assert "utf-8" not in told or told.endswith("; restore a copy, or remove it and train again\n")


@pytest.mark.parametrize("content", [b"From ann@example.org Thu\nSubject: x\n\nmail\n", b"", b"SQLite format 3\0" * 99])
def test_nobody_is_told_to_remove_what_spamnb_did_not_make(model: Path, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "ham.mbox"
    raw = message("ham", 3)
    path.write_bytes(content)
    for arguments in (
        ["filter", "--ledger", path, "-m", model] if content else ["filter", "-m", path],
        ["classify", "-m", path],
        ["learn", "spam", "-m", path],
        ["train", "--force", "-m", path, write_folders(tmp_path / "labelled", mail(8))],
        ["merge", "-m", tmp_path / "merged", path, model],
        ["forget", "--ledger", path, "-m", model, "spam"] if content else ["info", "-m", path],
    ):
        result = run(*arguments, stdin=raw)
        assert "remove " not in result.output and "ham.mbox" in result.output, result.output
        assert path.read_bytes() == content
