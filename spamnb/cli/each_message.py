"""What `learn` and `forget` do: one change for each message, a hundred of them at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from spamnb.cli.options import Unreadable, no_message
from spamnb.errors import SpamnbError, in_options
from spamnb.shown_text import pluralize

if TYPE_CHECKING:
    from spamnb.sources.entries import Entry, NumberedMessage
    from spamnb.store.store import Store


T = TypeVar("T")
_AT_ONCE, _BYTES_AT_ONCE = 100, 4 << 20  # of messages that make one transaction


def each_message(
    sources: tuple[str, ...],
    entries: Iterator[Entry],
    unreadable: Unreadable,
    change: Callable[[bytes], T],
    store: Store,
    doing: str,
) -> Iterator[T]:
    """Apply ``change`` to each message of ``sources``; yield what it returns once that is written.

    A hundred messages make one transaction: what is killed loses little, other writers get their turn, and nothing is
    left of a message that fails. A terminal shows how far it is with ``doing``, as "learning". SpamnbError says how
    many messages were done before the one that failed, or that there was none; KeyboardInterrupt says how many were
    done for good.
    """
    from spamnb.api.progress import progress
    from spamnb.reader.read_message import is_empty
    from spamnb.sources.entries import work_in_batches

    def change_all(batch: list[NumberedMessage]) -> list[T]:
        with store.writing():
            return [change(each.raw) for each in batch if not is_empty(each.raw)]

    done = 0
    try:
        with progress(doing.capitalize(), True) as show:
            for _, changed in work_in_batches(entries, change_all, unreadable, _AT_ONCE, _BYTES_AT_ONCE):
                done += len(changed)
                show(done)
                yield from changed
    except SpamnbError as error:
        before = f" (the {done:,} messages before are done)" if done else ""
        raise SpamnbError(in_options(error) + before) from None
    except KeyboardInterrupt:
        rest = f"{doing} {pluralize(done, 'message')} is done and stays; the same command goes on with the rest"
        raise KeyboardInterrupt(rest if done else "nothing has changed") from None
    if not done and not unreadable.count:
        raise no_message(sources)
