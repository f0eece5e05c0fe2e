"""``spamnb prune``: take rare old tokens out of a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spamnb.cli.options import model_option, tell

if TYPE_CHECKING:
    from spamnb.store.pruning import Survey

MAX_MONTHS = 1200


@click.command("prune", short_help="Take rare old tokens out of a model.")
@click.option(
    "--messages",
    type=click.IntRange(1, 4),
    default=1,
    show_default=True,
    help="Remove tokens that at most this many messages have.",
)
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
def prune_command(messages: int, months: int, dry_run: bool, yes: bool, model: Path) -> None:
    """Remove tokens that only one message has and that no message learned in the last months had.

    It first says how many there are and how much space they take. A filter may use the model meanwhile.

    \b
    Example:
      spamnb prune --dry-run    # what would leave
      spamnb prune --yes
    """
    from spamnb.naming import pluralize
    from spamnb.store.pruning import Rule, give_room_back, prune, survey
    from spamnb.store.store import Store

    rule = Rule(messages, months)
    with Store.open(model, writable=not dry_run) as store:
        found = survey(store, rule)
        _tell_survey(model, found, store.size())
        if not found.pruned:
            return
        click.echo("Messages that held these tokens can be forgotten afterwards but for the tokens.")
        if not dry_run:
            if not yes:
                _ask("Take them out?", model)
            size = store.size()
            pruned = prune(store, rule)
            shrunk = give_room_back(store)
            after = f"{model}: {pluralize(pruned, 'token')} taken out; {size / 1e6:.1f} MB before"
            click.echo(f"{after}, {store.size() / 1e6:.1f} MB now" if shrunk else after)
            if not shrunk:
                tell(f"spamnb: {model}: its file gets smaller when no other process reads it; run 'prune' again then")


def _ask(question: str, path: Path) -> None:
    from spamnb.errors import SpamnbError

    try:
        click.confirm(question, abort=True, err=True)
    except click.Abort:
        raise SpamnbError(f"{path}: nothing was taken out; --yes does it without asking") from None


def _tell_survey(model: Path, found: Survey, size: int) -> None:
    from spamnb.naming import pluralize

    messages, months = found.rule
    held = f"held by {'one message' if messages == 1 else f'at most {messages} messages'}"
    since = f" and by no message learned in the last {pluralize(months, 'month')}" if months else ""
    share = f" ({100 * found.pruned / found.tokens:.0f} %)" if found.tokens else ""
    megabytes = f"; they take {found.bytes / 1e6:.1f} of {size / 1e6:.1f} MB" if found.pruned else ""
    click.echo(f"{model}: {found.pruned:,} of {pluralize(found.tokens, 'token')}{share} are {held}{since}{megabytes}.")
