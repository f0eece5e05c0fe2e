"""A thread that writes the journal while mail is judged: no mail waits for it, and its faults cost no mail."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path

from spamnb.errors import SpamnbError
from spamnb.journal.entries import Verdict
from spamnb.journal.journal import Correction, Journal

MAX_WAITING = 10_000  # verdicts, some 30 MB: more are left out, and said
_PAUSE = 0.2  # seconds in which verdicts gather: one transaction for all


class JournalWriter:
    """Writes what it is handed, a little later. ``tell`` takes a line where the journal cannot be opened or written, on
    a full disk or after damage, and another where something else is wrong; the next verdict tries again.
    """

    def __init__(self, path: Path, tell: Callable[[str], None]) -> None:
        self._path = path
        self._tell = tell
        self._lock = threading.Lock()  # of the next two
        self._waiting: list[Verdict | Correction] = []
        self._left_out = 0
        self._something = threading.Event()  # is there to be done
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def put(self, what: Verdict | Correction) -> None:
        """Write a verdict or a correction soon; returns at once."""
        with self._lock:
            if len(self._waiting) < MAX_WAITING:
                self._waiting.append(what)
            else:
                self._left_out += 1
        self._something.set()

    def close(self) -> None:
        """Write what is waiting, and end."""
        self._stop.set()
        self._something.set()
        self._thread.join()

    def _run(self) -> None:
        journal: Journal | None = None
        waiting: list[Verdict | Correction] = []
        told, stopping = "", False
        with contextlib.ExitStack() as stack:
            while True:
                try:
                    if journal is None:
                        journal = stack.enter_context(Journal.at(self._path))
                    if waiting:
                        with journal.writing():
                            journal.add([each for each in waiting if isinstance(each, Verdict)])
                            for each in waiting:
                                if isinstance(each, Correction):
                                    journal.correct(each)
                        told = ""
                except (SpamnbError, OSError) as error:
                    if str(error) != told:
                        told = str(error)
                        self._tell(f"{told}; meanwhile nothing is noted")
                if stopping:
                    return
                self._something.wait()
                self._something.clear()
                stopping = self._stop.wait(_PAUSE)
                with self._lock:
                    waiting, self._waiting = self._waiting, []
                    left_out, self._left_out = self._left_out, 0
                if left_out:
                    self._tell(f"{left_out} verdicts came too fast for the journal and are not in it")
