"""``spamnb train``: train a model on labelled mail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from spamnb.cli.options import (
    SOURCE,
    dask_option,
    format_command_line,
    new_model_option,
    set_option,
    source_options,
    starter_option,
    tell,
    workers_option,
)


@click.command("train", short_help="Train a model on labelled mail, and estimate its errors.")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", type=SOURCE)
@source_options
@new_model_option
@click.option("--force", is_flag=True, help="Replace an existing model. Its lessons are learned again.")
@click.option("--accept-junk", is_flag=True, help="Accept a folder called Junk as good mail.")
@click.option("--one-class", is_flag=True, help="Train on messages of a single class. 'learn' can add other classes.")
@set_option
@starter_option
@workers_option
@dask_option
def train_command(
    sources: tuple[str, ...], model: Path, settings: dict[str, Any], no_starter: bool, **options: Any
) -> None:
    """Train a model on labelled mail, and estimate its errors.

    For the estimate, each message is classified by a model that has not learned it.

    \b
    A SOURCE is one of:
      DIRECTORY         a directory with a folder for each class
      CLASS=PATH        a folder, Maildir, MH folder, mbox or single message
      CLASS=URL         a folder of an IMAP account, imaps://USER@HOST/FOLDER
      thunderbird:PATH  a profile or an account of Thunderbird
      gmail:PATH        a mailbox of Google Takeout
      index:PATH        a TREC index
      FILE              a table (.csv, .tsv, .jsonl), or lines "label TAB text"

    Mail of ham alone, such as an inbox, or fewer than 50 messages of ham or of spam makes a model that adds to the
    starter, a small model of public mail. With --no-starter it does not.

    A model keeps its lessons, the messages that a person teaches with 'learn', 'watch', 'review' or spamc. With
    --force, the new model learns the lessons of the old one again. A message that is also in a SOURCE counts once, in
    the class that it has in the old model.

    \b
    Example:
      spamnb train --recursive ham=~/Maildir spam=~/Maildir/.Junk
    """
    from spamnb.api.train import train
    from spamnb.cli.mailboxes import save_recipients
    from spamnb.errors import SpamnbError
    from spamnb.mailbox.sent import find_mailboxes, read_sent_folders
    from spamnb.shown_text import escape

    if no_starter:
        settings = {**settings, "starter": False}
    report = train(sources, model, progress=True, tell=tell, command=format_command_line(), **options, **settings)
    click.echo(str(report))
    for name in find_mailboxes(sources):
        try:
            save_recipients(escape(name), read_sent_folders(name))
        except SpamnbError as error:  # the model is written, and 'watch' reads the sent mail again
            tell(f"{error}; the recipients of your mail were not added to the people you know")
