"""How far the work is: a line in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

EVERY = 0.1  # seconds between two drawings


@contextmanager
def progress(what: str, wanted: bool = True) -> Iterator[Callable[[int], None]]:
    """A counter with its rate on standard error, where that is a terminal; gone when the work is done.

    Yields a function that takes the number of messages done.
    """
    if not wanted or sys.stderr is None or not sys.stderr.isatty():
        yield lambda done: None
        return
    start = drawn = monotonic()

    def show(done: int) -> None:
        nonlocal drawn
        if monotonic() - drawn >= EVERY:
            drawn = monotonic()
            draw(f"{what} {done:,} messages, {done / (drawn - start):,.0f}/s")

    def draw(line: str) -> None:
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()

    try:
        yield show
    finally:
        draw("")
