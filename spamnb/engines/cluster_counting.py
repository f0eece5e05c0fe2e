"""Mail counted on a cluster: workers read and count parts of it, this machine adds up what they counted.

The training set is that of one machine to the last count and in the same order, so whatever is fitted to it is the same
model. A part that was lost with its worker is counted again by another.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from spamnb.counts.counting import Counted, Counter
from spamnb.engines.cluster import Cluster, check_rules, rules
from spamnb.engines.counting import CountedParts, MailPart, Parts
from spamnb.engines.executor import ordered_map
from spamnb.errors import SpamnbError
from spamnb.reader.options import TokenOptions
from spamnb.reader.token_array import TokenArray
from spamnb.reader.vocabulary import Vocabulary
from spamnb.sources.entries import Entry

FIRST_PART = 1000  # messages: enough that a task costs little beside them, few enough that all workers soon have one
LARGEST_PART = 8000  # messages: some 60 MB of a worker
EQUAL_PARTS = 2  # a worker, of one size, before they double: larger parts repeat fewer tokens
AHEAD = 3  # parts a worker that are handed out and not added up yet
MAX_PART_BYTES = 1 << 24  # of mail, where entries carry their bytes


def count_part(mail: MailPart, options: TokenOptions, expected: dict[str, str]) -> tuple[TokenArray, Counted]:
    """What a worker does: count a part, with ids of the tokens beside it. SpamnbError where it goes by other rules."""
    check_rules(rules(), expected, "a worker")
    counter = Counter(options)
    counted = counter.count(mail.numbered())
    return counter.vocabulary.tokens(), counted


def part_sizes(workers: int) -> Iterator[int]:
    """Messages of each part in turn, for so many workers.

    >>> from itertools import islice
    >>> list(islice(part_sizes(workers=2), 2, 6)), list(islice(part_sizes(workers=2), 99, 100))
    ([1000, 1000, 2000, 2000], [8000])
    """
    size = FIRST_PART
    while True:
        for _ in range(EQUAL_PARTS * workers):
            yield size
        size = min(2 * size, LARGEST_PART)


def by_cluster(cluster: Cluster, parts: Parts, options: TokenOptions) -> CountedParts:
    """The parts as the cluster's workers count them. SpamnbError where a worker lacks a file that is here."""
    expected, vocabulary = rules(), Vocabulary()

    def submit(part: MailPart) -> Any:
        part.entries = [_absolute(entry) for entry in part.entries]
        told = f"the part of the mail from {part.entries[0].name} to {part.entries[-1].name}"
        return cluster.submit(f"count-{part.first}", count_part, part, options, expected, told=told)

    for tokens, counted in ordered_map(submit, parts, lambda: AHEAD * cluster.workers, result=cluster.result):
        for message in counted.unread:
            if message.missing and os.path.exists(message.path):
                raise SpamnbError(
                    f"{message.name}: here it is, and on a worker of {cluster.address} it is not; all workers must see"
                    " the mail's files under the same names"
                )
        yield counted._replace(ids=vocabulary.ids(tokens)[counted.ids]), vocabulary


def _absolute(entry: Entry) -> Entry:
    return entry._replace(path=os.path.abspath(entry.path)) if entry.content is None else entry
