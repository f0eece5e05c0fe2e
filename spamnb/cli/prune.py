"""``spamnb prune``: take rare old tokens out of a model."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import model_option, tell

MAX_MONTHS = 1200


@click.command("prune", short_help="Take rare old tokens out of a model.")
@click.option(
    "--months",
    type=click.IntRange(0, MAX_MONTHS),
    default=6,
    show_default=True,
    help="Keep the tokens of messages that were learned in the last N months, counting this one.",
)
@click.option("--dry-run", is_flag=True, help="Print what would be taken out, and do nothing.")
@click.option("--yes", is_flag=True, help="Do not ask before tokens are taken out.")
@model_option
def prune_command(months: int, dry_run: bool, yes: bool, model: Path) -> None:
    """Remove tokens that only one message has and that no message learned in the last months had.

    It first says how many there are. A filter may use the model meanwhile.

    \b
    Example:
      spamnb prune --dry-run    # what would leave
      spamnb prune --yes
    """
    from spamnb.errors import SpamnbError
    from spamnb.naming import pluralize
    from spamnb.store.pruning import give_room_back, prune, survey
    from spamnb.store.store import Store

    with Store.open(model, writable=not dry_run) as store:
        found, size = survey(store, months), store.size()
        rare = f"{found:,} of {pluralize(store.totals().vocabulary_size, 'token')}"
        since = f" and by no message learned in the last {pluralize(months, 'month')}" if months else ""
        old = " What 'train' learned counts as old." if months else ""
        click.echo(f"{model}: {rare} are held by one message{since}.{old}")
        if dry_run or not found:
            return
        click.echo("Messages that held these tokens can be forgotten afterwards but for the tokens.")
        try:
            wanted = yes or click.confirm("Take them out?", err=True)
        except click.Abort:
            raise SpamnbError(f"{model}: nothing was taken out; --yes does it without asking") from None
        if not wanted:
            tell(f"spamnb: {model}: nothing was changed")
            return
        pruned = prune(store, months)
        after = f"{model}: {pluralize(pruned, 'token')} taken out; {size / 1e6:.1f} MB before"
        if give_room_back(store):
            click.echo(f"{after}, {store.size() / 1e6:.1f} MB now")
        else:
            click.echo(after)
            tell(f"spamnb: {model}: its file gets smaller when no other process reads it; run 'prune' again then")
