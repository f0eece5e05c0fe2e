"""Batches of waiting tasks: the threads that are free share them, up to MAX_BATCH tasks each.

A message takes half the time in a batch, because most of the time of a single message goes into function calls.
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
MAX_BATCH = 32  # tasks: more are hardly faster
MIN_BATCH = 8  # tasks that threads do not share, because four batches of 4 take 1.4 times the time of two batches of 8
MIN_BATCH_BYTES = 1 << 16  # of longer messages fewer are a batch: most of their time goes into reading
MAX_BATCH_BYTES = 1 << 22  # of a batch's messages, because 32 long messages would delay short ones by seconds


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
        self._lock = Lock()  # for the next two
        self._waiting: deque[_Waiting[R]] = deque()
        self._n_idle = threads  # threads without a batch, including those that were woken to take one
        self._n_sleeping = threads  # idle threads that were not woken
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)

    async def result(self, task: Task) -> R:
        """Return the result of a task, or raise its exception."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[R | Exception] = loop.create_future()
        with self._lock:
            self._waiting.append((task, future))
            # If no thread sleeps, the next thread that has finished its batch takes the task.
            wakes, self._n_sleeping = self._n_sleeping > 0, max(self._n_sleeping - 1, 0)
        if wakes:  # later and not now, so that tasks that arrive together are in as few batches as there are threads
            loop.call_soon(self._threads.submit, self._work_on_waiting)
        result = await future
        if isinstance(result, Exception):
            raise result
        return result

    def _work_on_waiting(self) -> None:
        """Work until no task waits."""
        while parts := self._take_waiting():
            for part in parts:
                results = compute_results(self._work, [task for task, _ in part])
                futures = [future for _, future in part]  # all of one event loop, which is woken once for the batch
                futures[0].get_loop().call_soon_threadsafe(_set_results, zip(futures, results, strict=True))
            with self._lock:
                self._n_idle += 1

    def _take_waiting(self) -> list[list[_Waiting[R]]]:
        """Return this thread's share of the waiting tasks, by group; nothing if no task waits, and the thread sleeps.

        The idle threads share the tasks equally, but for the smallest batch. Otherwise one thread would always take
        the next requests of all clients.
        """
        by_group: defaultdict[Hashable, list[_Waiting[R]]] = defaultdict(list)
        with self._lock:
            if not self._waiting:
                self._n_sleeping += 1
                return []
            share, n_tasks, n_bytes = -(-len(self._waiting) // self._n_idle), 0, 0
            self._n_idle -= 1
            while self._waiting and n_tasks < MAX_BATCH and n_bytes < MAX_BATCH_BYTES:
                if n_tasks >= share and (n_tasks >= MIN_BATCH or n_bytes >= MIN_BATCH_BYTES):
                    break
                task, future = self._waiting.popleft()
                by_group[self._get_group(task)].append((task, future))
                n_tasks, n_bytes = n_tasks + 1, n_bytes + len(task.raw)
        return [*by_group.values()]

    def shutdown(self) -> None:
        """Finish the waiting tasks, and end the threads."""
        self._threads.shutdown()
