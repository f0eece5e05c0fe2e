"""``python -m spamnb`` and the ``spamnb`` command."""

from __future__ import annotations

import io
import sys


def main() -> None:
    """Run the command line."""
    from spamnb.cli import cli

    # What programs read is UTF-8 whatever the locale; a terminal of another encoding gets escapes for what it lacks.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding=None if sys.stdout.isatty() else "utf-8", errors="backslashreplace")
    cli(prog_name="spamnb")


if __name__ == "__main__":
    main()
