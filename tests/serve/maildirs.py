"""A Maildir in the hands of a mail reader, for which Python's own ``mailbox`` stands."""

from __future__ import annotations

import mailbox
from pathlib import Path

from click.testing import CliRunner

from spamnb.cli import cli
from spamnb.sources import maildir


def run(*arguments: object) -> str:
    """What a command prints, but for what it says on standard error."""
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def subjects(folder: mailbox.Maildir) -> list[str]:
    return sorted(message["Message-ID"] for message in folder)


def made(box: Path, name: str) -> Path:
    return maildir.made(maildir.locate(box, name))


def path_of(box: mailbox.Maildir) -> Path:
    return Path(box._path)  # type: ignore[attr-defined]


def put(box: mailbox.Maildir, source: mailbox.Maildir, target: mailbox.Maildir, raw: bytes) -> None:
    """Move a message as mail readers do: a copy under a new name, then the old one goes."""
    key = next(key for key, message in source.items() if message.as_bytes() == raw)
    target.add(source[key])
    source.remove(key)
