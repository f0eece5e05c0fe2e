"""One call in a process of its own, beside what this one goes on with."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from spamnb.engines.workers import receive, signals_held_back, team_of

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

T = TypeVar("T")


class SideProcess(Executor):
    """An executor that starts a process for each call, and ends those that still run when its context ends.

    A forked process has the call's arguments already; ProcessPoolExecutor would send them through a pipe.

    >>> with SideProcess() as executor:
    ...     executor.submit(pow, 2, 10).result()
    1024
    """

    def __init__(self) -> None:
        self._processes: list[Any] = []
        self._threads: list[Thread] = []
        self._teams = contextlib.ExitStack()

    def submit(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Start the call. Its future raises what it raised, or SpamnbError where its process died."""
        work = partial(_once, partial(function, *args, **kwargs))
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()
        with signals_held_back():  # no process is started that ``shutdown`` does not know of
            ((connection, process),) = self._teams.enter_context(team_of(work, 1)).items()
            thread = Thread(target=_wait, args=(future, connection, process), daemon=True)
            thread.start()
            self._processes.append(process)
            self._threads.append(thread)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for the calls that run, or end them where ``cancel_futures`` is given; no process is left."""
        if cancel_futures:
            for process in self._processes:
                process.terminate()
        for thread in self._threads:
            thread.join()
        self._processes.clear()
        self._threads.clear()
        self._teams.close()

    def __exit__(self, *_: object) -> None:
        self.shutdown(cancel_futures=True)


def _once(call: Callable[[], Any], chunks: Iterator[Any], reply: Callable[[Any], None]) -> None:
    reply(call())


def _wait(future: Future[Any], connection: Connection, process: Any) -> None:
    try:
        future.set_result(receive(connection, process)[1])
    except BaseException as error:
        future.set_exception(error)
