"""``spamnb prune``: remove rare old tokens from a model."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import model_option, tell

MAX_MONTHS = 1200  # a hundred years, longer than any model file exists


@click.command("prune", short_help="Remove rare old tokens from a model.")
@click.option(
    "--months",
    type=click.IntRange(0, MAX_MONTHS),
    metavar="N",
    default=6,
    show_default=True,
    help="Keep the tokens of messages that were learned one by one in the last N months, including this month.",
)
@click.option("--yes", is_flag=True, help="Remove the tokens. Without --yes, the tokens are only counted.")
@model_option
def prune_command(months: int, yes: bool, model: Path) -> None:
    """Remove the tokens that only one message has, unless this message was learned in the last months.

    Filters can use the model at the same time.

    \b
    Examples:
      spamnb prune         # count the tokens
      spamnb prune --yes   # remove the tokens
    """
    from spamnb.shown_text import pluralize
    from spamnb.store.pruning import count_prunable, prune, shrink_file
    from spamnb.store.store import Store

    with Store.open(model, writable=yes) as store:
        count, size = count_prunable(store, months), store.size()
        rare_tokens = f"{count:,} of {pluralize(store.totals().vocabulary_size, 'token')}"
        since = f", not learned one by one in the last {pluralize(months, 'month')}" if months else ""
        advice = "" if yes or not count else " --yes removes them."
        click.echo(f"{model}: {rare_tokens} are in one message only{since}.{advice}")
        if not yes or not count:
            return
        n_removed = prune(store, months)
        summary = f"{model}: {pluralize(n_removed, 'token')} removed; {size / 1e6:.1f} MB before"
        if shrink_file(store):
            click.echo(f"{summary}, {store.size() / 1e6:.1f} MB now")
        else:
            click.echo(summary)
            tell(f"{model}: another process reads the file, so it is not smaller yet; run 'prune' again later")
