"""database.py: what rows may hold, and nothing else; and what stays beside a file that is closed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from mail import mail

from spamnb.classifier import Classifier
from spamnb.errors import Damaged, SpamnbError
from spamnb.store import database as checks
from spamnb.store.store import Store


@pytest.mark.parametrize("value", [None, True, 1.0, "1", b"1", -1, 10])
def test_whole_numbers_are_numbers_in_their_bounds(value: object) -> None:
    assert checks.checked_rows("t", [(0,), (9,)], n=checks.int_between(9)) == [(0,), (9,)]
    with pytest.raises(Damaged, match="n in table t: "):
        checks.checked_rows("t", [(0,), (value,)], n=checks.int_between(9))


def test_what_is_told_is_short_and_printable() -> None:
    with pytest.raises(Damaged) as error:
        checks.checked_rows("t", [("\x1b[2J" * 100,)], name=checks.is_class_name)
    assert str(error.value).isprintable() and len(str(error.value)) < 80


@pytest.mark.parametrize("row", [(1, 2.5), (1, "2"), (1, None), (1, b""), (1, -(1 << 63)), (1, (1 << 63) - 1)])
def test_figures_are_whole_numbers_with_room_to_add(row: tuple[object, ...]) -> None:
    assert checks.int_array("t", [(1, -2), (0, checks.MAX_SUM)]).tolist() == [[1, -2], [0, checks.MAX_SUM]]
    assert checks.int_array("t", []).size == 0
    with pytest.raises(Damaged, match="figures in table t"):
        checks.int_array("t", [(1, 2), row])


BAD = ["", "{", None, b"\xff", "[" * 100_000, "[1]", '{"a": 0}', '{"a": true}', '{"a": "b"}']


@pytest.mark.parametrize("value", BAD)
def test_counted_tokens_are_above_nothing(value: object) -> None:
    assert checks.token_counts("t", "c", '{"a": 2}') == {"a": 2}
    with pytest.raises(Damaged, match="c in table t: "):
        checks.token_counts("t", "c", value)


def test_digests_have_sixteen_bytes() -> None:
    assert [checks.is_digest(value) for value in (b"0" * 16, b"0" * 15, "0" * 16, None)] == [True, False, False, False]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    with Classifier.create(tmp_path / "model") as classifier:
        for label, raw in mail(3):
            classifier.learn(label, raw)
    return tmp_path / "model"


@pytest.mark.parametrize("others", [[], [False], [True], [False, True]])
def test_the_last_to_close_takes_the_log_away(model: Path, others: list[bool]) -> None:
    opened = [Store.open(model, writable=writable) for writable in (*others, False)]
    for store in opened:
        assert store.look_up(["offer"]) is not None
        assert Path(f"{model}-wal").exists()  # or this test sees nothing
        store.close()
    assert list(model.parent.iterdir()) == [model]


def test_a_model_is_read_on_a_full_disk_and_says_so_when_it_is_to_learn(model: Path) -> None:
    program = """
import resource, sys
from spamnb.errors import SpamnbError
from spamnb.store.store import Store
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
for writable in (False, True):
    try:
        with Store.open(sys.argv[1], writable=writable) as store:
            print(store.totals().documents)
    except SpamnbError as error:
        print(error)
"""
    run = subprocess.run([sys.executable, "-c", program, str(model)], capture_output=True, text=True, check=True)
    full = f"{model}: the disk is full, or your quota; this change was not made"
    assert run.stdout.splitlines() == ["[3 3]", full]
    with Store.open(model, writable=True) as store:  # what SQLite left beside the file does no harm
        assert store.totals().documents.tolist() == [3, 3]
    assert list(model.parent.iterdir()) == [model]


def test_a_reader_cannot_write(model: Path) -> None:
    before = model.read_bytes()
    with Store.open(model) as store, pytest.raises(SpamnbError, match="cannot be written"):
        store.put_meta({"spam": "x"})
    assert model.read_bytes() == before


def test_what_was_killed_after_a_lesson_loses_nothing_to_a_reader(model: Path, tmp_path: Path) -> None:
    with Store.open(model, writable=True) as store:
        store.put_meta({"note": 1})
        copy = tmp_path / "copy"
        copy.mkdir()
        for end in ("", "-wal"):  # as they lie there after a crash
            (copy / f"model{end}").write_bytes(Path(f"{model}{end}").read_bytes())
    for _ in range(2):
        with Store.open(copy / "model") as store:
            assert store.meta()["note"] == 1
        assert list(copy.iterdir()) == [copy / "model"]
