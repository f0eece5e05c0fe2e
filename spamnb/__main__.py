"""``python -m spamnb`` and the ``spamnb`` command."""

from __future__ import annotations

import gc
import io
import os
import sys


def main() -> None:
    """Run the command line."""
    # numpy's and scipy's OpenBLAS start a thread a core, which spin: 0.1 s of processor time for nothing, except where
    # vectors are made (lsa:200 of 10,000 messages in 16 s instead of 19).
    if not any(word.startswith("--emb") for word in sys.argv):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Garbage collection while modules are imported, and of them once more at the end, takes 13 of the 97 ms that the
    # verdict on one message takes.
    gc.set_threshold(100_000)
    from spamnb.cli import cli

    # What programs read is UTF-8 whatever the locale; a terminal of another encoding gets escapes for what it lacks.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding=None if sys.stdout.isatty() else "utf-8", errors="backslashreplace")
    try:
        cli(prog_name="spamnb")
    finally:
        gc.freeze()


if __name__ == "__main__":
    main()
