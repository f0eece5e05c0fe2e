"""A folder for what is counted, gone when the work is done."""

from __future__ import annotations

import errno
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import current_thread, main_thread

from spamnb.engines.executor import ENDING
from spamnb.errors import SpamnbError


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that is gone afterwards, also where the process is told to end meanwhile.

    Raises SpamnbError where what is written into it finds no room. Only signals that would have ended the process are
    heeded, and only in the main thread: no other may set what a signal does.
    """
    def end(number: int, frame: object) -> None:
        for each in heeded:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    # Whoever started us with nohup wants SIGHUP to be ignored.
    alone = current_thread() is main_thread()
    heeded = [n for n in ENDING if alone and signal.getsignal(n) is signal.SIG_DFL]
    # They and Ctrl-C wait while the folder is made and while it is taken away.
    waiting = [signal.SIGINT, *heeded]
    signal.pthread_sigmask(signal.SIG_BLOCK, waiting)
    try:
        with TemporaryDirectory(prefix="spamnb-") as folder:
            for number in heeded:
                signal.signal(number, end)
            try:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, waiting)
                yield Path(folder)
            except OSError as error:
                # numpy gives neither file nor number where an array found no room; the system names a file only where
                # it cannot make it.
                ours = error.filename is None or str(error.filename).startswith(folder)
                if ours and error.errno in (None, errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                    said = f"no room for temporary files in {Path(folder).parent}; TMPDIR names another place"
                    raise SpamnbError(said) from None
                raise
            finally:
                signal.pthread_sigmask(signal.SIG_BLOCK, waiting)
    finally:
        for number in heeded:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, waiting)
