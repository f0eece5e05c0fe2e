"""What a source gives to whoever reads it, as on another machine."""

import pickle

from spamnb.sources.entries import Entry, messages
from spamnb.sources.spec import entries


def read(*specs: object) -> tuple[list[tuple[str | None, bytes]], list[str]]:
    """Class and bytes of all messages, and what was said of those that could not be read."""
    told: list[str] = []

    def report(name: str, error: Exception) -> None:
        told.append(f"{name}: {getattr(error, 'strerror', None) or error}")

    found = list(entries(map(str, specs), report))
    sent: list[Entry] = pickle.loads(pickle.dumps(found))  # noqa: S301 (as to another machine)
    return [(entry.label, raw) for entry, raw in messages(sent, report)], told
