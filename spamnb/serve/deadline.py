"""A bound on the time that one computation may take.

The parser and the classifier are bounded in what they read, so a message takes milliseconds. This is for the
one that nobody thought of: an interval timer interrupts the computation itself, as no thread's timeout does.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType


class OutOfTime(Exception):
    """The computation took longer than it was given."""


def _expired(number: int, frame: FrameType | None) -> None:
    raise OutOfTime


@contextlib.contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` inside the block after *seconds*; only in a process's main thread, one at a time.

    >>> with deadline(0.01):
    ...     while True:
    ...         pass
    Traceback (most recent call last):
    ...
    spamnb.serve.deadline.OutOfTime
    """
    before = signal.signal(signal.SIGALRM, _expired)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
