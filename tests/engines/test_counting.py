"""engines/: the same training set whatever the number of processes and chunks, and what happens when one fails."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mail import folders, mail, message, never, same_counts

from spamnb.counts import training_set as module
from spamnb.counts.training_set import TrainingSet, count_messages
from spamnb.engines import counting
from spamnb.engines.chunks import take_chunk
from spamnb.engines.counting import count_parallel
from spamnb.engines.workers import parallel_map
from spamnb.errors import SpamnbError
from spamnb.reader.message import Reader
from spamnb.reader.options import TokenOptions
from spamnb.sources.entries import Entry
from spamnb.sources.spec import entries


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    messages = [*mail(300), ("spam", message("ham", 7)), ("ham", message("ham", 8))]
    return folders(tmp_path_factory.mktemp("mail"), messages)


@pytest.fixture(scope="module")
def whole(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> TrainingSet:
    path = tmp_path_factory.mktemp("whole") / "rows"
    return count_messages(enumerate(entries([str(folder)], never)), Reader(), path, never)


def rows_of(made: TrainingSet) -> dict[int, tuple[str, dict[str, int]]]:
    return {
        int(batch.positions[0]): (
            made.counts.classes[batch.labels[0]],
            dict(zip((made.tokens[j] for j in batch.rows.ids), batch.rows.counts.tolist())),
        )
        for batch in made.batches(1)
    }


def test_few_messages_are_counted_by_one_process_unless_they_are_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    carried = [Entry(label, str(n), "", content=raw) for n, (label, raw) in enumerate(mail(20))]
    size = sum(len(entry.content or b"") for entry in carried)
    for most, shared in ((size, False), (size - 1, True)):
        monkeypatch.setattr(counting, "MAX_ALONE_BYTES", most)
        (tmp_path / str(most)).mkdir()
        made = count_parallel(carried, TokenOptions(), tmp_path / str(most), never, workers=2)
        assert len(made.shards) == 1 + shared
        assert made.counts.documents.tolist() == [20, 20]


def test_a_few_large_files_are_counted_by_several_processes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = list(entries([str(folder)], never))
    size = sum(os.stat(entry.path).st_size for entry in found)
    monkeypatch.setattr(counting, "SIZES_ASKED", len(found) + 1)
    for most, shards in ((size, 1), (size - 1, 2)):
        monkeypatch.setattr(counting, "MAX_ALONE_BYTES", most)
        (tmp_path / str(most)).mkdir()
        made = count_parallel(found, TokenOptions(), tmp_path / str(most), never, workers=2)
        assert len(made.shards) == shards
    monkeypatch.setattr(counting, "SIZES_ASKED", 32)
    monkeypatch.setattr(counting, "MAX_ALONE_BYTES", size // 2)
    assert len(count_parallel(found, TokenOptions(), tmp_path, never, workers=2).shards) == 2
    assert len(count_parallel(found, TokenOptions(), tmp_path, never, workers=1).shards) == 1


def test_a_file_that_is_gone_has_no_size(tmp_path: Path) -> None:
    gone = [Entry("ham", "gone", str(tmp_path / "gone"))]
    told: list[str] = []
    made = count_parallel(gone, TokenOptions(), tmp_path, lambda name, error: told.append(name), workers=2)
    assert (told, len(made.shards[0].positions)) == (["gone"], 0)


def test_one_process_lists_no_messages_ahead(tmp_path: Path) -> None:
    listed = 0

    def listing() -> Iterator[Entry]:
        nonlocal listed
        for n, (label, raw) in enumerate(mail(40)):
            listed = n + 1
            yield Entry(label, str(n), "", content=raw)

    seen: list[int] = []

    def note(done: int, total: int | None) -> None:
        seen.append(listed - done)

    count_parallel(listing(), TokenOptions(), tmp_path, never, note, workers=1)
    assert seen == [0]


@pytest.mark.parametrize(("workers", "chunk"), [(1, 64), (2, 64), (3, 7), (5, 1), (2, 100_000)])
def test_the_result_is_the_same_whatever_the_workers_and_chunks(
    folder: Path, whole: TrainingSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int, chunk: int
) -> None:
    monkeypatch.setattr(counting, "MAX_ALONE", 10)
    monkeypatch.setattr(counting, "MAX_CHUNK", chunk)
    progress: list[tuple[int, int | None]] = []
    made = count_parallel(
        entries([str(folder)], never),
        TokenOptions(),
        tmp_path,
        never,
        lambda done, total: progress.append((done, total)),
        workers,
    )
    assert list(made.tokens) == list(whole.tokens)
    assert same_counts(made.counts, whole.counts)
    assert rows_of(made) == rows_of(whole)
    assert same_counts(made.deduplicate().counts, whole.deduplicate().counts)
    assert [done for done, _ in progress] == sorted(done for done, _ in progress)
    if workers > 1:
        assert progress[-1] == (602, 602)
        assert len(list(tmp_path.iterdir())) == workers


def test_entries_that_carry_their_bytes(whole: TrainingSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MAX_ALONE", 2)
    monkeypatch.setattr(counting, "MAX_CHUNK_BYTES", 3000)
    messages = [*mail(300), ("spam", message("ham", 7)), ("ham", message("ham", 8))]
    order = sorted(range(602), key=lambda n: (messages[n][0], n))  # as the folder lists them
    made = count_parallel(
        (Entry(messages[n][0], str(n), "", content=messages[n][1]) for n in order),
        TokenOptions(),
        tmp_path,
        never,
        workers=2,
    )
    assert same_counts(made.counts, whole.counts)
    assert rows_of(made) == rows_of(whole)


def test_mail_that_entries_carry_is_not_listed_far_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, most in (("MAX_ALONE", 2), ("MAX_CHUNK", 4), ("MAX_LISTED_BYTES", 4000)):
        monkeypatch.setattr(counting, name, most)
    listed = 0

    def listing() -> Iterator[Entry]:
        nonlocal listed
        for n, (label, raw) in enumerate(mail(400)):
            listed += 1
            yield Entry(label, str(n), "", content=raw)

    ahead: list[int] = []

    def note(done: int, total: int | None) -> None:
        ahead.append(listed - done)

    made = count_parallel(listing(), TokenOptions(), tmp_path, never, note, workers=2)
    assert made.counts.documents.tolist() == [400, 400]
    assert max(ahead) < 80  # of 800: what two workers hold, and 4,000 bytes


def test_few_messages_start_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "parallel_map", never)
    entries = (Entry(c, c, "", content=raw) for c, raw in mail(4))
    made = count_parallel(entries, TokenOptions(), tmp_path, never, workers=4)
    assert made.counts.documents.tolist() == [4, 4]


def test_what_cannot_be_read_is_named_and_the_rest_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MAX_ALONE", 2)
    monkeypatch.setattr(counting, "MAX_CHUNK", 4)
    many = [Entry(c, str(n), "", content=raw) for n, (c, raw) in enumerate(mail(20))]
    many[11] = Entry("ham", "eleven", str(tmp_path / "missing"))
    named: list[tuple[str, str]] = []
    (tmp_path / "rows").mkdir()

    def on_unreadable(name: str, error: Exception) -> None:
        named.append((name, str(error)))

    made = count_parallel(many, TokenOptions(), tmp_path / "rows", on_unreadable, workers=2)
    assert named == [("eleven", "No such file or directory")]
    assert made.counts.documents.sum() == 39


# What workers may suffer. The functions stand here, not inside the tests, so that they can be handed to any process.


def echo(chunks: Iterator[Any], reply: Callable[[Any], None]) -> None:
    for chunk in chunks:
        reply(chunk)


def fails_at(what: str, chunks: Iterator[Any], reply: Callable[[Any], None]) -> None:
    for chunk in chunks:
        if chunk == 20:
            if what == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if what == "exits":
                os._exit(3)
            if what == "memory":
                raise MemoryError
            if what == "told":
                raise SpamnbError("disk full of eels")
            if what == "defect":
                raise KeyError("a defect")
            if what == "unsendable":
                raise ValueError(lambda: None)
        reply(chunk)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_every_chunk_is_answered_once(workers: int) -> None:
    assert sorted(parallel_map(echo, iter(range(100)), workers)) == [(n, n) for n in range(100)]  # type: ignore[arg-type]
    assert list(parallel_map(echo, iter(()), workers)) == []


ECHOES_WHAT_NO_PIPE_HOLDS = """
from spamnb.engines.workers import parallel_map

def echo(chunks, reply):
    for chunk in chunks:
        reply(chunk)

large = [bytes([n]) * 2_000_000 for n in range(40)]
assert sorted(parallel_map(echo, iter(large), 2)) == list(enumerate(large))
for number, _ in parallel_map(echo, iter(large), 2):  # left early, while chunks are on their way
    break
"""


def test_chunks_and_replies_may_both_be_larger_than_a_pipe_holds() -> None:
    """In a process of its own, which is ended where both sides wait for each other."""
    subprocess.run([sys.executable, "-c", ECHOES_WHAT_NO_PIPE_HOLDS], check=True, timeout=120)


def test_a_chunk_that_cannot_be_sent_is_an_error() -> None:
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError), match="pickle"):
        list(parallel_map(echo, iter([threading.Lock()]), 2))


def tells_who(chunks: Iterator[int], reply: Callable[[Any], None]) -> None:
    for _ in chunks:
        reply(os.getpid())


def test_few_chunks_are_dealt_out_in_turn() -> None:
    done = [who for _, who in parallel_map(tells_who, iter(range(6)), 3)]
    assert sorted(done.count(who) for who in set(done)) == [2, 2, 2]


@pytest.mark.parametrize(
    ("what", "error", "says"),
    [
        ("killed", SpamnbError, "SIGKILL"),
        ("exits", SpamnbError, "ended with 3"),
        ("memory", SpamnbError, "too little memory"),
        ("told", SpamnbError, "eels"),
        ("defect", KeyError, "a defect"),
        ("unsendable", RuntimeError, "ValueError"),
    ],
)
def test_a_worker_that_fails_ends_the_work_with_its_reason(what: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says) as caught:
        list(parallel_map(partial(fails_at, what), iter(range(100)), 2))
    if error is KeyError:
        assert "fails_at" in "".join(caught.value.__notes__)  # where in the worker it happened


def slow_first(chunks: Iterator[Any], reply: Callable[[Any], None]) -> None:
    for chunk in chunks:
        if chunk == 0:
            time.sleep(0.3)
        reply(chunk)


def test_no_chunk_is_handed_out_too_far_ahead() -> None:
    handed: list[int] = []

    def chunks() -> Iterator[int]:
        for n in range(60):
            handed.append(n)
            yield n

    answered: set[int] = set()
    for number, _ in parallel_map(slow_first, chunks(), 2, ahead=10):
        assert number is not None
        first_without = min(set(range(61)) - answered)
        assert number < first_without + 10
        answered.add(number)
    assert len(answered) == 60


def test_idle_is_called_until_it_has_nothing_left() -> None:
    calls = iter([True, True, False])
    assert len(list(parallel_map(slow_first, iter(range(5)), 1, lambda: next(calls, False)))) == 5
    assert next(calls, "none left") == "none left"


COUNTS_FOR_EVER = """
import itertools, sys, tempfile
from pathlib import Path
from spamnb.engines.counting import count_parallel
from spamnb.sources.entries import Entry
from spamnb.reader.options import TokenOptions
entries = (Entry("ab"[n % 2], str(n), "", content=b"Subject: x\\n\\nword") for n in itertools.count())
with tempfile.TemporaryDirectory() as folder:
    count_parallel(entries, TokenOptions(), Path(folder), print, lambda done, total: print(done, flush=True), workers=2)
"""


def children_of(pid: int) -> set[int]:
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.add(int(stat.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to look for processes")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "killed"])
def test_no_worker_outlives_the_one_that_started_it(sent: signal.Signals, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", COUNTS_FOR_EVER],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},  # who is killed leaves its folder
    ) as process:
        assert process.stdout and process.stderr
        process.stdout.readline()
        workers = children_of(process.pid)
        assert len(workers) == 2
        if sent is signal.SIGINT:
            os.killpg(process.pid, sent)  # as a terminal does: the workers get it too
        else:
            process.kill()
        _, complaint = process.communicate(timeout=120)
        if sent is signal.SIGINT:
            assert complaint.count(b"Traceback") == 1
            assert b"KeyboardInterrupt" in complaint
    deadline = time.monotonic() + 120
    while left := {pid for pid in workers if Path(f"/proc/{pid}").exists() and not zombie(pid)}:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_memory_is_bounded_by_the_vocabulary(tmp_path: Path) -> None:
    import tracemalloc

    raw = b"Subject: x\n\n" + b" ".join(b"word%d" % (n % 50) for n in range(300))

    def peak(messages: int) -> int:
        tracemalloc.start()
        count_messages(
            ((n, Entry("a", "", "", content=raw)) for n in range(messages)), Reader(), tmp_path / "rows", never
        )
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    peak(10)
    flushed = module.MAX_BUFFERED * (8 + 5 * 8)  # the list, and the arrays that it is sorted in
    assert peak(2000) < flushed + peak(10) + 2000 * 100  # where 2000 rows in memory would be 2000 · 300 · 36


sizes = st.lists(st.none() | st.integers(0, 9), max_size=12)  # None: an entry that is a file


def of_sizes(sizes: list[int | None]) -> list[Entry]:
    return [Entry(None, str(n), "", content=None if size is None else b"x" * size) for n, size in enumerate(sizes)]


@given(sizes, st.integers(1, 5), st.integers(0, 20))
def test_chunks_are_the_entries_in_order_each_as_large_as_may_be(
    sizes: list[int | None], most: int, most_bytes: int
) -> None:
    given = of_sizes(sizes)
    source = iter(given)
    taken: list[Entry] = []
    more = True
    while more:
        found, size, more = take_chunk(source, most, most_bytes)
        carried = [len(entry.content or b"") for entry in found]
        assert size == sum(carried)
        full = len(found) == most or size > most_bytes
        assert len(found) <= most and sum(carried[:-1]) <= most_bytes
        assert more == full, "a chunk that is not full is the last"
        taken += found
    assert taken == given


def test_no_entry_is_read_ahead() -> None:
    source = iter(of_sizes([None, 3, 2, 1]))
    assert [len(take_chunk(source, 10, most_bytes).entries) for most_bytes in (2, 1, 0)] == [2, 1, 1]
    assert take_chunk(source, 10, 0) == ([], 0, False)
