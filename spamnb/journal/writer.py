"""A thread that writes the journal while a server answers: no mail waits for it, and its faults cost no mail."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path

from spamnb.errors import SpamnbError
from spamnb.journal.entries import Verdict
from spamnb.journal.journal import Journal, Teaching

MAX_WAITING = 1_000  # verdicts, some 3 MB: more are left out, and said
_PAUSE = 0.2  # seconds in which verdicts gather: one transaction for all


class JournalWriter:
    """Writes what it is handed, a little later. ``tell`` takes one line for each thing that went wrong."""

    def __init__(self, path: Path, tell: Callable[[str], None]) -> None:
        self._path = path
        self._tell = tell
        self._waiting: deque[Verdict | Teaching] = deque()
        self._stop = threading.Event()
        self._left_out = 0
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def put(self, what: Verdict | Teaching) -> None:
        """Write a verdict or a correction soon; returns at once."""
        if len(self._waiting) < MAX_WAITING:
            self._waiting.append(what)
        else:
            self._left_out += 1

    def close(self) -> None:
        """Write what is waiting, and end."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        journal: Journal | None = None
        try:
            while not self._stop.wait(_PAUSE) or self._waiting:
                if not (self._waiting or self._left_out):
                    continue
                try:
                    if journal is None:
                        journal = Journal.at(self._path)
                    self._write(journal)
                except (SpamnbError, OSError) as error:
                    self._left_out += len(self._waiting)
                    self._waiting.clear()
                    self._tell(f"{error} ({self._left_out} verdicts are not in the journal)")
                    self._left_out = 0
        finally:
            if journal is not None:
                journal.close()

    def _write(self, journal: Journal) -> None:
        if self._left_out:
            self._tell(f"{self._left_out} verdicts came too fast for the journal and are not in it")
            self._left_out = 0
        waiting = list(self._waiting)
        entries = [each for each in waiting if isinstance(each, Verdict)]
        corrections = [each for each in waiting if isinstance(each, Teaching)]
        if waiting:
            with journal.writing():
                journal.add(entries)
                journal.correct(corrections)
        for _ in waiting:
            self._waiting.popleft()
