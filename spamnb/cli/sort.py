"""``spamnb sort``: move the new spam of a Maildir or an account to its junk folder."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spamnb.cli.mailboxes import (
    Stop,
    Target,
    folders_of,
    for_each,
    junk_option,
    list_targets,
    mailboxes_argument,
    open_filing,
    retry,
)
from spamnb.cli.options import begin_with_starter, model_option, own_ledger_option, starter_option, tell
from spamnb.sources.entries import SkippedMessages

if TYPE_CHECKING:
    from spamnb.mailbox.filing import Filing
    from spamnb.model.classification import Classification

_MAX_FIELD = 60  # characters of a header field that are printed, because a sender can write a megabyte


@click.command("sort", short_help="Move new spam to the junk folder.")
@mailboxes_argument
@model_option
@starter_option
@junk_option
@click.option("--unsure", metavar="FOLDER", help="Folder for mail with the verdict 'unsure'.  [default: it stays]")
@click.option("--all", "everything", is_flag=True, help="Also classify mail that was read or classified before.")
@click.option("--dry-run", is_flag=True, help="Print the moves, but do not make them.")
@click.option("-q", "--quiet", is_flag=True, help="Print only errors.")
@own_ledger_option
def sort_command(
    mailboxes: tuple[str, ...],
    model: Path,
    no_starter: bool,
    junk: str | None,
    unsure: str | None,
    everything: bool,
    dry_run: bool,
    quiet: bool,
    ledger: Path,
) -> None:
    """Move the new spam of a mailbox to its junk folder.

    MAILBOX is a Maildir, or an account such as imaps://USER@HOST. Without MAILBOX, all accounts of the
    configuration file are sorted. Each message is classified once, so a message that you move back is not moved again.

    Each line of output has verdict, probability of spam, folder, From, Subject, Date and file name of a message. In a
    terminal the date comes before From, and the line is truncated to the width of the terminal.

    \b
    Examples:
      spamnb sort --dry-run ~/Maildir   # show the moves
      spamnb sort --quiet ~/Maildir     # move the spam, for cron
    """
    unreadable = SkippedMessages(tell)

    def sort(target: Target) -> None:
        with open_filing("sort", target, unreadable, ledger, dry_run=dry_run) as filing:
            _sort(target, filing, unreadable, everything, quiet)

    begin_with_starter(model, no_starter)
    for_each(list_targets(mailboxes, model, junk, unsure), unreadable, sort)


def _sort(target: Target, filing: Filing, unreadable: SkippedMessages, everything: bool, quiet: bool) -> None:
    """Sort a mailbox, and print how many messages were moved to each folder."""
    from spamnb.shown_text import pluralize

    n_unreadable, has_reader = unreadable.count, not quiet
    counts: Counter[str] = Counter()

    def sort() -> None:
        nonlocal has_reader
        with filing.record.lock() as finished, stop.set_by(signal.SIGINT):
            if finished and not quiet:
                moved = pluralize(len(finished), "message")
                tell(f"{target.display_name}: {moved} moved by a run that was interrupted")
            folders = folders_of(target, filing.record)
            format_line: Callable[..., str] = _format_tabs
            if sys.stdout is not None and sys.stdout.isatty():
                from spamnb.report.message_line import line_formatter

                classes, spam = filing.classifier.model.totals.classes, filing.classifier.settings.spam
                format_line = line_formatter(
                    classes, spam, ["stays", *(f"to {each.name}" for each in folders.values())]
                )
            for result in filing.sort(folders, stop.__bool__, everything):
                action = f"to {result.target.name}" if result.target is not None else "stays"
                counts["stay" if result.target is None else action] += 1
                if has_reader:
                    classification = result.classification
                    of_message = classification.mail_verdict, classification, result.mail.raw, result.short_name
                    try:
                        click.echo(format_line(*of_message, action))
                    except BrokenPipeError:  # the program that reads the output has ended, such as `head`
                        has_reader = False
                        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if stop:  # after the messages that were moved are printed
            raise KeyboardInterrupt

    is_complete, stop = False, Stop()
    try:
        retry(sort, stop)
        is_complete = True
    finally:  # after Ctrl-C, too
        stop.close()
        if counts and not quiet:
            stay_last = sorted(counts.items(), key=lambda item: (item[0] == "stay", item[0]))
            actions = ", ".join(f"{number:,} {action}" for action, number in stay_last)
            mode = " (dry run)" if filing.record.dry_run else "" if is_complete else "; the next run sorts the rest"
            tell(f"{pluralize(counts.total(), 'message')}: {actions}{mode}")
    if not quiet and not counts and unreadable.count == n_unreadable:
        tell(f"{target.display_name}: no {'' if everything else 'new '}messages")


def _format_tabs(verdict: str, classification: Classification, raw: bytes, name: str, action: str) -> str:
    return "\t".join([verdict, classification.describe_probability(), action, format_heading(raw), name])


def format_heading(raw: bytes) -> str:
    """Return From, Subject and Date of a message, printable and truncated, with tabs between them."""
    from spamnb.reader.message import first_fields
    from spamnb.shown_text import to_printable

    fields = first_fields(raw)
    return "\t".join(to_printable(fields.get(name, ""), _MAX_FIELD) for name in ("from", "subject", "date"))
