"""The reference of the Python interface, made of the docstrings: a folder of HTML pages.

    python scripts/build_reference.py FOLDER

What pdoc warns of, such as a name that it does not find, is an error.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pdoc

import spamnb

# What the public names inherit, and what they hand back.
ALSO = (
    "spamnb.estimators.base",
    "spamnb.estimators.discrete",
    "spamnb.estimators.gaussian",
    "spamnb.reader.message",
    "spamnb.counts.top_words",
    "spamnb.training",
    "spamnb.evaluation.figures",
    "spamnb.evaluation.result",
    "spamnb.api.arguments",
)


def build(folder: Path) -> None:
    """Write the pages to ``folder``."""
    for name in spamnb.__all__:  # pdoc reads a module's names, and these are there once somebody has asked for them
        setattr(spamnb, name, getattr(spamnb, name))
    pdoc.render.configure(docformat="markdown", show_source=False, footer_text=f"spamnb {spamnb.__version__}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # The constructor that typing makes for a NamedTuple says nothing of the module in which its types are known.
        warnings.filterwarnings("ignore", r"Error parsing type annotation ForwardRef\(.*\) for [\w.]+\.__init__")
        pdoc.pdoc("spamnb", *ALSO, output_directory=folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    build(parser.parse_args().folder)
