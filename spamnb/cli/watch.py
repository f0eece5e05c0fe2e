"""``spamnb watch``: learn the mail that a person moves into Junk or out of it, and sort new mail as it comes."""

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
    for_each,
    junk_option,
    mailboxes_argument,
    retry,
    targets,
    tell_recipients,
)
from spamnb.cli.options import Seconds, Unreadable, journal_option, model_option, tell, tell_of_ours
from spamnb.cli.sort import format_heading
from spamnb.errors import describe_error, in_options

if TYPE_CHECKING:
    from spamnb.mailbox.filing import Filing

_MAILDIR_SECONDS, _ACCOUNT_SECONDS = 5.0, 60.0  # between two scans: a Maildir announces nothing, most servers do (IDLE)
# Pauses in seconds, doubled from the first to the second.
_AFTER_LOSS = 1.0, 30.0  # a server is out of reach: a restart takes less than a minute
_AFTER_REFUSAL = 60.0, 3600.0  # a server refused the login: it may lock the account after several tries
_LOCK_SECONDS = 5.0  # to wait for another process that sorts the same mailbox; the next scan tries again


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

    watched = [target._replace(sort=target.sort or sort) for target in targets(mailboxes, model, junk, unsure)]
    for path in {target.model for target in watched}:
        with Classifier.open(path, writable=True) as classifier:
            classifier.store.check_writable()
    unreadable, stop = Unreadable(), Stop()
    if once:

        def scan(target: Target) -> bool:
            with filing(target, unreadable, journal, writable=True) as work:
                watching = Watching(target, work, stop)
                retry(watching.scan)
                return not watching.has_failed

        return for_each(watched, unreadable, scan)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    errors: list[Exception] = []

    def follow(target: Target) -> None:
        """Scan a mailbox until the end. If that fails, the other mailboxes are watched on."""
        try:
            with filing(target, unreadable, journal, writable=True) as work:
                watching = Watching(target, work, stop)
                while not stop:
                    default = _ACCOUNT_SECONDS if target.is_account else _MAILDIR_SECONDS
                    stop.wait(watching.scan_and_wait(interval or default))
        except Exception as error:  # of a thread: nobody else would report it
            errors.append(error)
            if len(errors) == len(watched):
                stop()
            else:
                tell_of_ours(describe_error(error, target.display_name))

    threads = [threading.Thread(target=follow, args=(target,), daemon=True) for target in watched]
    for thread in threads:
        thread.start()
    stop.wait()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


class Stop:
    """A signal for all threads to end."""

    def __init__(self) -> None:
        self.descriptor, self._end = os.pipe()  # the first becomes readable at the end, and nobody reads it

    def __call__(self, *_: object) -> None:
        """Set the signal; also a handler of system signals."""
        os.write(self._end, b"\0")

    def __bool__(self) -> bool:
        return self.wait(0)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the end or for so many seconds, and return whether it is the end."""
        from spamnb.mailbox.protocol import wait_readable

        return wait_readable([self.descriptor], seconds)


class Watching:
    """One mailbox: messages that a person moved are learned, and with ``--sort`` new mail is sorted."""

    def __init__(self, target: Target, work: Filing, stop: Stop) -> None:
        self.has_failed = False  # whether a moved message could not be learned
        self._target, self._work, self._record, self._stop = target, work, work.record, stop
        self._is_first: bool | None = None  # whether the mailbox was never scanned; None before the first scan
        self._pause = 0.0  # seconds after the last failure
        self._last_problem = ""

    def scan(self) -> None:
        """Finish interrupted moves, learn the messages that were moved since the last scan, and sort new mail."""
        if self._is_first is None:
            if self._record.unfinished_moves():
                with self._work.lock():  # finishes them
                    pass
            self._is_first = not self._record.has_scanned()
        if not self._target.sort:
            self._learn()
            return
        with self._work.lock(_LOCK_SECONDS):
            self._learn()
            self._sort()

    def _learn(self) -> None:
        from spamnb.shown_text import pluralize

        for moved, label, changed, error in self._work.learn():
            if error is not None:
                tell(f"spamnb: {error}")
                self.has_failed = True
                continue
            click.echo(
                f"{'learned' if changed else 'known'}\t{label}\t{format_heading(moved.raw)}\t{moved.message.name}"
            )
            if self._stop:
                return
        sent, self._record.sent = self._record.sent, []
        tell_recipients(self._target.display_name, sent)
        if self._is_first:
            self._is_first = False
            mailbox = self._record.mailbox
            junk, count = mailbox.junk(), pluralize(self._record.count_messages(), "message")
            missing = "" if self._target.is_account or mailbox.exists(junk) else ", which is not there yet"
            summary = f"{count} noted; from now on it learns from moves into {junk.name} and out of it{missing}"
            tell(f"spamnb: {self._target.display_name}: {summary}")

    def _sort(self) -> None:
        for filed in self._work.sort(folders_of(self._target, self._record), self._stop.__bool__):
            if filed.target is not None:
                verdict, heading = filed.classification.mail_verdict, format_heading(filed.mail.raw)
                click.echo(f"moved\t{verdict}\t{filed.target.name}\t{heading}\t{filed.message.name}")

    def scan_and_wait(self, seconds: float) -> float:
        """Scan, and wait until the mailbox changes or so many seconds have passed.

        Return the pause after a failure, in seconds. Pauses grow, and each new problem is printed once.
        """
        from spamnb.sources.imap_connection import LoginRefused

        mailbox = self._record.mailbox
        try:
            self.scan()
            if self._last_problem:
                tell(f"spamnb: {self._target.display_name}: connected again")
            self._pause, self._last_problem = 0.0, ""
            mailbox.wait(self._record.inbox_state(), seconds, self._stop.descriptor)
            return 0.0
        except Exception as error:
            mailbox.close()
            problem = in_options(describe_error(error, self._target.display_name))
            first, longest = _AFTER_REFUSAL if isinstance(error, LoginRefused) else _AFTER_LOSS
            # A pause outside of these bounds is of the other kind of failure.
            self._pause = min(2 * self._pause, longest) if first <= self._pause <= longest else first
            if problem != self._last_problem:
                self._last_problem = problem
                tell(f"spamnb: {problem}; asked again after growing pauses")
            return self._pause * random.uniform(0.7, 1.0)  # the accounts of one server are tried at different times
