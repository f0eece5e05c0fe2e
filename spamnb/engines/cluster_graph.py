"""The tasks of a training on a cluster, and which of them need what others gave.

parts.py and range_sums.py say what each does.
With N parts and R ranges there are some 4·N·R of them, small; what is not asked for any more is let go of at once.
A task costs the scheduler and a worker some 3 ms together, so parts and ranges are as large as workers have room for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from spamnb.counts.newest import newest_places
from spamnb.counts.training_set import TrainingSet
from spamnb.engines import parts, range_sums
from spamnb.engines.cluster import Cluster
from spamnb.settings import Settings

RANGE_TOKENS = 3 << 18  # of parts' vocabularies: what a task adds up, some 45 MB, which it needs three times
MERGED_AT_ONCE = 32  # pieces that one task adds up; of more parts sums are added up in turn
NEW_IN_SUMS = 0.25  # of so many parts' tokens are left when they are added up: 32 ** −.4, and .17 of respelt mail

Future = Any  # distributed's, which is imported only where there is a cluster


class CountedParts(NamedTuple):
    """What was handed out and counted."""

    counted: list[Future]  # of parts.count_part, one a part
    places: list[slice]  # of each part's messages in the whole of the mail
    seals: list[bytes]
    tokens: int  # of all parts' vocabularies together


class NewestPlan(NamedTuple):
    """The newest messages and who scores them."""

    since: int  # when the first of them was received, in seconds since 1970
    rows: np.ndarray  # (m,) which messages they are, in the order of all left-out scores
    scores: list[Future]  # of parts.score_newest, one a part that holds some


class Plan(NamedTuple):
    """The futures of what the client asks for."""

    merged: list[Future]  # the sums of each range, ascending
    figures: Future  # of all ranges
    rare: list[Future]  # how many tokens of each range were left out for being rare
    scores: list[Future]  # of parts.score, one a part; none where there is one class
    newest: NewestPlan | None


class GatheringPlan(NamedTuple):
    """The futures of what the client asks for where it fits a model itself."""

    merged: list[Future]  # the sums of each range, ascending
    rows: list[Future]  # of parts.part_rows, one a part


class _Graph:
    def __init__(self, cluster: Cluster, counted: CountedParts) -> None:
        self._submit = cluster.submit
        n = len(counted.counted)
        at_once = 1.0 if n <= MERGED_AT_ONCE else max(MERGED_AT_ONCE / n, NEW_IN_SUMS)
        self._ranges = range(1 + int(counted.tokens * at_once) // (RANGE_TOKENS * cluster.room))

    def pieces(self, name: str, messages: Iterable[Future]) -> tuple[list[Future], list[list[Future]]]:
        """The parts, and of each its pieces, [part][range]. A part is cut before the next one is made, so that it need
        not go to the disk and come back."""
        n = len(self._ranges)
        made: list[Future] = []
        pieces: list[list[Future]] = []
        for p, of in enumerate(messages):
            made.append(of)
            pieces.append([self._submit(f"{name}-{p}-{r}", parts.cut, of, r, n, priority=1) for r in self._ranges])
        return made, pieces

    def merged(self, name: str, pieces: Sequence[Sequence[Future]]) -> list[Future]:
        """Of each range the sum of the parts' pieces."""
        return [self._sum(f"{name}-{r}", [of_part[r] for of_part in pieces]) for r in self._ranges]

    def _sum(self, name: str, pieces: list[Future]) -> Future:
        level = 0
        while len(pieces) > MERGED_AT_ONCE:
            firsts = range(0, len(pieces), MERGED_AT_ONCE)
            groups = [pieces[first : first + MERGED_AT_ONCE] for first in firsts]
            pieces = [self._submit(f"{name}-{level}-{g}", range_sums.merge, group) for g, group in enumerate(groups)]
            level += 1
        return self._submit(name, range_sums.merge, pieces)

    def without_rare(self, name: str, merged: list[Future], settings: Settings) -> list[Future]:
        """Of each range the tokens that enough messages hold."""
        if settings.min_messages == 1:
            return merged
        least = settings.min_messages
        return [self._submit(f"{name}-{r}", range_sums.without_rare, merged[r], least) for r in self._ranges]

    def sizes(self, name: str, whole: Sequence[Future], merged: Sequence[Future]) -> list[Future]:
        """Of each range how many tokens of the ``whole`` are not ``merged``; nothing where these are the same."""
        if whole is merged:
            return []
        return [self._submit(f"{name}-{r}", range_sums.more_tokens, whole[r], merged[r]) for r in self._ranges]

    def figures(self, name: str, merged: Sequence[Future], documents: np.ndarray) -> Future:
        """Of all ranges."""
        of_ranges = [self._submit(f"{name}-{r}", range_sums.figures_of, merged[r]) for r in self._ranges]
        return self._submit(name, range_sums.add_figures, of_ranges, documents)

    def answers(
        self, name: str, of_part: Sequence[Future], merged: Sequence[Future], settings: Settings
    ) -> list[Future]:
        """Of each range the sums of a part's tokens."""
        return [self._submit(f"{name}-{r}", range_sums.ask, of_part[r], merged[r], settings) for r in self._ranges]


def plan(cluster: Cluster, counted: CountedParts, kept: TrainingSet, settings: Settings) -> Plan:
    """Hand out all tasks of a model of the messages ``kept``, of which ``kept`` knows no tokens."""
    graph = _Graph(cluster, counted)
    classes = kept.counts.classes
    settled, pieces = graph.pieces("cut", _settled(cluster, counted, _left_out(kept, counted.places), classes))
    whole = graph.merged("merge", pieces)
    merged = graph.without_rare("common", whole, settings)
    rare = graph.sizes("sizes", whole, merged)
    figures = graph.figures("figures", merged, kept.counts.documents)
    if len(classes) < 2:
        return Plan(merged, figures, rare, [], None)
    scores = []
    for p, (of, own) in enumerate(zip(settled, pieces)):
        answers = graph.answers(f"ask-{p}", own, merged, settings)
        scores.append(cluster.submit(f"score-{p}", parts.score, of, answers, figures, settings))
    return Plan(merged, figures, rare, scores, _newest(cluster, graph, counted, kept, settings, settled, whole))


def gathering(cluster: Cluster, counted: CountedParts, classes: tuple[str, ...]) -> GatheringPlan:
    """Hand out the tasks that put all parts together, copies included."""
    graph = _Graph(cluster, counted)
    all_of_it = np.zeros(counted.places[-1].stop, bool)
    settled, pieces = graph.pieces("cut", _settled(cluster, counted, all_of_it, classes))
    merged = graph.merged("merge", pieces)
    return GatheringPlan(merged, [cluster.submit(f"rows-{p}", parts.part_rows, of) for p, of in enumerate(settled)])


def _settled(
    cluster: Cluster, counted: CountedParts, left_out: np.ndarray, classes: tuple[str, ...]
) -> Iterator[Future]:
    """The parts without the messages that are ``left_out`` (a mask over all places in the mail)."""
    for p, (of, places, seal) in enumerate(zip(counted.counted, counted.places, counted.seals)):
        yield cluster.submit(f"settle-{p}", parts.settle, of, left_out[places], seal, classes)


def _left_out(kept: TrainingSet, places: Sequence[slice]) -> np.ndarray:
    """A mask over all places in the mail: the messages that are counted and not learned."""
    left_out = np.zeros(places[-1].stop, bool)
    for shard in kept.shards:
        left_out[shard.positions[~shard.included]] = True
    return left_out


def _newest(
    cluster: Cluster,
    graph: _Graph,
    counted: CountedParts,
    kept: TrainingSet,
    settings: Settings,
    settled: Sequence[Future],
    whole: Sequence[Future],
) -> NewestPlan | None:
    """The newest messages scored by the older ones, whose sums are those of all less those of the newest."""
    if (found := newest_places(kept, settings.spam)) is None:
        return None
    # The mask ends with the last message that could be read.
    newest = np.append(found.places, np.zeros(counted.places[-1].stop - len(found.places), bool))
    labels = np.concatenate([own.labels[own.included & newest[own.positions]] for own in kept.shards])
    documents = kept.counts.documents - np.bincount(labels, minlength=len(kept.counts.classes))
    own = {
        p: cluster.submit(f"newest-{p}", parts.newest_of, of, newest[places])
        for p, (of, places) in enumerate(zip(settled, counted.places))
        if newest[places].any()
    }
    _, pieces = graph.pieces("cut-newest", own.values())
    of_newest = graph.merged("merge-newest", pieces)
    of_older = [
        cluster.submit(f"older-{r}", range_sums.subtract_newest, of_all, part)
        for r, (of_all, part) in enumerate(zip(whole, of_newest))
    ]
    of_older = graph.without_rare("older-common", of_older, settings)
    figures = graph.figures("figures-older", of_older, documents)
    scores = [
        cluster.submit(
            f"score-newest-{p}",
            parts.score_newest,
            of,
            graph.answers(f"ask-older-{p}", piece, of_older, settings),
            figures,
            settings,
        )
        for (p, of), piece in zip(own.items(), pieces)
    ]
    return NewestPlan(found.since, found.rows, scores)
