"""``spamnb watch``: learn the mail that a person moves into or out of the junk folder, and sort new mail."""

from __future__ import annotations

import random
import signal
import threading
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
    save_recipients,
)
from spamnb.cli.options import (
    WholeNumber,
    begin_with_starter,
    model_option,
    own_ledger_option,
    starter_option,
    tell,
)
from spamnb.cli.sort import format_heading
from spamnb.errors import describe_error, in_options
from spamnb.sources.entries import SkippedMessages

if TYPE_CHECKING:
    from spamnb.mailbox.filing import Filing

# Seconds between two scans. A Maildir does not announce new mail, but most servers do (IDLE).
_MAILDIR_SECONDS, _ACCOUNT_SECONDS = 5.0, 60.0
# The shortest and the longest pause after a failure, in seconds. Each pause is twice as long as the one before.
_PAUSES_AFTER_FAILURE = 1.0, 30.0  # a server that restarts is reachable again within a minute
_PAUSES_AFTER_REFUSAL = 60.0, 3600.0  # after several refused logins a server may lock the account
_LOCK_SECONDS = 5.0  # seconds to wait for another process that sorts the same mailbox; the next scan tries again


@click.command("watch", short_help="Learn from mail that is moved into or out of the junk folder.")
@mailboxes_argument
@model_option
@starter_option
@junk_option
@click.option("--sort", is_flag=True, help="Also move new spam to the junk folder.")
@click.option(
    "--unsure", metavar="FOLDER", help="With --sort: folder for mail with the verdict 'unsure'.  [default: it stays]"
)
@click.option(
    "--interval",
    type=WholeNumber(1, 86_400),
    metavar="SECONDS",
    help="Time between two scans.  [default: 5 for a Maildir, 60 for an account whose server announces no mail]",
)
@click.option("--once", is_flag=True, help="Scan each mailbox once and exit, for cron.")
@own_ledger_option
def watch_command(
    mailboxes: tuple[str, ...],
    model: Path,
    no_starter: bool,
    junk: str | None,
    sort: bool,
    unsure: str | None,
    interval: int | None,
    once: bool,
    ledger: Path,
) -> None:
    """Learn mail as spam if you move it into the junk folder, and as ham if you move it out of the junk folder.

    MAILBOX is a Maildir, or an account such as imaps://USER@HOST. Without MAILBOX, all accounts of the
    configuration file are watched. If the junk folder is beside the Maildir, the other folders beside the Maildir are
    watched too.

    Mail that was in the junk folder at the first scan is not learned, nor is mail that 'spamnb sort' moved, nor mail
    that you move to Trash, Drafts or Sent.

    \b
    Example:
      spamnb watch ~/Maildir
    """
    from spamnb.filter import Classifier

    begin_with_starter(model, no_starter)
    targets = [target._replace(sort=target.sort or sort) for target in list_targets(mailboxes, model, junk, unsure)]
    for path in {target.model for target in targets}:
        with Classifier.open(path, writable=True) as classifier:
            classifier.store.check_writable()
    unreadable, stop = SkippedMessages(tell), Stop()
    if once:

        def scan(target: Target) -> None:
            with open_filing("watch", target, unreadable, ledger, writable=True) as filing:
                retry(Watcher(target, filing, stop, is_quiet=True).scan, stop)

        return for_each(targets, unreadable, scan)
    errors: list[Exception] = []
    lock = threading.Lock()

    def watch(target: Target) -> None:
        """Scan a mailbox again and again until ``stop``. An error ends only this thread."""
        try:
            while not stop:
                with open_filing("watch", target, unreadable, ledger, writable=True) as filing:
                    watcher = Watcher(target, filing, stop)
                    while not stop and not filing.record.ledger.is_replaced:
                        default = _ACCOUNT_SECONDS if target.is_account else _MAILDIR_SECONDS
                        stop.wait(watcher.scan_and_wait(interval or default))
        except Exception as error:
            with lock:
                errors.append(error)
                is_last = len(errors) == len(targets)
            if is_last:
                stop()
            else:
                tell(describe_error(error, target.display_name))

    threads = [threading.Thread(target=watch, args=(target,), daemon=True) for target in targets]
    with stop.set_by(signal.SIGTERM, signal.SIGINT):
        for thread in threads:
            thread.start()
        stop.wait()
        for thread in threads:
            thread.join()
    if len(errors) == len(targets):
        raise errors[-1]  # the others were printed
    if errors:
        raise SystemExit(1)


class Watcher:
    """One mailbox, in which the messages that a person moved are learned. With ``--sort`` its new mail is sorted."""

    def __init__(self, target: Target, filing: Filing, stop: Stop, is_quiet: bool = False) -> None:
        self._target, self._filing, self._record, self._stop = target, filing, filing.record, stop
        self._is_new: bool | None = None  # whether the mailbox has never been scanned; None until this is looked up
        self._pause = 0.0  # seconds of the pause after the last failure; 0 after a success
        self._last_problem = ""
        self._is_told = is_quiet  # whether the mailbox was named after the start

    def scan(self) -> None:
        """Finish interrupted moves, learn the messages that were moved since the last scan, and sort new mail."""
        from spamnb.ledger.ledger import Batch

        self._filing.batch = Batch.begin("watch", self._filing.classifier.store)
        if self._is_new is None:
            if self._record.unfinished_moves():
                with self._record.lock():  # finishes the moves
                    pass
            self._is_new = not self._record.has_scanned()
        if not self._target.sort:
            self._learn()
            return
        with self._record.lock(_LOCK_SECONDS):
            self._learn()
            self._sort()

    def _learn(self) -> None:
        from spamnb.shown_text import pluralize

        for message, raw, lesson in self._filing.learn():
            action = "known" if lesson.before == lesson.label else "learned"
            click.echo(f"{action}\t{lesson.label}\t{format_heading(raw)}\t{message.name}")
            if self._stop:
                return
        sent, self._record.sent = self._record.sent, []
        save_recipients(self._target.display_name, sent)
        if self._is_new:
            self._is_new = False
            mailbox = self._record.mailbox
            junk, count = mailbox.locate(), pluralize(self._record.count_messages(), "message")
            exists = self._target.is_account or any(folder.key == junk.key for folder in mailbox.folders())
            missing = "" if exists else f"; there is no folder {junk.name} yet"
            summary = f"recorded {count}; from now on, mail is learned when you move it into or out of {junk.name}"
            tell(f"{self._target.display_name}: {summary}{missing}")
            self._is_told = True
        if not self._is_told:
            count = pluralize(self._record.count_messages(), "message")
            tell(f"{self._target.display_name}: watching; {count} recorded")
            self._is_told = True

    def _sort(self) -> None:
        for result in self._filing.sort(folders_of(self._target, self._record), self._stop.__bool__):
            if result.target is not None:
                verdict, heading = result.classification.mail_verdict, format_heading(result.mail.raw)
                click.echo(f"moved\t{verdict}\t{result.target.name}\t{heading}\t{result.message.name}")

    def scan_and_wait(self, seconds: float) -> float:
        """Scan the mailbox, and wait at most this number of seconds for a change.

        Return 0, or after a failure the pause before the next scan, in seconds. A problem is printed once.
        """
        from spamnb.sources.imap_connection import LoginRefused

        mailbox = self._record.mailbox
        try:
            self.scan()
            if self._last_problem:
                tell(f"{self._target.display_name}: works again")
            self._pause, self._last_problem = 0.0, ""
            mailbox.wait(self._record.inbox_state(), seconds, self._stop.descriptor)
            return 0.0
        except Exception as error:
            mailbox.close()
            problem = in_options(describe_error(error, self._target.display_name))
            shortest, longest = _PAUSES_AFTER_REFUSAL if isinstance(error, LoginRefused) else _PAUSES_AFTER_FAILURE
            # The last pause is outside of these bounds if the last failure was of the other kind, or if there was none.
            self._pause = min(2 * self._pause, longest) if shortest <= self._pause <= longest else shortest
            if problem != self._last_problem:
                self._last_problem = problem
                tell(f"{problem}; retrying after growing pauses")
            return self._pause * random.uniform(0.7, 1.0)  # so that accounts of one server do not log in together
