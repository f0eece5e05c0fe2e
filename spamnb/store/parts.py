"""A model's sums a range of keys at a time, as pruning goes through them: in a file, or on a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spamnb.counts.class_counts import ClassCounts
from spamnb.store import compaction
from spamnb.store.changes import FIRST_KEY, LAST_KEY
from spamnb.tokens.token_array import TokenArray

if TYPE_CHECKING:
    from spamnb.store.postgresql import PostgresStore
    from spamnb.store.store import Store

Sums = tuple[TokenArray, ClassCounts]


def _on_server(store: Store) -> PostgresStore | None:
    if store.file is not None:
        return None
    from spamnb.store.postgresql import PostgresStore

    assert isinstance(store, PostgresStore)
    return store


def log_sums(store: Store) -> Sums | None:
    """What the log adds, tokens ascending by key; None where that is nothing."""
    server = _on_server(store)
    return compaction.logged_sums(store) if server is None else server.log_sums()


def sums(store: Store, low: int = FIRST_KEY, high: int = LAST_KEY, log: Sums | None = None) -> Sums:
    """The tokens with keys from ``low`` to ``high``, ascending by key, and their counts by class number, with those of
    ``log``, of ``log_sums``."""
    server = _on_server(store)
    return compaction.file_sums(store, low, high, log) if server is None else server.sums_between(log, low, high)


def fold(store: Store) -> None:
    """Add the whole log to the sums, inside ``writing``; a file without a log gets one."""
    server = _on_server(store)
    if server is not None:
        server.sum_up()
    elif store.has_log():
        compaction.fold_log(store)
    else:
        compaction.make_log(store)


def part_start(store: Store, low: int) -> int:
    """Where the part begins in which key ``low`` is."""
    return low if _on_server(store) else compaction.page_start(store, low)


def part_end(store: Store, low: int) -> int:
    """The last key of the part that begins with key ``low``."""
    server = _on_server(store)
    return compaction.pages_end(store, low) if server is None else server.part_end(low)


def write_part(store: Store, low: int, high: int, tokens: TokenArray, counts: ClassCounts) -> None:
    """Make ``tokens``, ascending by key, which were there before, all that the sums hold of these keys."""
    server = _on_server(store)
    if server is None:
        compaction.write_pages(store, low, high, tokens, counts)
    else:
        server.keep_tokens(low, high, tokens)


def restart_log(store: Store) -> None:
    """Begin the log, which must be empty, with another number: nobody goes on with what was looked up."""
    server = _on_server(store)
    if server is None:
        compaction.restart_changes(store)
    else:
        server.restart_log()
