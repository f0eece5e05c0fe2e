"""``spamnb prune``: remove rare old tokens from a model."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import model_option, tell

MAX_MONTHS = 1200  # a hundred years: no file is older


@click.command("prune", short_help="Remove rare old tokens from a model.")
@click.option(
    "--months",
    type=click.IntRange(0, MAX_MONTHS),
    default=6,
    show_default=True,
    help="Keep the tokens of messages that were learned in the last N months, counting this one.",
)
@click.option("--yes", is_flag=True, help="Remove them. Without it, prune only says how many there are.")
@model_option
def prune_command(months: int, yes: bool, model: Path) -> None:
    """Remove tokens that only one message has and that no message learned in the last months had.

    If such a message is forgotten later, these tokens stay removed. A filter may use the model meanwhile.

    \b
    Example:
      spamnb prune         # says how many there are
      spamnb prune --yes   # removes them
    """
    from spamnb.shown_text import pluralize
    from spamnb.store.pruning import count_prunable, prune, shrink_file
    from spamnb.store.store import Store

    with Store.open(model, writable=yes) as store:
        count, size = count_prunable(store, months), store.size()
        rare = f"{count:,} of {pluralize(store.totals().vocabulary_size, 'token')}"
        since = f", not learned one by one in the last {pluralize(months, 'month')}" if months else ""
        advice = "" if yes or not count else " --yes removes them."
        click.echo(f"{model}: {rare} are in one message only{since}.{advice}")
        if not yes or not count:
            return
        pruned = prune(store, months)
        after = f"{model}: {pluralize(pruned, 'token')} removed; {size / 1e6:.1f} MB before"
        if shrink_file(store):
            click.echo(f"{after}, {store.size() / 1e6:.1f} MB now")
        else:
            click.echo(after)
            tell(f"spamnb: {model}: its file gets smaller when no other process reads it; run 'prune' again then")
