"""Those to whom mail was sent: the addresses in the mail of a mailbox's Sent folders, for the file of people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from spamnb.mailbox import box_at
from spamnb.mailbox.box import Box
from spamnb.people import SentMail, read_sent
from spamnb.sources.folders import is_maildir
from spamnb.sources.mailbox import MailboxMessage
from spamnb.sources.spec import is_account

MAX_SENT = 5_000  # of the newest messages of a folder that 'train' reads


def sent_among(box: Box, messages: Sequence[MailboxMessage]) -> Iterator[SentMail]:
    """Yield sender and recipients of each of these messages that was sent from here."""
    for _, header in box.headers(messages):
        if isinstance(header, bytes) and (mail := read_sent(header)):
            yield mail


def sent_mail(name: str) -> list[SentMail]:
    """Return senders and recipients of the newest mail in the Sent folders of a mailbox."""
    box = box_at(name)
    try:
        folders = [folder for folder in box.folders() if folder.role == "sent"]
        return [mail for folder in folders for mail in sent_among(box, box.messages(folder)[-MAX_SENT:])]
    finally:
        box.close()


def mailboxes_of(sources: Iterable[str]) -> list[str]:
    """Return the mailboxes, accounts and outermost Maildirs, that sources such as CLASS=PATH are parts of."""
    names: dict[str, None] = {}
    for source in sources:
        path = source.partition("=")[2]
        if is_account(path):
            from spamnb.sources.accounts import parsed

            names[parsed(path).account] = None
        elif path:
            place = Path(path)
            maildirs = [folder for folder in (place, *list(place.parents)[:2]) if is_maildir(folder)]
            names |= {str(folder): None for folder in maildirs[-1:]}
    return list(names)
