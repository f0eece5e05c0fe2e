"""``spamnb watch``: learn from the mail that a person moves into Junk or out of it, and sort new mail as it comes."""

from __future__ import annotations

import os
import random
import signal
import threading
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
    tell_recipients,
    until_done,
)
from spamnb.cli.options import Seconds, Unreadable, journal_option, model_option, tell, tell_of_ours
from spamnb.cli.sort import about
from spamnb.errors import describe_error, in_options

if TYPE_CHECKING:
    from spamnb.mailbox.filing import Filing

_MAILDIR_SECONDS, _ACCOUNT_SECONDS = 5.0, 60.0
_AFTER_LOSS = 1.0, 30.0  # seconds before a server that was lost is asked again; doubled each time up to the second
_AFTER_REFUSAL = 60.0, 3600.0  # the same for one that refused the login: servers lock accounts
_PATIENCE = 5.0  # for another process that sorts the same account


@click.command("watch", short_help="Learn from what is moved into and out of Junk; sort new mail.")
@mailboxes_argument
@model_option
@junk_option
@click.option("--sort", is_flag=True, help="Also move new spam to Junk as it comes.")
@click.option("--unsure", metavar="FOLDER", help="With --sort: the folder for mail with the verdict 'unsure'.")
@click.option(
    "--interval",
    type=Seconds(0.05),
    show_default="5; in an account 60, unless the server tells of mail itself",
    help="Seconds between looks.",
)
@click.option("--once", is_flag=True, help="Learn from the moves since the last look, and end; for cron.")
@journal_option
def watch_command(
    mailboxes: tuple[str, ...],
    model: Path,
    junk: str | None,
    sort: bool,
    unsure: str | None,
    interval: float | None,
    once: bool,
    journal: Path | None,
) -> None:
    """Learn as spam what is moved to a mailbox's Junk folder, and as ham what is moved out of it.

    MAILBOX is a Maildir, or an account: imaps://USER@HOST. Without one, all accounts of the file of accounts are
    watched. It does not learn from mail that was in Junk before, that 'spamnb sort' put there, or that moves to
    Trash, Drafts or Sent. If Junk lies beside the Maildir, the other folders beside it are watched too.

    \b
    Example:
      spamnb watch ~/Maildir
    """
    from spamnb.classifier import Classifier

    found = [target._replace(sort=target.sort or sort) for target in targets(mailboxes, model, junk, unsure)]
    for path in {target.model for target in found}:
        with Classifier.open(path, writable=True) as classifier:
            classifier.store.check_writable()
    unreadable, stop = Unreadable(), Stop()
    if once:

        def look(target: Target) -> bool:
            with filing(target, unreadable, journal, writable=True) as work:
                watching = Watching(target, work, stop)
                until_done(watching.look)
                return not watching.missed

        return in_each(found, unreadable, look)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    failed: list[Exception] = []

    def follow(target: Target) -> None:
        """Look at a mailbox again and again, and as soon as something happens in it; the others are watched on when it
        cannot be."""
        try:
            with filing(target, unreadable, journal, writable=True) as work:
                watching = Watching(target, work, stop)
                while not stop:
                    usual = _ACCOUNT_SECONDS if target.is_account else _MAILDIR_SECONDS
                    stop.wait(watching.look_and_wait(interval or usual))
        except Exception as error:  # of a thread, which nobody would hear of
            failed.append(error)
            if len(failed) == len(found):
                stop()
            else:
                tell_of_ours(describe_error(error, target.display_name))

    threads = [threading.Thread(target=follow, args=(target,), daemon=True) for target in found]
    for thread in threads:
        thread.start()
    stop.wait()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


class Stop:
    """What tells all that watch to end."""

    def __init__(self) -> None:
        self.descriptor, self._end = os.pipe()  # the first can be read from then on, and nobody reads it

    def __call__(self, *_: object) -> None:
        """As a signal's handler, or by hand."""
        os.write(self._end, b"\0")

    def __bool__(self) -> bool:
        return self.wait(0)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the end, or for so long; whether it is the end."""
        from spamnb.mailbox.protocol import wait_readable

        return wait_readable([self.descriptor], seconds)


class Watching:
    """One mailbox: what was moved in it is learned, and with ``--sort`` its new mail is sorted."""

    def __init__(self, target: Target, work: Filing, stop: Stop) -> None:
        self.missed = False  # whether a lesson was
        self._target, self._work, self._record, self._stop = target, work, work.record, stop
        self._first: bool | None = None  # whether this is the first look of all; None: not known yet
        self._pause = 0.0  # seconds after the last failure
        self._told = ""

    def look(self) -> None:
        """Learn what was moved since the last look, and sort what came. Moves that a kill interrupted are finished
        first."""
        if self._first is None:
            if self._record.unfinished_moves():
                with self._work.lock():  # which finishes them
                    pass
            self._first = not self._record.has_scanned()
        if not self._target.sort:
            self._learn()
            return
        with self._work.lock(_PATIENCE):
            self._learn()
            self._sort()

    def _learn(self) -> None:
        from spamnb.shown_text import pluralize

        for lesson, label, changed, error in self._work.learn():
            if error is not None:
                tell(f"spamnb: {error}")
                self.missed = True
                continue
            click.echo(f"{'learned' if changed else 'known'}\t{label}\t{about(lesson.raw)}\t{lesson.message.name}")
            if self._stop:
                return
        sent, self._record.sent = self._record.sent, []
        tell_recipients(self._target.display_name, sent)
        if self._first:
            self._first = False
            mailbox = self._record.mailbox
            junk, noted = mailbox.junk(), pluralize(self._record.count_messages(), "message")
            missing = "" if self._target.is_account or mailbox.exists(junk) else ", which is not there yet"
            told = f"{noted} noted; from now on it learns from moves into {junk.name} and out of it{missing}"
            tell(f"spamnb: {self._target.display_name}: {told}")

    def _sort(self) -> None:
        for one in self._work.sort(folders_of(self._target, self._record), self._stop.__bool__):
            if one.target is not None:
                verdict = one.classification.mail_verdict
                click.echo(f"moved\t{verdict}\t{one.target.name}\t{about(one.mail.raw)}\t{one.message.name}")

    def look_and_wait(self, seconds: float) -> float:
        """A look, and then so many seconds or until something happens; how long to leave a mailbox alone that could not
        be reached. Its pauses grow, and each new reason is told once."""
        from spamnb.sources.imap_connection import LoginRefused

        mailbox = self._record.mailbox
        try:
            self.look()
            if self._told:
                tell(f"spamnb: {self._target.display_name}: connected again")
            self._pause, self._told = 0.0, ""
            mailbox.wait(self._record.inbox_state(), seconds, self._stop.descriptor)
            return 0.0
        except Exception as error:
            mailbox.close()
            told = in_options(describe_error(error, self._target.display_name))
            first, longest = _AFTER_REFUSAL if isinstance(error, LoginRefused) else _AFTER_LOSS
            # A pause out of these bounds was after the other kind of failure.
            self._pause = min(2 * self._pause, longest) if first <= self._pause <= longest else first
            if told != self._told:
                self._told = told
                tell(f"spamnb: {told}; asked again after growing pauses")
            return self._pause * random.uniform(0.7, 1.0)  # not all accounts of a server at once
