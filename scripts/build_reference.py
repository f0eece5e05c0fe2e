"""Build the reference of the Python interface, a folder of HTML pages, from the docstrings.

    python scripts/build_reference.py FOLDER

Warnings of pdoc, such as an unknown name, are errors.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pdoc

import spamnb

# Modules with base classes of the public names, and with the types that they return.
RELATED_MODULES = (
    "spamnb.estimators.base",
    "spamnb.estimators.generative",
    "spamnb.estimators.discrete",
    "spamnb.estimators.gaussian",
    "spamnb.reader.message",
    "spamnb.model.top_words",
    "spamnb.training",
    "spamnb.evaluation.figures",
    "spamnb.evaluation.result",
    "spamnb.api.arguments",
)


class ArrayLike:
    """A name for numpy's type of this name, which pdoc writes out as a union of a dozen types."""

    __module__ = "numpy.typing"


def build(folder: Path) -> None:
    """Write the pages to ``folder``."""
    for name in spamnb.__all__:  # pdoc lists the names that are loaded already
        setattr(spamnb, name, getattr(spamnb, name))
    for module in [module for name, module in sys.modules.items() if name.startswith("spamnb.")]:
        if hasattr(module, "ArrayLike"):
            module.ArrayLike = ArrayLike  # pdoc evaluates annotations with the names of the module
    pdoc.render.configure(
        docformat="numpy",
        show_source=False,
        template_directory=Path(__file__).parent / "reference",
        footer_text=f"spamnb {spamnb.__version__}",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # typing does not name the module of the types in the constructor of a NamedTuple.
        warnings.filterwarnings("ignore", r"Error parsing type annotation ForwardRef\(.*\) for [\w.]+\.__init__")
        pdoc.pdoc("spamnb", *RELATED_MODULES, output_directory=folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    build(parser.parse_args().folder)
