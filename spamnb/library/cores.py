"""Arrays made of messages on all of this machine's cores."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from spamnb.engines.chunks import take_chunk
from spamnb.engines.workers import cores, parallel_map
from spamnb.sources.entries import Entry

MAX_CHUNK = 256  # messages that become one piece of the result: their figures fit the processor's cache
MAX_CHUNK_BYTES = 1 << 22  # … or this much mail

T = TypeVar("T")
Chunk = list[Entry]


def workers_of(n_jobs: int | None) -> int:
    """How many processes: −1 is one a core, −2 one less, and None is 1, as scikit-learn has it.

    One in a process that others made, as a search with several jobs does: its cores are at work already.
    """
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs is 0: give a number of processes, or -1 for one a core")
    if multiprocessing.current_process().daemon:  # which may start none
        return 1
    if n_jobs > 0:
        return n_jobs
    return 1 if multiprocessing.parent_process() is not None else max(1, cores() + 1 + n_jobs)


def in_order(
    entries: Iterator[Entry], make: Callable[[], Callable[[Chunk], T]], most_alone: int, workers: int
) -> Iterator[T]:
    """What ``make()`` makes of each chunk of the messages, in their order. More than ``most_alone`` messages are shared
    by ``workers`` processes, each of which calls ``make`` once; fewer are read here."""
    first = take_chunk(entries, most_alone, MAX_CHUNK_BYTES)
    every = chain(first.entries, entries)
    chunks = iter(lambda: take_chunk(every, MAX_CHUNK, MAX_CHUNK_BYTES).entries, [])
    if not first.more or workers == 1:
        yield from map(make(), chunks)
        return
    found: dict[int | None, T] = {}
    due = 0
    for number, made in parallel_map(partial(_work, make), chunks, workers):
        found[number] = made
        while due in found:
            yield found.pop(due)
            due += 1


def _work(make: Callable[[], Callable[[Chunk], T]], chunks: Iterator[Chunk], reply: Callable[[Any], None]) -> None:
    """A worker's part."""
    read = make()
    for chunk in chunks:
        reply(read(chunk))
