"""The command line: one file per command, each thin: parse, call, print."""

from __future__ import annotations

import errno
import importlib
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from spamnb import __version__
from spamnb.errors import SpamnbError, in_options

COMMANDS = (
    "train", "classify", "filter", "learn", "forget", "words", "explain", "evaluate", "info",
    "export", "import", "merge", "set", "upgrade", "prune", "serve", "check", "sort", "watch", "review",
)  # fmt: skip
INTERRUPTED = 130  # the exit status that shells give a program ended by Ctrl-C


class Commands(click.Group):
    """Loads the file of a command when the command is used, and prints errors as one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        if cmd_name not in COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(cmd_name, COMMANDS, 1)
            ctx.fail(f"No such command {cmd_name!r}." + (f" Did you mean {near[0]}?" if near else ""))
        name = {"import": "import_"}.get(cmd_name, cmd_name)
        return getattr(importlib.import_module(f"spamnb.cli.{name}"), f"{cmd_name}_command")

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _printing_errors():  # --help writes here, and may fail
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _printing_errors(), _raising_on_ctrl_c(ctx.obj):
            return super().invoke(ctx)


@contextmanager
def _raising_on_ctrl_c(handler: object) -> Iterator[None]:
    """Make Ctrl-C raise KeyboardInterrupt inside, and end the process afterwards.

    If ``handler`` is not the present handler of SIGINT, nothing changes: another program runs these commands.
    """
    if handler is None or signal.getsignal(signal.SIGINT) is not handler:
        yield
        return
    pressed = False

    def interrupt(*_: object) -> None:
        nonlocal pressed
        pressed = True
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except (ImportError, RuntimeError):
        if pressed:  # numpy's import and Python's making of a class turn KeyboardInterrupt into these errors
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def _printing_errors() -> Iterator[None]:
    try:
        yield
    except SpamnbError as error:
        raise click.ClickException(in_options(error)) from None
    except KeyboardInterrupt as interrupt:
        click.echo("\nspamnb: " + "; ".join(["interrupted", *map(str, interrupt.args)]), err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except OSError as error:
        if error.errno == errno.EPIPE:  # the reader of the output ended, as `head` does; click prints nothing
            raise
        where = error.filename or "output"
        raise click.ClickException(f"{where}: {error.strerror or error}") from None


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="spamnb")
def cli() -> None:
    """Naive Bayes for mail and text: learns from labelled folders, classifies messages, and shows why.

    \b
    Example: a folder with a sub-folder of good mail and one of spam
      spamnb train Mail/              # make a model, and estimate its errors
      spamnb classify < message.eml   # ham or spam, and the probability of spam
      spamnb explain message.eml      # the tokens that decided
      spamnb learn spam message.eml   # correct a wrong verdict
      spamnb words                    # the likeliest words of each class
    """
