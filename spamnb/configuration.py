"""The configuration file, ~/.config/spamnb/config.toml: a person's accounts, and people whose mail is known.

[accounts.work]                         # `spamnb.sources.accounts` reads these tables
url = "imaps://ann@mail.example.org"

[people]                                # `spamnb.people` reads this table, and [users.NAME]
allow = ["ann@example.org"]
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from spamnb.errors import SpamnbError, reason
from spamnb.shown_text import escape

TABLES = ("accounts", "people", "users")
# Files of builds before the first release, and where their content belongs. Nothing in them may be lost without a word.
OLD_FILES = {"accounts.toml": "accounts.NAME", "people.toml": "people"}
MAX_BYTES = 2 << 20  # of a file; tomllib reads 1 MB, 10,000 users with three entries each, in two seconds
_HINTS = {  # by a part of an unknown setting's name
    "pass": "set password-command to a command that prints the password",
    "wrote_to": "move its addresses to allow",  # of builds before the first release
}
_MAX_VALUE = 80  # characters of a value in an error
_KINDS: dict[type, str] = {bool: "true or false", str: "a text in quotes", list: "a list of texts in brackets"}
Keys = tuple[str, ...]  # the names of a setting and of the tables around it


@dataclass(frozen=True, eq=False)
class Document:
    """The content of the configuration file; empty if there is no file."""

    path: Path
    text: str = ""
    content: dict[str, Any] = field(default_factory=dict)

    def table(self, *keys: str) -> dict[str, Any]:
        """Return the settings or tables in a table; none if the file does not have the table."""
        values: Any = self.content
        for number, key in enumerate(keys):
            values = values.get(key, {})
            if not isinstance(values, dict):
                raise self.error(keys[: number + 1], f"must be a table; write [{'.'.join(keys)}] above its settings")
        return values

    def settings(self, keys: Keys, kinds: dict[str, type]) -> dict[str, Any]:
        """Return the settings of a table. Raise SpamnbError for an unknown setting, or a value of another type."""
        values = self.table(*keys)
        for key, value in values.items():
            if key not in kinds:
                hint = next(
                    (hint for part, hint in _HINTS.items() if part in key), f"the settings are {', '.join(kinds)}"
                )
                raise self.error((*keys, key), f"unknown setting; {hint}")
            kind = kinds[key]
            if type(value) is not kind or (
                isinstance(value, list) and not all(isinstance(text, str) for text in value)
            ):
                raise self.error((*keys, key), f"must be {_KINDS[kind]}")
        return values

    def error(self, keys: Keys, problem: str, value: str = "") -> SpamnbError:
        """Return an error of a setting, and of one ``value`` in its list."""
        shown = ".".join(map(_quote_key, keys)) + (f": {escape(value[:_MAX_VALUE])!r}" if value else "")
        return SpamnbError(f"{escape(str(self.path))}: {shown}: {problem}")


_NO_FILE = Document(Path())


def configuration_path() -> Path:
    """Return the path of the configuration file: SPAMNB_CONFIG, or config.toml in the user's configuration folder."""
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(os.environ.get("SPAMNB_CONFIG") or Path(folder, "spamnb", "config.toml"))


def read_document() -> Document:
    """Return the content of the configuration file. Raise SpamnbError for a file with a mistake.

    A file is read again only after it was written or its mode was changed, so an unchanged file is the same object.
    """
    path = configuration_path()
    has_own_name = bool(os.environ.get("SPAMNB_CONFIG"))
    for name, table in () if has_own_name else OLD_FILES.items():
        if os.path.exists(old := path.with_name(name)):
            remedy = f"move its content to [{table}] in {escape(str(path))}, and remove the file"
            raise SpamnbError(f"{escape(str(old))}: no longer read; {remedy}")
    try:
        status = path.stat()
    except OSError as error:  # there is no file, or a service has no permission to enter the home folder
        if has_own_name:
            raise SpamnbError(f"{escape(str(path))}: cannot be read: {reason(error)}") from None
        return _NO_FILE
    return _read(path, status.st_ctime_ns, status.st_size)


@lru_cache(1)
def _read(path: Path, _time: int, _size: int) -> Document:
    import tomllib  # importing tomllib takes 3 ms, and few commands need it

    shown_path = escape(str(path))
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            text = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SpamnbError(f"{shown_path}: cannot be read: {reason(error)}") from None
    if len(text) > MAX_BYTES:
        raise SpamnbError(f"{shown_path}: has more than {MAX_BYTES >> 20} MiB")
    if status.st_mode & 0o022 or status.st_uid not in (os.getuid(), 0):
        problem = "other users can write this file, which contains commands that spamnb runs"
        raise SpamnbError(f"{shown_path}: {problem}; run 'chmod 600 {shown_path}'")
    try:
        content = tomllib.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise SpamnbError(f"{shown_path}: not TOML: {escape(str(error)[:200])}") from None
    document = Document(path, text.decode(), content)
    if unknown := document.content.keys() - set(TABLES):
        raise document.error((min(unknown),), f"unknown; the tables are {', '.join(f'[{name}]' for name in TABLES)}")
    return document


def replace_text(path: Path, text: str) -> None:
    """Replace the text of a file in one step. The file keeps its mode; a new one has mode 0600.

    Raise SpamnbError if it cannot be written.
    """
    target = path.resolve()
    new_file = target.with_name(f"{target.name}.{os.getpid()}")
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        with open(new_file, "w", opener=lambda file, flags: os.open(file, flags | os.O_EXCL, mode)) as file:
            file.write(text)
        new_file.replace(target)
    except OSError as error:
        new_file.unlink(missing_ok=True)
        raise SpamnbError(f"{escape(str(path))}: cannot be written: {reason(error)}") from None


def quote_toml(text: str) -> str:
    """Return a text without control characters as a string of TOML."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _quote_key(key: str) -> str:
    shown = escape(key)
    return shown if key.isascii() and key.replace("-", "").replace("_", "").isalnum() else repr(shown)
