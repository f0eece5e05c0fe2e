"""What ``train`` and ``evaluate`` find of messages that may stand in the wrong folder, or stand in several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from spamnb.sources.one_class import ReadOptions

if TYPE_CHECKING:
    from spamnb.counts.training_set import TrainingSet
    from spamnb.evaluation.mislabelled import Doubtful, Head
    from spamnb.evaluation.result import Result
    from spamnb.sources.entries import Entry


class Mislabelled(NamedTuple):
    """Messages that look as if they stood in the wrong folder, the surest first; and sender and subject of each, by
    name and label, where it could be read again."""

    found: list[Doubtful]
    heads: dict[tuple[str, str], Head]

    def to_dict(self) -> list[dict[str, Any]]:
        """The same for programs: name, label, likeliest, probability, evidence, sender and subject of each."""
        from spamnb.evaluation.figures import as_json

        nothing = {"sender": None, "subject": None}
        known = {key: head._asdict() for key, head in self.heads.items()}
        told: list[dict[str, Any]] = as_json(
            [{**each._asdict(), **known.get((each.name, each.label), nothing)} for each in self.found]
        )
        return told


class Conflicts(NamedTuple):
    """How many messages stand in several classes, and (class, name) of each copy of the first of them."""

    messages: int = 0
    groups: Sequence[Sequence[tuple[str, str]]] = ()


def noting_names(entries: Iterable[Entry], names: list[str]) -> Iterator[Entry]:
    """The same entries, their names appended to ``names`` on the way."""
    for entry in entries:
        names.append(entry.name)
        yield entry


def mislabelled(sources: Sequence[str], options: ReadOptions, result: Result, limit: int) -> Mislabelled | None:
    """At most ``limit`` messages of a result that look mislabelled, and who sent them; None where nobody asked."""
    from spamnb.evaluation.mislabelled import doubtful, heads

    if not limit:
        return None
    found = doubtful(result, limit)
    wanted = [(each.name, each.label) for each in found]
    return Mislabelled(found, heads(again(sources, options), wanted))


def conflicts(sources: Sequence[str], options: ReadOptions, training_set: TrainingSet, messages: int) -> Conflicts:
    """Those of the first ``messages`` messages that stand in several classes."""
    from spamnb.counts.copies import in_several_classes
    from spamnb.evaluation.mislabelled import named
    from spamnb.report.mislabelled import LISTED

    groups = [[copy for copy in group if copy[0] < messages] for group in in_several_classes(training_set)]
    groups = [group for group in groups if len({label for _, label in group}) > 1]
    if not groups:
        return Conflicts()
    return Conflicts(len(groups), named(again(sources, options), groups[:LISTED]))


def again(sources: Sequence[str], options: ReadOptions) -> Iterator[Entry]:
    """The messages once more; what is wrong with some was told the first time."""
    from spamnb.sources.spec import entries

    return entries(sources, lambda name, error: None, options)
