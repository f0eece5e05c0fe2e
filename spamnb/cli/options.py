"""Options and small courtesies that several commands share."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click
from click.core import ParameterSource

from spamnb.errors import SpamnbError, reason

if TYPE_CHECKING:
    from spamnb.sources.entries import Entry
    from spamnb.sources.one_class import ReadOptions


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that is gone afterwards, also where the process is told to end meanwhile.

    Raises SpamnbError where what is written into it finds no room.
    """
    import signal
    from tempfile import TemporaryDirectory

    from spamnb.engines.workers import ENDING

    def end(number: int, frame: object) -> None:
        for each in heeded:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    # Whoever started us with nohup wants SIGHUP to be ignored.
    heeded = [n for n in ENDING if signal.getsignal(n) is signal.SIG_DFL]
    # They and Ctrl-C wait while the folder is made and while it is taken away.
    waiting = [signal.SIGINT, *heeded]
    signal.pthread_sigmask(signal.SIG_BLOCK, waiting)
    try:
        with TemporaryDirectory(prefix="spamnb-") as folder:
            for number in heeded:
                signal.signal(number, end)
            try:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, waiting)
                yield Path(folder)
            except OSError as error:
                # numpy gives neither file nor number where an array found no room; the system names a file only where
                # it cannot make it.
                ours = error.filename is None or str(error.filename).startswith(folder)
                if ours and error.errno in (None, errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                    said = f"no room for temporary files in {Path(folder).parent}; TMPDIR names another place"
                    raise SpamnbError(said) from None
                raise
            finally:
                signal.pthread_sigmask(signal.SIG_BLOCK, waiting)
    finally:
        for number in heeded:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, waiting)


def default_model() -> Path:
    """The model in the user's data directory."""
    home = os.path.expanduser("~")
    if home == "~":  # a user without an account, as in a container: each command says so itself, since 'filter' goes on
        home = os.devnull  # below which nothing can be or be made
    return Path(os.environ.get("XDG_DATA_HOME") or Path(home, ".local", "share"), "spamnb", "model.spamnb")


SOURCE = click.Path(readable=False)  # for shells to complete; what it is and whether it can be read, entries.py says


class ModelPath(click.Path):
    """A model's file; with ~ for the home folder, which shells leave as it is in --model=~/m and services in a setting.

    What lies there is not click's to judge: 'filter' passes mail on all the same.
    """

    def __init__(self) -> None:
        super().__init__(readable=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(os.path.expanduser(value), param, ctx)


model_option = click.option(
    "-m",
    "--model",
    type=ModelPath(),
    envvar="SPAMNB_MODEL",
    default=default_model,
    show_default="$SPAMNB_MODEL, or model.spamnb in the user's data directory",
    help="The model file.",
)


def format_option(*forms: str) -> Callable[[Any], Any]:
    """How what is found is printed, one of these; the first where nothing is asked for."""
    choice = click.Choice(forms)
    return click.option("--format", "form", type=choice, default=forms[0], show_default=True, help="How it is printed.")


workers_option = click.option(
    "--workers", type=click.IntRange(min=1), help="Processes that share the work.  [default: one a core]"
)

_READ_OPTIONS = "spamnb.read_options"  # where a command's context keeps them


def _keep_read_option(context: click.Context, param: click.Parameter, value: Any) -> None:
    context.meta.setdefault(_READ_OPTIONS, {})[param.name] = value


_RECURSIVE = "Read the folders of a Maildir too, but for junk, trash, drafts and templates."
_KEPT: dict[str, Any] = {"callback": _keep_read_option, "expose_value": False}

text_column_option = click.option(
    "--text-column",
    metavar="COLUMN",
    help="The column of a table (.csv, .tsv, .jsonl, .parquet) that holds the text, by name or number.",
    **_KEPT,
)


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options for how labelled sources are read; ``read_options`` has what was chosen."""
    for option in (
        click.option("--label-column", metavar="COLUMN", help="The column that holds the class.", **_KEPT),
        text_column_option,
        click.option("--recursive", is_flag=True, help=_RECURSIVE, **_KEPT),
    ):
        command = option(command)
    return command


def read_options() -> ReadOptions:
    """How the command that runs was told to read its sources."""
    from spamnb.sources.one_class import ReadOptions

    return ReadOptions(**click.get_current_context().meta.get(_READ_OPTIONS, {}))


def on_command_line(name: str) -> bool:
    """Does the option of this parameter stand on the command line?"""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


class Seconds(click.FloatRange):
    """A time of up to a day: no timer takes infinity, and nan is neither more nor less than any bound."""

    def __init__(self, min: float, min_open: bool = False) -> None:
        super().__init__(min, 86_400, min_open)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        seconds = super().convert(value, param, ctx)
        if seconds != seconds:
            self.fail(f"{value!r} is no time.", param, ctx)
        return seconds


def tell(text: str) -> None:
    """A line on standard error where that can be written: where its disk is full the work is done all the same."""
    with suppress(OSError):
        click.echo(text, err=True)


class Unreadable:
    """Counts what could not be read and names it on standard error; the run goes on.

    What is wrong with a file is told once, also where it is read again and again, as by 'spamnb watch'.
    """

    def __init__(self) -> None:
        self.count = 0
        self._told: set[tuple[str, str]] = set()

    def __call__(self, name: str, error: Exception) -> None:
        self.count += 1
        why = reason(error)
        if (name, why) not in self._told:
            self._told.add((name, why))
            tell(f"spamnb: {name}: {why}; left out")


def tell_of_folders_too_high(sources: tuple[str, ...]) -> None:
    """Print a note on standard error for each SOURCE whose classes look like the parts of a corpus, or of whose folders
    some are not read."""
    from spamnb.sources.notes import notes

    recursive = read_options().recursive
    for source in sources:
        for note in notes(source, recursive):
            tell(f"spamnb: {note}")


@contextmanager
def progress(what: str) -> Iterator[Callable[..., None]]:
    """A counter with rate and time left on standard error when that is a terminal.

    Yields a function that takes the number of messages done, and of how many where that is known.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda done, total=None: None
        return
    from time import monotonic

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
            if monotonic() - drawn < 0.1:
                return
            drawn = monotonic()
            of = "" if total is None else f" of {total:,}"
            rate = round(done / max(bar.tasks[0].elapsed or 0, 1e-9))
            bar.update(task, completed=done, total=total, of=of, rate=rate)
            bar.refresh()

        yield show


def read_standard_input(most: int = -1) -> bytes:
    """Standard input as bytes: all of them, or at most ``most``."""
    if sys.stdin is None:
        raise SpamnbError("standard input is closed; give a SOURCE, or < message.eml")
    if sys.stdin.isatty():
        tell("spamnb: reading a message from the terminal; Ctrl-D ends it")
    return sys.stdin.buffer.read(most)


def standard_output() -> TextIO:
    """Standard output, for what must not be lost where it is closed; ``click.echo`` says nothing there."""
    if sys.stdout is None:
        raise SpamnbError("standard output is closed; > FILE takes what is written")
    return sys.stdout


def messages_of(sources: tuple[str, ...], unreadable: Unreadable) -> Iterator[Entry]:
    """The messages of the sources; without any, or for "-", the one on standard input where there is one."""
    from spamnb.sources.entries import MAX_MESSAGE, Entry, decompress, too_long
    from spamnb.sources.mbox import split_mbox
    from spamnb.sources.one_class import unlabelled

    if sources not in ((), ("-",)):
        return unlabelled(sources, unreadable, read_options())
    raw = read_standard_input(MAX_MESSAGE + 1)
    try:
        if len(raw) > MAX_MESSAGE:
            raise too_long("-")
        raw = decompress(raw, "-")
    except OSError as error:
        raise SpamnbError(f"standard input: {error.strerror}") from None
    # Not split: one message comes this way from a mail server, and what stands in its body is its sender's choice.
    if raw.startswith(b"From ") and len(list(islice(split_mbox(BytesIO(raw), False), 2))) > 1:
        tell("spamnb: a mailbox on standard input is taken for one message; give its name instead")
    return iter([Entry(None, "-", "", content=raw)] if raw else [])  # nothing is no message, as an empty file
