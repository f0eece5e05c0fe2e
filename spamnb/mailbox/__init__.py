"""Mailboxes in which mail is classified, moved and learned: a Maildir, or an account on a server.

interface the operations that every kind of mailbox has
maildir   a Maildir, whatever its layout
imap      an IMAP account
record    what the ledger knows of one mailbox: classified, moved and learned messages, and interrupted moves
places    read and move messages of the ledger where they are
sent      recipients of sent mail, who are known people
filing    classifies and moves new mail, and learns the messages that a person moved
"""

from __future__ import annotations

from pathlib import Path

from spamnb.mailbox.interface import Mailbox
from spamnb.sources.spec import is_account


def open_mailbox(name: str, junk: str | None = None) -> Mailbox:
    """Return the mailbox at a path or a URL; ``junk`` names its folder of spam."""
    if is_account(name):
        from spamnb.mailbox.imap import ImapMailbox

        return ImapMailbox(name, junk)
    from spamnb.mailbox.maildir import MaildirMailbox

    return MaildirMailbox(Path(name), junk)
