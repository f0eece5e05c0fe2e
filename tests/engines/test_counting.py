"""engines/: the same training set whatever the number of threads and chunks, and what happens when one fails."""

import signal
import subprocess
import sys
import time
import tracemalloc
from functools import partial
from operator import length_hint
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mail import fail, mail, message, same_counts, write_folders

from spamnb.engines import executor as engine
from spamnb.engines.counting import count_parallel
from spamnb.engines.executor import ordered_map, parts_of, threads
from spamnb.errors import SpamnbError
from spamnb.model import counting as counts
from spamnb.model.training_set import TrainingSet
from spamnb.reader.rows import Rows
from spamnb.reader.tokens import TokenArray
from spamnb.settings import Settings
from spamnb.sources.entries import Entry
from spamnb.sources.spec import find_labelled_entries


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    messages = [*mail(300), ("spam", message("ham", 7)), ("ham", message("ham", 8))]
    return write_folders(tmp_path_factory.mktemp("mail"), messages)


@pytest.fixture(scope="module")
def whole(folder: Path) -> TrainingSet:
    return count_parallel(find_labelled_entries([str(folder)], fail), Settings(), fail, workers=1)


def rows_of(made: TrainingSet) -> dict[int, tuple[str, dict[str, int]]]:
    return {
        int(batch.positions[0]): (
            made.classes[batch.labels[0]],
            dict(zip((made.tokens[j] for j in batch.ids), batch.counts.tolist())),
        )
        for batch in made.rows.batches(1)
    }


@pytest.mark.parametrize(("workers", "size"), [(1, 64), (2, 64), (3, 7), (5, 1), (2, 100_000)])
def test_the_result_is_the_same_whatever_the_workers_and_parts(
    folder: Path, whole: TrainingSet, monkeypatch: pytest.MonkeyPatch, workers: int, size: int
) -> None:
    monkeypatch.setattr(engine, "MAX_PART_MESSAGES", size)
    monkeypatch.setattr(counts, "MAX_READ", 3000)
    progress: list[int] = []
    made = count_parallel(find_labelled_entries([str(folder)], fail), Settings(), fail, progress.append, workers)
    assert list(made.tokens) == list(whole.tokens)
    assert same_counts(made, whole)
    assert rows_of(made) == rows_of(whole)
    for name, theirs in vars(whole.rows).items():
        assert name == "tokens" or np.array_equal(getattr(made.rows, name), theirs)
    assert same_counts(made.deduplicate(), whole.deduplicate())
    assert progress == sorted(progress) and progress[-1] == 602


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
        list(ordered_map(partial(executor.submit, fails_at), range(1000), 500))
    assert len(begun) < 100


COUNTS_FOR_EVER = """
import itertools
from spamnb.engines.counting import count_parallel
from spamnb.settings import Settings
from spamnb.sources.entries import Entry
entries = (Entry("ab"[n % 2], str(n), "", content=b"Subject: x\\n\\nword") for n in itertools.count())
count_parallel(entries, Settings(), print, lambda done: print(done, flush=True), workers=2)
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
    for n in range(30):
        (tmp_path / str(n)).write_bytes(b"Subject: photographs\nContent-Type: image/jpeg\n\n" + b"%d\n" % n * 500_000)
    found = [Entry("ham", str(n), str(tmp_path / str(n))) for n in range(30)]
    tracemalloc.start()
    try:
        count_parallel(found, Settings(), fail, workers=2)
        assert tracemalloc.get_traced_memory()[1] < 20e6  # bytes; the messages together are 40 million
    finally:
        tracemalloc.stop()


def test_cells_are_in_memory_once_while_messages_are_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "MAX_COUNTED_CELLS", 1 << 16)
    monkeypatch.setattr(counts, "SORTED_AT_ONCE", 64)
    monkeypatch.setattr("spamnb.model.training_set.MESSAGES_AT_ONCE", 64)
    random, builder = np.random.default_rng(1), counts.TrainingSetBuilder()
    ids = np.tile(builder.vocabulary.ids(TokenArray.of(f"word{n}" for n in range(512))), 128)
    lengths, labels = np.full(128, 512), np.zeros(128, np.intp)
    tracemalloc.start()
    try:
        for _ in range(32):
            digests = random.integers(0, 256, (128, 16), np.uint8)
            columns = {"digests": digests, "labels": labels, "classes": ("ham",)}
            builder.add(Rows.of_cells(builder.vocabulary, lengths, ids.copy(), np.ones(len(ids), np.uint16), **columns))
        made = builder.training_set()
        assert tracemalloc.get_traced_memory()[1] < 1.3 * (made.rows.ids.nbytes + made.rows.counts.nbytes)
    finally:
        tracemalloc.stop()
    assert made.cells.figures[0].tolist() == [128 * 32] * 512


sizes = st.lists(st.none() | st.integers(0, 9), max_size=12)  # None: an entry that is a file


def of_sizes(sizes: list[int | None]) -> list[Entry]:
    return [Entry(None, str(n), "", content=None if size is None else b"x" * size) for n, size in enumerate(sizes)]


@given(sizes, st.integers(1, 5), st.integers(0, 20))
def test_parts_are_the_entries_in_order_each_as_large_as_may_be(
    sizes: list[int | None], most: int, most_bytes: int
) -> None:
    entries, taken = iter(of_sizes(sizes)), []
    for part in parts_of(entries, most, most_bytes):
        carried = [len(entry.content or b"") for entry in part]
        assert len(part) <= most and sum(carried[:-1]) <= most_bytes
        taken += part
        if len(part) < most and sum(carried) <= most_bytes:
            assert next(entries, None) is None, "a part that is not full is the last"
        else:
            assert len(taken) == len(sizes) - length_hint(entries), "no entry is read ahead"
    assert taken == of_sizes(sizes)
