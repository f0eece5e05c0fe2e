"""Checks which packages import which, as ARCHITECTURE.md says: prints each breach, and ends with 1 if there is one.

    python scripts/check_architecture.py

A package imports only its ``NEIGHBOURS`` and the modules of ``EVERYWHERE``. No package uses another's private names.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "spamnb"

# A module that lies flat in spamnb/ is a package by itself.
EVERYWHERE = {"errors", "settings", "shown_text", "class_names"}
NEIGHBOURS: dict[str, set[str]] = {
    name: set(neighbours.split())
    for name, neighbours in {
        "errors": "",
        "settings": "",
        "shown_text": "",
        "class_names": "",
        "configuration": "",
        "core": "",
        "sources": "configuration",
        "reader": "core",
        "model": "core reader sources",
        "estimators": "model",
        "store": "core model reader sources",
        "training": "core model reader store",
        "filter": "model reader sources store",
        "address_books": "store",
        "people": "address_books configuration model reader",
        "mail_result": "filter model people reader",
        "user_models": "filter store",
        "ledger": "filter model reader store",
        "engines": "filter model reader sources",
        "evaluation": "core engines filter model reader sources training",
        "report": "estimators evaluation model reader",
        "mailbox": "filter ledger mail_result model people reader sources store",
        "api": "engines estimators evaluation filter ledger mail_result mailbox model people reader report sources"
        " store training user_models",
        "serve": "filter ledger mail_result model reader store user_models",
        "review": "api filter ledger mailbox model reader serve sources user_models",
        "cli": "api configuration engines evaluation filter ledger mail_result mailbox model people reader report"
        " review serve sources store training user_models",
    }.items()
}
ENTRANCES = {"__init__", "__main__"}  # they re-export
NAMED_TUPLE = {"_replace", "_fields", "_asdict"}  # public, whatever they begin with
IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+spamnb(?:\.(\w+))?[\w.]*(?:[ \t]+import[ \t]+(\w+))?", re.M)


def package_of(path: Path) -> str:
    """Return the package of a file, or the module's own name if it lies flat in spamnb/."""
    return path.relative_to(PACKAGE).parts[0].partition(".")[0]


def may_import(package: str, other: str) -> bool:
    """Return whether ``package`` may import ``other``."""
    return package == other or package in ENTRANCES or other in EVERYWHERE | NEIGHBOURS.get(package, set())


def unlisted_imports(files: list[Path]) -> Iterator[str]:
    """Yield the imports of packages that are no neighbours."""
    for path in files:
        for first, name in IMPORT.findall(path.read_text()):
            other = first or name  # "from spamnb import errors" names a package too; other names are public ones
            if other in NEIGHBOURS and not may_import(package_of(path), other):
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
    TopologicalSorter(NEIGHBOURS).prepare()  # raises CycleError if packages import one another in a circle
    files = sorted(PACKAGE.rglob("*.py"))
    unlisted = sorted({package_of(path) for path in files} - NEIGHBOURS.keys() - ENTRANCES)
    breaches = [f"{name} has no neighbours in this script" for name in unlisted]
    breaches += [*unlisted_imports(files), *private_across_packages(files)]
    print("\n".join(breaches) or f"{len(files)} files: imports are those of ARCHITECTURE.md")
    sys.exit(bool(breaches))
