"""Batches of waiting tasks: the next free thread takes up to MAX_BATCH tasks.

A message takes half the time in a batch, because most of the time of a single message goes into function calls.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, NamedTuple, TypeVar

from spamnb.errors import Locked
from spamnb.serve.wire import Request, Wire

R = TypeVar("R")
MAX_BATCH = 32  # tasks: fewer than users.MAX_OPEN_MODELS, so that a batch does not close a model that it uses
MAX_BATCH_BYTES = 1 << 22  # of a batch's messages, because 32 long messages would delay short ones by seconds


class Task(NamedTuple):
    """A request with its message."""

    request: Request
    raw: bytes
    wire: Wire
    log_fields: dict[str, Any]  # of the request's line in the log; a thread adds the path of the model


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
        self._waiting: deque[tuple[Task, asyncio.Future[R | Exception]]] = deque()
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)

    async def result(self, task: Task) -> R:
        """Return the result of a task, or raise its exception."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[R | Exception] = loop.create_future()
        self._waiting.append((task, future))
        if len(self._waiting) == 1:  # otherwise the thread that takes the first waiting task takes this one, too
            # Later and not now, so that tasks that arrive together are in one batch.
            loop.call_soon(self._threads.submit, self._work_on_waiting)
        result = await future
        if isinstance(result, Exception):
            raise result
        return result

    def _work_on_waiting(self) -> None:
        while self._waiting:
            batches: defaultdict[Hashable, list[tuple[Task, asyncio.Future[R | Exception]]]] = defaultdict(list)
            n_tasks = n_bytes = 0
            while self._waiting and n_tasks < MAX_BATCH and n_bytes < MAX_BATCH_BYTES:
                try:
                    task, future = self._waiting.popleft()
                except IndexError:  # another thread was faster
                    break
                batches[self._get_group(task)].append((task, future))
                n_tasks, n_bytes = n_tasks + 1, n_bytes + len(task.raw)
            for batch in batches.values():
                results = compute_results(self._work, [task for task, _ in batch])
                futures = [future for _, future in batch]  # all of one event loop, which is woken once for the batch
                futures[0].get_loop().call_soon_threadsafe(_set_results, zip(futures, results, strict=True))

    def shutdown(self) -> None:
        """Finish the waiting tasks, and end the threads."""
        self._threads.shutdown()
