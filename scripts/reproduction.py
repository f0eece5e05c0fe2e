"""What the scripts that reproduce published results without a corpus share: their command line, and how they end."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path


def reproduce(
    description: str, compare: Callable[[], list[str]], agreed: str, draw: Callable[[Path], None], picture: str
) -> None:
    """Run ``compare``, which prints tables and returns what differs, and end 1 if something does. ``--figures DIR``
    has ``draw`` make the ``picture`` (needs matplotlib)."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--figures", type=Path, help=f"folder for {picture}")
    options = parser.parse_args()
    different = compare()
    if options.figures:
        import matplotlib

        matplotlib.use("Agg")
        options.figures.mkdir(parents=True, exist_ok=True)
        draw(options.figures / picture)
    if different:
        sys.exit(f"not as it should be: {'; '.join(different)}")
    print(agreed)
