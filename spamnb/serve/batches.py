"""Requests that wait together are worked on together: the next free thread takes all of them.

A batch costs little more than a single message, because most of a message's time are the calls around its arithmetic.
"""

from __future__ import annotations

import asyncio
import queue
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from threading import Thread
from typing import Generic, Protocol, TypeVar

from spamnb.errors import Locked


class Sized(Protocol):
    """A request with the message that it is about."""

    @property
    def raw(self) -> bytes: ...


J = TypeVar("J", bound=Sized)
R = TypeVar("R")
MAX_BATCH = 32  # requests; fewer than the users' models that a thread keeps open
MAX_BATCH_BYTES = 1 << 22  # of messages: a batch of the longest ones would keep small ones waiting for seconds


def results_of(work: Callable[[list[J]], list[R]], batch: list[J]) -> list[R | Exception]:
    """Return the result of each request, or its error.

    Where a batch fails, each request makes a batch of its own, unless the model is locked: each would wait once more.
    """
    try:
        return [*work(batch)]
    except Locked as error:
        return [error] * len(batch)
    except Exception as error:
        return [error] if len(batch) == 1 else [results_of(work, [each])[0] for each in batch]


def _set_results(results: Iterable[tuple[asyncio.Future[R | Exception], R | Exception]]) -> None:
    for future, result in results:
        if not future.done():  # cancelled meanwhile
            future.set_result(result)


class Batches(Generic[J, R]):
    """Threads that work on waiting requests.

    - ``work`` returns one result for each request of a batch; it has changed nothing where it raises
    - ``group_of``: requests of the same group may be in one batch
    """

    def __init__(
        self, work: Callable[[list[J]], list[R]], group_of: Callable[[J], Hashable], threads: int, name: str
    ) -> None:
        self._work, self._group_of = work, group_of
        self._waiting: queue.SimpleQueue[tuple[J, asyncio.Future[R | Exception]] | None] = queue.SimpleQueue()
        self._threads = [Thread(target=self._run, name=f"{name}_{n}", daemon=True) for n in range(threads)]
        for thread in self._threads:
            thread.start()

    async def result(self, request: J) -> R:
        """Return what the work on this request returns, or raise what it raises."""
        future: asyncio.Future[R | Exception] = asyncio.get_running_loop().create_future()
        self._waiting.put((request, future))
        result = await future
        if isinstance(result, Exception):
            raise result
        return result

    def _run(self) -> None:
        while (waiting := self._waiting.get()) is not None:  # None ends a thread
            groups: defaultdict[Hashable, list[tuple[J, asyncio.Future[R | Exception]]]] = defaultdict(list)
            requests = size = 0
            while waiting is not None:
                groups[self._group_of(waiting[0])].append(waiting)
                requests, size = requests + 1, size + len(waiting[0].raw)
                if requests >= MAX_BATCH or size >= MAX_BATCH_BYTES or self._waiting.empty():
                    break
                waiting = self._next()
            for batch in groups.values():
                results = results_of(self._work, [request for request, _ in batch])
                futures = [future for _, future in batch]  # of one event loop, which is woken once
                futures[0].get_loop().call_soon_threadsafe(_set_results, zip(futures, results, strict=True))

    def _next(self) -> tuple[J, asyncio.Future[R | Exception]] | None:
        """Return the next request that waits; None where another thread was faster."""
        try:
            waiting = self._waiting.get_nowait()
        except queue.Empty:
            return None
        if waiting is None:  # for whoever waits for the next batch
            self._waiting.put(None)
        return waiting

    def shutdown(self) -> None:
        """Finish the requests that wait, and end the threads."""
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()
