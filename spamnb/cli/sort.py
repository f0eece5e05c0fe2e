"""``spamnb sort``: new spam of a Maildir or an account into Junk."""

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
    in_each,
    junk_option,
    mailboxes_argument,
    targets,
    until_done,
)
from spamnb.cli.options import Unreadable, journal_option, model_option, tell

if TYPE_CHECKING:
    from spamnb.classifier import Classifier
    from spamnb.mailbox.filing import Filed, Filing
    from spamnb.sources.mailbox import Folder

_WIDTH = 60  # of a header field as printed: its sender may write a megabyte


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

    in_each(targets(mailboxes, model, junk, unsure), unreadable, sort)


def _sort(target: Target, work: Filing, unreadable: Unreadable, everything: bool, quiet: bool) -> None:
    """Sort a mailbox, and say how much of what was done."""
    from spamnb.shown_text import pluralize

    before, is_read = unreadable.count, not quiet
    counts: Counter[str] = Counter()

    def sort() -> None:
        nonlocal is_read
        with work.lock() as finished, _after_the_batch() as stopped:
            if finished and not quiet:
                told = f"{pluralize(finished, 'message')} moved by a run that was interrupted"
                tell(f"spamnb: {target.display_name}: {told}")
            folders = folders_of(target, work.record)
            say: Callable[[Filed, str], None] = _say
            if sys.stdout is not None and sys.stdout.isatty():
                say = _terminal_line(work.classifier, folders)
            for one in work.sort(folders, stopped, everything):
                where = f"to {one.target.name}" if one.target is not None else "stays"
                counts["stay" if one.target is None else where] += 1
                if is_read:
                    try:
                        say(one, where)
                    except BrokenPipeError:  # as of "| head": the mail is sorted and counted all the same
                        is_read = False
                        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    whole = False
    try:
        until_done(sort)
        whole = True
    finally:  # what was done before Ctrl-C is said, too
        if counts and not quiet:
            what_stays_last = sorted(counts.items(), key=lambda each: (each[0] == "stay", each[0]))
            done = ", ".join(f"{number:,} {what}" for what, number in what_stays_last)
            interrupted = "" if whole else ", interrupted; the next run goes on from there"
            how = ", dry run" if work.record.dry_run else interrupted
            tell(f"spamnb: {pluralize(counts.total(), 'message')}{how}: {done}")
    if not quiet and not counts and unreadable.count == before:
        tell(f"spamnb: {target.display_name}: no {'' if everything else 'new '}messages")


@contextmanager
def _after_the_batch() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed, which is an exception only at the end: what was moved is told. The second time is one
    at once."""
    pressed = False
    until_now = signal.getsignal(signal.SIGINT)

    def press(*_: object) -> None:
        nonlocal pressed
        pressed = True
        signal.signal(signal.SIGINT, until_now)

    if callable(until_now):  # and not ignored
        signal.signal(signal.SIGINT, press)
    try:
        yield lambda: pressed
    finally:
        if callable(until_now):
            signal.signal(signal.SIGINT, until_now)
    if pressed:
        raise KeyboardInterrupt


def _terminal_line(classifier: Classifier, folders: Mapping[str, Folder]) -> Callable[[Filed, str], None]:
    """``_say`` for whoever looks at a terminal: columns, cut to its width."""
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
    wheres = column_width(["stays", *(f"to {folder.name}" for folder in folders.values())])
    probabilities, columns = probability_width([classifier.settings.spam]), terminal_width()

    def say(one: Filed, where: str) -> None:
        probability = fit_columns(one.classification.describe_probability(), probabilities)
        verdict = fit_columns(one.classification.mail_verdict, verdicts)
        prefix = f"{verdict}  {probability}  {fit_columns(where, wheres)}"
        click.echo(format_message_line(prefix, read_heading(one.mail.raw), one.short_name, columns))

    return say


def _say(one: Filed, where: str) -> None:
    verdict, probability = one.classification.mail_verdict, one.classification.describe_probability()
    click.echo("\t".join([verdict, probability, where, about(one.mail.raw), one.short_name]))


def about(raw: bytes) -> str:
    """From, Subject and Date of a message with tabs between them, printable and bounded."""
    from spamnb.reader.message import read_field
    from spamnb.shown_text import to_printable

    texts = [to_printable(read_field(raw, name)) for name in ("from", "subject", "date")]
    return "\t".join(text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…" for text in texts)
