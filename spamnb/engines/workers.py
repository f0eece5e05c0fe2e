"""Work shared by this machine's cores: processes that are handed chunks and reply to each, over one pipe apiece.

A worker that fails, is killed or runs out of memory ends the work with an error that says so; it is never waited for.
When this process dies its workers find their pipe closed and end too.

concurrent.futures.ProcessPoolExecutor is as fast, and cannot do this:

- End. In Python 3.11.2, with chunks of 4 MB as a mailbox file gives them, it waited for ever in 35 of 36 runs in which
  a worker was killed or failed or Ctrl-C was pressed; 3.11.7, 3.12.1 and 3.13.0 did not.
- End at once: Ctrl-C waits for the calls that run, and workers outlive a parent that is killed.
- Say which signal ended a worker.
- A last step of every worker, which hands back what it has counted.
"""

from __future__ import annotations

import contextlib
import os
import signal
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from spamnb.errors import SpamnbError

if TYPE_CHECKING:  # 5 ms, for nothing where one process works alone
    from multiprocessing.connection import Connection

ENDING = (signal.SIGTERM, signal.SIGHUP)  # what tells a process to end, besides Ctrl-C
MAX_AT_HAND = 4  # chunks a worker holds: while it works on one the next are there already

Work = Callable[[Iterator[Any], Callable[[Any], None]], None]
Send = Callable[["Connection", Any], None]


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parallel_map(
    work: Work,
    chunks: Iterator[Any],
    workers: int,
    idle: Callable[[], bool] = lambda: False,
    ahead: int | None = None,
) -> Iterator[tuple[int | None, Any]]:
    """(number, reply) of each chunk, as the replies come.

    ``work(chunks, reply)`` runs in every worker: it calls ``reply`` once for each chunk that it has taken, in their
    order, and may call it again after the last (number None here). Chunks and replies may be of any size. ``idle`` is
    called when no reply is there yet, and again as long as it returns True. No chunk is handed out that is ``ahead`` or
    more beyond the first one without a reply: a caller that needs the replies in order has at most so many to keep.
    """
    with team_of(work, workers) as team, _senders(team) as send:
        yield from _replies(team, enumerate(chunks), send, idle, ahead)


@contextlib.contextmanager
def _senders(team: dict[Connection, Any]) -> Iterator[Send]:
    """What sends a worker a chunk without waiting until it is taken, or None for the last one; a thread for each does.

    Were they sent by the thread that takes the replies, both sides would wait for ever as soon as a chunk and a reply
    are larger than a pipe holds: each for the other to take its own.
    """
    from multiprocessing.reduction import ForkingPickler

    queues: dict[Connection, SimpleQueue[Any]] = {connection: SimpleQueue() for connection in team}
    threads = [Thread(target=_send_all, args=queue, daemon=True) for queue in queues.items()]

    def send(connection: Connection, chunk: Any) -> None:
        queues[connection].put(ForkingPickler.dumps(chunk))  # here, where a chunk that cannot be sent is an error

    with signals_held_back():  # or a thread would take those that are to wake us
        for thread in threads:
            thread.start()
    try:
        yield send
    finally:
        for process in team.values():  # nobody takes what its thread may be sending
            process.terminate()
        for queue, thread in zip(queues.values(), threads):
            queue.put(None)
            thread.join()


def _send_all(connection: Connection, queue: SimpleQueue[Any]) -> None:
    with contextlib.suppress(OSError):  # the worker is gone: whoever waits for its replies finds out why
        while (pickled := queue.get()) is not None:
            connection.send_bytes(pickled)


@contextlib.contextmanager
def team_of(work: Work, workers: int) -> Iterator[dict[Connection, Any]]:
    """{our end of its pipe: process} of each worker; none is left when the context ends."""
    import multiprocessing

    # A forked worker starts in 3 ms with all that is imported here; a spawned one, on other systems, imports it again.
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    context: Any = multiprocessing.get_context(method)
    team: dict[Connection, Any] = {}
    try:
        for _ in range(workers):
            own, its = context.Pipe()
            # A fork inherits our ends too; as long as one is open nobody hears that we are gone.
            inherited = (*team, own) if method == "fork" else ()
            process = context.Process(target=_worker, args=(work, its, inherited), daemon=True)
            with signals_held_back():
                process.start()
                team[own] = process
            its.close()
        yield dict(team)
    finally:
        for process in team.values():
            process.terminate()
        for connection, process in team.items():
            process.join()
            process.close()
            connection.close()


@contextlib.contextmanager
def signals_held_back() -> Iterator[None]:
    """Signals that tell us to end wait meanwhile: no worker is started that we do not know of, and none ever runs our
    handlers."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *ENDING})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _replies(
    working: dict[Connection, Any],
    chunks: Iterator[tuple[int, Any]],
    send: Send,
    idle: Callable[[], bool],
    ahead: int | None,
) -> Iterator[tuple[int | None, Any]]:
    at_hand: dict[Connection, deque[int]] = {connection: deque() for connection in working}
    upcoming = next(chunks, None)
    ending = False
    while working:
        while upcoming:
            connection, numbers = min(at_hand.items(), key=lambda one: len(one[1]))
            first = min((held[0] for held in at_hand.values() if held), default=upcoming[0])
            if len(numbers) == MAX_AT_HAND or (ahead is not None and upcoming[0] - first >= ahead):
                break
            send(connection, upcoming[1])
            numbers.append(upcoming[0])
            upcoming = next(chunks, None)
        if upcoming is None and not ending:  # each hears once that this was all
            ending = True
            for connection in working:
                send(connection, None)
        while not (ready := _ready(working, timeout=0)) and idle():
            pass
        for connection in ready or _ready(working):
            kind, value = receive(connection, working[connection])
            if kind == "ended":
                del working[connection]
                continue
            numbers = at_hand[connection]
            yield (numbers.popleft() if numbers else None), value


def _ready(working: dict[Connection, Any], timeout: float | None = None) -> list[Connection]:
    from multiprocessing.connection import wait

    return wait(list(working), timeout)  # type: ignore[return-value]


def receive(connection: Connection, process: Any) -> tuple[str, Any]:
    """("reply", what a worker replied) or ("ended", None); raises what it failed with."""
    try:
        kind, value = connection.recv()
    except (EOFError, OSError):
        raise _death(process) from None
    if kind == "failed":
        raise value
    return kind, value


def _death(process: Any) -> SpamnbError:
    process.join(5)
    code = process.exitcode
    how = f"was ended by {signal.Signals(-code).name}" if code is not None and code < 0 else f"ended with {code}"
    return SpamnbError(f"a worker process {how}; where memory ran out, --workers 1 or a smaller source needs less")


def _worker(work: Work, connection: Connection, inherited: Sequence[Connection]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends us
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    for end in inherited:
        end.close()

    def chunks() -> Iterator[Any]:
        while (chunk := connection.recv()) is not None:
            yield chunk

    try:
        work(chunks(), lambda value: connection.send(("reply", value)))
        connection.send(("ended", None))
    except (EOFError, ConnectionError):
        return  # the parent is gone
    except MemoryError:
        _failed(connection, SpamnbError("too little memory; --workers 1 or a smaller source needs less"))
    except Exception as error:
        if not isinstance(error, SpamnbError):
            error.add_note("In a worker process:\n" + traceback.format_exc())
        _failed(connection, error)


def _failed(connection: Connection, error: Exception) -> None:
    with contextlib.suppress(ConnectionError):  # the parent is gone, and what it gave us to work on too
        try:
            connection.send(("failed", error))
        except (TypeError, AttributeError, ValueError):  # an exception that cannot be sent
            connection.send(("failed", RuntimeError("".join(error.__notes__))))
