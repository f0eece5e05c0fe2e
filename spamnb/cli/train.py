"""``spamnb train``: make a new model from labelled mail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from spamnb.cli.options import (
    SOURCE,
    command_line,
    dask_option,
    new_model_option,
    set_option,
    source_options,
    tell_of_ours,
    workers_option,
)


@click.command("train", short_help="Make a model from labelled mail, and estimate its errors.")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", type=SOURCE)
@source_options
@new_model_option
@click.option("--force", is_flag=True, help="Replace the model. The new one also learns the old one's taught messages.")
@click.option("--one-class", is_flag=True, help="Train on messages of a single class; 'learn' adds others later.")
@set_option
@workers_option
@dask_option
def train_command(sources: tuple[str, ...], model: Path, settings: dict[str, Any], **given: Any) -> None:
    """Make a new model from labelled mail. Estimate its errors by classifying each message without having learned it.

    A SOURCE is a directory with a folder per class; CLASS=PATH where PATH is a folder, Maildir, MH folder, mbox, single
    message or folder of an IMAP account, imaps://USER@HOST/FOLDER; thunderbird:PATH for a profile or account of
    Thunderbird; gmail:PATH for a mailbox of Google Takeout; index:PATH for a TREC index; a table of text (.csv, .tsv,
    .jsonl); or a file of lines "label TAB text".

    The model keeps the messages that 'learn', 'watch' and spamc teach it. With --force, the new model learns them
    again. A message that is also in a SOURCE counts once, in the class that it was taught as.

    \b
    Example:
      spamnb train ham=~/Maildir/cur spam=~/Maildir/.Junk
    """
    from spamnb.api.train import train
    from spamnb.cli.mailboxes import tell_recipients
    from spamnb.errors import SpamnbError
    from spamnb.mailbox.sent import find_mailboxes, read_sent_folders
    from spamnb.shown_text import escape

    report = train(
        sources,
        model,
        progress=True,
        tell=tell_of_ours,
        command=command_line(),
        **given,
        **settings,
    )
    click.echo(str(report))
    for name in find_mailboxes(sources):
        try:
            tell_recipients(escape(name), read_sent_folders(name))
        except SpamnbError as error:  # the model is finished, and 'watch' will try to read the sent mail again
            tell_of_ours(f"{error}; the recipients of your mail there are not known")
