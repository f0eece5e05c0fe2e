"""Counting on all of this machine's cores: each process reads its own files and hands back one tally.

The result is the same to the last count whatever the number of processes: sums do not care who added them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from spamnb.errors import SpamnbError
from spamnb.sources import Entry
from spamnb.tally import Tally, merge, tally
from spamnb.tokens import Tokenizer, TokenOptions

CHUNK = 128  # messages handed out at a time: small enough that no process is left with much at the end
FEW = 1000  # messages below which starting processes costs more than it gains: 0.2 s each with scipy


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def count(
    entries: Iterable[Entry],
    options: TokenOptions,
    folder: Path,
    on_unreadable: Callable[[str, Exception], None],
    on_progress: Callable[[int], None] = lambda messages: None,
    workers: int | None = None,
) -> Tally:
    """The tally of all messages, counted by ``workers`` processes (default: one a core); rows lie in ``folder``."""
    numbered = enumerate(entries)
    first = list(islice(numbered, FEW))
    workers = workers or cores()
    if workers == 1 or len(first) < FEW:
        done = 0

        def on_message() -> None:
            nonlocal done
            done += 1
            if not done % CHUNK:
                on_progress(done)

        return tally(_chain(first, numbered), Tokenizer(options), folder / "rows", on_unreadable, on_message)
    return _shared(_chunks(_chain(first, numbered)), options, folder, on_unreadable, on_progress, workers)


def _chain(first: list[Any], rest: Iterator[Any]) -> Iterator[Any]:
    yield from first
    yield from rest


def _chunks(numbered: Iterator[tuple[int, Entry]]) -> Iterator[list[tuple[int, Entry]]]:
    while chunk := list(islice(numbered, CHUNK)):
        yield chunk


def _work(tasks: Any, results: Any, options: TokenOptions, path: Path) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it and ends us
    unreadable: list[tuple[str, Exception]] = []

    def entries() -> Iterator[tuple[int, Entry]]:
        while (chunk := tasks.get()) is not None:
            yield from chunk
            results.put(("done", len(chunk)))

    own = tally(entries(), Tokenizer(options), path, lambda name, error: unreadable.append((name, error)))
    results.put(("tally", (own, [(name, str(error)) for name, error in unreadable])))


def _shared(
    chunks: Iterator[list[tuple[int, Entry]]],
    options: TokenOptions,
    folder: Path,
    on_unreadable: Callable[[str, Exception], None],
    on_progress: Callable[[int], None],
    workers: int,
) -> Tally:
    context: Any = multiprocessing.get_context(
        "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    )
    tasks, results = context.Queue(4 * workers), context.Queue()
    processes = [
        context.Process(target=_work, args=(tasks, results, options, folder / f"rows{n}"), daemon=True)
        for n in range(workers)
    ]
    for process in processes:
        process.start()
    tallies: list[Tally] = []
    done = waiting = 0
    try:
        endings = iter([None] * workers)
        while len(tallies) < workers:
            while waiting < 3 * workers and (chunk := next(chunks, None) or next(endings, ...)) is not ...:
                tasks.put(chunk)
                waiting += chunk is not None
            kind, value = _next_result(results, processes, len(tallies))
            if kind == "done":
                done, waiting = done + value, waiting - 1
                on_progress(done)
            else:
                own, unreadable = value
                tallies.append(own)
                for name, reason in unreadable:
                    on_unreadable(name, OSError(reason))
    finally:
        for process in processes:
            process.terminate()
            process.join()
    return merge(tallies)


def _next_result(results: Any, processes: list[Any], finished: int) -> tuple[str, Any]:
    import queue

    while True:
        try:
            return results.get(timeout=1)
        except queue.Empty:
            ended = [process for process in processes if process.exitcode is not None]
            broken = [process.exitcode for process in ended if process.exitcode != 0]
            if broken:
                raise SpamnbError(
                    f"a counting process ended with status {broken[0]}; too little memory? --workers 1 uses less"
                ) from None
