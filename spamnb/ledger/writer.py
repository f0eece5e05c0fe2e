"""A thread that writes the ledger, so that mail does not wait for the disk and no error of the ledger stops mail."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from pathlib import Path

from spamnb.errors import SpamnbError
from spamnb.ledger.ledger import Ledger, LedgerRow
from spamnb.shown_text import pluralize

MAX_WAITING = 10_000  # rows, some 30 MB of memory; further rows are dropped, and their number is reported
_PAUSE = 0.2  # seconds to wait for further rows, because a transaction for each row takes five times as long


class LedgerWriter:
    """A writer of the rows of a ledger.

    ``tell`` is called with a line if the ledger cannot be opened or written. An error that repeats is reported once.
    The writer tries again with each new row.
    """

    def __init__(self, path: Path, tell: Callable[[str], None]) -> None:
        self._path = path
        self._tell = tell
        self._waiting: queue.Queue[LedgerRow | None] = queue.Queue(MAX_WAITING)  # None ends the thread
        self._dropped = 0  # rows that were dropped since the last report
        self._lock = threading.Lock()
        self._hurry = threading.Event()  # whether the thread writes at once, without the pause
        self._thread = threading.Thread(target=self._run, name="ledger", daemon=True)
        self._thread.start()

    def put(self, row: LedgerRow) -> None:
        """Write a row soon; return at once."""
        try:
            self._waiting.put_nowait(row)
        except queue.Full:
            with self._lock:
                self._dropped += 1

    def close(self) -> None:
        """Write everything, and end the thread."""
        self._hurry.set()
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        ledger: Ledger | None = None
        batch: list[LedgerRow | None] = []
        last_error = ""
        with contextlib.ExitStack() as stack:
            while True:
                try:
                    if ledger is None or ledger.is_replaced:
                        stack.close()
                        ledger = stack.enter_context(Ledger.open(self._path))
                    if batch:
                        ledger.put([row for row in batch if row is not None])
                        last_error = ""
                except (SpamnbError, OSError) as error:
                    if str(error) != last_error:
                        last_error = str(error)
                        self._tell(f"{last_error}; nothing is written to the ledger until this is repaired")
                with self._lock:
                    dropped, self._dropped = self._dropped, 0
                if dropped:
                    self._tell(f"the ledger is too slow: it lacks {pluralize(dropped, 'row')}")
                for _ in batch:
                    self._waiting.task_done()
                if None in batch:
                    return
                batch = [self._waiting.get()]
                self._hurry.wait(_PAUSE)
                while not self._waiting.empty():
                    batch.append(self._waiting.get())
