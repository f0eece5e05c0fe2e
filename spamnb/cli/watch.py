"""``spamnb watch``: learn from the mail that a person moves into Junk or out of it, and sort new mail as it comes."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import click

from spamnb.cli.mailboxes import Target, in_each, targets, until_done
from spamnb.cli.options import Seconds, Unreadable, journal_option, model_option, on_command_line
from spamnb.cli.watching import Stop, follow, watched
from spamnb.errors import SpamnbError

_MAILDIR_SECONDS, _ACCOUNT_SECONDS = 5.0, 60.0


@click.command("watch", short_help="Learn from what is moved into and out of Junk; sort new mail.")
@click.argument("boxes", metavar="[MAILBOX...]", nargs=-1, type=click.Path(readable=False))
@model_option
@click.option(
    "--junk",
    show_default="Junk; in an account the folder that the server says is for spam",
    help="The folder for spam: a name, or the path of a Maildir relative to MAILBOX, as ../Junk.",
)
@click.option("--sort", is_flag=True, help="Also move new spam to Junk as it comes.")
@click.option("--unsure", metavar="FOLDER", help="With --sort: the folder for mail with the verdict 'unsure'.")
@click.option(
    "--learn-folder",
    metavar="NAME",
    help="Learn what is put into the folders spam and ham in this one; it then goes to Junk, or to the inbox.",
)
@click.option(
    "--interval",
    type=Seconds(0.05),
    show_default="5; in an account 60, unless the server tells of mail itself",
    help="Seconds between looks.",
)
@click.option("--once", is_flag=True, help="Learn from the moves since the last look, and end; for cron.")
@click.option("--dry-run", is_flag=True, help="Print what would be learned and moved, and do nothing.")
@journal_option
def watch_command(
    boxes: tuple[str, ...],
    model: Path,
    junk: str | None,
    sort: bool,
    unsure: str | None,
    learn_folder: str | None,
    interval: float | None,
    once: bool,
    dry_run: bool,
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

    found = [
        target._replace(sort=target.sort or sort) for target in targets(boxes, model, junk, unsure, learn_folder)
    ]
    for target in found:
        if not target.is_account:
            _check_junk(Path(target.name), "Junk" if junk is None else junk)
    for path in {target.model for target in found}:
        Classifier.open(path, writable=not dry_run).close()
    unreadable = Unreadable()
    if once:

        def look(target: Target) -> bool:
            with watched(target, unreadable, dry_run, journal=journal) as watching:
                watching.tell_of_junk(unless_known=not on_command_line("junk"))
                until_done(watching.look)
                return not watching.missed

        return in_each(found, unreadable, look)
    stop = Stop()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    failed: list[BaseException] = []

    def start(group: list[Target], seconds: float) -> None:
        try:
            follow(group, unreadable, stop, seconds if interval is None else interval, dry_run, journal)
        except BaseException as error:  # of a thread, which nobody would hear of
            failed.append(error)
            stop()

    threads = [
        threading.Thread(target=start, args=([target], _ACCOUNT_SECONDS), daemon=True)
        for target in found
        if target.is_account
    ]
    for thread in threads:
        thread.start()
    try:
        if maildirs := [target for target in found if not target.is_account]:
            start(maildirs, _MAILDIR_SECONDS)
        stop.wait()
    finally:
        stop()
        for thread in threads:
            thread.join()
    if failed:
        raise failed[0]


def _check_junk(box: Path, junk: str) -> None:
    """SpamnbError where there is no folder of spam in a Maildir but one that is spelt much like it."""
    from difflib import get_close_matches

    from spamnb.naming import escape
    from spamnb.sources import maildir

    if maildir.locate(maildir.checked(box), junk).is_dir():
        return
    names = {path.name.removeprefix(".").lower(): path.name.removeprefix(".") for path in maildir.folders(box)[1:]}
    near = get_close_matches(junk.removeprefix(".").lower(), names, 1, 0.75)  # Jnk for Junk, not Junk for Junk.2024
    if near:
        raise SpamnbError(f"{escape(str(box))}: no folder {junk!r}; did you mean --junk {escape(names[near[0]])}?")
