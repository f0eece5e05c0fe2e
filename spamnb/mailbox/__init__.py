"""Mailboxes in which mail is judged, moved and learned: a Maildir or an account on a server.

box      what a mailbox is, whatever its kind
maildir  a Maildir as one, whatever its layout
imap     an account as one
memory   the record of one mailbox: what was judged, moved and learned, and moves that a kill interrupted
sent     to whom mail was sent, for the file of people
filing   new mail is judged once and moved; what a person moved is learned; both are noted in the journal
"""

from __future__ import annotations

from pathlib import Path

from spamnb.mailbox.box import Box
from spamnb.sources.spec import is_account


def box_at(name: str, junk: str | None = None) -> Box:
    """The mailbox at a path or a URL; ``junk`` names its folder of spam."""
    if is_account(name):
        from spamnb.mailbox.imap import ImapBox

        return ImapBox(name, junk)
    from spamnb.mailbox.maildir import MaildirBox

    return MaildirBox(Path(name), junk)
