"""Training in parts: what a machine does with its part of the mail.

N parts are consecutive pieces of the mail; R ranges are consecutive pieces of the tokens' hashes. Every function here
is pure: the same arguments give the same result on any machine, so what was lost with a machine is made again.

    count_part   a part of the mail            → its training set, rows in memory
    part_head    that                          → what tells copies: digests, classes, dates
    settle       that, less its copies         → the part as it is learned
    part_rows    a settled part                → its messages' rows, for whoever fits a model of all of them
    cut          a settled part and a range    → its tokens and sums in this range
    score        a settled part, its answers   → each of its messages, judged by the model without it

range_sums.py says what becomes of its pieces, and what answers they get.
"""

from __future__ import annotations

import errno
import hashlib
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from spamnb.counts.class_counts import SparseRow
from spamnb.counts.training_set import TrainingSet, count_messages
from spamnb.engines.range_sums import Piece, RangeFigures, occurring, packed_places
from spamnb.errors import SpamnbError, reason
from spamnb.learners.leave_one_out import scores_by_sums, scores_left_out
from spamnb.settings import Settings
from spamnb.sources.entries import Entry
from spamnb.tokens.token_array import TokenArray
from spamnb.tokens.tokenizer import TOKENS_VERSION, Tokenizer, TokenOptions

Scores = tuple[np.ndarray, np.ndarray]  # class numbers (n,) and scores (n, C)


class MailPart:
    """A part of the mail. No list: Dask looks for futures in each element of a list that it hands on."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries


class UnreadMessage(NamedTuple):
    """A message that a machine could not read."""

    name: str
    path: str
    why: str
    missing: bool  # there was no such file


class Counted(NamedTuple):
    """A part's messages, counted; their positions are places in the part."""

    messages: TrainingSet
    unreadable: tuple[UnreadMessage, ...]


class PartHead(NamedTuple):
    """What is known of a counted part's n messages without their tokens."""

    classes: tuple[str, ...]
    positions: np.ndarray  # (n,) places in the part
    labels: np.ndarray  # (n,) index into classes
    digests: np.ndarray  # (n, 16)
    dates: np.ndarray  # (n,)
    tokens: int  # different ones in the part
    seal: bytes
    unreadable: tuple[UnreadMessage, ...]


class PartRows(NamedTuple):
    """The rows of a part's n messages."""

    hashes: np.ndarray  # (k,) of its tokens, ascending
    cells: np.ndarray  # (nnz, 2) int32: place among these tokens, occurrences
    lengths: np.ndarray  # (n,) cells of each message


def rules() -> dict[str, str]:
    """What machines must agree on to make the same tokens of the same mail.

    >>> sorted(rules())
    ['PDF attachments', 'Unicode', 'spamnb', 'tokens']
    """
    from spamnb import __version__
    from spamnb.message.pdf import is_available

    return {
        "spamnb": __version__,
        "tokens": str(TOKENS_VERSION),
        "Unicode": unicodedata.unidata_version,
        "PDF attachments": "read" if is_available() else "not read",
    }


def check_rules(own: dict[str, str], expected: dict[str, str], who: str) -> None:
    """SpamnbError where a machine goes by other rules than the one that asks it.

    >>> check_rules({"spamnb": "0.1.0", "tokens": "5"}, {"spamnb": "0.1.0", "tokens": "6"}, "the worker tcp://a:1")
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: the worker tcp://a:1 has tokens 5, here it is 6; install the same on all machines
    """
    for what, here in expected.items():
        there = own.get(what, "none")
        if there != here:
            raise SpamnbError(f"{who} has {what} {there}, here it is {here}; install the same on all machines")


def count_part(mail: MailPart, options: TokenOptions, expected: dict[str, str], who: str = "a worker") -> Counted:
    """The training set of a part. SpamnbError where this machine goes by other rules, or has no room on its disk."""
    check_rules(rules(), expected, who)
    unreadable: list[UnreadMessage] = []
    path = ""
    missing = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)

    def numbered() -> Iterable[tuple[int, Entry]]:
        nonlocal path
        for place, entry in enumerate(mail.entries):
            path = entry.path
            yield place, entry

    def on_unreadable(name: str, error: Exception) -> None:
        unreadable.append(UnreadMessage(name, path, reason(error), getattr(error, "errno", None) in missing))

    try:
        with TemporaryDirectory(prefix="spamnb-") as folder:
            rows = Path(folder, "rows")
            counted = count_messages(numbered(), Tokenizer(options), rows, on_unreadable)
            cells = np.fromfile(rows, np.int32).reshape(-1, 2)
    except OSError as error:
        raise SpamnbError(f"{who}: no temporary files can be written there: {reason(error)}") from None
    (shard,) = counted.shards
    return Counted(counted._replace(shards=(shard._replace(cells=cells),)), tuple(unreadable))


def part_head(counted: Counted) -> PartHead:
    """What the whole of the mail needs to know of a part."""
    messages = counted.messages
    (shard,) = messages.shards
    known = shard.positions, shard.labels, shard.digests, shard.dates
    return PartHead(messages.counts.classes, *known, len(messages.tokens), _seal(messages), counted.unreadable)


def _seal(messages: TrainingSet) -> bytes:
    """A digest of all that the whole of the mail was told of a part."""
    (shard,) = messages.shards
    sealed = hashlib.blake2b(digest_size=16)
    for values in (shard.positions, shard.labels, shard.digests):
        sealed.update(np.ascontiguousarray(values).tobytes())
    return sealed.digest()


def settle(counted: Counted, copies: np.ndarray, seal: bytes, classes: tuple[str, ...]) -> TrainingSet:
    """The part without the messages at the places ``copies`` (a mask), over the ``classes`` of the whole.

    SpamnbError where the part is not what its head said: it was counted twice, and its mail changed between."""
    messages = counted.messages
    if _seal(messages) != seal:
        raise SpamnbError("the mail changed while it was being read: train again")
    if copies.any():
        messages = messages.minus(copies).select_columns()
    messages = messages.nonempty_classes()
    number = np.array([classes.index(name) for name in messages.counts.classes], np.intp)
    (shard,) = messages.shards
    labels = np.where(shard.included, number[shard.labels], -1) if len(number) else np.full(len(shard.labels), -1)
    counts = messages.counts.reindex(np.arange(len(messages.tokens)), len(messages.tokens), classes)
    tokens = TokenArray(messages.tokens.packed(), *packed_places(messages.tokens))
    return TrainingSet(tokens, counts, (shard._replace(labels=labels),))


def part_rows(settled: TrainingSet) -> PartRows:
    """The rows of all messages of a part, none of which may be left out."""
    (shard,) = settled.shards
    assert isinstance(shard.cells, np.ndarray)
    cells = np.stack([shard.columns[shard.cells[:, 0]].astype(np.int32), shard.cells[:, 1]], axis=1)
    return PartRows(settled.tokens.hashes, cells, shard.lengths)


def newest_of(settled: TrainingSet, places: np.ndarray) -> TrainingSet:
    """The part's messages at these places, with their own tokens and sums."""
    return settled.subset(places).select_columns()


def cut(settled: TrainingSet, number: int, ranges: int) -> Piece:
    """The tokens of range ``number`` of so many equal ``ranges`` of hashes that the part's messages hold, and their
    sums. Copied: a view would keep all the rest in memory."""
    hashes, counts = settled.tokens.hashes, settled.counts
    ends = [(i << 64) // ranges - (1 << 63) for i in (number, number + 1)]
    begin = int(np.searchsorted(hashes, np.int64(ends[0])))
    end = int(np.searchsorted(hashes, np.int64(ends[1]))) if number + 1 < ranges else len(hashes)
    rows = []
    for row in counts.rows:
        first, last = np.searchsorted(row.columns, [begin, end])
        rows.append(SparseRow(row.columns[first:last] - begin, *(values[first:last].copy() for values in row[1:])))
    tokens = settled.tokens[begin:end]
    packed = TokenArray(tokens.packed(), *packed_places(tokens))
    return occurring(Piece(packed, counts._replace(vocabulary_size=end - begin, rows=tuple(rows))))


def score(settled: TrainingSet, tables: Sequence[np.ndarray], figures: RangeFigures, settings: Settings) -> Scores:
    """Each message of the part by the sums of all less itself; ``tables`` are the answers of the ranges in turn."""
    table = np.concatenate(tables)
    held = np.flatnonzero(table.any(axis=1))
    return scores_left_out(settings, settled.select_columns(held), table[held], *figures)


def score_newest(
    newest: TrainingSet, tables: Sequence[np.ndarray], older: RangeFigures, settings: Settings
) -> np.ndarray:
    """Scores (m, C) of a part's newest messages by the sums of the older ones, which ``tables`` and ``older`` hold."""
    table = np.concatenate(tables)
    held = np.flatnonzero(table.any(axis=1))
    return scores_by_sums(settings, newest.select_columns(held), table[held], *older)[1]
