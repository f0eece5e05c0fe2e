"""How far the work is: a line in a terminal, or below a notebook's cell."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

Show = Callable[..., None]  # is given the number of messages done, and of how many where that is known
EVERY = 0.1  # seconds between two drawings


@contextmanager
def progress(what: str, wanted: bool | None = None) -> Iterator[Show]:
    """A counter with rate and time left, on standard error where that is a terminal, or below a notebook's cell.

    Yields a function that takes the number of messages done, and of how many where that is known. ``wanted`` None shows
    it in a notebook only.
    """
    display = None if wanted is False else _notebook_display()
    if display is not None:
        yield from _in_notebook(what, display)
    elif wanted and sys.stderr is not None and sys.stderr.isatty():
        yield from _in_terminal(what)
    else:
        yield lambda done, total=None: None


def _notebook_display() -> Callable[..., Any] | None:
    """What shows something below the cell that runs; None where there is no notebook.

    IPython is only looked for, not imported: where it runs a notebook it is there.
    """
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None and hasattr(module, "get_ipython") else None
    if shell is None or not hasattr(shell, "kernel"):  # IPython in a terminal has no kernel
        return None
    from IPython.display import display

    return display


def _in_notebook(what: str, display: Callable[..., Any]) -> Iterator[Show]:
    start = drawn = monotonic()
    shown = display(_Line(f"{what} …"), display_id=True)

    def show(done: int, total: int | None = None) -> None:
        nonlocal drawn
        if monotonic() - drawn < EVERY:
            return
        drawn = monotonic()
        shown.update(_Line(_told(what, done, total, drawn - start), done, total))

    try:
        yield show
    finally:
        shown.update(_Line(""))  # what was found out stands below; how long it took is of no interest then


class _Line:
    """A line of text, with a bar where there is something to measure by: what a notebook shows."""

    def __init__(self, text: str, done: int = 0, total: int | None = None) -> None:
        self._text, self._done, self._total = text, done, total

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        from html import escape

        if not self._text:
            return ""
        bar = f'<progress value="{self._done}" max="{self._total}"></progress> ' if self._total else ""
        return f"<div>{bar}{escape(self._text)}</div>"


def _told(what: str, done: int, total: int | None, seconds: float) -> str:
    """
    >>> _told("Reading", 3000, 12000, 2.0), _told("Reading", 3000, None, 2.0)
    ('Reading 3,000 of 12,000 messages, 1,500/s, 6 s left', 'Reading 3,000 messages, 1,500/s')
    """
    rate = done / max(seconds, 1e-9)
    left = f", {(total - done) / max(rate, 1e-9):.0f} s left" if total else ""
    return f"{what} {done:,}{'' if total is None else f' of {total:,}'} messages, {rate:,.0f}/s{left}"


def _in_terminal(what: str) -> Iterator[Show]:
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    text = TextColumn("{task.description} {task.completed:,}{task.fields[of]} messages, {task.fields[rate]:,}/s")
    columns = (text, TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    # Drawn here and not by a thread of its own: processes are forked meanwhile.
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task(what, total=None, of="", rate=0)
        drawn = 0.0

        def show(done: int, total: int | None = None) -> None:
            nonlocal drawn
            if monotonic() - drawn < EVERY:
                return
            drawn = monotonic()
            of = "" if total is None else f" of {total:,}"
            rate = round(done / max(bar.tasks[0].elapsed or 0, 1e-9))
            bar.update(task, completed=done, total=total, of=of, rate=rate)
            bar.refresh()

        yield show
