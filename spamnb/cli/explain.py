"""``spamnb explain``: the tokens that decided one message."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import click

from spamnb.cli.options import SOURCE, Unreadable, messages_of, model_option


@click.command("explain", short_help="Show the tokens that decided one message.")
@click.argument("source", required=False, type=SOURCE)
@model_option
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True, help="How many tokens.")
@click.option(
    "-v", "--verbose", is_flag=True, help="Also show stored tokens, weights in nats and uncalibrated probabilities."
)
def explain_command(source: str | None, model: Path, top: int, verbose: bool) -> None:
    """Show what decided one message; without SOURCE, the one on standard input.

    The heaviest comes first. Each line says for which class it speaks, and what share of the messages of each class
    has it.

    \b
    Example:
      spamnb explain message.eml
    """
    from spamnb.api.explain import explain
    from spamnb.errors import SpamnbError

    found = list(islice(messages_of((source,) if source else (), Unreadable()), 2))
    if len(found) != 1:
        what = "more than one message; 'spamnb classify --explain 20' takes them all" if found else "no message"
        raise SpamnbError(f"{source or 'standard input'}: {what}")
    try:
        raw = found[0].read()
    except OSError as error:
        raise SpamnbError(f"{found[0].name}: {error.strerror}") from None
    click.echo(explain(raw, model, top).text(verbose))
