"""An executor works on parts of the entries, a few parts ahead; the results come in order.

The executor is this machine's threads, or a cluster. Threads do, because messages are read without Python's lock. When
an error or Ctrl-C ends the work, only the parts that are being read are waited for.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import TYPE_CHECKING, Generic, TypeVar

from spamnb.errors import ArgumentError
from spamnb.sources.entries import Entry

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

MAX_PART = 256  # messages of a part: more gain less than their memory is worth, fewer need no threads
MAX_PART_BYTES = 1 << 22  # … or this much mail, where entries carry their bytes
AHEAD = 3  # parts that a worker is given before it is done with the first, so that it never waits

ENDING = (signal.SIGTERM, signal.SIGHUP)  # signals that end a process, besides Ctrl-C

T = TypeVar("T")
R = TypeVar("R")


def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class PerThread(threading.local, Generic[T]):
    """A value that each thread makes when it first needs it.

    >>> lists = PerThread(list)
    >>> lists.value.append(1)
    >>> with threads(1) as executor:
    ...     executor.submit(lambda: lists.value).result(), lists.value
    ([], [1])
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self.value = make()


@contextmanager
def threads(n: int) -> Iterator[ThreadPoolExecutor]:
    """Make an executor of ``n`` threads. When the context ends, calls that have not begun never do.

    Raises SpamnbError where memory runs out.
    """
    from concurrent.futures import ThreadPoolExecutor  # 5 ms that one message does not need

    executor = ThreadPoolExecutor(n, "spamnb")
    try:
        yield executor
    except MemoryError:
        raise ArgumentError("too little memory; {option.workers} 1 or a smaller source needs less") from None
    finally:
        executor.shutdown(cancel_futures=True)


def ordered_map(submit: Callable[[T], Future[R]], parts: Iterable[T], ahead: int) -> Iterator[R]:
    """Yield the results of the futures that ``submit`` returns for each part, in order; submit ``ahead`` parts at once.

    >>> with threads(2) as executor:
    ...     list(ordered_map(lambda n: executor.submit(pow, n, 2), range(5), 3))
    [0, 1, 4, 9, 16]
    """
    waiting: deque[Future[R]] = deque()
    for part in parts:
        waiting.append(submit(part))
        if len(waiting) == ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def parts_of(entries: Iterable[Entry], size: int, most_bytes: int) -> Iterator[list[Entry]]:
    """Divide the entries into parts of this ``size``; a part with more mail than ``most_bytes`` ends earlier.

    >>> entries = [Entry("ham", str(n), "", content=b"tea at four") for n in range(6)]
    >>> [[len(part) for part in parts_of(entries, 4, most_bytes)] for most_bytes in (1000, 20)]
    [[4, 2], [2, 2, 2]]
    """
    part: list[Entry] = []
    carried = 0
    for entry in entries:
        part.append(entry)
        carried += len(entry.content or b"")
        if len(part) == size or carried > most_bytes:
            yield part
            part, carried = [], 0
    if part:
        yield part


def map_parts(
    entries: Iterable[Entry],
    alone: Callable[[list[Entry]], R],
    make: Callable[[], Callable[[list[Entry]], R]],
    workers: int,
) -> Generator[R]:
    """Yield the result of each part of the entries, in their order: of the first part by ``alone``, of the others by
    ``workers`` threads, each of which calls ``make`` once. One worker needs no thread."""
    parts = parts_of(entries, MAX_PART, MAX_PART_BYTES)
    yield from map(alone, parts if workers == 1 else islice(parts, 1))
    if (second := next(parts, None)) is None:
        return
    works = PerThread(make)

    def work(part: list[Entry]) -> R:
        return works.value(part)

    with threads(workers) as executor:
        yield from ordered_map(lambda part: executor.submit(work, part), chain([second], parts), AHEAD * workers)
