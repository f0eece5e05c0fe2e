"""The loop of ``learn`` and ``forget``: change a model message by message, many of them in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from spamnb.errors import SpamnbError, in_options
from spamnb.shown_text import pluralize
from spamnb.sources.entries import Entry, SkippedMessages

if TYPE_CHECKING:
    from spamnb.store.store import Store


T = TypeVar("T")
_MAX_BATCH_BYTES = 8 << 20  # bytes of messages per transaction, which bounds the memory


def change_model(
    entries: Iterator[Entry],
    unreadable: SkippedMessages,
    change: Callable[[list[bytes]], list[T]],
    store: Store,
    activity: str,
) -> Iterator[T]:
    """Call ``change`` with the bytes of each batch of entries, and yield the results after each transaction.

    An entry that fails is counted in ``unreadable``, and the work continues. A terminal shows the progress of
    ``activity``, such as "learning". SpamnbError and Ctrl-C end the work; the text of the error has the number of
    messages that are done.
    """
    from spamnb.api.progress import show_progress
    from spamnb.sources.entries import work_in_batches
    from spamnb.store.database import MAX_TOGETHER

    def change_batch(batch: list[Entry]) -> list[T]:
        with store.writing():
            return change([entry.read() for entry in batch])

    n_done = 0
    try:
        with show_progress(activity.capitalize(), True) as show:
            for _, results in work_in_batches(entries, change_batch, unreadable, MAX_TOGETHER, _MAX_BATCH_BYTES):
                n_done += len(results)
                show(n_done)
                yield from results
    except SpamnbError as error:
        summary = f" (the {n_done:,} messages before it are done)" if n_done else ""
        raise SpamnbError(in_options(error) + summary) from None
    except KeyboardInterrupt:
        summary = f"{activity} {pluralize(n_done, 'message')} is done; run the command again for the rest"
        raise KeyboardInterrupt(summary if n_done else "nothing has changed") from None
