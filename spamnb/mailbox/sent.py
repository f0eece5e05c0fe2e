"""The senders and recipients of the mail in Sent folders: its recipients are known people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from spamnb.mailbox import open_mailbox
from spamnb.mailbox.interface import Mailbox
from spamnb.people import SentMail, read_sent
from spamnb.sources.folders import is_maildir
from spamnb.sources.mailbox import MailboxMessage
from spamnb.sources.spec import is_account

MAX_SENT = 5_000  # newest messages of a folder whose headers 'train' reads: at most 80 MB from an account


def read_sent_mail(mailbox: Mailbox, messages: Sequence[MailboxMessage]) -> Iterator[SentMail]:
    """Yield sender and recipients of each message that the person sent."""
    for _, header in mailbox.read(messages, "header"):
        if isinstance(header, bytes) and (mail := read_sent(header)):
            yield mail


def read_sent_folders(name: str) -> list[SentMail]:
    """Return senders and recipients of the newest mail in the Sent folders of the mailbox ``name``."""
    with closing(open_mailbox(name)) as mailbox:
        folders = [folder for folder in mailbox.folders() if folder.role == "sent"]
        return [mail for folder in folders for mail in read_sent_mail(mailbox, mailbox.messages(folder)[-MAX_SENT:])]


def find_mailboxes(sources: Iterable[str]) -> list[str]:
    """Return the mailboxes that contain the sources of the form CLASS=PATH: accounts, and outermost Maildirs."""
    names: dict[str, None] = {}
    for source in sources:
        path = source.partition("=")[2]
        if is_account(path):
            from spamnb.sources.accounts import parse_url

            names[parse_url(path).address] = None
        elif path:
            folder = Path(path)
            maildirs = [parent for parent in (folder, *list(folder.parents)[:2]) if is_maildir(parent)]
            names |= {str(parent): None for parent in maildirs[-1:]}
    return list(names)
