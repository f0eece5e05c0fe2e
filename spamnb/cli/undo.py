"""``spamnb undo``: take back what the last run of a command did to a mailbox or a model."""

from __future__ import annotations

import fcntl
import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spamnb.cli.options import model_option, models_option, own_ledger_option, tell
from spamnb.errors import Locked, SpamnbError, in_options

if TYPE_CHECKING:
    from spamnb.ledger.ledger import Batch, Ledger


@click.command("undo", short_help="Take back the last sort, learn, watch or training.")
@model_option
@own_ledger_option
@models_option
@click.option("--list", "is_list", is_flag=True, help="Only print what each call would take back, the next one first.")
@click.option("--skip", is_flag=True, help="Leave the last step as it is, for example if its model is lost.")
@click.option("-v", "--verbose", is_flag=True, help="Also name the messages that could not be moved back.")
def undo_command(model: Path, ledger: Path, models: Path | None, is_list: bool, skip: bool, verbose: bool) -> None:
    """Take back the last 'sort', 'learn', 'watch', 'relearn', click in 'review', lessons of spamc, or training.

    Mail that was moved to another folder is moved back to the inbox, and messages that were learned are forgotten, or
    put back into the class that had learned them before. Mail that you moved yourself stays. Each call goes one step
    further back, and says what the next one would do. After a training the model that it replaced comes back, and the
    next call puts the newer one back again. What clients of 'serve' taught is in its ledger, which --ledger names.

    \b
    Example:
      spamnb undo
    """
    from spamnb.ledger.ledger import Ledger
    from spamnb.shown_text import escape
    from spamnb.store.snapshot import previous_model, restore_previous

    with lock_ledger(ledger), Ledger.open(ledger if ledger.exists() else ":memory:") as open_ledger:
        batch, previous = open_ledger.last_batch(), previous_model(model)
        if is_list and (batch or previous.exists()):
            _print_steps(open_ledger, model)
            return
        if _is_training_last(model, batch):
            if skip:
                raise SpamnbError(f"the last step is a training; to go further back, remove {escape(str(previous))}")
            restore_previous(model)
            click.echo(f"{model}: is again {_describe_model(model)}")
            further = f"to go further back, remove {escape(str(previous))} first"
            next_step = f"puts back {_describe_model(previous)}; {further}"
        elif batch is not None:
            is_complete = True
            if skip:
                open_ledger.delete("batches", batch=batch.batch)
                click.echo(f"{_describe_batch(batch)} stays as it is")
            else:
                is_complete = _undo_batch(open_ledger, batch, models, verbose)
            batch = open_ledger.last_batch()
            if _is_training_last(model, batch):
                next_step = "puts back the model before the last training"
            else:
                next_step = f"takes back {_describe_batch(batch)}" if batch is not None else "has nothing to take back"
            if not is_complete:
                raise SystemExit(1)
        else:
            raise SpamnbError(f"{ledger}: no command to take back")
    tell(f"another 'spamnb undo' {next_step}")


@contextmanager
def lock_ledger(ledger: Path) -> Iterator[None]:
    """Raise SpamnbError if another 'undo' takes back a step of this ledger: both would take back the same."""
    try:  # a file of its own, because a model that is made, such as the starter, locks its folder
        descriptor = os.open(f"{ledger}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:  # its folder is missing or takes no new files, so that a ledger there cannot be written
        yield
        return
    try:
        with suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise SpamnbError("another 'spamnb undo' is running; wait until it ends") from None
        yield
    finally:
        os.close(descriptor)


def _is_training_last(model: Path, batch: Batch | None) -> bool:
    """Return whether the model was replaced after the last batch of the ledger."""
    from spamnb.store.snapshot import previous_model

    previous = previous_model(model)
    return previous.exists() and previous.stat().st_mtime > (batch.at if batch else 0)


def _print_steps(ledger: Ledger, model: Path) -> None:
    """Print what each call would take back, the next one first."""
    from spamnb.ledger.verdicts import INBOX
    from spamnb.shown_text import escape
    from spamnb.store.snapshot import is_restorable, previous_model

    lines, batches, previous = [], ledger.list_batches(), previous_model(model)
    n_learned = Counter(each.batch for each in ledger.corrections())
    for batch in batches:
        rows = ledger.find_all(batch=batch.batch)
        n_moved = sum(bool(row.mailbox) and row.role != INBOX for row in rows)
        numbers = {"moved": n_moved, "learned": n_learned[batch.batch]}
        changes = _format_numbers(numbers) or "nothing of it is left to take back"
        lines.append(f"{_describe_batch(batch)}: {changes}")
    if previous.exists():
        what = "nothing: it was of an older version of spamnb"
        if is_restorable(model):
            what = f"{_describe_model(previous)}; to go further back, remove {escape(str(previous))} then"
        newer = sum(not _is_training_last(model, batch) for batch in batches)
        lines.insert(newer, f"training: puts back {what}")
    for line in lines:
        click.echo(line)


def _undo_batch(ledger: Ledger, batch: Batch, models: Path | None, verbose: bool) -> bool:
    """Move mail back, forget what was learned, and print the numbers. Return whether nothing failed."""
    from spamnb.api.progress import show_progress
    from spamnb.api.teaching import Teacher
    from spamnb.ledger.verdicts import INBOX
    from spamnb.mailbox.places import Gone, OpenMailboxes
    from spamnb.shown_text import escape, to_printable
    from spamnb.user_models import Models

    corrections = ledger.corrections(batch=batch.batch)
    if corrections and not Path(batch.model).exists():
        remedy = "put it back, or let 'spamnb undo --skip' leave this step as it is"
        raise SpamnbError(f"{escape(batch.model)}: no such model, but {_describe_batch(batch)} taught it; {remedy}")
    n_moved, n_forgotten, n_restored, unmoved, problems = 0, 0, 0, defaultdict[str, list[str]](list), list[str]()
    with ExitStack() as stack:
        mailboxes = stack.enter_context(OpenMailboxes(ledger))
        teacher = None
        if corrections:
            open_models = stack.enter_context(Models(Path(batch.model), models, writable=True))
            for user in {each.user for each in corrections}:  # an error before mail is moved lets 'undo' be repeated
                if (own := open_models.find_for_learning(user)) is not None:
                    own.store.check_writable()
            teacher = stack.enter_context(Teacher(open_models, ledger, batch))
        with show_progress("Moving back") as show:
            for n_done, row in enumerate(ledger.find_all(batch=batch.batch)):
                show(n_done)
                try:
                    n_moved += bool(row.mailbox) and mailboxes.move_to(row, INBOX)
                except Gone as error:
                    unmoved[str(error)].append(f"{row.sender}: {row.subject}")
                except Locked:
                    raise
                except SpamnbError as error:  # nothing else is tried, and 'undo' can be repeated
                    remedy = "if this lasts, 'spamnb undo --skip' leaves the step as it is"
                    raise SpamnbError(f"{in_options(error)}; {remedy}") from None
        if teacher is not None:
            with show_progress("Forgetting") as show:
                teacher.undo(corrections, show)
            n_restored, problems = teacher.n_restored, teacher.problems
            n_forgotten = teacher.n_changed - n_restored
    ledger.delete("batches", batch=batch.batch)
    for problem, names in unmoved.items():
        tell(problem if len(names) == 1 else f"{problem} ({len(names):,} messages)")
        for name in names if verbose else ():
            click.echo(f"  {to_printable(name)}", err=True)
    for problem in problems:
        tell(problem)
    numbers = {
        "moved to the inbox": n_moved,
        "forgotten": n_forgotten,
        "put back into the class before": n_restored,
    }
    changes = _format_numbers(numbers)
    if changes or unmoved or problems:
        click.echo(f"{_describe_batch(batch)} was taken back: {changes or 'nothing changed'}")
    else:
        click.echo(f"{_describe_batch(batch)}: nothing of it was left to take back")
    return not (unmoved or problems)


def _format_numbers(numbers: dict[str, int]) -> str:
    from spamnb.shown_text import pluralize

    return ", ".join(f"{pluralize(number, 'message')} {change}" for change, number in numbers.items() if number)


def _describe_batch(batch: Batch) -> str:
    from spamnb.shown_text import escape, format_time

    return f"{escape(batch.command)} of {format_time(batch.at)}"


def _describe_model(path: Path) -> str:
    from spamnb.settings import origin
    from spamnb.shown_text import escape, pluralize
    from spamnb.store.store import Store

    with Store.open(path) as store, store.reading():
        size, trained_at = store.own.n_messages, origin(store.own.meta).get("trained_at")
    trained = f", trained {escape(str(trained_at).replace('T', ' ', 1))}" if trained_at else ""
    return f"the model of {pluralize(size, 'message')}{trained}"
