"""A command of spamnb in this process, as a person would type it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner, Result

from spamnb.cli import cli

SPAMNB = [sys.executable, "-m", "spamnb"]


def run(*arguments: object, stdin: bytes | None = None, color: bool = False) -> Result:
    """Run a command, and return its output and exit status."""
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], input=stdin, color=color)


def done(*arguments: object, stdin: bytes | None = None) -> str:
    """Run a command that succeeds, and return its output."""
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result.output


def printed(*arguments: object) -> str:
    """Run a command that succeeds, and return its standard output."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def killed_after(command: list[str], seconds: float, scratch: Path, cwd: Path | None = None) -> int:
    """Start it in a process group of its own, kill the group after ``seconds``; its exit status.

    Its temporary files, which it cannot take away then, are in ``scratch``.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd=cwd,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()
