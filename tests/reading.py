"""What a source gives to whoever reads it, as on another machine."""

import pickle

from spamnb.sources.entries import Entry, read_entries
from spamnb.sources.spec import find_labelled_entries

Unreadable = list[tuple[str, Exception]]


def read(*specs: object, unreadable: Unreadable | None = None) -> list[tuple[str | None, str, bytes]]:
    """Class, name and bytes of all messages; a test that expects unreadable ones hands over the list."""
    found: Unreadable = []

    def report(name: str, error: Exception) -> None:
        found.append((name, error))

    sent: list[Entry] = pickle.loads(pickle.dumps(list(find_labelled_entries(map(str, specs), report))))  # noqa: S301 (as to another machine)
    result = [(entry.label, entry.name, raw) for entry, raw in read_entries(sent, report)]
    if unreadable is None:
        assert not found
    else:
        unreadable.extend(found)
    return result
