"""What `learn` and `forget` do: one change for each message, a hundred of them at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from spamnb.cli.options import Unreadable, no_message
from spamnb.errors import SpamnbError
from spamnb.naming import pluralize

if TYPE_CHECKING:
    from spamnb.sources.entries import Entry
    from spamnb.store.store import Store


def each_message(
    sources: tuple[str, ...],
    entries: Iterator[Entry],
    unreadable: Unreadable,
    change: Callable[[bytes], bool],
    store: Store,
    doing: str,
) -> tuple[int, int]:
    """Apply ``change`` to each message of ``sources``; returns how many there were, and how many it changed.

    A hundred messages make one transaction: what is killed loses little, and other writers get their turn. A terminal
    shows how far it is with ``doing``, as "learning". SpamnbError says how many messages were done before the one that
    failed, or that there was none; KeyboardInterrupt says how many were done for good.
    """
    from spamnb.api.progress import progress
    from spamnb.reader.read_message import is_empty
    from spamnb.sources.entries import messages

    seen = changed = done = 0
    try:
        with progress(doing.capitalize(), True) as show:
            while batch := list(islice(entries, 100)):
                with store.writing():
                    for _, raw in messages(batch, unreadable):
                        if not is_empty(raw):
                            seen += 1
                            changed += change(raw)
                            show(seen)
                done = seen
    except SpamnbError as error:
        raise SpamnbError(f"{error} (the {done:,} messages before are done)" if done else str(error)) from None
    except KeyboardInterrupt:
        rest = f"{doing} {pluralize(done, 'message')} is done and stays; the same command goes on with the rest"
        raise KeyboardInterrupt(rest if done else "nothing has changed") from None
    if not seen and not unreadable.count:
        raise no_message(sources)
    return seen, changed
