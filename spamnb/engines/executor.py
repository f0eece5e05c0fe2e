"""Process parts of the entries in threads, and yield the results in the order of the parts.

Threads suffice, because messages are read without the GIL. After an error or Ctrl-C, only parts that a thread
has begun are finished.
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

MAX_PART_MESSAGES = 256  # larger parts take more memory and are hardly faster
MAX_PART_BYTES = 1 << 22  # bytes of mail in a part, for entries that carry their content
PARTS_AHEAD = 3  # parts that are submitted for each worker, so that no worker waits for a part

END_SIGNALS = (signal.SIGTERM, signal.SIGHUP)  # besides Ctrl-C, which Python raises as an exception

T = TypeVar("T")
R = TypeVar("R")


def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class PerThread(threading.local, Generic[T]):
    """A value that each thread makes when it first uses it.

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
    """Yield an executor of ``n`` threads. When the context ends, calls that have not begun are cancelled.

    Raises SpamnbError if there is too little memory.
    """
    from concurrent.futures import ThreadPoolExecutor  # importing this takes 5 ms, and one message does not need it

    executor = ThreadPoolExecutor(n, "spamnb")
    try:
        yield executor
    except MemoryError:
        raise ArgumentError("too little memory; {option.workers} 1 or a smaller source needs less") from None
    finally:
        executor.shutdown(cancel_futures=True)


def ordered_map(submit: Callable[[T], Future[R]], parts: Iterable[T], ahead: int) -> Iterator[R]:
    """Yield the result of ``submit(part)`` for each part, in order; ``ahead`` parts are submitted at a time.

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


def parts_of(entries: Iterable[Entry], max_messages: int, max_bytes: int) -> Iterator[list[Entry]]:
    """Divide the entries into parts of ``max_messages``; a part ends earlier if it has more than ``max_bytes``.

    >>> entries = [Entry("ham", str(n), "", content=b"tea at four") for n in range(6)]
    >>> [[len(part) for part in parts_of(entries, 4, max_bytes)] for max_bytes in (1000, 20)]
    [[4, 2], [2, 2, 2]]
    """
    part: list[Entry] = []
    part_bytes = 0
    for entry in entries:
        part.append(entry)
        part_bytes += len(entry.content or b"")
        if len(part) == max_messages or part_bytes > max_bytes:
            yield part
            part, part_bytes = [], 0
    if part:
        yield part


def map_parts(
    entries: Iterable[Entry],
    function: Callable[[list[Entry]], R],
    make_function: Callable[[], Callable[[list[Entry]], R]],
    workers: int,
) -> Generator[R]:
    """Yield the result of each part of the entries, in order.

    ``function`` computes the result of the first part in this thread; with one worker it computes all results. The
    other parts are divided among ``workers`` threads: each thread calls ``make_function`` once for its own function.
    """
    parts = parts_of(entries, MAX_PART_MESSAGES, MAX_PART_BYTES)
    yield from map(function, parts if workers == 1 else islice(parts, 1))
    if (second := next(parts, None)) is None:
        return
    functions = PerThread(make_function)
    with threads(workers) as executor:

        def submit(part: list[Entry]) -> Future[R]:
            return executor.submit(lambda: functions.value(part))

        yield from ordered_map(submit, chain([second], parts), PARTS_AHEAD * workers)
