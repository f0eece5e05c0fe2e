"""What the scripts that reproduce published results without a corpus share: their command line, and how they end."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path


def reproduce(
    description: str,
    compare: Callable[[], list[str]],
    agreed: str,
    draw: Callable[[Path], None] | None = None,
    picture: str = "",
) -> None:
    """Run ``compare``, which prints tables and returns what differs, and end 1 if something does. Where there is
    ``draw``, ``--figures DIR`` makes the ``picture`` (needs matplotlib)."""
    parser = argparse.ArgumentParser(description=description)
    if draw:
        parser.add_argument("--figures", type=Path, help=f"folder for {picture}")
    options = parser.parse_args()
    different = compare()
    if draw and options.figures:
        import matplotlib

        matplotlib.use("Agg")
        options.figures.mkdir(parents=True, exist_ok=True)
        draw(options.figures / picture)
    if different:
        sys.exit(f"not as it should be: {'; '.join(different)}")
    print(agreed)
