"""Show progress in a line of a terminal, or below the cell of a notebook."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

DRAWING_INTERVAL = 0.1  # seconds between two updates of the line: more updates cannot be read


@contextmanager
def show_progress(activity: str, is_shown: bool = True) -> Iterator[Callable[[int], None]]:
    """Show the number of finished messages and their rate on standard error, if it is a terminal or a notebook.

    Yield a function that takes the number of finished messages. The line is cleared at the end.
    """
    if not is_shown or not _is_visible():
        yield lambda done: None
        return
    start = last_update = monotonic()
    width = 0

    def show(done: int) -> None:
        nonlocal last_update
        if monotonic() - last_update >= DRAWING_INTERVAL:
            last_update = monotonic()
            draw(f"{activity} {done:,} messages, {done / (last_update - start):,.0f}/s")

    def draw(line: str) -> None:
        nonlocal width
        # The previous line is overwritten with blanks, because notebooks ignore the code that clears a line.
        sys.stderr.write(f"\r{line:<{width}}" if line else f"\r{'':<{width}}\r")
        sys.stderr.flush()
        width = len(line)

    draw(f"{activity} …")
    try:
        yield show
    finally:
        draw("")


def _is_visible() -> bool:
    """Return whether standard error is a terminal or a notebook."""
    error = sys.stderr
    return error is not None and (error.isatty() or type(error).__module__.startswith("ipykernel."))
