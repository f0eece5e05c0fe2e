"""Mail counted on a cluster: workers read and count parts of it, this machine adds up what they counted.

The training set is that of one process to the last count and in the same order, so whatever is fitted to it is the same
model. A part that was lost with its worker is counted again by another.
"""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from spamnb.counts.class_counts import ClassCounts
from spamnb.counts.shard import Shard
from spamnb.counts.training_set import TrainingSet, count_messages
from spamnb.engines.chunks import take_chunk
from spamnb.engines.cluster import Cluster, check_rules, rules
from spamnb.engines.counting import Progress
from spamnb.errors import SpamnbError, reason
from spamnb.reader.message import Reader
from spamnb.reader.options import TokenOptions
from spamnb.reader.token_array import TokenArray
from spamnb.sources.entries import Entry, is_remote

FIRST_PART = 1000  # messages: enough that a task costs little beside them, few enough that all workers soon have one
LARGEST_PART = 8000  # messages: some 60 MB of a worker
EQUAL_PARTS = 2  # a worker, of one size, before they double: larger parts repeat fewer tokens
AHEAD = 3  # parts a worker that are handed out and not added up yet
MAX_PART_BYTES = 1 << 24  # of mail, where entries carry their bytes


class MailPart:
    """A part of the mail. No list: Dask looks for futures in each element of a list that it hands on."""

    def __init__(self, entries: Sequence[Entry], first: int) -> None:
        self.entries = entries
        self.first = first  # place of the first of them in the whole of the mail


class UnreadMessage(NamedTuple):
    """A message that a worker could not read."""

    name: str
    path: str
    why: str
    missing: bool  # there was no such file


class Counted(NamedTuple):
    """A part's messages, counted; their rows are in memory."""

    messages: TrainingSet
    unreadable: tuple[UnreadMessage, ...]


def count_part(mail: MailPart, options: TokenOptions, expected: dict[str, str]) -> Counted:
    """What a worker does: count a part. SpamnbError where it goes by other rules, or has no room on its disk."""
    check_rules(rules(), expected, "a worker")
    unreadable: list[UnreadMessage] = []
    path = ""
    missing = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)

    def numbered() -> Iterator[tuple[int, Entry]]:
        nonlocal path
        for place, entry in enumerate(mail.entries, mail.first):
            path = entry.path
            yield place, entry

    def on_unreadable(name: str, error: Exception) -> None:
        unreadable.append(UnreadMessage(name, path, reason(error), getattr(error, "errno", None) in missing))

    try:
        with TemporaryDirectory(prefix="spamnb-") as folder:
            rows = Path(folder, "rows")
            counted = count_messages(numbered(), Reader(options), rows, on_unreadable)
            cells = np.fromfile(rows, np.int32).reshape(-1, 2)
    except OSError as error:
        raise SpamnbError(f"a worker: no temporary files can be written there: {reason(error)}") from None
    (shard,) = counted.shards
    return Counted(counted._replace(shards=(shard._replace(cells=cells),)), tuple(unreadable))


def part_sizes(workers: int) -> Iterator[int]:
    """Messages of each part in turn, for so many workers.

    >>> from itertools import islice
    >>> list(islice(part_sizes(workers=2), 2, 6)), list(islice(part_sizes(workers=2), 99, 100))
    ([1000, 1000, 2000, 2000], [8000])
    """
    size = FIRST_PART
    while True:
        for _ in range(EQUAL_PARTS * workers):
            yield size
        size = min(2 * size, LARGEST_PART)


def count_on_cluster(
    cluster: Cluster,
    mail: Iterable[Entry],
    options: TokenOptions,
    folder: Path,
    on_unreadable: Callable[[str, Exception], None],
    on_progress: Progress,
) -> TrainingSet:
    """As ``count_parallel``: the training set of all messages, as one process makes it. Its rows lie in ``folder``."""
    path = folder / "rows"
    sums = [TrainingSet(TokenArray.of([]), ClassCounts((), np.zeros(0, np.int64), 0, ()), ())]
    with path.open("wb") as file:
        for part in _counted_parts(cluster, mail, options, on_progress):
            for message in part.unreadable:
                _check_seen(cluster, message)
                on_unreadable(message.name, OSError(message.why))
            (shard,) = part.messages.shards
            assert isinstance(shard.cells, np.ndarray)
            shard.cells.tofile(file)
            sums.append(part.messages._replace(shards=(shard._replace(cells=path),)))
            while len(sums) > 1 and 2 * len(sums[-1].tokens) >= len(sums[-2].tokens):  # few sums, and few additions
                sums[-2:] = [TrainingSet.sum(sums[-2:])]
    found = TrainingSet.sum(sums)
    return _in_one_shard(found, path) if found.shards else found


def _counted_parts(
    cluster: Cluster, mail: Iterable[Entry], options: TokenOptions, on_progress: Progress
) -> Iterator[Counted]:
    """All parts in the order of the mail, a few of them handed out ahead."""
    source, expected = iter(mail), rules()
    ahead = deque[tuple[int, Any]]()  # of each part where it ends in the mail, and its future
    end, more = 0, True
    sizes = part_sizes(cluster.workers)
    while more or ahead:
        most = AHEAD * cluster.workers if more else 0
        while more and len(ahead) < most:
            chunk = take_chunk(source, next(sizes), MAX_PART_BYTES)
            more = chunk.more
            if chunk.entries:
                entries = [_absolute(entry) for entry in chunk.entries]
                told = f"the part of the mail from {entries[0].name} to {entries[-1].name}"
                part = MailPart(entries, end)
                future = cluster.submit(f"count-{end}", count_part, part, options, expected, told=told)
                end += len(entries)
                ahead.append((end, future))
        if ahead:
            done, future = ahead.popleft()
            counted = cluster.result(future)
            del future  # what was fetched the cluster lets go
            on_progress(done, None if more else end)
            yield counted


def _absolute(entry: Entry) -> Entry:
    here = entry.content is None and not is_remote(entry.path)
    return entry._replace(path=os.path.abspath(entry.path)) if here else entry


def _check_seen(cluster: Cluster, message: UnreadMessage) -> None:
    """SpamnbError where a worker lacks a file that is here."""
    if message.missing and os.path.exists(message.path):
        raise SpamnbError(
            f"{message.name}: here it is, and on a worker of {cluster.address} it is not; all workers must see the"
            " mail's files under the same names"
        )


def _in_one_shard(found: TrainingSet, path: Path) -> TrainingSet:
    """The same with all rows in one shard, as of one process: sums of floating point then come out the same.

    Tokens get new numbers in the file, those that most messages hold first: what is read most lies together in memory.
    """
    common = np.argsort(-found.counts.document_frequency(), kind="stable")
    number = np.empty(len(common), np.int32)
    number[common] = np.arange(len(common), dtype=np.int32)
    if path.stat().st_size:  # a file without a byte cannot be mapped
        file = np.memmap(path, np.int32, "r+")
        cells = file.reshape(-1, 2)
        begin = 0
        for shard in found.shards:
            end = begin + int(shard.lengths.sum(dtype=np.int64))
            cells[begin:end, 0] = number[shard.columns[cells[begin:end, 0]]]
            begin = end
        file.flush()
    shard = Shard(
        path,
        np.concatenate([own.positions for own in found.shards]),
        np.concatenate([own.lengths for own in found.shards]),
        np.concatenate([own.labels for own in found.shards]),
        np.concatenate([own.digests for own in found.shards]),
        common,
        np.concatenate([own.included for own in found.shards]),
        np.concatenate([own.dates for own in found.shards]),
    )
    return found._replace(shards=(shard,))
