"""Options of several commands, and what commands read from and write to the standard streams."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click
from click.core import ParameterSource

from spamnb.errors import SpamnbError, in_options
from spamnb.shown_text import escape
from spamnb.sources.entries import SkippedMessages

if TYPE_CHECKING:
    from spamnb.setting_fields import Setting
    from spamnb.sources.entries import Entry


def default_model() -> Path:
    """Return the path of the model in the user's data directory."""
    home = os.path.expanduser("~")
    if home == "~":  # a user without an account, as in a container: 'filter' has to pass mail on nevertheless
        home = os.devnull  # no file can exist below it, so that each command reports this itself
    return Path(os.environ.get("XDG_DATA_HOME") or Path(home, ".local", "share"), "spamnb", "model.spamnb")


SOURCE = click.Path(readable=False)  # for shells to complete; sources/entries.py checks whether it can be read


class ModelPath(click.Path):
    """A file. A leading ~ is the home folder, which shells do not expand in --model=~/m, nor services in a setting.

    click does not check the file, because 'filter' passes mail on without a model.
    """

    def __init__(self) -> None:
        super().__init__(readable=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(os.path.expanduser(value), param, ctx)


class FolderPath(ModelPath):
    """An existing folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        folder = super().convert(value, param, ctx)
        if not folder.is_dir():
            problem = "no folder" if folder.exists() else "no such folder; make it first, with mkdir"
            self.fail(f"{folder}: {problem}", param, ctx)
        return folder


class NewFile(ModelPath):
    """A file to be written. It is refused before any work if it cannot be written."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from spamnb.api.arguments import new_file

        return new_file(super().convert(value, param, ctx), over_model=False)


def _with_folder(context: click.Context, param: click.Parameter, model: Path) -> Path:
    """Return the path of a model, and make the folder of the default one; any other folder must exist."""
    from spamnb.api.arguments import new_file

    if context.get_parameter_source(str(param.name)) is ParameterSource.DEFAULT:
        model.parent.mkdir(parents=True, exist_ok=True)
    return new_file(model)


_model = partial(
    click.option,
    "-m",
    "--model",
    type=ModelPath(),
    envvar="SPAMNB_MODEL",
    default=default_model,
    show_default="$SPAMNB_MODEL, or model.spamnb in the user's data directory",
    help="The model file.",
)
model_option = _model()
new_model_option = _model(callback=_with_folder)  # of commands that make a new model


models_option = click.option(
    "--models",
    type=FolderPath(),
    help="Folder with a model for each user who was taught: 10,000 at most.",
)


def format_option(*forms: str) -> Callable[[Any], Any]:
    """Return the option for the output format, of which the first form is the default."""
    choice = click.Choice(forms)
    return click.option("--format", "form", type=choice, default=forms[0], show_default=True, help="The output format.")


journal_option = click.option(
    "--journal",
    type=ModelPath(),
    help="Write each decision to this file, which 'spamnb review' shows.  [default: none]",
)

workers_option = click.option(
    "--workers", type=click.IntRange(min=1), help="Threads that share the work.  [default: one a core]"
)


dask_option = click.option(
    "--dask",
    metavar="ADDRESS",
    help="Let a Dask cluster read the mail: tcp://… or tls://… of its scheduler, or a scheduler file.",
)


text_column_option = click.option(
    "--text-column",
    metavar="COLUMN",
    help="The column of a table (.csv, .tsv, .jsonl) that holds the text.",
)


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for reading labelled sources, the fields of ``ReadOptions``, to a command."""
    command = click.option(
        "--recursive",
        is_flag=True,
        help="Also read the other folders of a Maildir or account, except junk, trash, drafts and templates.",
    )(command)
    command = click.option("--label-column", metavar="COLUMN", help="The column that holds the class.")(command)
    return text_column_option(command)


def set_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option for settings of the model to a command, which gets them by name as ``settings``."""
    return click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_set,
        is_eager=True,
        help="A setting of the model, as alpha=0.5; may be repeated. '--set help' lists all of them.",
    )(command)


def _set(context: click.Context, _: click.Parameter, assignments: tuple[str, ...]) -> dict[str, Any]:
    from spamnb.api.arguments import settings_of
    from spamnb.settings import SETTINGS

    if "help" in assignments:
        click.echo(_settings_help())
        context.exit()
    chosen = parse_settings(assignments, SETTINGS, "--set ", "; '--set help' explains them")
    kind = settings_of(chosen).model_type  # raises SpamnbError now, and not after all mail was read
    for name in chosen:
        models = SETTINGS[name].models
        if models and kind not in models:
            raise click.UsageError(f"--set {name} changes nothing in a {kind} model; it is for {', '.join(models)}")
    return chosen


def parse_settings(
    assignments: Iterable[str], settings: dict[str, Setting], prefix: str, advice: str
) -> dict[str, Any]:
    """Return the values of assignments NAME=VALUE. An error begins with ``prefix`` and ends with ``advice``."""
    chosen: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals or name not in settings:
            problem = f"no setting is called {name!r}" if equals else "write NAME=VALUE"
            raise click.UsageError(f"{prefix}{assignment}: {problem}; the settings are {', '.join(settings)}{advice}.")
        try:
            chosen[name] = settings[name].parse(text)
        except SpamnbError as error:
            raise click.UsageError(f"{prefix}{assignment}: {error}") from None
    return chosen


def _settings_help() -> str:
    """Return a table of the settings with their defaults, purposes and values."""
    from spamnb.settings import SETTINGS

    formatter = click.HelpFormatter(width=100)
    rows = []
    for setting in SETTINGS.values():
        help_text = setting.help.replace("`", "")
        rows.append((f"{setting.name}={setting.shown_default}", f"{help_text} Values: {setting.values}."))
    formatter.write_dl(rows, col_max=24)
    return formatter.getvalue().rstrip("\n")


def command_line() -> str:
    """Return the present command as a person would type it."""
    import shlex

    return shlex.join(["spamnb", *sys.argv[1:]])


def on_command_line(name: str) -> bool:
    """Return whether the option of this parameter is on the command line."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


class Seconds(click.FloatRange):
    """A time of up to a day. Infinity is too long for timers, and nan passes every bound."""

    def __init__(self, min: float) -> None:
        super().__init__(min, 86_400)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        seconds = super().convert(value, param, ctx)
        if seconds != seconds:
            self.fail(f"{value!r} is no time.", param, ctx)
        return seconds


def tell(text: str) -> None:
    """Print a line on standard error. Failures are ignored, because a full disk must not end the work."""
    with suppress(OSError):
        click.echo(text, err=True)


def tell_of_ours(line: str) -> None:
    """Print a line as `tell` does, after the program's name and with options in the place of arguments."""
    tell(f"spamnb: {in_options(line)}")


class Unreadable(SkippedMessages):
    """Counts the messages that could not be read, and prints each on standard error; the run goes on."""

    def __init__(self) -> None:
        super().__init__(tell_of_ours)


def read_standard_input(most: int = -1) -> bytes:
    """Return the bytes of standard input, at most ``most`` unless that is -1."""
    if sys.stdin is None:
        raise SpamnbError("standard input is closed; give a SOURCE, or < message.eml")
    if sys.stdin.isatty():
        tell("spamnb: reading a message from the terminal; Ctrl-D ends it")
    return sys.stdin.buffer.read(most)


def standard_output() -> TextIO:
    """Return standard output. Raises SpamnbError if it is closed, which ``click.echo`` ignores."""
    if sys.stdout is None:
        raise SpamnbError("standard output is closed; > FILE takes what is written")
    return sys.stdout


def no_message(sources: tuple[str, ...]) -> SpamnbError:
    """Return the error for sources without any message."""
    names = "standard input" if sources in ((), ("-",)) else " ".join(map(escape, sources))
    return SpamnbError(f"{names}: no message")


def messages_of(
    sources: tuple[str, ...], unreadable: Unreadable, text_column: str | None = None, label: str | None = None
) -> Iterator[Entry]:
    """Return the messages of the sources, or without sources and for "-" the message on standard input.

    If ``label`` is given, the sources are read like those of ``label=PATH``.
    """
    from spamnb.sources.entries import Entry, ReadOptions, decompress, is_mbox, message_from_file, too_long_error
    from spamnb.sources.folders import folder_notes
    from spamnb.sources.formats import MAX_MESSAGE
    from spamnb.sources.mbox import split_mbox
    from spamnb.sources.spec import find_entries

    if sources not in ((), ("-",)):
        for source in sources:
            for note in folder_notes(label, source):
                tell(f"spamnb: {escape(source)}: {note}")
        return find_entries(sources, unreadable, ReadOptions(text_column=text_column), label)
    raw = read_standard_input(MAX_MESSAGE + 1)
    try:
        if len(raw) > MAX_MESSAGE:
            raise too_long_error("-")
        raw = message_from_file(decompress(raw, "-"), "-")
    except OSError as error:
        raise SpamnbError(f"standard input: {error.strerror}") from None
    if label is not None and is_mbox(raw):
        raise SpamnbError("standard input: a mailbox of several messages; give its name in place of '<'")
    # It is not split, because a mail server hands over one message, whose sender writes the body.
    if raw.startswith(b"From ") and len(list(islice(split_mbox(BytesIO(raw)), 2))) > 1:
        tell("spamnb: a mailbox on standard input is taken for one message; give its name instead")
    return iter([Entry(None, "-", "", content=raw)] if raw else [])  # empty input is no message, like an empty file
