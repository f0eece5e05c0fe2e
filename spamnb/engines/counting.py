"""Counting on all of this machine's cores: each process reads its own files and hands back one portion.

The result is the same to the last count whatever the number of processes: sums do not care who added them.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spamnb.counts.training_set import TrainingSet, count_messages
from spamnb.engines.chunks import Chunk, take_chunk
from spamnb.engines.workers import cores, parallel_map
from spamnb.errors import reason
from spamnb.reader.message import Reader
from spamnb.reader.options import TokenOptions
from spamnb.sources.entries import Entry

if TYPE_CHECKING:
    from spamnb.engines.cluster import Cluster

MAX_CHUNK = 64  # messages handed out at a time: small enough that no process is left with much at the end
MAX_CHUNK_BYTES = 1 << 22  # … or this much mail, where entries carry their bytes
# Messages below which processes cost more than they gain: docs/experiments.md#one-process-or-several.
MAX_ALONE = 1200
MAX_ALONE_BYTES = 3 << 20  # … or this much mail: a letter takes a quarter of the time of a page of HTML
SIZES_ASKED = 32  # files whose sizes tell how much mail there is
MAX_LISTED = 512  # chunks listed ahead, while waiting, to know how many messages there are: about 10 MB
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
    """The training set of all messages, counted by ``workers`` processes (default: one a core).

    Rows lie in ``folder``."""
    source = iter(entries)
    workers = workers or cores()
    first = Chunk([], 0, False) if workers == 1 else take_chunk(source, MAX_ALONE, MAX_ALONE_BYTES)
    every = chain(first.entries, source)
    if not first.more and (workers == 1 or _octets(first.entries) <= MAX_ALONE_BYTES):
        return _alone(every, options, folder, on_unreadable, on_progress)
    return _shared(_Chunks(every), options, folder, on_unreadable, on_progress, workers)


def _octets(entries: Sequence[Entry]) -> int:
    """About how many bytes of mail these are, by the sizes of some of them."""
    asked = entries[:: len(entries) // SIZES_ASKED + 1]
    return sum(map(_size, asked)) * len(entries) // max(len(asked), 1)


def _size(entry: Entry) -> int:
    if entry.content is not None:
        return len(entry.content)
    if entry.stop is not None:
        return entry.stop - entry.start
    try:
        return os.stat(entry.path).st_size
    except OSError:  # it is told when it is read
        return 0


def _alone(
    entries: Iterator[Entry],
    options: TokenOptions,
    folder: Path,
    on_unreadable: Callable[[str, Exception], None],
    on_progress: Progress,
) -> TrainingSet:
    done = 0

    def on_message() -> None:
        nonlocal done
        done += 1
        if not done % MAX_CHUNK:
            on_progress(done, None)

    return count_messages(enumerate(entries), Reader(options), folder / "rows", on_unreadable, on_message)


class _Chunks:
    """Entries in chunks, listed ahead of need where there is time."""

    def __init__(self, entries: Iterator[Entry]) -> None:
        self._entries = entries
        self._ahead: deque[Chunk] = deque()
        self._given = self._listed = self._carried = 0  # messages handed out, and listed; bytes of those ahead
        self.total: int | None = None

    def __iter__(self) -> Iterator[list[NumberedEntry]]:
        return self

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


def _count(
    options: TokenOptions,
    folder: Path,
    chunks: Iterator[list[NumberedEntry]],
    reply: Callable[[Any], None],
) -> None:
    """A worker's part."""
    unreadable: list[tuple[str, str]] = []

    def entries() -> Iterator[NumberedEntry]:
        for chunk in chunks:
            yield from chunk
            reply((len(chunk), list(unreadable)))
            unreadable.clear()

    def on_unreadable(name: str, error: Exception) -> None:
        unreadable.append((name, reason(error)))

    own = count_messages(entries(), Reader(options), folder / f"rows{os.getpid()}", on_unreadable)
    reply(own.save(folder / f"sums{os.getpid()}"))


def _shared(
    chunks: _Chunks,
    options: TokenOptions,
    folder: Path,
    on_unreadable: Callable[[str, Exception], None],
    on_progress: Progress,
    workers: int,
) -> TrainingSet:
    done = 0
    parts: list[TrainingSet] = []
    for number, value in parallel_map(partial(_count, options, folder), chunks, workers, chunks.list_one):
        if number is None:
            parts.append(TrainingSet.load(*value))
            value[0].unlink()
            continue
        messages, unreadable = value
        for name, why in unreadable:
            on_unreadable(name, OSError(why))
        done += messages
        on_progress(done, chunks.total)
    return TrainingSet.sum(parts)
