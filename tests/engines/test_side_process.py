"""side_process.py: a future of what another process does, which says why it failed and is never waited for in vain."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

import pytest
from mail import mail, never

from spamnb import training
from spamnb.counts.training_set import TrainingSet, count_messages
from spamnb.engines.side_process import SideProcess
from spamnb.errors import SpamnbError
from spamnb.settings import Settings
from spamnb.sources.entries import Entry
from spamnb.store.jsonl import export
from spamnb.store.store import Store
from spamnb.tokens.tokenizer import Tokenizer
from spamnb.training import train_file


@pytest.fixture
def made(tmp_path: Path) -> TrainingSet:
    entries = (Entry(label, str(n), "", content=raw) for n, (label, raw) in enumerate(mail(60)))
    return count_messages(enumerate(entries), Tokenizer(), tmp_path / "rows", never)


def called_with(*args: int, **kwargs: int) -> tuple[int, tuple[int, ...], dict[str, int]]:
    return os.getpid(), args, kwargs


def fail() -> None:
    raise ZeroDivisionError("a defect")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_every_call_has_its_own_process_and_result() -> None:
    with SideProcess() as executor:
        futures = [executor.submit(called_with, n, doubled=2 * n) for n in range(3)]
        found = [future.result() for future in futures]
    assert [told[1:] for told in found] == [((n,), {"doubled": 2 * n}) for n in range(3)]
    assert len({os.getpid(), *(who for who, *_ in found)}) == 4


def test_a_call_that_fails_or_dies_says_so() -> None:
    with SideProcess() as executor:
        with pytest.raises(ZeroDivisionError, match="a defect") as caught:
            executor.submit(fail).result()
        assert "in fail" in "".join(caught.value.__notes__)  # where in the process it happened
        with pytest.raises(SpamnbError, match="SIGKILL"):
            executor.submit(die).result()


def test_leaving_the_context_ends_a_call_at_once() -> None:
    before = set(multiprocessing.active_children())
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt), SideProcess() as executor:
        future = executor.submit(time.sleep, 60)
        assert not future.done()
        raise KeyboardInterrupt
    assert time.monotonic() - started < 20
    assert set(multiprocessing.active_children()) == before
    with pytest.raises(SpamnbError, match="SIGTERM"):
        future.result()


def test_shutdown_waits_for_a_call_that_is_not_cancelled() -> None:
    executor = SideProcess()
    future = executor.submit(called_with, 1)
    executor.shutdown()
    assert future.done() and future.result()[1] == (1,)


@pytest.mark.parametrize("kind", [SideProcess, lambda: ThreadPoolExecutor(1)], ids=["process", "thread"])
def test_training_beside_the_writing_makes_the_same_model(
    made: TrainingSet, tmp_path: Path, kind: type[Executor]
) -> None:
    alone = train_file(tmp_path / "alone", made, Settings())
    with kind() as executor:
        beside = train_file(tmp_path / "beside", made, Settings(), executor=executor)
    assert alone.scores.tolist() == beside.scores.tolist()
    exported = []
    for name in ("alone", "beside"):
        with Store.open(tmp_path / name) as store:
            exported.append(list(export(store)))
    assert exported[0] == exported[1]


def test_a_failed_write_ends_the_learner_and_leaves_no_file(
    made: TrainingSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(training, "_fit", lambda *_: time.sleep(60))
    monkeypatch.setattr(training, "write_counts", no_room)
    (tmp_path / "models").mkdir()
    started = time.monotonic()
    with pytest.raises(OSError, match="no room"), SideProcess() as executor:
        train_file(tmp_path / "models" / "m", made, Settings(), executor=executor)
    assert time.monotonic() - started < 20
    assert not list((tmp_path / "models").iterdir())
