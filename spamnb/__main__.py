"""The entry point of ``python -m spamnb`` and of the command ``spamnb``."""

from __future__ import annotations

import gc
import io
import os
import sys

INTERRUPTED = 130  # the exit status that shells give a program ended by Ctrl-C


def main() -> None:
    """Run the command line."""
    try:
        import signal

        # Until a command runs, Ctrl-C ends the program without a message. KeyboardInterrupt would not do this: a module
        # that is being imported could catch it, and click would exit with status 1.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _end)
        _run()
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


def _end(*_: object) -> None:
    os._exit(INTERRUPTED)


def _run() -> None:
    # OpenBLAS starts a thread per core. The threads wait in a loop, which costs 0.1 s of processor time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Garbage collection during imports and at exit takes 13 of the 97 ms in which one message is classified.
    gc.set_threshold(100_000)
    from spamnb.cli import cli

    # Output to programs is UTF-8 in any locale. A terminal gets escapes for characters that its encoding lacks.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding=None if sys.stdout.isatty() else "utf-8", errors="backslashreplace")
    try:
        cli(prog_name="spamnb", obj=_end)
    finally:
        gc.freeze()


if __name__ == "__main__":
    main()
