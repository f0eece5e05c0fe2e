"""Show progress in a line of a terminal, or below a notebook's cell."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

DRAWING_INTERVAL = 0.1  # seconds


@contextmanager
def progress(activity: str, is_shown: bool = True) -> Iterator[Callable[[int], None]]:
    """Show the number of messages done and their rate on standard error, if it is a terminal or a notebook.

    Yield a function that takes the number of messages done. The line is cleared when the work ends.
    """
    if not is_shown or not _has_reader():
        yield lambda done: None
        return
    start = drawn = monotonic()
    width = 0

    def show(done: int) -> None:
        nonlocal drawn
        if monotonic() - drawn >= DRAWING_INTERVAL:
            drawn = monotonic()
            draw(f"{activity} {done:,} messages, {done / (drawn - start):,.0f}/s")

    def draw(line: str) -> None:
        nonlocal width
        # The old line is overwritten with blanks, because notebooks do not know the code that clears a line.
        sys.stderr.write(f"\r{line:<{width}}" if line else f"\r{'':<{width}}\r")
        sys.stderr.flush()
        width = len(line)

    draw(f"{activity} …")
    try:
        yield show
    finally:
        draw("")


def _has_reader() -> bool:
    """Return whether standard error is a terminal, or the output of a notebook's cell."""
    error = sys.stderr
    return error is not None and (error.isatty() or type(error).__module__.startswith("ipykernel."))
