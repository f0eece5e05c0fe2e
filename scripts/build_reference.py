"""Build the reference of the Python interface, a folder of HTML pages, from the docstrings, and the course beside it.

    python scripts/build_reference.py FOLDER

Formulas are MathML (formulas.py), so the pages need no network. course.html is docs/generative-models.md.

Warnings of pdoc, such as an unknown name, are errors.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import markdown2
import pdoc
from formulas import typeset, typeset_columns

import spamnb

DOCS = Path(__file__).resolve().parents[1] / "docs"

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
    for function in (spamnb.train, spamnb.evaluate):  # pdoc writes Unpack[…] as <class '…'>
        function.__annotations__["settings"] = "object"
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
    for page in folder.rglob("*.html"):
        page.write_text(typeset(page.read_text(encoding="utf-8")), encoding="utf-8")
    build_course(folder)


def build_course(folder: Path) -> None:
    """Write docs/generative-models.md as a page with its pictures. Cells of columns with formulas are typeset whole."""
    text = (DOCS / "generative-models.md").read_text(encoding="utf-8")
    text = re.sub(r"\]\((?!figures/|#|https?:)[^)]*\)", "](spamnb.html)", text)  # other documents are not here
    # "code-friendly": x_n is not the beginning of an emphasis.
    html = markdown2.markdown(text, extras=["tables", "fenced-code-blocks", "header-ids", "code-friendly"])
    html = re.sub("<table>.*?</table>", lambda match: typeset_columns(match[0]), html, flags=re.DOTALL)
    style = (Path(__file__).parent / "reference" / "course.css").read_text(encoding="utf-8")
    head = f'<!doctype html><meta charset="utf-8"><title>Generative models</title><style>{style}</style>'
    (folder / "course.html").write_text(f"{head}<main>{typeset(html)}</main>", encoding="utf-8")
    shutil.copytree(DOCS / "figures", folder / "figures", dirs_exist_ok=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    build(parser.parse_args().folder)
