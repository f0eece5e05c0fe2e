"""The server's processes: workers forked from one parent, their signals, and readiness as systemd expects it.

    SIGTERM, SIGINT   no new connections; those that are open are answered; then the end
    SIGHUP            the model files are opened anew
    a worker dies     another takes its place; connections that wait in the socket's queue wait for it

The parent opens no model and answers nothing, so nothing that mail can do reaches it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import time
import traceback
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NoReturn

from spamnb.errors import SpamnbError

Conversation = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]

_SIGNALS = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD}


def log(**facts: object) -> None:
    """One line of JSON on standard error, written at once so that workers' lines do not mix."""
    line = json.dumps({"time": round(time.time(), 3), "pid": os.getpid(), **facts}) + "\n"
    with contextlib.suppress(OSError):  # its disk is full, or whoever read it has gone: mail is judged all the same
        os.write(2, line.encode("ascii"))


def notify(state: str) -> None:
    """Tell systemd (sd_notify) where this service stands; nothing where it did not ask."""
    path = os.environ.get("NOTIFY_SOCKET", "")
    if not path:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        try:
            sender.connect("\0" + path[1:] if path.startswith("@") else path)
            sender.send(state.encode("ascii"))
        except OSError as error:
            log(event="systemd not told", error=str(error))


# -- a worker ------------------------------------------------------------------------------------------------


async def accept(listening: socket.socket, converse: Conversation, conversations: set[asyncio.Task]) -> None:
    """Take connections one at a time for ever: a worker that took a whole queue would leave others idle.

    What is cancelled only waits, so no connection is taken and then forgotten.
    """
    while True:
        await _came(listening)
        try:
            connection, _ = listening.accept()
        except BlockingIOError:  # another worker took it
            continue
        except OSError as error:  # too many open files, mostly: wait for some to close
            log(event="not accepted", error=str(error))
            await asyncio.sleep(0.2)
            continue
        _begin(connection, converse, conversations)


async def _came(listening: socket.socket) -> None:
    """Wait until a connection is in the queue."""
    loop = asyncio.get_running_loop()
    came = asyncio.Event()
    loop.add_reader(listening, came.set)
    try:
        await came.wait()
    finally:
        loop.remove_reader(listening)


def _begin(connection: socket.socket, converse: Conversation, conversations: set[asyncio.Task]) -> None:
    task = asyncio.get_running_loop().create_task(_hold(connection, converse))
    conversations.add(task)
    task.add_done_callback(conversations.discard)


async def _hold(connection: socket.socket, converse: Conversation) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await loop.connect_accepted_socket(lambda: protocol, connection)
    await converse(reader, asyncio.StreamWriter(transport, protocol, reader, loop))


async def work(
    listening: Sequence[tuple[socket.socket, Conversation]],
    parent: int,
    ready: Callable[[], None],
    reopen: Callable[[], None],
    patience: float,
) -> None:
    """Answer until SIGTERM, or until the *parent* closes its end of a pipe.

    Connections that wait in the queues by then are still taken; all have *patience* seconds to end.
    """
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    loop.add_signal_handler(signal.SIGHUP, reopen)
    loop.add_reader(parent, stop.set)
    conversations: set[asyncio.Task] = set()
    for one, _ in listening:
        one.setblocking(False)
    accepting = [asyncio.create_task(accept(one, converse, conversations)) for one, converse in listening]
    ready()
    await stop.wait()
    loop.remove_reader(parent)
    for task in accepting:
        task.cancel()
    await asyncio.gather(*accepting, return_exceptions=True)
    for one, converse in listening:
        while (waiting := _next(one)) is not None:
            _begin(waiting, converse, conversations)
        one.close()
    if conversations:
        await asyncio.wait(conversations, timeout=patience)


def _next(listening: socket.socket) -> socket.socket | None:
    try:
        return listening.accept()[0]
    except OSError:
        return None


# -- the parent ----------------------------------------------------------------------------------------------


def prefork(
    workers: int,
    worker: Callable[[int, int, Callable[[], None]], None],
    listening: Sequence[socket.socket],
    patience: float,
) -> None:
    """Keep *workers* processes running ``worker(number, parent, ready)`` until SIGTERM or SIGINT.

    ``parent`` is a descriptor that becomes readable when this process ends, ``ready`` is to be called once
    answering, ``listening`` are the sockets that the workers answer on. After the signal workers have ``patience``
    seconds. Raises SpamnbError where one cannot start.
    """
    alive, held = os.pipe()
    became_ready, says_ready = os.pipe()
    os.set_blocking(became_ready, False)
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    running: dict[int, int] = {}  # process → its number

    def start(number: int) -> None:
        process = os.fork()
        if not process:
            _run(lambda: worker(number, alive, lambda: _say(says_ready)), held)
        running[process] = number

    for number in range(workers):
        start(number)
    ready = 0
    stopping = 0.0
    while running:
        wait = 1.0 if not stopping else max(0.0, stopping - time.monotonic())
        if stopping and not wait:
            for process in running:
                os.kill(process, signal.SIGKILL)
            stopping = time.monotonic() + 5
        received = signal.sigtimedwait(_SIGNALS, 0.05 if ready < workers and not stopping else wait)
        were_ready, ready = ready, ready + _count(became_ready)
        if were_ready < workers <= ready:
            log(event="ready", workers=workers)
            notify("READY=1")
        if received is not None and received.si_signo in (signal.SIGTERM, signal.SIGINT) and not stopping:
            log(event="stopping")
            notify("STOPPING=1")
            stopping = time.monotonic() + patience
            for one in listening:  # the last to hold a socket decides how long clients can connect to it
                one.close()
            for process in running:
                os.kill(process, signal.SIGTERM)
        elif received is not None and received.si_signo == signal.SIGHUP:
            for process in running:
                os.kill(process, signal.SIGHUP)
        for number, status in _ended(running):
            if stopping:
                continue
            if ready < workers:
                for process in running:
                    os.kill(process, signal.SIGTERM)
                raise SpamnbError("a worker could not start; the line above says why")
            log(event="worker ended", worker=number, status=status)
            if status > 0:  # not killed: it may fail again at once
                time.sleep(0.2)
            start(number)
    os.close(held)
    log(event="stopped")


def _run(worker: Callable[[], None], held: int) -> NoReturn:
    """A worker's process, from the fork to its end; ``held`` is the parent's end of the pipe."""
    status = 1
    try:
        os.close(held)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the parent decides
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until there is a model to open anew
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        worker()
        status = 0
    except SpamnbError as error:
        log(event="worker failed", error=str(error))
    except BaseException:
        log(event="worker failed", error=traceback.format_exc())
    finally:
        os._exit(status)


def _say(descriptor: int) -> None:
    os.write(descriptor, b"r")


def _count(descriptor: int) -> int:
    try:
        return len(os.read(descriptor, 1024))
    except BlockingIOError:
        return 0


def _ended(running: dict[int, int]) -> list[tuple[int, int]]:
    """Numbers and exit codes (negative: signals) of the workers that ended since."""
    ended = []
    while running:
        process, status = os.waitpid(-1, os.WNOHANG)
        if not process:
            break
        if process in running:
            ended.append((running.pop(process), os.waitstatus_to_exitcode(status)))
    return ended
