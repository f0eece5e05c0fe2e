"""A line of progress in a terminal, or below a notebook's cell."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

EVERY = 0.1  # seconds between two drawings: faster than anybody reads


@contextmanager
def progress(what: str, wanted: bool = True) -> Iterator[Callable[[int], None]]:
    """Show how many messages are done, and the rate, on standard error if a person reads it; at the end remove both.

    Yields a function that takes the number of messages done.
    """
    if not wanted or not _has_reader():
        yield lambda done: None
        return
    start = drawn = monotonic()
    width = 0

    def show(done: int) -> None:
        nonlocal drawn
        if monotonic() - drawn >= EVERY:
            drawn = monotonic()
            draw(f"{what} {done:,} messages, {done / (drawn - start):,.0f}/s")

    def draw(line: str) -> None:
        nonlocal width
        # Blanks in place of a code that clears the line, which notebooks do not know.
        sys.stderr.write(f"\r{line:<{width}}" if line else f"\r{'':<{width}}\r")
        sys.stderr.flush()
        width = len(line)

    draw(f"{what} …")
    try:
        yield show
    finally:
        draw("")


def _has_reader() -> bool:
    """Return whether standard error is a terminal, or the output of a notebook's cell."""
    error = sys.stderr
    return error is not None and (error.isatty() or type(error).__module__.startswith("ipykernel."))
