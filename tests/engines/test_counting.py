"""engines/: the same training set whatever the number of threads and chunks, and what happens when one fails."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mail import folders, mail, message, never, same_counts

from spamnb.counts import counting as counts
from spamnb.counts.training_set import TrainingSet
from spamnb.engines import counting
from spamnb.engines.counting import count_parallel
from spamnb.engines.executor import ordered_map, take_chunk, threads
from spamnb.errors import SpamnbError
from spamnb.reader.options import TokenOptions
from spamnb.sources.entries import Entry
from spamnb.sources.spec import entries


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    messages = [*mail(300), ("spam", message("ham", 7)), ("ham", message("ham", 8))]
    return folders(tmp_path_factory.mktemp("mail"), messages)


@pytest.fixture(scope="module")
def whole(folder: Path) -> TrainingSet:
    return count_parallel(entries([str(folder)], never), TokenOptions(), folder, never, workers=1)


def rows_of(made: TrainingSet) -> dict[int, tuple[str, dict[str, int]]]:
    return {
        int(batch.positions[0]): (
            made.counts.classes[batch.labels[0]],
            dict(zip((made.tokens[j] for j in batch.rows.ids), batch.rows.counts.tolist())),
        )
        for batch in made.batches(1)
    }


@pytest.mark.parametrize(("workers", "chunk"), [(1, 64), (2, 64), (3, 7), (5, 1), (2, 100_000)])
def test_the_result_is_the_same_whatever_the_workers_and_chunks(
    folder: Path, whole: TrainingSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int, chunk: int
) -> None:
    monkeypatch.setattr(counting, "MAX_CHUNK", chunk)
    monkeypatch.setattr(counts, "MAX_READ", 3000)
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
    for mine, theirs in zip(made.messages, whole.messages):
        assert np.array_equal(mine, theirs)
    assert same_counts(made.deduplicate().counts, whole.deduplicate().counts)
    assert [done for done, _ in progress] == sorted(done for done, _ in progress)
    assert progress[-1] == (602, 602)


def test_entries_that_carry_their_bytes(whole: TrainingSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    for name, most in (("MAX_CHUNK", 4), ("MAX_LISTED_BYTES", 4000)):
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


def test_what_cannot_be_read_is_named_and_the_rest_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MAX_CHUNK", 4)
    many = [Entry(c, str(n), "", content=raw) for n, (c, raw) in enumerate(mail(20))]
    many[11] = Entry("ham", "eleven", str(tmp_path / "missing"))
    named: list[tuple[str, str]] = []

    def on_unreadable(name: str, error: Exception) -> None:
        named.append((name, str(error)))

    made = count_parallel(many, TokenOptions(), tmp_path, on_unreadable, workers=2)
    assert named == [("eleven", "No such file or directory")]
    assert made.counts.documents.sum() == 39


def test_results_come_in_the_order_of_the_chunks_and_none_is_handed_out_too_far_ahead() -> None:
    handed: list[int] = []

    def chunks() -> Iterator[int]:
        for n in range(60):
            handed.append(n)
            yield n

    def slow_first(n: int) -> int:
        time.sleep(0.2 if n == 0 else 0)
        return n

    with threads(3) as executor:
        found = ordered_map(lambda n: executor.submit(slow_first, n), chunks(), lambda: 10)
        for expected, n in enumerate(found):
            assert n == expected and len(handed) <= n + 10
    assert len(handed) == 60


def test_idle_is_called_until_it_has_nothing_left() -> None:
    calls = iter([True, True, False])
    with threads(1) as executor:
        found = ordered_map(
            lambda n: executor.submit(time.sleep, 0.05), iter(range(5)), lambda: 5, lambda: next(calls, False)
        )
        assert len(list(found)) == 5
    assert next(calls, "none left") == "none left"


@pytest.mark.parametrize(
    ("error", "raised", "says"),
    [
        (MemoryError(), SpamnbError, "too little memory"),
        (SpamnbError("disk full of eels"), SpamnbError, "eels"),
        (KeyError("a defect"), KeyError, "a defect"),
    ],
)
def test_a_thread_that_fails_ends_the_work_with_its_reason(
    error: Exception, raised: type[Exception], says: str
) -> None:
    begun: list[int] = []

    def fails_at(n: int) -> None:
        begun.append(n)
        time.sleep(0.01)
        if n == 20:
            raise error

    with pytest.raises(raised, match=says), threads(2) as executor:
        list(ordered_map(lambda n: executor.submit(fails_at, n), iter(range(1000)), lambda: 500))
    assert len(begun) < 100


COUNTS_FOR_EVER = """
import itertools
from pathlib import Path
from spamnb.engines.counting import count_parallel
from spamnb.reader.options import TokenOptions
from spamnb.sources.entries import Entry
entries = (Entry("ab"[n % 2], str(n), "", content=b"Subject: x\\n\\nword") for n in itertools.count())
count_parallel(entries, TokenOptions(), Path(), print, lambda done, total: print(done, flush=True), workers=2)
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "ended"])
def test_a_command_that_counts_ends_when_it_is_told_to(sent: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", COUNTS_FOR_EVER], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        process.stdout.readline()
        process.send_signal(sent)
        _, complaint = process.communicate(timeout=60)
    assert process.returncode == -sent
    assert (b"KeyboardInterrupt" in complaint) == (sent is signal.SIGINT)


def test_little_mail_is_in_memory_at_a_time(tmp_path: Path) -> None:
    import tracemalloc

    for n in range(30):
        (tmp_path / str(n)).write_bytes(b"Subject: photographs\nContent-Type: image/jpeg\n\n" + b"%d\n" % n * 500_000)
    found = [Entry("ham", str(n), str(tmp_path / str(n))) for n in range(30)]
    tracemalloc.start()
    try:
        count_parallel(found, TokenOptions(), tmp_path, never, workers=2)
        assert tracemalloc.get_traced_memory()[1] < 20e6  # bytes; the messages together are 40 million
    finally:
        tracemalloc.stop()


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
