"""Change a model by one message after another, as `learn` and `forget` do, with a transaction per hundred messages."""

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
_MAX_BATCH = 100  # messages of one transaction: a killed command loses few, and other writers get their turn
_MAX_BATCH_BYTES = 4 << 20  # of the messages of one transaction


def change_messages(
    sources: tuple[str, ...],
    entries: Iterator[Entry],
    unreadable: Unreadable,
    change: Callable[[bytes], T],
    store: Store,
    activity: str,
) -> Iterator[T]:
    """Apply ``change`` to each message of ``sources``, and yield each result after its transaction.

    A message that fails changes nothing. A terminal shows the progress of ``activity``, such as "learning". If
    SpamnbError or KeyboardInterrupt ends the work, its text has the number of messages that were changed before. Raise
    SpamnbError if there is no message.
    """
    from spamnb.api.progress import progress
    from spamnb.sources.entries import work_in_batches

    def change_batch(batch: list[NumberedMessage]) -> list[T]:
        with store.writing():
            return [change(each.raw) for each in batch]

    done = 0
    try:
        with progress(activity.capitalize(), True) as show:
            for _, results in work_in_batches(entries, change_batch, unreadable, _MAX_BATCH, _MAX_BATCH_BYTES):
                done += len(results)
                show(done)
                yield from results
    except SpamnbError as error:
        before = f" (the {done:,} messages before it are done)" if done else ""
        raise SpamnbError(in_options(error) + before) from None
    except KeyboardInterrupt:
        progress_so_far = f"{activity} {pluralize(done, 'message')} is done; repeat the command to go on with the rest"
        raise KeyboardInterrupt(progress_so_far if done else "nothing has changed") from None
    if not done and not unreadable.count:
        raise no_message(sources)
