"""The command line. Each command has a file, which parses the arguments, calls the library and prints the result."""

from __future__ import annotations

import errno
import importlib
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import click

from spamnb import __version__
from spamnb.errors import SpamnbError, SpamnbWarning, in_options

COMMANDS = (
    "train", "classify", "filter", "learn", "forget", "words", "explain", "evaluate", "info",
    "export", "import", "backup", "merge", "set", "upgrade", "serve", "check", "sort", "watch", "review",
    "undo", "relearn",
)  # fmt: skip
AGAIN_SECONDS = 0.01  # until KeyboardInterrupt is raised again
INTERRUPTED = 130  # the exit status that shells give a program ended by Ctrl-C


class Commands(click.Group):
    """Import the file of a command when the command runs, and print an error as one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Treat the words 'help' and 'version' as the options."""
        if args[0] == "version":
            args = ["--version"]
        elif args[0] == "help":
            args = [*args[1:2], "--help"]
        if args[0].startswith("-"):
            self.main(args, prog_name=ctx.info_name)  # prints and exits
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        if cmd_name not in COMMANDS:
            from difflib import get_close_matches

            similar_names = get_close_matches(cmd_name, COMMANDS, 1)
            ctx.fail(f"No such command {cmd_name!r}." + "".join(f" Did you mean {name}?" for name in similar_names))
        module = {"import": "import_"}.get(cmd_name, cmd_name)
        return getattr(importlib.import_module(f"spamnb.cli.{module}"), f"{cmd_name}_command")

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _print_errors():  # --help prints its text in make_context
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        from spamnb.cli.options import tell

        with _print_errors(), show_warnings(tell), _interrupt_on_ctrl_c(ctx.obj):
            return super().invoke(ctx)


@contextmanager
def show_warnings(tell: Callable[[str], None]) -> Iterator[None]:
    """Call ``tell`` with the line of each ``SpamnbWarning`` of the context."""

    def show(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, file: Any = None, line: Any = None
    ) -> None:
        if issubclass(category, SpamnbWarning):
            tell(str(message))
        else:
            show_others(message, category, filename, lineno, file, line)

    with warnings.catch_warnings():
        show_others, warnings.showwarning = warnings.showwarning, show
        yield


@contextmanager
def _interrupt_on_ctrl_c(handler: object) -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt in the context. After the context, Ctrl-C ends the process.

    Nothing changes if ``handler`` is not the handler of SIGINT, because then another program runs this command. Where
    KeyboardInterrupt would be lost, it is raised a little later: in the code of ``import``, which may hold the lock of
    all imports, for which other threads would wait for ever; and in callbacks, whose exceptions Python discards.
    """
    if handler is None or signal.getsignal(signal.SIGINT) is not handler:
        yield
        return
    is_interrupted = False
    hook = sys.unraisablehook

    def interrupt(_: int, frame: FrameType | None) -> None:
        nonlocal is_interrupted
        if frame and frame.f_code.co_filename.startswith("<frozen importlib"):
            signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
            return
        is_interrupted = True
        raise KeyboardInterrupt

    def repeat_or_print(unraisable: Any) -> None:
        if unraisable.exc_type is KeyboardInterrupt:
            signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
        else:
            hook(unraisable)

    signal.signal(signal.SIGINT, interrupt)
    alarm = signal.signal(signal.SIGALRM, interrupt)
    sys.unraisablehook = repeat_or_print
    try:
        yield
    except (ImportError, RuntimeError):
        if is_interrupted:  # the import of numpy and the creation of a class turn KeyboardInterrupt into these errors
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, alarm)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        sys.unraisablehook = hook


@contextmanager
def _print_errors() -> Iterator[None]:
    try:
        yield
    except SpamnbError as error:
        raise click.ClickException(in_options(error)) from None
    except click.NoSuchOption as error:
        del (error.possibilities or [])[1:]  # the others are less similar
        raise
    except KeyboardInterrupt as interrupt:
        click.echo("\nspamnb: " + "; ".join(["interrupted", *map(str, interrupt.args)]), err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except OSError as error:
        if error.errno == errno.EPIPE:  # the program that reads the output has ended, such as `head`
            raise  # click exits without a message
        raise click.ClickException(f"{error.filename or 'output'}: {error.strerror or error}") from None


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-v", "--version", prog_name="spamnb")
def cli() -> None:
    """Filter spam and classify text with naive Bayes.

    \b
    Examples, where Mail/ has the folders ham and spam:
      spamnb train Mail/              # train a model and estimate its errors
      spamnb classify < message.eml   # print the verdict and the probability of spam
      spamnb explain message.eml      # show the tokens that decided
      spamnb learn spam message.eml   # correct a wrong verdict
      spamnb words                    # show the most frequent words of each class
    """
