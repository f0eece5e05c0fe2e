"""URLs of IMAP accounts and their folders: ``imaps://user@host[:port][/folder]``."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, unquote

from spamnb.errors import SpamnbError
from spamnb.naming import escape, is_loopback

_FORM = "imaps://USER@HOST[:PORT][/FOLDER]"
_URL = re.compile(r"(imaps?)://([^/]{0,2000})(?:/(.{0,2000}))?", re.IGNORECASE | re.DOTALL)
_HOST = re.compile(r"(\[[0-9A-Fa-f:.%]{2,60}\]|[^\s\[\]:@/\\]{1,255})(?::([0-9]{1,5}))?")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")


class ImapUrl(NamedTuple):
    """An account on a server, and a folder in it; "" is the inbox."""

    tls: bool  # imaps, and not imap
    user: str
    host: str
    port: int | None = None
    folder: str = ""

    @property
    def account(self) -> str:
        """The account without the folder.

        >>> parsed("imaps://ann@example.org@mail.example.org:1993/Junk").account
        'imaps://ann@example.org@mail.example.org:1993'
        """
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port is None else f":{self.port}"
        return f"imap{'s' if self.tls else ''}://{quote(self.user, safe='@+!=')}@{host}{port}"

    @property
    def is_loopback(self) -> bool:
        """Whether what is sent stays on this machine."""
        return is_loopback(self.host.lower())


def parsed(text: str) -> ImapUrl:
    """The parts of a URL. SpamnbError for one that is none, or that holds a password: whoever lists processes, or
    reads the shell's history, would read it.

    >>> parsed("imaps://ann@mail.example.org/Work/Plans%202024")
    ImapUrl(tls=True, user='ann', host='mail.example.org', port=None, folder='Work/Plans 2024')
    """
    found = _URL.fullmatch(text)
    if not found:
        raise SpamnbError(f"{escape(text[:200])}: no IMAP account; write {_FORM}")
    scheme, authority, folder = found[1].lower(), found[2], unquote(found[3] or "")
    user, at, rest = authority.rpartition("@")
    if ":" in user:
        raise SpamnbError(
            f"{scheme}://…@{escape(rest)}: a password has no place in a URL, where others can read it; leave it out:"
            " a keyring, SPAMNB_IMAP_PASSWORD or ~/.netrc may hold it"
        )
    host = _HOST.fullmatch(rest)
    user = unquote(user)
    if not at or not user or not host or _CONTROLS.search(user + folder):
        raise SpamnbError(f"{escape(text[:200])}: no IMAP account; write {_FORM}")
    port = int(host[2]) if host[2] else None
    if port is not None and not 0 < port < 65536:
        raise SpamnbError(f"{escape(text[:200])}: no port {port}; ports are 1 to 65535")
    return ImapUrl(scheme == "imaps", user, host[1].strip("[]"), port, folder.rstrip("/"))
