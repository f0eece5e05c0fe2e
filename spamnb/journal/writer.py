"""A thread that writes the journal, so that mail does not wait for the disk and no error of the journal stops mail."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from pathlib import Path

from spamnb.errors import SpamnbError
from spamnb.journal.entries import JournalEntry
from spamnb.journal.journal import Correction, Journal
from spamnb.shown_text import pluralize

MAX_WAITING = 10_000  # rows, some 30 MB of memory; further rows are dropped, and their number is reported
_PAUSE = 0.2  # seconds to wait for further rows, because a transaction for each row takes five times as long


class JournalWriter:
    """A writer of verdicts and corrections.

    ``tell`` is called with a line if the journal cannot be opened or written. An error that repeats is reported once.
    The writer tries again with each new row.
    """

    def __init__(self, path: Path, tell: Callable[[str], None]) -> None:
        self._path = path
        self._tell = tell
        self._waiting: queue.Queue[JournalEntry | Correction | None] = queue.Queue(MAX_WAITING)  # None ends the thread
        self._dropped = 0  # rows that were dropped since the last report
        self._lock = threading.Lock()
        self._hurry = threading.Event()  # whether the thread writes at once, without the pause
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def put(self, row: JournalEntry | Correction) -> None:
        """Write a verdict or a correction soon; return at once."""
        try:
            self._waiting.put_nowait(row)
        except queue.Full:
            with self._lock:
                self._dropped += 1

    def flush(self) -> None:
        """Wait until everything is written, or an error is reported."""
        self._hurry.set()
        self._waiting.join()
        self._hurry.clear()

    def close(self) -> None:
        """Write everything, and end the thread."""
        self._hurry.set()
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        journal: Journal | None = None
        batch: list[JournalEntry | Correction | None] = []
        last_error = ""
        with contextlib.ExitStack() as stack:
            while True:
                try:
                    if journal is None:
                        journal = stack.enter_context(Journal.open(self._path))
                    if batch:
                        with journal.writing():
                            journal.add([each for each in batch if isinstance(each, JournalEntry)])
                            for each in batch:
                                if isinstance(each, Correction):
                                    journal.put_correction(each)
                        last_error = ""
                except (SpamnbError, OSError) as error:
                    if str(error) != last_error:
                        last_error = str(error)
                        self._tell(f"{last_error}; no verdicts are written to the journal until this is repaired")
                with self._lock:
                    dropped, self._dropped = self._dropped, 0
                if dropped:
                    self._tell(f"the journal is too slow: it lacks {pluralize(dropped, 'row')}")
                for _ in batch:
                    self._waiting.task_done()
                if None in batch:
                    return
                batch = [self._waiting.get()]
                self._hurry.wait(_PAUSE)
                while not self._waiting.empty():
                    batch.append(self._waiting.get())
