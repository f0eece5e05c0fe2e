"""``spamnb explain``: the tokens that decided one message."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import model_option, read_standard_input


@click.command("explain")
@click.argument("source", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@model_option
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True, help="How many tokens.")
def command(source: Path | None, model: Path, top: int) -> None:
    """Show what decided one message; without SOURCE, the one on standard input.

    Every token's weight is what it gave, in nats, to the log-odds of the likeliest class against the next; beside it
    stand the messages of each class that hold the token.

    \b
    Example:
      spamnb explain message.eml
    """
    from spamnb.classifier import Classifier
    from spamnb.errors import SpamnbError
    from spamnb.report.explanation import explanation

    try:
        raw = source.read_bytes() if source else read_standard_input()
    except OSError as error:
        raise SpamnbError(f"{source}: {error.strerror}") from None
    with Classifier.open(model) as classifier:
        judgement = classifier.classify(raw)
        directions = classifier.directions(raw)
        tokens = [evidence.token for evidence in judgement.evidence[:top]]
        click.echo(
            explanation(
                judgement,
                classifier.settings,
                classifier.store.totals(),
                classifier.store.look_up(tokens),
                directions,
                top,
            )
        )
