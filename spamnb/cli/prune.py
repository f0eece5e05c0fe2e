"""``spamnb prune``: take rare old tokens out of a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spamnb.cli.options import SOURCE, ModelPath, Unreadable, model_option, read_options, source_options, tell

if TYPE_CHECKING:
    from spamnb.evaluation.pruning import Cost
    from spamnb.store.pruning import Survey

MAX_MONTHS = 1200
SAMPLE = 2000  # of the SOURCE's messages are judged at most, taken evenly


@click.command("prune", short_help="Take rare old tokens out of a model.")
@click.argument("sources", nargs=-1, metavar="[SOURCE...]", type=SOURCE)
@click.option(
    "--messages",
    type=click.IntRange(1, 4),
    default=1,
    show_default=True,
    help="Take out tokens that at most this many messages hold.",
)
@click.option(
    "--months",
    type=click.IntRange(0, MAX_MONTHS),
    default=6,
    show_default=True,
    help="Keep the tokens of messages that were learned in the last N months, counting this one.",
)
@click.option("--dry-run", is_flag=True, help="Print what would be taken out and what that costs, and do nothing.")
@click.option("--yes", is_flag=True, help="Do not ask before tokens are taken out.")
@click.option("--journal", type=ModelPath(), help="Also take messages older than --months out of this journal.")
@source_options
@model_option
def prune_command(
    sources: tuple[str, ...],
    messages: int,
    months: int,
    dry_run: bool,
    yes: bool,
    model: Path,
    journal: Path | None,
) -> None:
    """Take out the tokens that one message alone holds and that no lesson of the last months held.

    It says first how many these are and how many megabytes they take; what that costs in accuracy is told where
    labelled mail is given as SOURCE. A filter may go on reading the model and learning meanwhile.

    \b
    Example:
      spamnb prune --dry-run Mail/    # what would leave, and what it costs
      spamnb prune --yes
    """
    from spamnb.naming import pluralize
    from spamnb.store.pruning import Rule, give_room_back, prune, survey
    from spamnb.store.store import open_store

    rule = Rule(messages, months)
    if journal is not None:
        _prune_journal(journal, months, dry_run, yes)
    with open_store(model, writable=not dry_run) as store:
        found = survey(store, rule)
        _tell_survey(model, found, store.size())
        if not found.pruned:
            return
        unreadable = Unreadable()
        if sources:
            _tell_cost(model, found, sources, unreadable)
        else:
            click.echo("What this costs in accuracy: give labelled mail as SOURCE to have it judged both ways.")
        click.echo("Messages that held these tokens can be forgotten afterwards but for the tokens.")
        if not dry_run:
            if not yes:
                _ask("Take them out?", model)
            size = store.size()
            pruned = prune(store, rule)
            shrunk = give_room_back(store)
            after = f"{model}: {pluralize(pruned, 'token')} taken out; {size / 1e6:.1f} MB before"
            click.echo(f"{after}, {store.size() / 1e6:.1f} MB now" if shrunk else after)
            if store.file is None:
                tell(f"spamnb: {model}: the server keeps the room that became free for new tokens")
            elif not shrunk:
                tell(f"spamnb: {model}: its file gets smaller when no other process reads it; run 'prune' again then")
    if unreadable.count:
        raise SystemExit(1)


def _ask(question: str, path: Path) -> None:
    from spamnb.errors import SpamnbError

    try:
        click.confirm(question, abort=True, err=True)
    except click.Abort:
        raise SpamnbError(f"{path}: nothing was taken out; --yes does it without asking") from None


def _prune_journal(journal: Path, months: int, dry_run: bool, yes: bool) -> None:
    """Let go of the journal's messages of before the months that are kept, with their words."""
    from datetime import datetime

    from spamnb.journal.journal import Journal
    from spamnb.naming import escape, pluralize

    now = datetime.now()
    first = 12 * now.year + now.month - months  # the month, of those since the year 0, with which they begin
    since = datetime(first // 12, first % 12 + 1, 1).timestamp() if months else now.timestamp()
    with Journal.at(journal) as notes:
        gone = pluralize(notes.drop_before(since, dry_run=True), "message")
        if dry_run:
            click.echo(f"{escape(str(journal))}: {gone} of before the months kept would leave")
            return
        if not yes:
            _ask(f"Take {gone} of before the months kept out of {escape(str(journal))}?", journal)
        notes.drop_before(since)
    click.echo(f"{escape(str(journal))}: {gone} of before the months kept taken out")


def _tell_survey(model: Path, found: Survey, size: int) -> None:
    from spamnb.naming import pluralize

    messages, months = found.rule
    held = f"held by {'one message' if messages == 1 else f'at most {messages} messages'}"
    since = f" and in no lesson of the last {pluralize(months, 'month')}" if months else ""
    share = f" ({100 * found.pruned / found.tokens:.0f} %)" if found.tokens else ""
    megabytes = f"; they take {found.bytes / 1e6:.1f} of {size / 1e6:.1f} MB" if found.pruned else ""
    click.echo(f"{model}: {found.pruned:,} of {pluralize(found.tokens, 'token')}{share} are {held}{since}{megabytes}.")


def _tell_cost(model: Path, found: Survey, sources: tuple[str, ...], unreadable: Unreadable) -> None:
    from spamnb.api.progress import progress
    from spamnb.evaluation.pruning import pruning_cost
    from spamnb.naming import pluralize
    from spamnb.sources.entries import messages
    from spamnb.sources.spec import entries

    with progress("judged", True) as show:
        chosen = _evenly([entry for entry in entries(sources, unreadable, read_options())], SAMPLE)

        def labelled() -> Iterator[tuple[str, bytes]]:
            for done, (entry, raw) in enumerate(messages(chosen, unreadable), 1):
                if raw and entry.label is not None:
                    yield entry.label, raw
                show(done, len(chosen))

        cost = pruning_cost(str(model), found, labelled())
    click.echo(_cost_lines(cost))
    if cost.unknown:
        tell(f"spamnb: {pluralize(cost.unknown, 'message')} of classes that the model does not have; left out")


def _evenly(found: list, most: int) -> list:
    """At most so many of them, from all over the list."""
    if len(found) <= most:
        return found
    return [found[i * len(found) // most] for i in range(most)]


def _cost_lines(cost: Cost) -> str:
    from math import isnan

    from spamnb.naming import pluralize

    if not cost.truth:
        return "What this costs in accuracy: no message of the SOURCE could be judged."
    judged = pluralize(len(cost.truth), "message")
    lines = [f"What this costs, on {judged}, {cost.left_out:,} of them learned and left out:"]
    for which, name in enumerate(("as it is", "pruned")):
        wrong, unsure = cost.errors(which)
        area = cost.one_minus_roca(which)
        told = "" if isnan(area) else f", 1-ROCA {area:.4f} %"
        lines.append(f"  {name + ':':10}{wrong:5,} wrong, {unsure:5,} unsure{told}")
    only_first, only_second, p = cost.luck()
    lines.append(f"  right only as it is: {only_first:,}; only pruned: {only_second:,}; by luck with p = {p:.2g}")
    return "\n".join(lines)
