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
INTERRUPTED = 130  # as shells say of a program that Ctrl-C ended


class Commands(click.Group):
    """Loads a command's file when it is asked for, and tells what went wrong in one line."""

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
        with _in_one_line():  # the help is written here
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _in_one_line(), _heeding_ctrl_c(ctx.obj):
            return super().invoke(ctx)


@contextmanager
def _heeding_ctrl_c(until_now: object) -> Iterator[None]:
    """Ctrl-C is an exception inside; afterwards it ends the process. As it is where no ``until_now`` is in charge."""
    if until_now is None or signal.getsignal(signal.SIGINT) is not until_now:
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
        if pressed:  # numpy makes this of what ends its own import, and Python of what ends a class's making
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def _in_one_line() -> Iterator[None]:
    try:
        yield
    except SpamnbError as error:
        raise click.ClickException(in_options(error)) from None
    except KeyboardInterrupt as interrupt:
        click.echo("\nspamnb: " + "; ".join(["interrupted", *map(str, interrupt.args)]), err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except OSError as error:
        if error.errno == errno.EPIPE:  # whoever read the output has seen enough; click ends quietly
            raise
        where = error.filename or "output"
        raise click.ClickException(f"{where}: {error.strerror or error}") from None


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="spamnb")
def cli() -> None:
    """Naive Bayes for mail and text: learns from labelled folders, tells what a message is, and shows why.

    \b
    Example: a folder with a sub-folder of good mail and one of spam
      spamnb train Mail/              # makes a model and says how well it does
      spamnb classify < message.eml   # ham or spam, and how sure
      spamnb explain message.eml      # which tokens decided it
      spamnb learn spam message.eml   # correct it when it errs
      spamnb words                    # what each class is made of
    """
