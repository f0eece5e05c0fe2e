"""What the scripts that reproduce published results share: their command line, and how they end."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mail_corpora import corpora_folder

BLUE, RUST, GREEN, VIOLET, GOLD = "#1f6f8b", "#b5532d", "#2a8a4a", "#5b3e8f", "#d08a00"  # of pictures


def reproduce(
    description: str,
    compare: Callable[..., list[str]],
    agreed: str,
    pictures: Mapping[str, Callable[..., Any]] | None = None,
    corpus: str = "",
) -> None:
    """Run ``compare``, which prints tables and returns the differences, and exit with 1 if there are any.

    ``pictures`` has a function for each file name that makes a figure; ``--figures DIR`` writes them (needs
    matplotlib). If a ``corpus`` is needed, all functions take the folder of all corpora.
    """
    parser = argparse.ArgumentParser(description=description)
    if pictures:
        parser.add_argument("--figures", type=Path, help=f"folder for {', '.join(pictures)}")
    options = parser.parse_args()
    data = [corpora_folder(corpus)] if corpus else []
    different = compare(*data)
    if pictures and options.figures:
        import matplotlib

        matplotlib.use("Agg")
        matplotlib.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False})
        options.figures.mkdir(parents=True, exist_ok=True)
        for name, draw in pictures.items():
            draw(*data).savefig(options.figures / name, dpi=100)
    if different:
        sys.exit(f"not as it should be: {'; '.join(different)}")
    print(agreed)
