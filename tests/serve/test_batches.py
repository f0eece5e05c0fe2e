"""Requests that wait together: each gets its own result, whatever becomes of the others in its batch."""

import asyncio
import math
import re
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from commands import output_of
from mail import export_lines, learned_class, message

from spamnb.errors import Locked, SpamnbError
from spamnb.filter import Classifier, Learned
from spamnb.ledger.ledger import Correction, Ledger
from spamnb.ledger.writer import LedgerWriter
from spamnb.mail_result import classify_mail, classify_mails
from spamnb.reader.message import digest
from spamnb.serve.batches import FULL_BATCH, MAX_BATCH, Batches, compute_results
from spamnb.serve.spamd_wire import SpamdWire
from spamnb.serve.wire import Request
from spamnb.serve.workers import Task, Workers
from spamnb.user_models import Models


class Number(NamedTuple):
    value: int
    raw: bytes = b""


def worked_on(requests: list[Number]) -> tuple[list[object], list[list[int]]]:
    """Return the results of requests that waited for the only thread, and the batches that they were in."""
    batches: list[list[int]] = []
    busy, goes_on = threading.Event(), threading.Event()

    def divide(batch: list[Number]) -> list[int]:
        if batch[0].value < 0:
            busy.set()
            goes_on.wait(60)
            return [0]
        batches.append([each.value for each in batch])
        return [60 // each.value for each in batch]

    async def all_results() -> list[object]:
        threads = Batches(divide, lambda number: number.value % 2, 1, "test")
        first = asyncio.create_task(threads.result(Number(-1)))
        await asyncio.to_thread(busy.wait, 60)
        others = [asyncio.create_task(threads.result(each)) for each in requests]
        await asyncio.sleep(0)  # all of them wait now
        goes_on.set()
        results = await asyncio.gather(*others, return_exceptions=True)
        await first
        threads.shutdown()
        return results

    return asyncio.run(all_results()), batches


def test_requests_that_wait_are_worked_on_together() -> None:
    results, batches = worked_on([Number(value) for value in (1, 3, 2, 5, 4)])
    assert results == [60, 20, 30, 12, 15]
    assert sorted(batches) == [[1, 3, 5], [2, 4]]  # those that may be in one batch


def test_one_that_fails_costs_the_others_nothing() -> None:
    results, batches = worked_on([Number(value) for value in (2, 0, 4)])
    assert results[0::2] == [30, 15] and isinstance(results[1], ZeroDivisionError)
    assert batches == [[2, 0, 4], [2], [0], [4]]


def test_a_locked_model_is_waited_for_once() -> None:
    waits = []

    def wait(batch: list[Number]) -> list[int]:
        waits.append(len(batch))
        raise Locked("another process keeps writing to it")

    assert [type(each) for each in compute_results(wait, [Number(1)] * 3)] == [Locked] * 3 and waits == [3]


def test_a_batch_is_bounded() -> None:
    results, batches = worked_on([Number(2)] * (2 * MAX_BATCH + 1))
    assert [len(batch) for batch in batches] == [MAX_BATCH, MAX_BATCH, 1] and set(results) == {30}
    _, batches = worked_on([Number(2, bytes(FULL_BATCH))] * 3)
    assert [len(batch) for batch in batches] == [1, 1, 1]
    _, batches = worked_on([Number(2, bytes(FULL_BATCH // 2))] * 3)
    assert [len(batch) for batch in batches] == [2, 1]


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_all_threads_work_at_the_same_time(n_threads: int) -> None:
    all_work = threading.Barrier(n_threads, timeout=30)
    sizes: list[int] = []
    n_together = MAX_BATCH * n_threads

    def wait_for_the_others(batch: list[Number]) -> list[int]:
        if batch[0].value < n_together:
            all_work.wait()
        sizes.append(len(batch))
        return [each.value for each in batch]

    async def all_results() -> list[int]:
        threads = Batches(wait_for_the_others, lambda number: None, n_threads, "test")
        together = await asyncio.gather(*(threads.result(Number(value)) for value in range(n_together)))
        again = [await threads.result(Number(n_together + value)) for value in range(4)]  # by threads that slept
        threads.shutdown()
        return together + again

    assert asyncio.run(all_results()) == list(range(n_together + 4))
    assert sizes == [MAX_BATCH] * n_threads + [1] * 4


def test_another_thread_takes_only_what_is_more_than_a_full_batch() -> None:
    short, half, long = (Number(0, bytes(size)) for size in (0, FULL_BATCH // 2, 8 * FULL_BATCH))
    assert share_of([short] * MAX_BATCH) == [MAX_BATCH]
    assert share_of([short] * (MAX_BATCH + 1)) == [MAX_BATCH, 1]
    assert share_of([half] * 8) == [2, 2, 2, 2]
    assert share_of([long] * 4) == [1, 1, 1, 1]
    assert share_of([long] + [short] * 10) == [10, 1]  # which do not wait for the long one, and stay together


def share_of(tasks: list[Number]) -> list[int]:
    """Return the sizes of the batches in which four threads take these tasks, which arrive together."""
    sizes: list[int] = []
    all_taken = threading.Event()

    def wait(batch: list[Number]) -> list[int]:
        sizes.append(len(batch))
        if sum(sizes) == len(tasks):
            all_taken.set()
        assert all_taken.wait(30)
        return [0] * len(batch)

    async def all_results() -> None:
        threads = Batches(wait, lambda number: None, 4, "test")
        await asyncio.gather(*map(threads.result, tasks))
        threads.shutdown()

    asyncio.run(all_results())
    return sorted(sizes, reverse=True)


def test_each_task_gets_its_own_result_from_whichever_thread() -> None:
    worked_on, names = [], set()
    half_a_batch = bytes(FULL_BATCH // 2)

    def square(batch: list[Number]) -> list[int]:
        worked_on.extend(each.value for each in batch)
        names.add(threading.current_thread().name)
        time.sleep(0.0001)  # lets the other threads run
        return [each.value**2 for each in batch]

    async def ask_in_turn(threads: Batches[int], first: int) -> None:
        for value in range(first, first + 100):
            assert await threads.result(Number(value, half_a_batch if value % 2 else b"")) == value**2

    async def ask_all() -> None:
        threads = Batches(square, lambda number: number.value % 3, 4, "test")
        await asyncio.gather(*(ask_in_turn(threads, 100 * client) for client in range(16)))
        threads.shutdown()

    asyncio.run(ask_all())
    assert sorted(worked_on) == list(range(1600)) and len(names) == 4


def test_scores_are_the_same_in_any_company(model: Path) -> None:
    raws = [message(label, number) for number in range(900, 940) for label in ("ham", "spam")] + [b"", b"\xff" * 99]
    with Classifier.open(model) as classifier:
        for together, alone in zip(classify_mails(classifier, raws), [classify_mail(classifier, raw) for raw in raws]):
            assert together == alone


ENVELOPE = b"X-Envelope-From: a\nX-Envelope-To: b\nReceived: here\n"  # a server's, before delivery


class WrittenRows(list):
    put, close = list.append, list.clear


@pytest.mark.parametrize("fails", [False, True])
def test_lessons_of_one_batch_are_learned_once_each(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    copy, ledger = tmp_path / "model.spamnb", WrittenRows()
    copy.write_bytes(model.read_bytes())
    lessons = [message("spam", number) + b"a lesson" for number in range(700, 704)]
    learn_all, begun = Classifier.learn_all, []

    def learn_or_fail(self: Classifier, labels: Sequence[str], raws: Sequence[bytes]) -> list[Learned]:
        begun.extend(raws)
        changes = learn_all(self, labels, raws)
        if fails and lessons[2] in raws:
            raise SpamnbError("it fails at its end")
        return changes

    monkeypatch.setattr(Classifier, "learn_all", learn_or_fail)

    async def teach() -> list[object]:
        workers = Workers(partial(Models, copy, None), 1, allow_tell=True, ledger=ledger)  # type: ignore[arg-type]
        request = Request("TELL", label="spam")
        tasks = [workers.change(Task(request, ENVELOPE + raw, SpamdWire(), {})) for raw in lessons]
        results = await asyncio.gather(*tasks, return_exceptions=True)
        written = [entry.digest for entry in ledger if isinstance(entry, Correction)]
        assert {*written} == {digest(raw) for raw in lessons[: 2 if fails else 4]} | {digest(lessons[3])}
        assert len(written) == 4 - fails
        workers.close()
        return results

    results = asyncio.run(teach())
    assert [result is True for result in results] == [True, True, not fails, True]
    assert [learned_class(copy, raw) for raw in lessons] == ["spam", "spam", None if fails else "spam", "spam"]


def teach(path: Path, folder: Path | None, ledger: Path, lessons: list[tuple[str, str, bytes]]) -> None:
    """Let a server's threads learn each lesson, a user, a label and a message, one after the other."""

    async def change_all() -> None:
        writer = LedgerWriter(ledger, pytest.fail)
        workers = Workers(partial(Models, path, folder), 1, allow_tell=True, ledger=writer)
        for user, label, raw in lessons:
            await workers.change(Task(Request("TELL", user=user, label=label), raw, SpamdWire(), {}))
        await asyncio.to_thread(workers.close)

    asyncio.run(change_all())


@pytest.mark.parametrize("has_models", [False, True])
def test_what_a_user_teaches_at_once_is_undone_at_once(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_models: bool
) -> None:
    monkeypatch.setattr("spamnb.serve.workers.STEP_PAUSE", math.inf)
    ledger, folder = tmp_path / "ledger", tmp_path / "users" if has_models else None
    options = ["--ledger", ledger, "-m", model]
    if folder:
        folder.mkdir()
        options += ["--models", folder]
    before = export_lines(model)
    lessons = [("ann", "spam", message("spam", number)) for number in range(700, 703)]
    teach(model, folder, ledger, [*lessons, ("bob", "ham", message("ham", 700))])
    steps = output_of("undo", "--list", *options).splitlines()
    assert [re.sub(" of .*:", ":", step) for step in steps] == [
        "serve for bob: 1 message learned",
        "serve for ann: 3 messages learned",
    ]
    assert "1 message forgotten" in output_of("undo", *options)
    assert "3 messages forgotten" in output_of("undo", *options)
    assert export_lines(model) == before
    paths = [folder / "ann.spamnb", folder / "bob.spamnb"] if folder else [model]
    assert {learned_class(path, raw) for path in paths for _, _, raw in lessons} == {None}


@pytest.mark.parametrize("user", ["", "ann"])
def test_what_a_client_lets_be_forgotten_stays_in_the_ledger_of_other_models(
    model: Path, tmp_path: Path, user: str
) -> None:
    ledger, folder, raw = tmp_path / "ledger", tmp_path / "users", message("spam", 700)
    folder.mkdir()
    models = {"": model, "ann": folder / "ann.spamnb"}
    teach(model, folder, ledger, [("ann", "spam", message("spam", 701))])
    for path in models.values():
        output_of("learn", "spam", "-m", path, "--ledger", ledger, stdin=raw)
    teach(model, folder if user else None, ledger, [(user, "", raw)])
    other = "" if user else "ann"
    assert [name for name, path in models.items() if learned_class(path, raw)] == [other]
    with Ledger.open(ledger) as kept:
        (correction,) = kept.corrections(digest=digest(raw))
        (batch,) = kept.list_batches(batch=correction.batch)
    assert batch.model == str(models[other])


@pytest.mark.parametrize("pause", [math.inf, -1.0])
def test_a_message_that_was_taught_twice_is_put_back_into_each_class_before(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pause: float
) -> None:
    monkeypatch.setattr("spamnb.serve.workers.STEP_PAUSE", pause)
    raw, ledger = message("ham", 5), tmp_path / "ledger"
    teach(model, None, ledger, [("../ann", "spam", raw), ("../ann", "ham", raw)])
    for label in ("spam", "ham"):
        assert "serve of" in (done := output_of("undo", "--ledger", ledger, "-m", model))
        assert "put back into the class before" in done
        assert learned_class(model, raw) == label


def test_lessons_after_a_pause_are_steps_of_their_own(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spamnb.serve.workers.STEP_PAUSE", -1.0)
    teach(model, None, tmp_path / "ledger", [("ann", "spam", message("spam", number)) for number in (700, 701)])
    assert len(output_of("undo", "--list", "--ledger", tmp_path / "ledger", "-m", model).splitlines()) == 2
