"""How far the work is: a line in a terminal, or below a notebook's cell."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

Show = Callable[[int], None]  # is given the number of messages done
EVERY = 0.1  # seconds between two drawings


@contextmanager
def progress(what: str, wanted: bool | None = None) -> Iterator[Show]:
    """A counter with its rate, on standard error where that is a terminal, or below a notebook's cell.

    Yields a function that takes the number of messages done. ``wanted`` None shows it in a notebook only. The line is
    gone when the work is done.
    """
    draw = None if wanted is False else _drawing_in_notebook()
    if draw is None and wanted and sys.stderr is not None and sys.stderr.isatty():
        draw = _draw_in_terminal
    start = drawn = monotonic()

    def show(done: int) -> None:
        nonlocal drawn
        if draw is not None and monotonic() - drawn >= EVERY:
            drawn = monotonic()
            draw(_told(what, done, drawn - start))

    try:
        yield show
    finally:
        if draw is not None:
            draw("")


def _told(what: str, done: int, seconds: float) -> str:
    """
    >>> _told("Reading", 3000, 2.0)
    'Reading 3,000 messages, 1,500/s'
    """
    return f"{what} {done:,} messages, {done / max(seconds, 1e-9):,.0f}/s"


def _draw_in_terminal(line: str) -> None:
    sys.stderr.write(f"\r\x1b[K{line}")
    sys.stderr.flush()


def _drawing_in_notebook() -> Callable[[str], None] | None:
    """What shows a line below the cell that runs; None where there is no notebook.

    IPython is only looked for, not imported: where it runs a notebook it is there.
    """
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None and hasattr(module, "get_ipython") else None
    if shell is None or not hasattr(shell, "kernel"):  # IPython in a terminal has no kernel
        return None
    from IPython.display import display

    show: Any = display
    shown = show({"text/plain": ""}, raw=True, display_id=True)
    return lambda line: shown.update({"text/plain": line}, raw=True)
