"""Read the messages of a source, with entries that were pickled as for another machine."""

import pickle

from spamnb.sources.entries import Entry, read_entries
from spamnb.sources.spec import find_labelled_entries

Unreadable = list[tuple[str, Exception]]


def read(*specs: object, unreadable: Unreadable | None = None) -> list[tuple[str | None, str, bytes]]:
    """Return class, name and bytes of all messages. Errors are added to ``unreadable``, or fail the test."""
    errors: Unreadable = []

    def report(name: str, error: Exception) -> None:
        errors.append((name, error))

    sent: list[Entry] = pickle.loads(pickle.dumps(list(find_labelled_entries(map(str, specs), report))))  # noqa: S301 (as to another machine)
    result = [(entry.label, entry.name, raw) for entry, raw in read_entries(sent, report)]
    if unreadable is None:
        assert not errors
    else:
        unreadable.extend(errors)
    return result
