"""``spamnb explain``: show the tokens that decided one message."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import (
    SOURCE,
    WholeNumber,
    find_messages,
    format_option,
    model_option,
    tell,
)
from spamnb.sources.entries import SkippedMessages


@click.command("explain", short_help="Show the tokens that decided one message.")
@click.argument("source", required=False, type=SOURCE)
@model_option
@click.option("--top", type=WholeNumber(min=1), metavar="N", default=20, show_default=True, help="Number of tokens.")
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Also show tokens as the model file stores them, weights in nats and uncalibrated probabilities.",
)
@format_option("text", "json")
def explain_command(source: str | None, model: Path, top: int, verbose: bool, output_format: str) -> None:
    """Show the tokens that decided one message. Without SOURCE, the message is read from standard input.

    The token with the largest weight comes first. Each line has a token, the class that the token speaks for, and the
    share of the messages of each class that have the token.

    \b
    Example:
      spamnb explain message.eml
    """
    from spamnb.api.explain import explain
    from spamnb.people import load_people
    from spamnb.shown_text import escape_json

    message: str | bytes = source or "-"
    if message == "-":
        message = next(find_messages((), SkippedMessages(tell))).read()
    explanation = explain(message, model, top, people=load_people(), tell=tell)
    click.echo(escape_json(explanation.to_dict()) if output_format == "json" else explanation.text(verbose))
