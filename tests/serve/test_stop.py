"""What ends ``watch``: everything that waits is woken, though some of it ends while others are still being told."""

from __future__ import annotations

import threading

from spamnb.cli.watching import Stop


def wait_for(stop: Stop, started: threading.Semaphore) -> None:
    with stop.woken():
        started.release()
        stop.wait()


def test_all_that_wait_are_woken_while_some_of_them_end():
    for _ in range(30):
        stop, started = Stop(), threading.Semaphore(0)
        threads = [threading.Thread(target=wait_for, args=(stop, started)) for _ in range(20)]
        for thread in threads:
            thread.start()
        for _ in threads:
            started.acquire()
        stop()  # each thread closes its socket as soon as it hears of it
        for thread in threads:
            thread.join()
        with stop.woken() as woken:  # of one that comes late
            assert woken.recv(1) == b"\0"
