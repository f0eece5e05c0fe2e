"""IMAP's modified UTF-7, in which Dovecot, Courier and mail readers write folders' names on disk.

https://www.rfc-editor.org/rfc/rfc3501#section-5.1.3 Python's codec ``utf-7`` is another encoding: it shifts at ``+``,
and writes some letters of ASCII, such as ``~``, shifted.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64, b2a_base64

_SHIFTED = re.compile(r"&([A-Za-z0-9+,]{0,400})-")
_TO_SHIFT = re.compile(r"&|[^ -~]+")


def decoded(name: str) -> str:
    """A folder's name as a person reads it. What is not encoded stays as it is.

    >>> decoded("Entw&APw-rfe"), decoded("R&-D"), decoded("Tom & Jerry")
    ('Entwürfe', 'R&D', 'Tom & Jerry')
    """
    return _SHIFTED.sub(_unshifted, name)


def encoded(name: str) -> str:
    """A folder's name as it is written on disk; one that is encoded already, or is no text, stays as it is.

    >>> encoded("Entwürfe"), encoded("R&D"), encoded("Entw&APw-rfe")
    ('Entw&APw-rfe', 'R&-D', 'Entw&APw-rfe')
    """
    plain = decoded(name)
    if plain != name and _TO_SHIFT.sub(_shifted, plain) == name:
        return name
    try:
        return _TO_SHIFT.sub(_shifted, name)
    except UnicodeEncodeError:  # bytes of the file system that are no UTF-8
        return name


def _unshifted(found: re.Match[str]) -> str:
    letters = found[1].replace(",", "/")
    try:
        return a2b_base64(letters + "=" * (-len(letters) % 4)).decode("utf-16-be") if letters else "&"
    except (Error, UnicodeDecodeError):
        return found[0]


def _shifted(found: re.Match[str]) -> str:
    if found[0] == "&":
        return "&-"
    letters = b2a_base64(found[0].encode("utf-16-be"), newline=False).decode("ascii")
    return f"&{letters.rstrip('=').replace('/', ',')}-"
