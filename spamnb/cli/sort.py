"""``spamnb sort``: new mail of a Maildir or an account into Junk, or tagged."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spamnb.cli.mailboxes import Target, opened, targets, until_done
from spamnb.cli.noting import Notes, noting
from spamnb.cli.options import Unreadable, journal_option, model_option, tell
from spamnb.errors import SpamnbError

if TYPE_CHECKING:
    from spamnb.classifier import Classifier
    from spamnb.serve.score import Score
    from spamnb.serve.sorting import Sorted
    from spamnb.sources.mailbox import Folder, MailboxMessage
    from spamnb.sources.maildir_box import MaildirBox

_WIDTH = 60  # of a header field as printed: its sender may write a megabyte


@click.command("sort", short_help="Move spam among a mailbox's new mail to Junk.")
@click.argument("boxes", metavar="[MAILBOX...]", nargs=-1, type=click.Path(readable=False))
@model_option
@click.option(
    "--junk",
    show_default="Junk; in an account the folder that the server says is for spam",
    help="The folder for spam: a name, or the path of a Maildir relative to MAILBOX, as ../Junk.",
)
@click.option("--unsure", metavar="FOLDER", help="The folder for mail with the verdict 'unsure'.  [default: stays]")
@click.option("--tag", is_flag=True, help="Add X-Spam-* headers to each message of a Maildir instead of moving it.")
@click.option("--all", "everything", is_flag=True, help="Also judge mail that was read or judged before.")
@click.option("--from-now-on", is_flag=True, help="Judge nothing now, and later only what comes from now on.")
@click.option("--dry-run", is_flag=True, help="Print what would be done, and do nothing.")
@click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
@journal_option
def sort_command(
    boxes: tuple[str, ...],
    model: Path,
    junk: str | None,
    unsure: str | None,
    tag: bool,
    everything: bool,
    from_now_on: bool,
    dry_run: bool,
    quiet: bool,
    journal: Path | None,
) -> None:
    """Move spam among a mailbox's new mail to its Junk folder.

    MAILBOX is a Maildir, or an account: imaps://USER@HOST. Without one, all accounts of the file of accounts are
    sorted. Each message is judged once, and what you move back stays. Prints for each its verdict, points (spam from
    5.0 on), where it went, From, Subject, Date and its file's name; in a terminal the date first, and all cut to its
    width.

    \b
    Examples, the second every five minutes by cron:
      spamnb sort --from-now-on ~/Maildir
      spamnb sort --quiet ~/Maildir
    """
    from spamnb.classifier import Classifier

    if from_now_on and (everything or tag):
        raise click.UsageError("--from-now-on leaves mail alone: it does not go with --all or --tag")
    unreadable = Unreadable()
    failed = False
    found = targets(boxes, model, junk, unsure)
    if tag and any(target.account for target in found):
        raise click.UsageError("--tag is for Maildirs: a server keeps a message as it is")
    for target in found:
        try:
            with (
                nullcontext() if from_now_on else Classifier.open(target.model) as classifier,
                noting(classifier, None if dry_run else journal, target) as notes,
            ):
                _Sorting(target, classifier, unreadable, tag, everything, dry_run, quiet, notes).run()
        except SpamnbError as error:
            if len(found) == 1:
                raise
            tell(f"spamnb: {error}")  # one account's failure is none of the others'
            failed = True
    if failed or unreadable.count:
        raise SystemExit(1)


class _Sorting:
    """One mailbox being sorted, and what is said of it."""

    def __init__(
        self,
        target: Target,
        classifier: Classifier | None,
        unreadable: Unreadable,
        tag: bool,
        everything: bool,
        dry_run: bool,
        quiet: bool,
        notes: Notes | None,
    ) -> None:
        self.notes = notes
        self.target, self.classifier, self.unreadable = target, classifier, unreadable
        self.tag, self.everything, self.dry_run, self.quiet = tag, everything, dry_run, quiet
        self.counts: Counter[str] = Counter()

    def run(self) -> None:
        """Sort, and say how much of what was done."""
        from spamnb.naming import pluralize

        before = self.unreadable.count
        with opened(self.target, self.unreadable, self.dry_run) as (box, memory):

            def work() -> None:
                with memory.alone():
                    self._sort(box, memory)

            until_done(work)
        if self.classifier is None or self.quiet:
            return
        if self.counts:
            what_stays_last = sorted(self.counts.items(), key=lambda each: (each[0] == "stay", each[0]))
            done = ", ".join(f"{number:,} {what}" for what, number in what_stays_last)
            total = pluralize(self.counts.total(), "message")
            tell(f"spamnb: {total}{', dry run' if self.dry_run else ''}: {done}")
        elif self.unreadable.count == before:
            tell(f"spamnb: {self.target.shown}: no {'' if self.everything else 'new '}messages")

    def _sort(self, box: Any, memory: Any) -> None:
        from functools import partial

        from spamnb.naming import pluralize
        from spamnb.serve.score import score_message
        from spamnb.serve.sorting import sort_mail

        if self.classifier is None:
            taken = memory.take_for_seen()
            if not self.quiet:
                told = f"{pluralize(taken, 'new message')} {'would ' if self.dry_run else ''}count as seen"
                tell(f"spamnb: {told}")
            return
        folders: dict[str, Folder] = {}
        if not self.tag:
            folders["spam"] = box.locate(self.target.junk)
            if self.target.unsure is not None:
                folders["unsure"] = box.locate(self.target.unsure)
        say: Callable[[Sorted, str], None] = _say
        if sys.stdout is not None and sys.stdout.isatty():
            say = _terminal_line(self.classifier, folders)
        if self.notes:
            self.notes.begin()
        judge = self.notes.judge if self.notes else partial(score_message, self.classifier)
        for one in sort_mail(
            box,
            memory,
            judge,
            folders,
            self.unreadable,
            everything=self.everything,
            dry_run=self.dry_run,
            change=partial(_tag, box) if self.tag else None,
        ):
            if self.notes:
                self.notes.note(one)
            where = "tagged" if self.tag else f"to {one.into.name}" if one.into is not None else "stays"
            self.counts[f"tagged {one.found.verdict}" if self.tag else "stay" if one.into is None else where] += 1
            if not self.quiet:
                say(one, where)


def _terminal_line(classifier: Classifier, folders: Mapping[str, Folder]) -> Callable[[Sorted, str], None]:
    """``_say`` for whoever looks at a terminal: columns, cut to its width."""
    from spamnb.formulas.decision import UNSURE
    from spamnb.report.message_line import column_width, fit, heading, message_line, terminal_width

    verdicts = column_width([*classifier.store.totals().classes, UNSURE])
    wheres = column_width(["tagged", "stays", *(f"to {folder.name}" for folder in folders.values())])
    columns = terminal_width()

    def say(one: Sorted, where: str) -> None:
        head = f"{fit(one.found.verdict, verdicts)}  {one.found.text:>5}  {fit(where, wheres)}"
        click.echo(message_line(head, heading(one.raw), _short(one.message), columns))

    return say


def _short(message: MailboxMessage) -> str:
    """A message's name without the mailbox's."""
    return message.name.rpartition("/")[2]


def _say(one: Sorted, where: str) -> None:
    fields = [_field(one.raw, name) for name in ("from", "subject", "date")]
    click.echo("\t".join([one.found.verdict, one.found.text, where, *fields, _short(one.message)]))


def _field(raw: bytes, name: str) -> str:
    """A header field for a terminal, cut to a length that leaves a line readable."""
    from spamnb.naming import escape
    from spamnb.reader.message import header_of

    text = " ".join(header_of(raw, name).split())
    return escape(text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…")


def _tag(box: MaildirBox, message: MailboxMessage, raw: bytes, found: Score) -> MailboxMessage:
    """Put the verdict into a message."""
    from spamnb.reader.spam_fields import rewritten

    tagged = rewritten(raw, found.fields())
    return box.replace(message, tagged) if tagged != raw else message
