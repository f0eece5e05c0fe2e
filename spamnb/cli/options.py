"""Options and small courtesies that several commands share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from spamnb.store import Store


def default_model() -> Path:
    """The model in the user's data directory."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "spamnb" / "model.spamnb"


model_option = click.option(
    "-m",
    "--model",
    type=click.Path(dir_okay=False, path_type=Path),
    envvar="SPAMNB_MODEL",
    default=default_model,
    show_default="$SPAMNB_MODEL, or model.spamnb in the user's data directory",
    help="The model file.",
)

workers_option = click.option(
    "--workers", type=click.IntRange(min=1), help="Processes that read and count.  [default: one a core]"
)


class Unreadable:
    """Counts what could not be read and names it on standard error; the run goes on."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, name: str, error: Exception) -> None:
        self.count += 1
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        click.echo(f"spamnb: {name}: {reason}; left out", err=True)


@contextmanager
def progress(what: str) -> Iterator[Callable[[int], None]]:
    """A counter with rate on standard error when that is a terminal; yields a function that takes the number done."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description} {task.completed} messages, {task.fields[rate]}/s"),
    )
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None, rate=0)

        def show(done: int) -> None:
            speed = bar.tasks[0].finished_speed or bar.tasks[0].speed or 0
            bar.update(task, completed=done, rate=round(speed))

        yield show


def read_standard_input() -> bytes:
    """All of standard input, as bytes."""
    return sys.stdin.buffer.read()


def each_message(
    sources: tuple[str, ...], unreadable: Unreadable, change: Callable[[bytes], bool], store: Store
) -> tuple[int, int]:
    """Apply ``change`` to each message of the sources, or of standard input; how many there were, how many it changed.

    A hundred messages make one transaction: a tenth of a second's work to lose when killed, and other writers get
    their turn in between.
    """
    from spamnb.sources import Entry, unlabelled

    entries = (
        unlabelled(sources, unreadable)
        if sources
        else iter([Entry(None, "-", "", content=read_standard_input())])
    )
    seen = changed = 0
    while batch := list(islice(entries, 100)):
        with store.writing():
            for entry in batch:
                try:
                    raw = entry.read()
                except OSError as error:
                    unreadable(entry.name, error)
                    continue
                seen += 1
                changed += change(raw)
    return seen, changed
