"""Counting on all of this machine's cores, or on a cluster: the training set is the same to the last count."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

from spamnb.counts.counting import Collection, Counted, Counter
from spamnb.counts.training_set import TrainingSet
from spamnb.engines.executor import AHEAD, PerThread, cores, ordered_map, take_chunk, threads
from spamnb.reader.options import TokenOptions
from spamnb.reader.vocabulary import Vocabulary
from spamnb.sources.entries import Entry

if TYPE_CHECKING:
    from spamnb.engines.cluster import Cluster

MAX_CHUNK = 128  # messages handed to a thread: small enough that no thread is left with much at the end
MAX_CHUNK_BYTES = 1 << 22  # … or this much mail, where entries carry their bytes
MAX_LISTED = 256  # parts listed ahead, while waiting, to know how many messages there are: about 10 MB
MAX_LISTED_BYTES = 1 << 24  # … or so much mail, where entries carry their bytes

Progress = Callable[[int, int | None], None]  # messages done, and how many there are once that is known
CountedParts = Generator[tuple[Counted, Vocabulary]]  # in the order of the mail, with the vocabulary of their ids


def count_parallel(
    entries: Iterable[Entry],
    options: TokenOptions,
    folder: Path,
    on_unreadable: Callable[[str, Exception], None],
    on_progress: Progress = lambda done, total: None,
    workers: int | None = None,
    cluster: Cluster | None = None,
) -> TrainingSet:
    """The training set of all messages, counted by ``workers`` threads (default: one a core), or by the ``cluster``
    where there is one. Rows that memory should not hold lie in ``folder``."""
    if cluster is None:
        parts = Parts(entries, repeat(MAX_CHUNK), MAX_CHUNK_BYTES)
        shared = _by_threads(parts, options, workers or cores())
    else:
        from spamnb.engines.cluster_counting import MAX_PART_BYTES, by_cluster, part_sizes

        parts = Parts(entries, part_sizes(cluster.workers), MAX_PART_BYTES)
        shared = by_cluster(cluster, parts, options)
    collection, done = Collection(folder), 0
    with closing(shared):
        for found, vocabulary in shared:
            for message in found.unread:
                on_unreadable(message.name, OSError(message.why))
            done += len(found.positions) + len(found.unread)
            on_progress(done, parts.total)
            collection.add(found, vocabulary)
    return collection.training_set()


def _by_threads(parts: Parts, options: TokenOptions, workers: int) -> CountedParts:
    own = PerThread(partial(Counter, options))

    def count(part: MailPart) -> tuple[Counted, Vocabulary]:
        return own.value.count(part.numbered()), own.value.vocabulary

    with threads(workers) as executor:
        yield from ordered_map(
            lambda part: executor.submit(count, part), parts, lambda: AHEAD * workers, parts.list_one
        )


class MailPart:
    """A part of the mail. No list: Dask looks for futures in each element of a list that it hands on."""

    def __init__(self, entries: list[Entry], first: int, size: int) -> None:
        self.entries = entries
        self.first = first  # place of the first of them in the whole of the mail
        self.size = size  # bytes of mail that they carry

    def numbered(self) -> Iterator[tuple[int, Entry]]:
        """The entries with their places."""
        return enumerate(self.entries, self.first)


class Parts(Iterator[MailPart]):
    """Entries in parts of these ``sizes``, or of so many bytes that they carry; listed ahead where there is time."""

    def __init__(self, entries: Iterable[Entry], sizes: Iterator[int], most_bytes: int) -> None:
        self._entries, self._sizes, self._most_bytes = iter(entries), sizes, most_bytes
        self._ahead = deque[MailPart]()
        self._listed = self._carried = 0  # messages listed; bytes of those ahead
        self.total: int | None = None  # messages, once all are listed

    def __next__(self) -> MailPart:
        if not self._ahead and not self.list_one():
            raise StopIteration
        part = self._ahead.popleft()
        self._carried -= part.size
        return part

    def list_one(self) -> bool:
        """List one more part; False where there is no more, or enough is at hand."""
        if self.total is not None or len(self._ahead) >= MAX_LISTED or self._carried > MAX_LISTED_BYTES:
            return False
        chunk = take_chunk(self._entries, next(self._sizes), self._most_bytes)
        if not chunk.entries:
            self.total = self._listed
            return False
        self._ahead.append(MailPart(chunk.entries, self._listed, chunk.size))
        self._listed += len(chunk.entries)
        self._carried += chunk.size
        return True
