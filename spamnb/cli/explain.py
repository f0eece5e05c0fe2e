"""``spamnb explain``: show the tokens that decided one message."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import SOURCE, Unreadable, messages_of, model_option, no_message, tell_of_ours


@click.command("explain", short_help="Show the tokens that decided one message.")
@click.argument("source", required=False, type=SOURCE)
@model_option
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True, help="Number of tokens.")
@click.option(
    "-v", "--verbose", is_flag=True, help="Also show stored tokens, weights in nats and uncalibrated probabilities."
)
def explain_command(source: str | None, model: Path, top: int, verbose: bool) -> None:
    """Show the tokens that decided one message. Without SOURCE, the message is read from standard input.

    The heaviest token comes first. Each line has the class that the token speaks for, and the share of the messages of
    each class that have the token.

    \b
    Example:
      spamnb explain message.eml
    """
    from spamnb.api.explain import explain
    from spamnb.people import own_people

    message: str | bytes = source or "-"
    if message == "-":
        entry = next(messages_of((), Unreadable()), None)
        if entry is None:
            raise no_message(())
        message = entry.read()
    click.echo(explain(message, model, top, people=own_people(), tell=tell_of_ours).text(verbose))
