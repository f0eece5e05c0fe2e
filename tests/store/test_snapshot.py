"""Whole models that appear or do not, and what a file and its connection hold."""

import os
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path

import pytest
from mail import mail, make_model, message

from spamnb.errors import ModelExists, SpamnbError
from spamnb.filter import Classifier
from spamnb.settings import Settings
from spamnb.store.snapshot import atomic_replace, create_empty, read_snapshot, write_snapshot
from spamnb.store.store import Store


def test_a_model_of_an_older_format_is_replaced_and_nothing_else_done_with_it(tmp_path: Path) -> None:
    path, content = tmp_path / "m", read_snapshot(make_model(mail(2)).store)
    with atomic_replace(path, content.model.meta) as store:
        store.execute("PRAGMA user_version = 1")
    with pytest.raises(SpamnbError, match="older spamnb"):
        Store.open(path)
    with pytest.raises(SpamnbError, match="force=True"), atomic_replace(path, content.model.meta):
        pass
    with atomic_replace(path, content.model.meta, force=True) as store:
        write_snapshot(store, content)
    with Store.open(path) as store:
        assert list(read_snapshot(store).block.tokens) == list(content.block.tokens)


@pytest.mark.parametrize("length", [250, 300])
def test_a_name_that_is_too_long_is_told(tmp_path: Path, length: int) -> None:
    """A new model has a longer name, with the number of the process, until it is complete."""
    with pytest.raises(SpamnbError, match=r"cannot be written \(.*File name too long"):
        create_empty(tmp_path / ("m" * length), Settings().as_meta())


def test_a_model_that_appeared_meanwhile_stays(tmp_path: Path) -> None:
    path, content = tmp_path / "m", read_snapshot(make_model(mail(2)).store)
    with pytest.raises(ModelExists, match="exists already"), atomic_replace(path, content.model.meta) as store:
        write_snapshot(store, content)
        with Classifier.create(path) as other:
            other.learn("spam", message("spam", 50))
    with Store.open(path) as store:
        assert store.model.totals.documents.tolist() == [1]
    assert sorted(item.name for item in tmp_path.iterdir() if not item.name.startswith("m-")) == ["m"]


def _learn(path: Path, label: str, number: int) -> None:
    create_empty(path, Settings().as_meta())
    with Classifier.open(path, writable=True) as classifier:
        classifier.learn(label, message(label, number))


def test_many_processes_that_begin_one_model_lose_nothing(tmp_path: Path) -> None:
    spawned = get_context("fork")
    jobs = [(tmp_path / "m", label, number) for number in range(4) for label in ("ham", "spam")]
    processes = [spawned.Process(target=_learn, args=job) for job in jobs]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 8
    with Store.open(tmp_path / "m") as store:
        assert store.model.totals.documents.tolist() == [4, 4]


def test_what_the_killed_left_is_removed_a_day_later(tmp_path: Path) -> None:
    old = [".m.17.new", ".m.17.new-wal", ".m.17.new-shm"]
    kept = [".m.18.new", ".other.17.new", ".m.x.new", ".m.17.newer", "m.17.new"]  # the first is still being written
    for name in (*old, *kept):
        (tmp_path / name).write_bytes(b"")
        os.utime(tmp_path / name, (0, 0))
    os.utime(tmp_path / kept[0])
    create_empty(tmp_path / "m", Settings().as_meta())
    assert {path.name for path in tmp_path.iterdir()} == {"m", *kept}


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
            print(store.model.totals.documents)
    except SpamnbError as error:
        print(error)
"""
    run = subprocess.run([sys.executable, "-c", program, str(model)], capture_output=True, text=True, check=True)
    full = f"{model}: the disk is full, or your quota; this change was not made"
    assert run.stdout.splitlines() == ["[3 3]", full]
    with Store.open(model, writable=True) as store:  # what SQLite left beside the file does no harm
        assert store.model.totals.documents.tolist() == [3, 3]
    assert list(model.parent.iterdir()) == [model]


def test_what_was_killed_after_a_lesson_loses_nothing_to_a_reader(model: Path, tmp_path: Path) -> None:
    with Store.open(model, writable=True) as store:
        store.put_meta({"note": 1})
        copy = tmp_path / "copy"
        copy.mkdir()
        for end in ("", "-wal"):  # as they lie there after a crash
            (copy / f"model{end}").write_bytes(Path(f"{model}{end}").read_bytes())
    for _ in range(2):
        with Store.open(copy / "model") as store:
            assert store.model.meta["note"] == 1
        assert list(copy.iterdir()) == [copy / "model"]
