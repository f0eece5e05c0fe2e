"""The mailboxes that ``sort`` and ``watch`` work in: Maildirs by path, accounts by URL, or all accounts of the file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from spamnb.cli.options import Unreadable, on_command_line, tell_of_ours
from spamnb.errors import SpamnbError, describe_error
from spamnb.shown_text import escape

if TYPE_CHECKING:
    from spamnb.mailbox.filing import Filing
    from spamnb.mailbox.record import MailboxRecord
    from spamnb.people import SentMail
    from spamnb.sources.accounts import Account
    from spamnb.sources.mailbox import Folder


mailboxes_argument = click.argument("mailboxes", metavar="[MAILBOX...]", nargs=-1, type=click.Path(readable=False))
junk_option = click.option(
    "--junk",
    show_default="the one that is there by the server's word or its name in any language, or a new Junk",
    help="The folder for spam: a name, or the path of a Maildir relative to MAILBOX, as ../Junk.",
)


class Target(NamedTuple):
    """A mailbox and its settings, from the command line or else from the file of accounts."""

    name: str  # its path or URL
    model: Path
    junk: str | None = None
    unsure: str | None = None
    sort: bool = False
    is_account: bool = False

    @property
    def display_name(self) -> str:
        """The name for people."""
        return escape(self.name)


def named_account(name: str) -> Account:
    """Return the account of a URL, with its settings in the file of accounts. Raises SpamnbError for another name."""
    from spamnb.sources.accounts import find_account, parse_url

    return _check_has_no_folder(find_account(parse_url(name)))


def _check_has_no_folder(account: Account) -> Account:
    url = account.url
    if url.folder and url.folder.upper() != "INBOX":
        folder = escape(f"{url.account}/{url.folder}")
        raise SpamnbError(f"{folder}: a folder of an account; name the account, {escape(url.account)}")
    return account


def targets(names: tuple[str, ...], model: Path, junk: str | None, unsure: str | None) -> list[Target]:
    """Return the mailboxes of these names, Maildirs first; without names, the accounts of the file."""
    from spamnb.sources.accounts import accounts_path, read_accounts
    from spamnb.sources.spec import is_account

    mailboxes = [Target(name, model, junk, unsure) for name in names if not is_account(name)]
    accounts = [named_account(name) for name in names if is_account(name)]
    if not names:
        accounts = read_accounts(accounts_path())
        if not accounts:
            raise click.UsageError(f"name a Maildir or an account, or write accounts into {accounts_path()}")
    for account in map(_check_has_no_folder, accounts):
        mailboxes.append(
            Target(
                account.url.account,
                account.model if account.model is not None and not on_command_line("model") else model,
                account.junk if junk is None else junk,
                account.unsure if unsure is None else unsure,
                account.sort,
                is_account=True,
            )
        )
    return mailboxes


@contextmanager
def filing(
    target: Target, unreadable: Unreadable, journal: Path | None, *, writable: bool = False, dry_run: bool = False
) -> Iterator[Filing]:
    """Yield the `Filing` of a mailbox with its model, which has to be ``writable`` to learn.

    Classifications and corrections are written into the file ``journal``.
    """
    from spamnb.classifier import Classifier
    from spamnb.journal.writer import JournalWriter
    from spamnb.mailbox import open_mailbox
    from spamnb.mailbox.filing import Filing
    from spamnb.mailbox.record import MailboxRecord

    with ExitStack() as stack:
        classifier = stack.enter_context(Classifier.open(target.model, writable=writable))
        mailbox = open_mailbox(target.name, target.junk)
        stack.callback(mailbox.close)
        if target.unsure is not None and not target.is_account:
            # Raise SpamnbError for a wrong name now, before any folder is made.
            mailbox.locate(target.unsure)
        record = stack.enter_context(MailboxRecord.open(mailbox, unreadable, dry_run))
        writer = JournalWriter(journal, tell_of_ours) if journal is not None and not dry_run else None
        if writer is not None:
            stack.callback(writer.close)
        yield Filing(record, classifier, writer, target.junk or "")


def folders_of(target: Target, record: MailboxRecord) -> dict[str, Folder]:
    """Return the folders to which mail is moved, by its verdict."""
    folders = {"spam": record.mailbox.junk()}
    if target.unsure is not None:
        folders["unsure"] = record.mailbox.locate(target.unsure)
    return folders


def tell_recipients(display_name: str, sent: Sequence[SentMail]) -> None:
    """Add the recipients of sent mail to the file of people, and print the number of new ones."""
    from spamnb.people import add_recipients, people_path
    from spamnb.shown_text import pluralize

    if sent and (number := add_recipients(sent)):
        added = f"{pluralize(number, 'recipient')} of your mail added to {escape(str(people_path()))}"
        tell_of_ours(f"{display_name}: {added}: mail from there is never spam")


def for_each(mailboxes: list[Target], unreadable: Unreadable, work: Callable[[Target], bool]) -> None:
    """Work in each mailbox, even if another one failed.

    The command ends with 1 if ``work`` returned False or failed, or if a message could not be read.
    """
    failed = False
    for target in mailboxes:
        try:
            failed |= not work(target)
        except Exception as error:
            if len(mailboxes) == 1:
                raise
            tell_of_ours(describe_error(error, target.display_name))
            failed = True
    if failed or unreadable.count:
        raise SystemExit(1)


def retry(work: Callable[[], None]) -> None:
    """Do ``work``, and repeat it after growing pauses if the server was lost; each loss is reported in one line."""
    from spamnb.sources import imap_reading
    from spamnb.sources.imap_connection import NeverReached, Unreachable

    for pause in imap_reading.PAUSES:
        try:
            return work()
        except NeverReached:  # usually because the name of the host is mistyped
            raise
        except (Unreachable, imap_reading.Renumbered) as error:
            tell_of_ours(f"{error}; again in {pause:g} s")
            time.sleep(pause)
    return work()
