"""Where a digest goes: a Maildir, an account, a person's address by the sendmail program, or standard output."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from spamnb.errors import SpamnbError, reason
from spamnb.naming import escape
from spamnb.reader.message import digest
from spamnb.serve.imap_record import AccountRecord
from spamnb.serve.moves import SeenFolders, lasting_name
from spamnb.sources import maildir
from spamnb.sources.accounts import account_of
from spamnb.sources.imap import ImapMailbox
from spamnb.sources.imap_url import parsed
from spamnb.sources.mailbox import Folder
from spamnb.sources.spec import is_account

SECONDS = 120  # that sendmail may take
_NO_ADDRESS = set(" ,;<>\"\\()[]:")
_SENDMAIL = ("/usr/sbin/sendmail", "/usr/lib/sendmail")


class Delivery:
    """What a person named as the place for digests: a path, a URL, an address, or ``-``. SpamnbError for another."""

    def __init__(self, to: str) -> None:
        self._to = to
        self.address = to if "@" in to and not is_account(to) and os.sep not in to else ""
        if self.address and (not to.isprintable() or to[0] in "-@" or len(to) > 320 or set(to) & _NO_ADDRESS):
            raise SpamnbError(f"--to {to!r:.100}: no address of mail; write NAME@HOST")
        if is_account(to):
            parsed(to)
        elif not self.address and to != "-":
            maildir.checked(Path(to).expanduser())

    def deliver(self, raw: bytes) -> None:
        """Put a message there, or raise SpamnbError."""
        if self._to == "-":
            sys.stdout.buffer.write(raw)
            sys.stdout.buffer.flush()
        elif self.address:
            self._send(raw)
        elif is_account(self._to):
            self._append(raw)
        else:
            self._drop(raw, Path(self._to).expanduser())

    @staticmethod
    def _drop(raw: bytes, box: Path) -> None:
        """Into a Maildir, in one step; first noted as judged and as lying outside of Junk."""
        known = digest(raw)

        def note(path: Path) -> None:
            with SeenFolders.of(box) as seen, seen.writing():
                seen.put_judged([lasting_name(path)], [known])
                seen.put(known, False)

        try:
            maildir.deliver(box, raw, note)
        except OSError as error:
            raise SpamnbError(f"{escape(str(box))}: the digest was not delivered: {reason(error)}") from None

    def _append(self, raw: bytes) -> None:
        """Into an account's inbox, or the folder of the URL; first noted as judged."""
        url = parsed(self._to)
        box = ImapMailbox(url, account_of(url).login)
        try:
            with AccountRecord.of(url) as record:
                record.put_judged([(0, digest(raw))])  # no UID is 0
            box.append(raw, Folder(escape(url.folder or "INBOX"), url.folder or "INBOX"))
        finally:
            box.close()

    def _send(self, raw: bytes) -> None:
        """By the program that every mail server brings."""
        program = next((each for each in _SENDMAIL if os.access(each, os.X_OK)), None)
        if program is None:
            raise SpamnbError(f"--to {self.address}: no {_SENDMAIL[0]} on this machine; name a Maildir or an account")
        try:
            ran = subprocess.run([program, "-i", "--", self.address], input=raw, capture_output=True, timeout=SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SpamnbError(f"{program}: the digest was not sent: {error}") from None
        if ran.returncode:
            said = ran.stderr.decode("utf-8", "replace").strip().splitlines()
            more = f": {escape(said[-1][:200])}" if said else ""
            raise SpamnbError(f"{program}: the digest was not sent, status {ran.returncode}{more}")
