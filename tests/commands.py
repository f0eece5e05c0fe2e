"""A command of spamnb in this process, as a person would type it."""

from __future__ import annotations

from click.testing import CliRunner, Result

from spamnb.cli import cli


def run(*arguments: object, stdin: bytes | None = None, color: bool = False) -> Result:
    """What a command prints and how it ends."""
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], input=stdin, color=color)


def done(*arguments: object, stdin: bytes | None = None) -> str:
    """What a command that succeeds prints."""
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result.output
