"""Batches of waiting tasks: a thread takes up to a full batch, and another thread is woken only for what is more.

A message takes half the time in a batch, because most of the time of a single message goes into function calls. Threads
with small batches also wait for each other, because Python runs one thread at a time: two were slower than one.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

from spamnb.errors import Locked
from spamnb.serve.wire import Request, Wire

R = TypeVar("R")
MAX_BATCH = 128  # short tasks: with 64 at a time, two threads with batches of 32 classify 0.8 times as many as one
FULL_BATCH = 1 << 20  # bytes of messages: long ones are fewer in a batch, because most of their time goes into reading


class Task(NamedTuple):
    """A request with its message."""

    request: Request
    raw: bytes
    wire: Wire
    log_fields: dict[str, Any]  # of the request's line in the log; a thread adds the path of the model


_Waiting = tuple[Task, "asyncio.Future[R | Exception]"]


def compute_results(work: Callable[[list[Task]], list[R]], batch: list[Task]) -> list[R | Exception]:
    """Return the result of each task, or its error.

    If a batch fails, ``work`` is called with each task alone. If the model is locked, no task is tried again, because
    each would wait again.
    """
    try:
        return [*work(batch)]
    except Locked as error:
        return [error] * len(batch)
    except Exception as error:
        return [error] if len(batch) == 1 else [compute_results(work, [task])[0] for task in batch]


def _size(task: Task) -> int:
    """Return the share of a full batch that a task is, in bytes: a long message is a batch, but not several."""
    return min(max(len(task.raw), FULL_BATCH // MAX_BATCH), FULL_BATCH)


def _set_results(results: Iterable[tuple[asyncio.Future[R | Exception], R | Exception]]) -> None:
    for future, result in results:
        if not future.done():  # a future may be cancelled
            future.set_result(result)


class Batches(Generic[R]):
    """Threads that work on waiting tasks.

    - ``work`` returns one result for each task of a batch; after an exception it has changed nothing
    - ``get_group`` returns the group of a task; a batch contains tasks of one group
    """

    def __init__(
        self, work: Callable[[list[Task]], list[R]], get_group: Callable[[Task], Hashable], threads: int, name: str
    ) -> None:
        self._work, self._get_group = work, get_group
        self._n_threads = threads
        self._lock = Lock()  # for the next three
        self._waiting: deque[_Waiting[R]] = deque()
        self._open_size = 0  # of the tasks that wait or are worked on
        self._n_awake = 0  # threads that work, or were woken to work
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)

    async def result(self, task: Task) -> R:
        """Return the result of a task, or raise its exception."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[R | Exception] = loop.create_future()
        with self._lock:
            self._waiting.append((task, future))
            self._open_size += _size(task)
            wakes = self._n_awake < self._n_threads and self._open_size > self._n_awake * FULL_BATCH
            self._n_awake += wakes
        if wakes:  # later and not now, so that tasks that arrive together are in one batch
            loop.call_soon(self._threads.submit, self._work_on_waiting)
        result = await future
        if isinstance(result, Exception):
            raise result
        return result

    def _work_on_waiting(self) -> None:
        """Work until no task waits."""
        batch: list[_Waiting[R]] = []
        while batch := self._take_waiting(batch):
            by_group: defaultdict[Hashable, list[_Waiting[R]]] = defaultdict(list)
            for task, future in batch:
                by_group[self._get_group(task)].append((task, future))
            for part in by_group.values():
                results = compute_results(self._work, [task for task, _ in part])
                futures = [future for _, future in part]  # all of one event loop, which is woken once for the batch
                futures[0].get_loop().call_soon_threadsafe(_set_results, zip(futures, results, strict=True))

    def _take_waiting(self, done: list[_Waiting[R]]) -> list[_Waiting[R]]:
        """Return a thread's next batch. If no task waits, it is empty, and the thread sleeps."""
        batch: list[_Waiting[R]] = []
        size = 0
        with self._lock:
            self._open_size -= sum(_size(task) for task, _ in done)
            while self._waiting and size < FULL_BATCH:
                batch.append(self._waiting.popleft())
                size += _size(batch[-1][0])
            self._n_awake -= not batch
        return batch

    def shutdown(self) -> None:
        """Finish the waiting tasks, and end the threads."""
        self._threads.shutdown()
