"""Counting on all of this machine's cores, or on a cluster: the training set is the same to the last count."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from spamnb.counts.counting import Collection, Counted, Counter
from spamnb.counts.training_set import TrainingSet
from spamnb.engines.executor import AHEAD, Chunk, PerThread, cores, ordered_map, take_chunk, threads
from spamnb.reader.options import TokenOptions
from spamnb.reader.vocabulary import Vocabulary
from spamnb.sources.entries import Entry

if TYPE_CHECKING:
    from spamnb.engines.cluster import Cluster

MAX_CHUNK = 128  # messages handed out at a time: small enough that no thread is left with much at the end
MAX_CHUNK_BYTES = 1 << 22  # … or this much mail, where entries carry their bytes
MAX_LISTED = 256  # chunks listed ahead, while waiting, to know how many messages there are: about 10 MB
MAX_LISTED_BYTES = 1 << 24  # … or so much mail, where entries carry their bytes

Progress = Callable[[int, int | None], None]  # messages done, and how many there are once that is known
NumberedEntry = tuple[int, Entry]


def counted(
    entries: Iterable[Entry],
    options: TokenOptions,
    folder: Path,
    on_unreadable: Callable[[str, Exception], None],
    on_progress: Progress,
    workers: int | None,
    cluster: Cluster | None,
) -> TrainingSet:
    """The training set of all messages: counted by the ``cluster`` where there is one, else as ``count_parallel``."""
    if cluster is None:
        return count_parallel(entries, options, folder, on_unreadable, on_progress, workers)
    from spamnb.engines.cluster_counting import count_on_cluster

    return count_on_cluster(cluster, entries, options, folder, on_unreadable, on_progress)


def count_parallel(
    entries: Iterable[Entry],
    options: TokenOptions,
    folder: Path,
    on_unreadable: Callable[[str, Exception], None],
    on_progress: Progress = lambda done, total: None,
    workers: int | None = None,
) -> TrainingSet:
    """The training set of all messages, counted by ``workers`` threads (default: one a core).

    Rows that memory should not hold lie in ``folder``."""
    workers = workers or cores()
    own = PerThread(partial(Counter, options))

    def count(chunk: list[NumberedEntry]) -> tuple[Counted, Vocabulary]:
        return own.value.count(chunk), own.value.vocabulary

    collection, chunks, done = Collection(folder), _Chunks(iter(entries)), 0
    with threads(workers) as executor:
        shared: Iterator[tuple[Counted, Vocabulary]] = ordered_map(
            lambda chunk: executor.submit(count, chunk), chunks, lambda: AHEAD * workers, chunks.list_one
        )
        for found, vocabulary in shared:
            for message in found.unread:
                on_unreadable(message.name, OSError(message.why))
            done += len(found.positions) + len(found.unread)
            on_progress(done, chunks.total)
            collection.add(found, vocabulary)
    return collection.training_set()


class _Chunks(Iterator[list[NumberedEntry]]):
    """Entries in chunks, listed ahead of need where there is time."""

    def __init__(self, entries: Iterator[Entry]) -> None:
        self._entries = entries
        self._ahead = deque[Chunk]()
        self._given = self._listed = self._carried = 0  # messages handed out, and listed; bytes of those ahead
        self.total: int | None = None

    def __next__(self) -> list[NumberedEntry]:
        if not self._ahead and not self.list_one():
            raise StopIteration
        chunk, size, _ = self._ahead.popleft()
        self._carried -= size
        first, self._given = self._given, self._given + len(chunk)
        return list(enumerate(chunk, first))

    def list_one(self) -> bool:
        """List one more chunk; False where there is no more, or enough is at hand."""
        if self.total is not None or len(self._ahead) >= MAX_LISTED or self._carried > MAX_LISTED_BYTES:
            return False
        chunk = take_chunk(self._entries, MAX_CHUNK, MAX_CHUNK_BYTES)
        if not chunk.entries:
            self.total = self._listed
            return False
        self._ahead.append(chunk)
        self._listed += len(chunk.entries)
        self._carried += chunk.size
        return True
