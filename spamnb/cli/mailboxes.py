"""The mailboxes of ``sort`` and ``watch``: Maildirs, accounts, or all accounts of the configuration file."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from spamnb.cli.options import is_on_command_line, tell
from spamnb.errors import SpamnbError, describe_error
from spamnb.shown_text import escape
from spamnb.sources.entries import SkippedMessages

if TYPE_CHECKING:
    from spamnb.mailbox.filing import Filing
    from spamnb.mailbox.record import MailboxRecord
    from spamnb.people import SentMail
    from spamnb.sources.accounts import Account
    from spamnb.sources.mailbox import Folder


mailboxes_argument = click.argument("mailboxes", metavar="[MAILBOX...]", nargs=-1, type=click.Path(readable=False))
junk_option = click.option(
    "--junk",
    metavar="FOLDER",
    help="Folder for spam: a name, or a Maildir relative to MAILBOX such as ../Junk."
    "  [default: the junk folder of MAILBOX, or a new folder Junk]",
)


class Target(NamedTuple):
    """A mailbox and its settings, from the command line or else from the configuration file."""

    name: str  # path or URL
    model: Path
    junk: str | None = None  # name of the folder for spam
    unsure: str | None = None  # name of the folder for the verdict unsure
    sort: bool = False  # whether 'watch' sorts new mail
    is_account: bool = False

    @property
    def display_name(self) -> str:
        """The name, safe for a terminal."""
        return escape(self.name)


class Stop:
    """A flag that tells all threads to end."""

    def __init__(self) -> None:
        self.descriptor, self._writer = os.pipe()  # the descriptor becomes readable when the flag is set

    def __call__(self) -> None:
        """Set the flag."""
        os.write(self._writer, b"\0")

    def __bool__(self) -> bool:
        return self.wait(0)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the flag, at most this number of seconds. Return whether the flag is set."""
        from spamnb.mailbox.interface import wait_readable

        return wait_readable([self.descriptor], seconds)

    @contextmanager
    def set_by(self, *numbers: int) -> Iterator[None]:
        """Let each of these signals set the flag. The second time it does what it did before.

        A signal that is ignored, or whose handler is not Python's, keeps its handler.
        """
        present = {number: signal.getsignal(number) for number in numbers}
        handlers = {number: handler for number, handler in present.items() if handler not in (signal.SIG_IGN, None)}

        def set_flag(number: int, frame: object) -> None:
            signal.signal(number, handlers[number])
            self()

        for number in handlers:
            signal.signal(number, set_flag)
        try:
            yield
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def close(self) -> None:
        for descriptor in (self.descriptor, self._writer):
            os.close(descriptor)


def get_account(name: str) -> Account:
    """Return the account of a URL, with its settings. Raise SpamnbError for a wrong URL."""
    from spamnb.sources.accounts import find_account, parse_url

    return _check_has_no_folder(find_account(parse_url(name)))


def _check_has_no_folder(account: Account) -> Account:
    url = account.url
    if url.folder and url.folder.upper() != "INBOX":
        folder = escape(f"{url.address}/{url.folder}")
        raise SpamnbError(f"{folder}: this is a folder; name the account, {escape(url.address)}")
    return account


def list_targets(names: tuple[str, ...], model: Path, junk: str | None, unsure: str | None) -> list[Target]:
    """Return the mailboxes of these names, Maildirs first. Without names, return all accounts."""
    from spamnb.configuration import configuration_path
    from spamnb.sources.accounts import read_accounts
    from spamnb.sources.spec import is_account

    targets = [Target(name, model, junk, unsure) for name in names if not is_account(name)]
    accounts = [get_account(name) for name in names if is_account(name)]
    if not names:
        accounts = read_accounts()
        if not accounts:
            raise click.UsageError(f"name a Maildir or an account, or add accounts to {configuration_path()}")
    for account in map(_check_has_no_folder, accounts):
        targets.append(
            Target(
                account.url.address,
                account.model if account.model is not None and not is_on_command_line("model") else model,
                account.junk if junk is None else junk,
                account.unsure if unsure is None else unsure,
                account.sort,
                is_account=True,
            )
        )
    return targets


@contextmanager
def open_filing(
    command: str,
    target: Target,
    unreadable: SkippedMessages,
    ledger: Path,
    *,
    writable: bool = False,
    dry_run: bool = False,
) -> Iterator[Filing]:
    """Yield the `Filing` of a mailbox. Its model can learn if ``writable``. With ``dry_run`` nothing is written."""
    from spamnb.filter import Classifier
    from spamnb.ledger.ledger import Batch, Ledger
    from spamnb.mailbox import open_mailbox
    from spamnb.mailbox.filing import Filing
    from spamnb.mailbox.record import MailboxRecord

    with ExitStack() as stack:
        classifier = stack.enter_context(Classifier.open(target.model, writable=writable))
        mailbox = open_mailbox(target.name, target.junk)
        stack.callback(mailbox.close)
        if target.unsure is not None and not target.is_account:
            mailbox.locate(target.unsure)  # raises SpamnbError for a wrong name, before any folder is made
        open_ledger = stack.enter_context(Ledger.copy_places(ledger) if dry_run else Ledger.open(ledger))
        record = MailboxRecord(open_ledger, mailbox, unreadable, target.junk or "", dry_run=dry_run)
        yield Filing(record, classifier, Batch.begin(command, classifier.store))


def folders_of(target: Target, record: MailboxRecord) -> dict[str, Folder]:
    """Return the folders to which mail is moved, by verdict."""
    folders = {"spam": record.mailbox.locate()}
    if target.unsure is not None:
        folders["unsure"] = record.mailbox.locate(target.unsure)
    return folders


def save_recipients(display_name: str, sent: Sequence[SentMail]) -> None:
    """Add the recipients of sent mail to the people who are known, and print the number of new recipients."""
    from spamnb.people import add_recipients, recipients_path
    from spamnb.shown_text import pluralize

    if sent and (number := add_recipients(sent)):
        added = f"added to {escape(str(recipients_path()))}: {pluralize(number, 'recipient')} of your mail"
        tell(f"{display_name}: {added}; mail from recipients is never called spam")


def for_each(targets: list[Target], unreadable: SkippedMessages, work: Callable[[Target], None]) -> None:
    """Call ``work`` for each mailbox. If there are several, an error is printed, and the next mailbox follows.

    Exit with status 1 if ``work`` fails, or if a message cannot be read.
    """
    has_failed = False
    for target in targets:
        try:
            work(target)
        except Exception as error:
            if len(targets) == 1:
                raise
            tell(describe_error(error, target.display_name))
            has_failed = True
    if has_failed or unreadable.count:
        raise SystemExit(1)


def retry(work: Callable[[], None], stop: Stop) -> None:
    """Call ``work``, and again after each of PAUSES if the connection is lost or a folder was renumbered.

    Raise KeyboardInterrupt in a pause if ``stop`` is set.
    """
    from spamnb.sources import imap_reading
    from spamnb.sources.imap_connection import NeverReached, Unreachable

    for pause in imap_reading.PAUSES:
        try:
            return work()
        except NeverReached:  # the host name is probably wrong
            raise
        except (Unreachable, imap_reading.Renumbered) as error:
            tell(f"{error}; retrying in {pause:g} s")
            if stop.wait(pause):
                raise KeyboardInterrupt from None
    return work()
