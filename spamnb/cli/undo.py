"""``spamnb undo``: take back what the last run of a command did to a mailbox or a model."""

from __future__ import annotations

from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spamnb.cli.options import model_option, models_option, own_ledger_option, tell

if TYPE_CHECKING:
    from spamnb.ledger.ledger import Batch, Ledger


@click.command("undo", short_help="Take back the last sort, learn, watch or training.")
@model_option
@own_ledger_option
@models_option
@click.option("-v", "--verbose", is_flag=True, help="Also name the messages that could not be moved back.")
def undo_command(model: Path, ledger: Path, models: Path | None, verbose: bool) -> None:
    """Take back the last 'sort', 'learn', 'watch', 'relearn', click in 'review', or training that replaced the model.

    Mail that was moved to another folder is moved back to the inbox, and messages that were learned are forgotten.
    Mail that you moved yourself stays. A model that was replaced comes back, and 'undo' again undoes this. Each call
    goes one step further back.

    \b
    Example:
      spamnb undo
    """
    from spamnb.errors import SpamnbError
    from spamnb.ledger.ledger import Ledger
    from spamnb.store.snapshot import previous_model, restore_previous

    with Ledger.open(ledger if ledger.exists() else ":memory:") as open_ledger:
        batch, previous = open_ledger.last_batch(), previous_model(model)
        if previous.exists() and previous.stat().st_mtime > (batch.at if batch else 0):
            restore_previous(model)
            click.echo(f"{model}: has the model before the last training; 'spamnb undo' puts the newer one back")
        elif batch is not None:
            _undo_batch(open_ledger, batch, models, verbose)
        else:
            raise SpamnbError(f"{ledger}: no command to take back")


def _undo_batch(ledger: Ledger, batch: Batch, models: Path | None, verbose: bool) -> None:
    """Move mail back, forget what was learned, and print both numbers. Exit with status 1 if something failed."""
    from spamnb.api.teaching import Teacher
    from spamnb.ledger.verdicts import INBOX
    from spamnb.mailbox.places import Gone, OpenMailboxes
    from spamnb.shown_text import escape, format_time, pluralize, to_printable
    from spamnb.user_models import Models

    corrections = ledger.corrections(batch=batch.batch)
    n_moved, n_forgotten, unmoved, problems = 0, 0, defaultdict[str, list[str]](list), list[str]()
    with ExitStack() as stack:
        mailboxes = stack.enter_context(OpenMailboxes(ledger))
        teacher = None
        if corrections:
            open_models = stack.enter_context(Models(Path(batch.model), models, writable=True))
            for user in {each.user for each in corrections}:  # an error before mail is moved lets 'undo' be repeated
                if (own := open_models.find_for_learning(user)) is not None:
                    own.store.check_writable()
            teacher = stack.enter_context(Teacher(open_models, ledger, batch))
        for row in ledger.find_all(batch=batch.batch):
            try:
                n_moved += bool(row.mailbox) and mailboxes.move_to(row, INBOX)
            except Gone as error:  # after other errors nothing else is tried, and 'undo' can be repeated
                unmoved[str(error)].append(f"{row.sender}: {row.subject}")
        if teacher is not None:
            teacher.undo(corrections)
            n_forgotten, problems = teacher.n_changed, teacher.problems
    ledger.delete("batches", batch=batch.batch)
    for problem, names in unmoved.items():
        tell(problem if len(names) == 1 else f"{problem} ({len(names):,} messages)")
        for name in names if verbose else ():
            click.echo(f"  {to_printable(name)}", err=True)
    for problem in problems:
        tell(problem)
    moved, forgotten = pluralize(n_moved, "message"), pluralize(n_forgotten, "message")
    when = f"{escape(batch.command)} of {format_time(batch.at)}"
    click.echo(f"{when} was taken back: {moved} moved to the inbox, {forgotten} forgotten")
    if unmoved or problems:
        raise SystemExit(1)
