"""Options that several commands have, and the standard streams."""

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
from spamnb.sources.entries import Entry, SkippedMessages

if TYPE_CHECKING:
    from spamnb.settings import Setting


def default_model() -> Path:
    """Return the path of the model in the user's data directory."""
    home = os.path.expanduser("~")
    if home == "~":  # the user has no home folder, as in a container
        home = os.devnull  # no file can be below /dev/null, so the model is missing
    return Path(os.environ.get("XDG_DATA_HOME") or Path(home, ".local", "share"), "spamnb", "model.spamnb")


SOURCE = click.Path(readable=False)  # shells complete a SOURCE as a path


class FilePath(click.Path):
    """The path of a file, which may be missing, because 'filter' copies a message even without a model.

    A leading ~ becomes the home folder, because shells do not expand it in ``--model=~/m``.
    """

    def __init__(self) -> None:
        super().__init__(readable=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(os.path.expanduser(value), param, ctx)


class FolderPath(FilePath):
    """An existing folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        folder = super().convert(value, param, ctx)
        if not folder.is_dir():
            problem = "not a folder" if folder.exists() else "no such folder; make it first, with mkdir"
            self.fail(f"{folder}: {problem}", param, ctx)
        return folder


class NewFile(FilePath):
    """A file that the command will write. A path that cannot be written is an error before any mail is read."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from spamnb.api.arguments import new_file

        return new_file(super().convert(value, param, ctx), over_model=False)


class WholeNumber(click.IntRange):
    """A whole number in a range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            bounds = f"of at least {self.min}" if self.max is None else f"from {self.min} to {self.max}"
            self.fail(f"{value!r}; write a whole number {bounds}", param, ctx)


def _make_folder(context: click.Context, param: click.Parameter, model: Path) -> Path:
    """Make the folder of the default model. The folder of any other model must exist. Return the path of the model."""
    from spamnb.api.arguments import new_file

    if context.get_parameter_source(str(param.name)) is ParameterSource.DEFAULT:
        _make_parent(model)
    return new_file(model)


def _make_parent(model: Path) -> None:
    try:
        model.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        from spamnb.store.snapshot import cannot_be_written

        raise cannot_be_written(model, error) from None


_model = partial(
    click.option,
    "-m",
    "--model",
    type=FilePath(),
    envvar="SPAMNB_MODEL",
    default=default_model,
    show_default=False,
    help="Model file.  [default: $SPAMNB_MODEL, or ~/.local/share/spamnb/model.spamnb]",
)
model_option = _model()
new_model_option = _model(callback=_make_folder)  # of commands that make a model


starter_option = click.option(
    "--no-starter", is_flag=True, help="Do not begin with the starter, a small model of public mail."
)


def begin_with_starter(model: Path, no_starter: bool) -> None:
    """If there is no model at the default path, make one that adds to the starter."""
    if no_starter or model != default_model() or model.exists():
        return
    from spamnb.store.starter import NAME, create_beside_starter

    _make_parent(model)
    create_beside_starter(model)
    tell(
        f"made a new model, {escape(str(model))}, that adds to public mail, {NAME} beside it; to add your own:"
        " 'spamnb train ham=MAILDIR', and 'spamnb learn spam' for spam that it lets through"
    )


models_option = click.option(
    "--models", type=FolderPath(), help="Folder with a model for each user, for at most 10,000 users."
)


def format_option(*formats: str) -> Callable[[Any], Any]:
    """Return the option for the output format. The first format is the default."""
    choice = click.Choice(formats)
    return click.option(
        "--format", "output_format", type=choice, default=formats[0], show_default=True, help="Output format."
    )


def _make_ledger_folder(context: click.Context, param: click.Parameter, ledger: Path) -> Path:
    if context.get_parameter_source(str(param.name)) is ParameterSource.DEFAULT:
        with suppress(OSError):  # the ledger then cannot be made, which is an error
            ledger.parent.mkdir(parents=True, exist_ok=True)
    return ledger


# Of commands that write a ledger only if they are told to, because they classify the mail of many people.
ledger_option = click.option(
    "--ledger", type=FilePath(), help="Also write each verdict to this ledger, which 'spamnb review' shows."
)
own_ledger_option = click.option(
    "--ledger",
    type=FilePath(),
    envvar="SPAMNB_LEDGER",
    callback=_make_ledger_folder,
    default=lambda: default_model().with_name("ledger.sqlite"),
    show_default=False,
    help="File of what happened to past mail.  [default: $SPAMNB_LEDGER, or ~/.local/share/spamnb/ledger.sqlite]",
)

workers_option = click.option(
    "--workers", type=WholeNumber(min=1), metavar="N", help="Number of threads.  [default: one per core]"
)


dask_option = click.option(
    "--dask",
    metavar="ADDRESS",
    help="Read the mail on a Dask cluster. ADDRESS is tcp://… or tls://…, or the path of a scheduler file.",
)


text_column_option = click.option(
    "--text-column", metavar="COLUMN", help="Column of the text in a table (.csv, .tsv or .jsonl)."
)


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for each field of ``ReadOptions`` to a command."""
    command = click.option(
        "--recursive",
        is_flag=True,
        help="Also read the other folders of a Maildir or account, except junk, trash, drafts and templates.",
    )(command)
    command = click.option("--label-column", metavar="COLUMN", help="Column of the class in a table.")(command)
    return text_column_option(command)


def set_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--set`` to a command. The command receives a dictionary ``settings`` of values by name."""
    return click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_set,
        is_eager=True,
        help="Change a setting of the model, for example alpha=0.5. '--set help' lists the settings.",
    )(command)


def _set(context: click.Context, _: click.Parameter, assignments: tuple[str, ...]) -> dict[str, Any]:
    if not assignments:  # click 8.1 calls this before --help, which needs no numpy
        return {}
    from spamnb.api.arguments import make_settings
    from spamnb.settings import SETTINGS

    if "help" in assignments:
        click.echo(_settings_help())
        context.exit()
    values = parse_settings(assignments, SETTINGS, "--set ", "; '--set help' explains them")
    model_type = make_settings(values).model_type  # raises SpamnbError before any mail is read
    for name in values:
        types = SETTINGS[name].models
        if types and model_type not in types:
            raise click.UsageError(f"--set {name} is for {', '.join(types)} models, not for a {model_type} model")
    return values


def parse_settings(
    assignments: Iterable[str], settings: dict[str, Setting], prefix: str, advice: str
) -> dict[str, Any]:
    """Return the values of assignments NAME=VALUE. An error begins with ``prefix`` and ends with ``advice``."""
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals or name not in settings:
            problem = f"no setting is called {name!r}" if equals else "write NAME=VALUE"
            raise click.UsageError(f"{prefix}{assignment}: {problem}; the settings are {', '.join(settings)}{advice}.")
        try:
            values[name] = settings[name].parse(text)
        except SpamnbError as error:
            raise click.UsageError(f"{prefix}{assignment}: {error}") from None
    return values


def _settings_help() -> str:
    """Return a table of the settings with their defaults, meanings and allowed values."""
    from spamnb.settings import SETTINGS

    formatter = click.HelpFormatter(width=100)
    rows = []
    for setting in SETTINGS.values():
        help_text = setting.help.replace("`", "")
        rows.append((f"{setting.name}={setting.shown_default}", f"{help_text} Values: {setting.values}."))
    formatter.write_dl(rows, col_max=24)
    return formatter.getvalue().rstrip("\n")


def format_command_line() -> str:
    """Return the command that is running, quoted for a shell."""
    import shlex

    return shlex.join(["spamnb", *sys.argv[1:]])


def is_on_command_line(name: str) -> bool:
    """Return whether the value of this parameter is from the command line, and not a default."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def tell(line: str) -> None:
    """Print a line on standard error, after the program's name and with options instead of Python's arguments.

    An OSError is ignored, because the command must continue if the disk of its log is full.
    """
    with suppress(OSError):
        click.echo(f"spamnb: {in_options(line)}", err=True)


def read_standard_input(max_bytes: int = -1) -> bytes:
    """Return the bytes of standard input, at most ``max_bytes`` unless that is -1."""
    if sys.stdin is None:
        raise SpamnbError("standard input is closed; name a SOURCE, or redirect one with '< message.eml'")
    if sys.stdin.isatty():
        tell("reading a message from the terminal; press Ctrl-D at its end")
    return sys.stdin.buffer.read(max_bytes)


def standard_output() -> TextIO:
    """Return standard output. Raise SpamnbError if it is closed, because ``click.echo`` would print nothing."""
    if sys.stdout is None:
        raise SpamnbError("standard output is closed; redirect it with '> FILE'")
    return sys.stdout


def find_messages(
    sources: tuple[str, ...], unreadable: SkippedMessages, text_column: str | None = None, label: str | None = None
) -> Iterator[Entry]:
    """Return the messages of the sources. Without sources, or for the source "-", read one message from standard input.

    With ``label``, each source is read as the source ``label=PATH`` of 'train'. If there is no message, the iterator
    raises SpamnbError.
    """
    from spamnb.sources.entries import ReadOptions, decompress, is_mbox, message_from_file, too_long_error
    from spamnb.sources.folders import note_unread, read_folders
    from spamnb.sources.formats import MAX_MESSAGE
    from spamnb.sources.mbox import split_mbox
    from spamnb.sources.spec import find_entries

    if sources not in ((), ("-",)):
        for source in sources:
            for note in note_unread(read_folders(label, source, recursive=False), with_skipped=True):
                tell(f"{escape(source)}: {note}")
        entries = find_entries(sources, unreadable, ReadOptions(text_column=text_column), label)
        return _require_message(entries, " ".join(map(escape, sources)), unreadable)
    raw = read_standard_input(MAX_MESSAGE + 1)
    try:
        if len(raw) > MAX_MESSAGE:
            raise too_long_error("-")
        raw = message_from_file(decompress(raw, "-"), "-")
    except OSError as error:
        raise SpamnbError(f"standard input: {error.strerror}") from None
    if label is not None and is_mbox(raw):
        raise SpamnbError("standard input: an mbox of several messages; give its file name instead of '<'")
    # Standard input is always one message, because a sender can write lines that begin with "From ", as in an mbox.
    if raw.startswith(b"From ") and len(list(islice(split_mbox(BytesIO(raw)), 2))) > 1:
        tell("standard input looks like an mbox, but is read as one message; to read an mbox, give its file name")
    return _require_message([Entry(None, "-", "", content=raw)] if raw else [], "standard input", unreadable)


def _require_message(entries: Iterable[Entry], name: str, unreadable: SkippedMessages) -> Iterator[Entry]:
    """Yield the entries. At the end, raise SpamnbError if there was no message."""
    is_empty = True
    for entry in entries:
        is_empty = False
        yield entry
    if is_empty and not unreadable.count:
        raise SpamnbError(f"{name}: no message")
