"""Entries handed to an executor, a chunk at a time and a few ahead; their results come in order.

The executor is this machine's threads, or a cluster. Threads do, because messages are read without Python's lock. When
an error or Ctrl-C ends the work, only the chunks that are being read are waited for.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from typing import Any, Generic, NamedTuple, TypeVar

from spamnb.errors import ArgumentError
from spamnb.sources.entries import Entry

MAX_CHUNK = 256  # messages that are judged or read at once: more gain less than their memory is worth
MAX_CHUNK_BYTES = 1 << 22  # … or this much mail, where entries carry their bytes
MAX_ALONE = 300  # messages below which threads cost more than they gain
AHEAD = 3  # chunks a thread that are handed out

ENDING = (signal.SIGTERM, signal.SIGHUP)  # what tells a process to end, besides Ctrl-C

T = TypeVar("T")
R = TypeVar("R")


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class PerThread(threading.local, Generic[T]):
    """What each thread makes for itself when it first asks for it.

    >>> own = PerThread(list)
    >>> own.value.append(1)
    >>> with threads(1) as executor:
    ...     executor.submit(lambda: own.value).result(), own.value
    ([], [1])
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self.value = make()


@contextmanager
def threads(n: int) -> Iterator[ThreadPoolExecutor]:
    """An executor of ``n`` threads. When the context ends, calls that have not begun never do.

    Raises SpamnbError where memory runs out.
    """
    executor = ThreadPoolExecutor(n, "spamnb")
    try:
        yield executor
    except MemoryError:
        raise ArgumentError("too little memory; {option.workers} 1 or a smaller source needs less") from None
    finally:
        executor.shutdown(cancel_futures=True)


def ordered_map(
    submit: Callable[[T], Any],
    chunks: Iterator[T],
    ahead: Callable[[], int],
    idle: Callable[[], bool] = lambda: False,
    result: Callable[[Any], R] = Future.result,
) -> Iterator[R]:
    """The ``result`` of what ``submit`` returns for each chunk, in order; no more than ``ahead()`` are handed out and
    not fetched. ``idle`` is called while the next result is not there yet, until it returns False.

    >>> with threads(2) as executor:
    ...     list(ordered_map(lambda n: executor.submit(pow, n, 2), iter(range(5)), lambda: 3))
    [0, 1, 4, 9, 16]
    """
    waiting = deque[Any]()
    more = True
    while more or waiting:
        while more and len(waiting) < max(ahead(), 1):
            for chunk in chunks:
                waiting.append(submit(chunk))
                break
            else:
                more = False
        if waiting:
            while not waiting[0].done() and idle():
                pass
            yield result(waiting.popleft())


class Chunk(NamedTuple):
    """Some entries in their order."""

    entries: list[Entry]
    size: int  # bytes of mail that they carry
    more: bool  # whether others may follow


def take_chunk(entries: Iterator[Entry], most: int, most_bytes: int) -> Chunk:
    """The next entries, until there are ``most`` or they carry more than ``most_bytes`` of mail.

    >>> take_chunk(iter([Entry("ham", "1", "", content=b"tea"), Entry("ham", "2", "", content=b"at four")]), 10, 2)[1:]
    (3, True)
    """
    found: list[Entry] = []
    size = 0
    for entry in entries:
        found.append(entry)
        size += len(entry.content or b"")
        if len(found) == most or size > most_bytes:
            return Chunk(found, size, True)
    return Chunk(found, size, False)


def of_chunks(
    entries: Iterator[Entry],
    make: Callable[[], Callable[[list[Entry]], R]],
    workers: int,
    alone: Callable[[list[Entry]], R] | None = None,
) -> Iterator[R]:
    """What is made of each chunk of the entries, in order: of few of them by ``alone``, of many by ``workers`` threads,
    each of which calls ``make`` once. Without ``alone`` one worker needs no thread."""
    first = take_chunk(entries, MAX_ALONE, MAX_CHUNK_BYTES)
    every = chain(first.entries, entries)
    chunks = iter(lambda: take_chunk(every, MAX_CHUNK, MAX_CHUNK_BYTES).entries, [])
    if not first.more or (workers == 1 and alone is None):
        yield from map(alone or make(), chunks)
        return
    own = PerThread(make)

    def made(chunk: list[Entry]) -> R:
        return own.value(chunk)

    with threads(workers) as executor:
        yield from ordered_map(lambda chunk: executor.submit(made, chunk), chunks, lambda: AHEAD * workers)
