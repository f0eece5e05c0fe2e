"""``python -m spamnb`` and the ``spamnb`` command."""

from __future__ import annotations

import gc
import io
import os
import sys

INTERRUPTED = 130  # as shells say of a program that Ctrl-C ended


def main() -> None:
    """Run the command line."""
    try:
        import signal

        # Until a command runs nothing has begun, and Ctrl-C needs no words. An exception would not do: what is being
        # imported may swallow it, and click makes status 1 of it.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _end)
        _run()
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


def _end(*_: object) -> None:
    os._exit(INTERRUPTED)


def _run() -> None:
    # numpy's and scipy's OpenBLAS start a thread a core, which spin: 0.1 s of processor time for nothing.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Garbage collection while modules are imported, and of them once more at the end, takes 13 of the 97 ms that the
    # verdict on one message takes.
    gc.set_threshold(100_000)
    from spamnb.cli import cli

    # What programs read is UTF-8 whatever the locale; a terminal of another encoding gets escapes for what it lacks.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding=None if sys.stdout.isatty() else "utf-8", errors="backslashreplace")
    try:
        cli(prog_name="spamnb", obj=_end)
    finally:
        gc.freeze()


if __name__ == "__main__":
    main()
