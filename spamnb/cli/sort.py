"""``spamnb sort``: move the new spam of a Maildir or an account to Junk."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spamnb.cli.mailboxes import (
    Target,
    filing,
    folders_of,
    for_each,
    junk_option,
    mailboxes_argument,
    retry,
    targets,
)
from spamnb.cli.options import Unreadable, journal_option, model_option, tell

if TYPE_CHECKING:
    from spamnb.classifier import Classifier
    from spamnb.mailbox.filing import Filing, SortResult
    from spamnb.sources.mailbox import Folder

_WIDTH = 60  # characters of a header field that are printed: its sender may write a megabyte


@click.command("sort", short_help="Move spam among a mailbox's new mail to Junk.")
@mailboxes_argument
@model_option
@junk_option
@click.option("--unsure", metavar="FOLDER", help="The folder for mail with the verdict 'unsure'.  [default: stays]")
@click.option("--all", "everything", is_flag=True, help="Also judge mail that was read or judged before.")
@click.option("--dry-run", is_flag=True, help="Print what would be done, and do nothing.")
@click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
@journal_option
def sort_command(
    mailboxes: tuple[str, ...],
    model: Path,
    junk: str | None,
    unsure: str | None,
    everything: bool,
    dry_run: bool,
    quiet: bool,
    journal: Path | None,
) -> None:
    """Move spam among a mailbox's new mail to its Junk folder.

    MAILBOX is a Maildir, or an account: imaps://USER@HOST. Without one, all accounts of the file of accounts are
    sorted. Each message is judged once, and what you move back stays. For each message it prints verdict,
    probability of spam, folder, From, Subject, Date and file name. In a terminal the date comes first, and
    lines are cut to its width.

    \b
    Examples, the second every five minutes by cron:
      spamnb sort --dry-run ~/Maildir
      spamnb sort --quiet ~/Maildir
    """
    unreadable = Unreadable()

    def sort(target: Target) -> bool:
        with filing(target, unreadable, journal, dry_run=dry_run) as work:
            _sort(target, work, unreadable, everything, quiet)
        return True

    for_each(targets(mailboxes, model, junk, unsure), unreadable, sort)


def _sort(target: Target, work: Filing, unreadable: Unreadable, everything: bool, quiet: bool) -> None:
    """Sort a mailbox, and print how many messages were moved to each folder."""
    from spamnb.shown_text import pluralize

    n_unreadable, has_reader = unreadable.count, not quiet
    counts: Counter[str] = Counter()

    def sort() -> None:
        nonlocal has_reader
        with work.lock() as n_finished, _delay_interrupt() as stopped:
            if n_finished and not quiet:
                summary = f"{pluralize(n_finished, 'message')} moved by a run that was interrupted"
                tell(f"spamnb: {target.display_name}: {summary}")
            folders = folders_of(target, work.record)
            print_line: Callable[[SortResult, str], None] = _print_tabs
            if sys.stdout is not None and sys.stdout.isatty():
                print_line = _column_printer(work.classifier, folders)
            for filed in work.sort(folders, stopped, everything):
                action = f"to {filed.target.name}" if filed.target is not None else "stays"
                counts["stay" if filed.target is None else action] += 1
                if has_reader:
                    try:
                        print_line(filed, action)
                    except BrokenPipeError:  # of "| head" for example: the mail is sorted and counted nevertheless
                        has_reader = False
                        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    is_complete = False
    try:
        retry(sort)
        is_complete = True
    finally:  # after Ctrl-C, too
        if counts and not quiet:
            stay_last = sorted(counts.items(), key=lambda item: (item[0] == "stay", item[0]))
            actions = ", ".join(f"{number:,} {action}" for action, number in stay_last)
            interrupted = "" if is_complete else ", interrupted; the next run goes on from there"
            mode = ", dry run" if work.record.dry_run else interrupted
            tell(f"spamnb: {pluralize(counts.total(), 'message')}{mode}: {actions}")
    if not quiet and not counts and unreadable.count == n_unreadable:
        tell(f"spamnb: {target.display_name}: no {'' if everything else 'new '}messages")


@contextmanager
def _delay_interrupt() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C was pressed, and raise KeyboardInterrupt at the end.

    So the messages that were moved are printed. A second Ctrl-C raises KeyboardInterrupt at once.
    """
    pressed = False
    previous_handler = signal.getsignal(signal.SIGINT)

    def press(*_: object) -> None:
        nonlocal pressed
        pressed = True
        signal.signal(signal.SIGINT, previous_handler)

    if callable(previous_handler):  # SIGINT is not ignored
        signal.signal(signal.SIGINT, press)
    try:
        yield lambda: pressed
    finally:
        if callable(previous_handler):
            signal.signal(signal.SIGINT, previous_handler)
    if pressed:
        raise KeyboardInterrupt


def _column_printer(classifier: Classifier, folders: Mapping[str, Folder]) -> Callable[[SortResult, str], None]:
    """Return a function that prints a message in columns of a terminal, truncated to its width."""
    from spamnb.formulas.decision import UNSURE
    from spamnb.report.message_line import (
        column_width,
        fit_columns,
        format_message_line,
        probability_width,
        read_heading,
        terminal_width,
    )

    verdicts = column_width([*classifier.store.totals().classes, UNSURE])
    actions = column_width(["stays", *(f"to {folder.name}" for folder in folders.values())])
    probabilities, columns = probability_width([classifier.settings.spam]), terminal_width()

    def print_columns(filed: SortResult, action: str) -> None:
        probability = fit_columns(filed.classification.describe_probability(), probabilities)
        verdict = fit_columns(filed.classification.mail_verdict, verdicts)
        prefix = f"{verdict}  {probability}  {fit_columns(action, actions)}"
        click.echo(format_message_line(prefix, read_heading(filed.mail.raw), filed.short_name, columns))

    return print_columns


def _print_tabs(filed: SortResult, action: str) -> None:
    verdict, probability = filed.classification.mail_verdict, filed.classification.describe_probability()
    click.echo("\t".join([verdict, probability, action, format_heading(filed.mail.raw), filed.short_name]))


def format_heading(raw: bytes) -> str:
    """Return From, Subject and Date of a message, printable and truncated, with tabs between them."""
    from spamnb.reader.message import read_field
    from spamnb.shown_text import to_printable

    texts = [to_printable(read_field(raw, name)) for name in ("from", "subject", "date")]
    return "\t".join(text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…" for text in texts)
