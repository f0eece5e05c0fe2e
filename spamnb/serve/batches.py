"""Batches of waiting requests: the next free thread takes all requests that wait.

In a batch a message takes half the time, because function calls take most of the time of a single message.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, Protocol, TypeVar

from spamnb.errors import Locked


class Sized(Protocol):
    """A request with the message that it is about."""

    @property
    def raw(self) -> bytes: ...


J = TypeVar("J", bound=Sized)
R = TypeVar("R")
MAX_BATCH = 32  # requests: fewer than users.MAX_OPEN_MODELS, so that a batch does not close a model that it uses
MAX_BATCH_BYTES = 1 << 22  # of messages, because 32 long messages would delay short ones by seconds


def compute_results(work: Callable[[list[J]], list[R]], batch: list[J]) -> list[R | Exception]:
    """Return the result of each request, or its error.

    If a batch fails, ``work`` is called with each request alone. If the model is locked, no request is tried again,
    because each would wait again.
    """
    try:
        return [*work(batch)]
    except Locked as error:
        return [error] * len(batch)
    except Exception as error:
        return [error] if len(batch) == 1 else [compute_results(work, [each])[0] for each in batch]


def _set_results(results: Iterable[tuple[asyncio.Future[R | Exception], R | Exception]]) -> None:
    for future, result in results:
        if not future.done():  # it may be cancelled
            future.set_result(result)


class Batches(Generic[J, R]):
    """Threads that work on waiting requests.

    - ``work`` returns one result for each request of a batch; if it raises an exception, it has changed nothing
    - ``group_of`` returns the group of a request; a batch contains requests of one group
    """

    def __init__(
        self, work: Callable[[list[J]], list[R]], group_of: Callable[[J], Hashable], threads: int, name: str
    ) -> None:
        self._work, self._group_of = work, group_of
        self._waiting: deque[tuple[J, asyncio.Future[R | Exception]]] = deque()
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)

    async def result(self, request: J) -> R:
        """Return the result of a request, or raise its exception."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[R | Exception] = loop.create_future()
        self._waiting.append((request, future))
        if len(self._waiting) == 1:  # otherwise the thread that takes the first waiting request takes this one, too
            # Later and not now, so that requests that arrive together are in one batch.
            loop.call_soon(self._threads.submit, self._work_on_waiting)
        result = await future
        if isinstance(result, Exception):
            raise result
        return result

    def _work_on_waiting(self) -> None:
        while self._waiting:
            batches: defaultdict[Hashable, list[tuple[J, asyncio.Future[R | Exception]]]] = defaultdict(list)
            n_requests = n_bytes = 0
            while self._waiting and n_requests < MAX_BATCH and n_bytes < MAX_BATCH_BYTES:
                try:
                    request, future = self._waiting.popleft()
                except IndexError:  # another thread was faster
                    break
                batches[self._group_of(request)].append((request, future))
                n_requests, n_bytes = n_requests + 1, n_bytes + len(request.raw)
            for batch in batches.values():
                results = compute_results(self._work, [request for request, _ in batch])
                futures = [future for _, future in batch]  # all of one event loop, which is woken once for the batch
                futures[0].get_loop().call_soon_threadsafe(_set_results, zip(futures, results, strict=True))

    def shutdown(self) -> None:
        """Finish the waiting requests, and end the threads."""
        self._threads.shutdown()
