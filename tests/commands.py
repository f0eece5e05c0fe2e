"""Run commands of spamnb, in this process or in one that is killed."""

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


def output_of(*arguments: object, stdin: bytes | None = None) -> str:
    """Run a command that succeeds, and return its output."""
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result.output


def stdout_of(*arguments: object, stdin: bytes | None = None) -> str:
    """Run a command that succeeds, and return its standard output."""
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result.stdout


def run_and_kill(command: list[str], seconds: float, scratch: Path, cwd: Path | None = None) -> int:
    """Run a command, kill its process group after ``seconds``, and return its exit status.

    Its temporary files, which a killed process does not remove, are in ``scratch``.
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
