"""What ``train`` and ``evaluate`` say of messages that may stand in the wrong folder, or stand in several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spamnb.cli.options import read_options

if TYPE_CHECKING:
    from spamnb.counts.training_set import TrainingSet
    from spamnb.evaluation.mislabelled import Doubtful, Head
    from spamnb.evaluation.result import Result
    from spamnb.settings import Settings
    from spamnb.sources.entries import Entry
    from spamnb.training import LeaveOneOutResult

doubtful_option = click.option(
    "--doubtful",
    type=click.IntRange(min=0),
    metavar="N",
    default=0,
    help="Name up to N messages that look mislabelled, the surest first, and say why.",
)


def noting_names(entries: Iterable[Entry], names: list[str]) -> Iterator[Entry]:
    """The same entries, their names appended to ``names`` on the way."""
    for entry in entries:
        names.append(entry.name)
        yield entry


def doubtful_lines_of(sources: Sequence[str], result: Result, limit: int) -> list[str]:
    """What is said of those messages of a result that look mislabelled; nothing where nobody asked."""
    from spamnb.report.mislabelled import doubtful_lines

    return doubtful_lines(*_found(sources, result, limit)) if limit else []


def doubtful_json_of(sources: Sequence[str], result: Result, limit: int) -> list[dict[str, Any]]:
    """The same for programs."""
    found, heads = _found(sources, result, limit)
    nothing = {"sender": None, "subject": None}
    return [
        {**each._asdict(), **(heads[key]._asdict() if (key := (each.name, each.label)) in heads else nothing)}
        for each in found
    ]


def _found(sources: Sequence[str], result: Result, limit: int) -> tuple[list[Doubtful], dict[tuple[str, str], Head]]:
    """The messages that look mislabelled, and who sent them."""
    from spamnb.evaluation.mislabelled import doubtful, heads

    found = doubtful(result, limit)
    return found, heads(_again(sources), [(each.name, each.label) for each in found])


def doubtful_lines_of_training(
    sources: Sequence[str],
    model: Path,
    training_set: TrainingSet,
    names: list[str],
    left_out: LeaveOneOutResult,
    settings: Settings,
    limit: int,
) -> list[str]:
    """The same of messages that were just trained on, ``names`` being those of all places in the mail."""
    from spamnb.evaluation.held_out import mail_of
    from spamnb.evaluation.protocols import left_out_result
    from spamnb.store.store import Store

    if not limit or not len(left_out.labels):
        return []
    with Store.open(model) as store:
        mail = mail_of(training_set, names)
        return doubtful_lines_of(sources, left_out_result(mail, settings, left_out, store, suspects=limit), limit)


def conflict_lines_of(sources: Sequence[str], training_set: TrainingSet, messages: int) -> list[str]:
    """What is said of those of the first ``messages`` messages that stand in several classes."""
    from spamnb.counts.copies import in_several_classes
    from spamnb.evaluation.mislabelled import named
    from spamnb.report.mislabelled import LISTED, conflict_lines

    groups = [[copy for copy in group if copy[0] < messages] for group in in_several_classes(training_set)]
    groups = [group for group in groups if len({label for _, label in group}) > 1]
    if not groups:
        return []
    return conflict_lines(named(_again(sources), groups[:LISTED]), len(groups))


def _again(sources: Sequence[str]) -> Iterator[Entry]:
    """The messages once more; what is wrong with some was told the first time."""
    from spamnb.sources.spec import entries

    return entries(sources, lambda name, error: None, read_options())
