"""``spamnb train``: a new model from labelled mail."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spamnb.cli.options import (
    SOURCE,
    Unreadable,
    model_option,
    progress,
    read_options,
    scratch,
    source_options,
    tell,
    tell_of_folders_too_high,
    workers_option,
)
from spamnb.cli.settings import settings_options

if TYPE_CHECKING:
    from spamnb.settings import Settings


@click.command("train", short_help="Make a model from labelled mail; say how well it does.")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", type=SOURCE)
@source_options
@model_option
@click.option("--force", is_flag=True, help="Replace the model that is there.")
@click.option("--one-class", is_flag=True, help="Train on messages of a single class; 'learn' adds others later.")
@settings_options
@workers_option
def train_command(
    sources: tuple[str, ...],
    model: Path,
    force: bool,
    one_class: bool,
    settings: Settings,
    workers: int | None,
) -> None:
    """Make a new model from labelled mail, and say how well it judges each message when that message is left out.

    A SOURCE is a directory with a folder per class; CLASS=PATH where PATH is a folder, Maildir, MH folder, mbox or
    single message; thunderbird:PATH for a profile or account of Thunderbird; gmail:PATH for a mailbox of Google
    Takeout; index:PATH for a TREC index; a table of text (.csv, .tsv, .jsonl); or a file of lines "label TAB text".

    \b
    Example:
      spamnb train ham=~/Maildir spam=~/Maildir/.Junk
    """
    from contextlib import nullcontext

    from spamnb.engines.counting import count_parallel
    from spamnb.engines.side_process import SideProcess
    from spamnb.naming import pluralize
    from spamnb.report.training import training_report
    from spamnb.sources.spec import entries
    from spamnb.store.snapshot import check_replaceable
    from spamnb.training import train

    check_replaceable(model, force=force)
    lessons = _lessons(model) if model.exists() else 0
    tell_of_folders_too_high(sources)
    unreadable = Unreadable()
    with scratch() as folder:
        with progress("Reading") as show:
            mail = entries(sources, unreadable, read_options())
            training_set = count_parallel(mail, settings.tokens, folder, unreadable, show, workers)
        # Where one process counted, one process trains.
        with SideProcess() if len(training_set.shards) > 1 else nullcontext() as executor:
            left_out = train(model, training_set, settings, force=force, one_class=one_class, executor=executor)
    if lessons:
        tell(
            f"spamnb: the model that was replaced had learned {pluralize(lessons, 'message')} one by one; they count in"
            " the new one only where the sources hold them"
        )
    for name in sorted({*training_set.counts.classes} - {*left_out.classes}):
        tell(f"spamnb: all messages of class {name!r} are in a later class too, and count for that one only")
    read = int(training_set.counts.documents.sum())
    click.echo(training_report(model, left_out, settings.spam, read, unreadable.count))


def _lessons(model: Path) -> int:
    """How many messages a model that is to be replaced learned one by one; 0 where it cannot be read."""
    from spamnb.errors import SpamnbError
    from spamnb.store.store import Store

    try:
        with Store.open(model) as store:
            return store.lessons_learned()
    except SpamnbError:  # whether it may be replaced says training
        return 0
