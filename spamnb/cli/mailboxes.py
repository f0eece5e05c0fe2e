"""The mailboxes that ``sort`` and ``watch`` work in: Maildirs by path, accounts by URL, or all accounts of the file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from spamnb.cli.options import on_command_line, tell
from spamnb.errors import SpamnbError

if TYPE_CHECKING:
    from spamnb.serve.imap_moves import ImapMoves
    from spamnb.serve.maildir_memory import MaildirMemory
    from spamnb.sources.accounts import Account
    from spamnb.sources.imap import ImapMailbox
    from spamnb.sources.maildir_box import MaildirBox

PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # seconds before a lost connection is made anew


class Target(NamedTuple):
    """A mailbox that was named, and how: what the command line says goes before what the file of accounts says."""

    shown: str
    model: Path
    junk: str | None
    unsure: str | None = None
    learn_folder: str | None = None
    sort: bool = False
    path: Path | None = None
    account: Account | None = None


def targets(
    names: tuple[str, ...], model: Path, junk: str | None, unsure: str | None = None, learn_folder: str | None = None
) -> list[Target]:
    """The mailboxes of these names; without any, those of the file of accounts."""
    from spamnb.naming import escape
    from spamnb.sources.accounts import account_of, accounts_path, read_accounts
    from spamnb.sources.imap_url import parsed
    from spamnb.sources.spec import is_account

    found: list[Target] = []
    accounts: list[Account] = []
    for name in names:
        if is_account(name):
            url = parsed(name)
            if url.folder and url.folder.upper() != "INBOX":
                raise SpamnbError(f"{escape(name)}: a folder of an account; name the account, {escape(url.account)}")
            accounts.append(account_of(url))
        else:
            found.append(Target(escape(name), model, junk, unsure, learn_folder, path=Path(name)))
    if not names:
        accounts = read_accounts(accounts_path())
        if not accounts:
            raise click.UsageError(f"name a Maildir or an account, or write accounts into {accounts_path()}")
    for account in accounts:
        own = account.model if account.model is not None and not on_command_line("model") else model
        found.append(
            Target(
                escape(account.url.account),
                own,
                account.junk if junk is None else junk,
                account.unsure if unsure is None else unsure,
                account.learn_folder if learn_folder is None else learn_folder,
                sort=account.sort,
                account=account,
            )
        )
    return found


@contextmanager
def opened(
    target: Target, on_unreadable: Callable[[str, Exception], None], dry_run: bool = False
) -> Iterator[tuple[MaildirBox, MaildirMemory] | tuple[ImapMailbox, ImapMoves]]:
    """A mailbox, and what is known of its mail."""
    if target.account is None:
        from spamnb.serve.maildir_memory import MaildirMemory
        from spamnb.serve.moves import SeenFolders
        from spamnb.sources.maildir_box import MaildirBox

        assert target.path is not None
        box = MaildirBox(target.path)
        box.locate(target.junk)  # a name that is none is refused before anything is made
        for more in (target.unsure, target.learn_folder):
            if more is not None:
                box.locate(more)
        with (SeenFolders.copy_of if dry_run else SeenFolders.of)(target.path) as seen:
            yield box, MaildirMemory(box, seen, target.junk, on_unreadable, target.learn_folder, dry_run)
        return
    from spamnb.serve.imap_moves import ImapMoves
    from spamnb.serve.imap_record import AccountRecord, record_path
    from spamnb.sources.imap import ImapMailbox

    url = target.account.url
    account = ImapMailbox(url, target.account.login)
    try:
        with (AccountRecord.copy_of if dry_run else AccountRecord.of)(url) as record:
            lock = None if dry_run else str(record_path(url).with_suffix(".lock"))
            yield account, ImapMoves(account, record, target.junk, on_unreadable, lock, target.learn_folder)
    finally:
        account.close()


def until_done(work: Callable[[], None]) -> None:
    """Do what may be done again where a server was lost meanwhile, after growing pauses; told in one line each."""
    from spamnb.sources.imap_connection import NeverReached, Unreachable
    from spamnb.sources.imap_reading import Renumbered

    for pause in PAUSES:
        try:
            return work()
        except NeverReached:  # a name that is mistyped, mostly
            raise
        except (Unreachable, Renumbered) as error:
            tell(f"spamnb: {error}; again in {pause:g} s")
            time.sleep(pause)
    return work()
