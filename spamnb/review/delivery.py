"""Where a digest goes: a Maildir, an account, a person's address by the sendmail program, or standard output."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from spamnb.errors import SpamnbError, reason
from spamnb.mailbox.box import box_at
from spamnb.mailbox.memory import Memory
from spamnb.naming import escape
from spamnb.reader.message import digest
from spamnb.sources import maildir
from spamnb.sources.accounts import parsed
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
        else:
            self._put(raw)

    def _put(self, raw: bytes) -> None:
        """Into a Maildir, or into an account's inbox or the folder of its URL; first noted as judged."""
        name = self._to if is_account(self._to) else str(Path(self._to).expanduser())
        box = box_at(name)
        folder = parsed(name).folder if is_account(name) else ""
        try:
            with Memory.of(box, lambda name, error: None) as memory:  # nothing is read or moved
                memory.expect(digest(raw))
            box.deliver(raw, box.locate(folder) if folder and folder.upper() != "INBOX" else box.inbox)
        except OSError as error:
            raise SpamnbError(f"{box.shown}: the digest was not delivered: {reason(error)}") from None
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
