"""Check what ARCHITECTURE.md promises: prints each breach and ends with 1 where there is one.

    python scripts/check_architecture.py

Rooms are the package's folders. A room imports only rooms that stand before it in ``ROOMS``; the wings at the end
import the whole spine, and other wings only where ``WINGS`` says so. No room uses another's private names.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "spamnb"

# From left to right. Files that lie flat in the package stand among the rooms under their own names.
ROOMS = (
    "errors naming setting_fields sources reader formulas estimators settings counts learners store judgement training"
    " classifier journal"
).split()
WINGS = {
    "engines": [],
    "evaluation": ["engines"],
    "report": ["evaluation"],
    "api": ["engines", "evaluation", "report"],
    "library": ["engines", "evaluation", "api"],
    "serve": [],
    "mailbox": ["serve"],
    "review": ["serve", "mailbox"],
    "cli": ["engines", "evaluation", "report", "api", "library", "serve", "mailbox", "review"],
}
ENTRANCES = {"__init__", "__main__"}  # they import what they hand on
COMPILED = {"_core"}  # what several rooms use of the one compiled module
NAMED_TUPLE = {"_replace", "_fields", "_asdict"}  # public, whatever they begin with
# Whole lines: Python's own parser does not read Cython, nor what ``cimport`` takes.
IMPORT = re.compile(r"^[ \t]*(?:from|cimport|import)[ \t]+spamnb(?:\.(\w+))?[\w.]*(?:[ \t]+c?import[ \t]+(\w+))?", re.M)


def room_of(path: Path) -> str:
    """The room in which a file lies, or its own name where it lies flat in the package."""
    return path.relative_to(PACKAGE).parts[0].partition(".")[0]


def may_import(room: str, other: str) -> bool:
    """Does ``other`` stand before ``room``?"""
    if room == other or room in ENTRANCES:
        return True
    if room in WINGS:
        return other in ROOMS or other in WINGS[room]
    return room in ROOMS and other in ROOMS[: ROOMS.index(room)]


def against_the_order(files: list[Path]) -> Iterator[str]:
    """Imports of a room that does not stand before the one that imports."""
    for path in files:
        for first, name in IMPORT.findall(path.read_text()):
            other = first or name  # "from spamnb import errors" names a room too; other names are public ones
            known = other in ROOMS or other in WINGS
            if known and not may_import(room_of(path), other):
                yield f"{path.relative_to(PACKAGE)} imports {other}"


def private_across_rooms(files: list[Path]) -> Iterator[str]:
    """Names with one underscore in front that only another room defines: imported, or asked of an object."""
    trees = {path: ast.parse(path.read_text()) for path in files if path.suffix == ".py"}
    defined: dict[str, set[str]] = {}
    for path, tree in trees.items():
        own = defined.setdefault(room_of(path), set())
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
        for name in sorted((used & elsewhere) - defined[room_of(path)] - NAMED_TUPLE - COMPILED):
            if name.startswith("_") and not name.startswith("__"):
                yield f"{path.relative_to(PACKAGE)} uses {name}"


if __name__ == "__main__":
    files = [path for kind in ("*.py", "*.pyx", "*.pxd") for path in sorted(PACKAGE.rglob(kind))]
    breaches = [*against_the_order(files), *private_across_rooms(files)]
    print("\n".join(breaches) or f"{len(files)} files keep to the order of the rooms")
    sys.exit(bool(breaches))
