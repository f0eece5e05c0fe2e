"""A thread that writes the journal, so that mail does not wait for it, and an error of the journal costs no mail."""

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

MAX_WAITING = 10_000  # verdicts, some 30 MB of memory: more are left out, and reported
_PAUSE = 0.2  # seconds in which verdicts gather: one transaction for them takes a fifth of the time of many


class JournalWriter:
    """A writer of verdicts and corrections.

    ``tell`` is called with a line if the journal cannot be opened or written, once for each error in a row; each new
    verdict tries again.
    """

    def __init__(self, path: Path, tell: Callable[[str], None]) -> None:
        self._path = path
        self._tell = tell
        self._waiting: queue.Queue[JournalEntry | Correction | None] = queue.Queue(MAX_WAITING)  # None ends it
        self._left_out = 0  # verdicts for which there was no room, and that are not yet reported
        self._lock = threading.Lock()
        self._hurry = threading.Event()
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def put(self, row: JournalEntry | Correction) -> None:
        """Write a verdict or a correction soon; return at once."""
        try:
            self._waiting.put_nowait(row)
        except queue.Full:
            with self._lock:
                self._left_out += 1

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
        batch: list[JournalEntry | Correction | None] = []  # the rows that came while the last batch was written
        last_error = ""
        with contextlib.ExitStack() as stack:
            while True:
                try:
                    if journal is None:
                        journal = stack.enter_context(Journal.at(self._path))
                    if batch:
                        with journal.writing():
                            journal.add([each for each in batch if isinstance(each, JournalEntry)])
                            for each in batch:
                                if isinstance(each, Correction):
                                    journal.correct(each)
                        last_error = ""
                except (SpamnbError, OSError) as error:
                    if str(error) != last_error:
                        last_error = str(error)
                        self._tell(f"{last_error}; the journal notes nothing until that is mended")
                with self._lock:
                    left_out, self._left_out = self._left_out, 0
                if left_out:
                    self._tell(f"the journal could not keep up and lacks {pluralize(left_out, 'verdict')}")
                for _ in batch:
                    self._waiting.task_done()
                if None in batch:
                    return
                batch = [self._waiting.get()]
                self._hurry.wait(_PAUSE)
                while not self._waiting.empty():
                    batch.append(self._waiting.get())
