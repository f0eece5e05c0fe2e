"""Checks the order of imports that ARCHITECTURE.md states: prints each breach, and ends with 1 if there is one.

    python scripts/check_architecture.py

A layer imports only the layers before it in ``LAYERS``. An application imports all layers, and the applications that
``APPLICATIONS`` allows. No package uses another's private names.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "spamnb"

# From bottom to top. A module that lies flat in spamnb/ is a layer by itself.
LAYERS = (
    "errors settings core class_names shown_text sources reader formulas estimators counts store"
    " learners classification training classifier people mail_result journal"
).split()
APPLICATIONS = {
    "engines": [],
    "evaluation": ["engines"],
    "report": ["evaluation"],
    "api": ["engines", "evaluation", "report"],
    "serve": [],
    "mailbox": [],
    "review": ["api", "serve", "mailbox"],
    "cli": ["engines", "evaluation", "report", "api", "serve", "mailbox", "review"],
}
ENTRANCES = {"__init__", "__main__"}  # they re-export
NAMED_TUPLE = {"_replace", "_fields", "_asdict"}  # public, whatever they begin with
IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+spamnb(?:\.(\w+))?[\w.]*(?:[ \t]+import[ \t]+(\w+))?", re.M)


def package_of(path: Path) -> str:
    """Return the package of a file, or the module's own name if it lies flat in spamnb/."""
    return path.relative_to(PACKAGE).parts[0].partition(".")[0]


def may_import(package: str, other: str) -> bool:
    """Return whether ``package`` may import ``other``."""
    if package == other or package in ENTRANCES:
        return True
    if package in APPLICATIONS:
        return other in LAYERS or other in APPLICATIONS[package]
    return package in LAYERS and other in LAYERS[: LAYERS.index(package)]


def against_the_order(files: list[Path]) -> Iterator[str]:
    """Yield the imports that the order does not allow."""
    for path in files:
        for first, name in IMPORT.findall(path.read_text()):
            other = first or name  # "from spamnb import errors" names a layer too; other names are public ones
            known = other in LAYERS or other in APPLICATIONS
            if known and not may_import(package_of(path), other):
                yield f"{path.relative_to(PACKAGE)} imports {other}"


def private_across_packages(files: list[Path]) -> Iterator[str]:
    """Yield imports and attributes with one leading underscore that only another package defines."""
    trees = {path: ast.parse(path.read_text()) for path in files}
    defined: dict[str, set[str]] = {}
    for path, tree in trees.items():
        own = defined.setdefault(package_of(path), set())
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                own.add(node.name)
            elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
                own.add(node.id if isinstance(node, ast.Name) else node.attr)
    elsewhere = set().union(*defined.values())
    for path, tree in trees.items():
        used = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and not (isinstance(node.value, ast.Name) and node.value.id == "self"):
                used.add(node.attr)
        for name in sorted((used & elsewhere) - defined[package_of(path)] - NAMED_TUPLE):
            if name.startswith("_") and not name.startswith("__"):
                yield f"{path.relative_to(PACKAGE)} uses {name}"


if __name__ == "__main__":
    files = sorted(PACKAGE.rglob("*.py"))
    breaches = [*against_the_order(files), *private_across_packages(files)]
    print("\n".join(breaches) or f"{len(files)} files: imports follow the order of ARCHITECTURE.md")
    sys.exit(bool(breaches))
