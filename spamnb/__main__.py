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

        # Before a command runs, Ctrl-C ends the program without a message. An exception does not work: modules that are
        # being imported may catch it, and click exits with status 1.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _end)
        _run()
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


def _end(*_: object) -> None:
    os._exit(INTERRUPTED)


def _run() -> None:
    # The OpenBLAS of numpy and scipy starts a thread per core; these spin, which costs 0.1 s of processor time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Garbage collection during imports and at the end takes 13 of the 97 ms of the verdict on one message.
    gc.set_threshold(100_000)
    from spamnb.cli import cli

    # Programs read UTF-8 in any locale. A terminal of another encoding gets escapes for characters that it lacks.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding=None if sys.stdout.isatty() else "utf-8", errors="backslashreplace")
    try:
        cli(prog_name="spamnb", obj=_end)
    finally:
        gc.freeze()


if __name__ == "__main__":
    main()
