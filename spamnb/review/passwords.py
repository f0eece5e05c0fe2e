"""Who may log in: names with hashed passwords in a file that its owner alone can read.

The hash is scrypt of Python's own library, with the parameters that RFC 7914 gives for logging in (N = 2^14, r = 8).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import stat
import tempfile
from pathlib import Path

from spamnb.errors import SpamnbError
from spamnb.serve.users import is_name

ADMIN = "admin"  # sees everybody's mail; any other name sees its own
MIN_LENGTH, MAX_LENGTH = 8, 1_000  # characters of a password
_N, _R, _P, _BYTES = 1 << 14, 8, 1, 32


def set_password(path: Path, user: str, password: str) -> None:
    """Give ``user`` a password, in place of an earlier one. SpamnbError where name or password will not do."""
    if not is_name(user):
        raise SpamnbError(f"{user!r:.60} is no user's name: letters, digits, _ and, but for its start, . @ + -")
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        raise SpamnbError(f"a password has {MIN_LENGTH} to {MAX_LENGTH} characters")
    known = _read(path) if path.exists() else {}
    salt = os.urandom(16)
    known[user] = {"salt": salt.hex(), "hash": _hashed(password, salt).hex()}
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)  # its mode is 0600
    try:
        with os.fdopen(descriptor, "w") as file:
            json.dump(known, file, indent=1, sort_keys=True)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


class Passwords:
    """The passwords of a file. SpamnbError where there is none, or others may read it."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise SpamnbError(f"{path}: nobody may log in yet; 'spamnb review --set-password' makes a password")
        self._path = path
        self._known(path)

    @staticmethod
    def _known(path: Path) -> dict[str, dict[str, str]]:
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise SpamnbError(f"{path}: others may read the passwords; chmod 600 {path}")
        return _read(path)

    def check(self, user: str, password: str) -> bool:
        """Whether that is the user's password; as slow for a name that nobody has."""
        found = self._known(self._path).get(user)
        salt = bytes.fromhex(found["salt"]) if found else bytes(16)
        hashed = _hashed(password[:MAX_LENGTH], salt)
        return found is not None and hmac.compare_digest(hashed, bytes.fromhex(found["hash"]))


def _hashed(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode("utf-8", "surrogatepass"), salt=salt, n=_N, r=_R, p=_P, dklen=_BYTES)


def _read(path: Path) -> dict[str, dict[str, str]]:
    try:
        known = json.loads(path.read_text())
        for found in known.values():
            bytes.fromhex(found["salt"]), bytes.fromhex(found["hash"])
    except (ValueError, AttributeError, KeyError, TypeError):
        raise SpamnbError(f"{path}: no file of passwords; remove it and set them anew") from None
    return dict(known)
