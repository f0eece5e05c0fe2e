"""How the package is built: prints the figures that ARCHITECTURE.md promises and ends with 1 where one is not kept.

    python scripts/check_architecture.py [--files] [PACKAGE]

Rooms are the package's folders. A room imports only rooms that stand before it in ``ROOMS``; the wings at the end
import the whole spine, and other wings only where ``WINGS`` says so. ``--files`` lists the files that a message runs
through, by the compiled kernel where it is built. PACKAGE is the folder of another checkout's package, to compare with.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parents[1]

# From left to right. Files that lie flat in the package stand among the rooms under their own names.
ROOMS = (
    "errors naming formulas estimators sources message tokens reader settings counts learners store judgement training"
    " classifier journal"
).split()
WINGS = {
    "engines": [],
    "evaluation": ["engines"],
    "report": ["evaluation"],
    "api": ["engines", "evaluation", "report"],
    "library": ["engines", "evaluation", "api"],
    "serve": [],
    "review": ["serve"],
    "cli": ["engines", "evaluation", "report", "api", "library", "serve", "review"],
}
ENTRANCES = {"__init__", "__main__"}  # they import what they hand on
NAMED_TUPLE = {"_replace", "_fields", "_asdict"}  # public, whatever they begin with
# What compiled files import: whole lines, since Python's own parser does not read Cython.
COMPILED_IMPORT = re.compile(r"^[ \t]*(?:from|cimport|import)[ \t]+spamnb\.([\w.]+)", re.MULTILINE)
COMPILED = ("*.pyx", "*.pxi", "*.pxd")
# A letter crossed 36 files once: whoever follows it reads 25 now, and it shall not become more.
# Message, Reader, Vocabulary and parse stand in the reader that is used and in the one that takes its place.
MAX_TWICE = 4
MAX_FLAT, MAX_LINES, MAX_FILES_OF_A_LETTER = 8, 300, 25

# Runs a command of spamnb and writes the package's files in which a function was called.
TRACER = """
import os, sys
import spamnb
root, called = os.path.dirname(spamnb.__file__) + os.sep, set()
def on_event(frame, event, argument):
    code = frame.f_code
    if code.co_filename.startswith(root) and code.co_flags & 2 and code.co_name[0] != '<':
        # a function: no module's or class's body, and no comprehension in one
        called.add(code.co_filename[len(root):])
sys.setprofile(on_event)
from spamnb.cli import cli
try:
    cli(sys.argv[2:], prog_name="spamnb")
except SystemExit as end:
    status = end.code
finally:
    sys.setprofile(None)
open(sys.argv[1], "w").write("\\n".join(sorted(called)))
sys.exit(status)
"""

LETTER = b"From: a@example.org\nTo: b@example.org\nSubject: minutes\n\nThe minutes of the meeting are below.\n"
HTML = (
    b"From: a@example.org\nSubject: offer\nMIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n\n"
    b"<html><body><p style='color:#fff'>Buy <b>now</b></p><a href='http://example.org/'>here</a></body></html>\n"
)


class Source(NamedTuple):
    """A file of the package: its name among the modules, its room and its syntax tree."""

    name: str
    room: str
    path: Path
    tree: ast.Module


def sources(package: Path) -> dict[str, Source]:
    """The package's modules by dotted name, without the package's own."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = list(path.relative_to(package).with_suffix("").parts)
        if parts[-1] == "__init__" and len(parts) > 1:
            parts.pop()
        name = ".".join(parts)
        found[name] = Source(name, parts[0], path, ast.parse(path.read_text()))
    return found


def imports(source: Source, modules: dict[str, Source]) -> Iterator[tuple[str, str | None]]:
    """(module, name) of what a file imports from the package."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "spamnb":
            base = node.module.partition(".")[2]
            for alias in node.names:
                inner = f"{base}.{alias.name}".lstrip(".")
                yield (inner, None) if inner in modules else (base, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("spamnb."):
                    yield alias.name.partition(".")[2], None


def may_import(room: str, other: str) -> bool:
    """Does ``other`` stand before ``room``?"""
    if room == other or room in ENTRANCES or other in ENTRANCES or not other:
        return True
    if room in WINGS:
        return other in ROOMS or other in WINGS[room]
    return room in ROOMS and other in ROOMS[: ROOMS.index(room)]


def compiled_imports(package: Path) -> Iterator[tuple[Path, str]]:
    """(file, module) of what the compiled files import from the package."""
    for kind in COMPILED:
        for path in sorted(package.rglob(kind)):
            for module in COMPILED_IMPORT.findall(path.read_text()):
                yield path.relative_to(package), module


def against_the_order(modules: dict[str, Source], package: Path) -> list[str]:
    """Imports of a room that does not stand before the one that imports."""
    found = {
        f"{source.name} imports {module}"
        for source in modules.values()
        for module, _ in imports(source, modules)
        if not may_import(source.room, module.split(".")[0])
    }
    found |= {
        f"{path} imports {module}"
        for path, module in compiled_imports(package)
        if not may_import(path.parts[0].partition(".")[0], module.split(".")[0])
    }
    return sorted(found)


def private_across_rooms(modules: dict[str, Source]) -> list[str]:
    """Names with one underscore in front that another room defines: imported, or asked of a module or an object."""
    own: dict[str, set[str]] = defaultdict(set)  # room → private names that it defines
    for source in modules.values():
        for node in ast.walk(source.tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                own[source.room].add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                own[source.room].add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                own[source.room].add(node.attr)
    elsewhere = {name for names in own.values() for name in names}
    found = set()
    for source in modules.values():
        names = {name for _, name in imports(source, modules) if name}
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Attribute):
                inner = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
                if not inner:
                    names.add(node.attr)
        for name in names:
            private = name.startswith("_") and not name.startswith("__") and name not in NAMED_TUPLE
            if private and name in elsewhere and name not in own[source.room]:
                found.add(f"{source.name} uses {name}")
    return sorted(found)


def defined_twice(modules: dict[str, Source]) -> list[str]:
    """Public classes and functions of one name in several files; methods do not count."""
    places = defaultdict(list)
    for source in modules.values():
        for node in source.tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                places[node.name].append(source.name)
    return sorted(f"{name}: {', '.join(where)}" for name, where in places.items() if len(where) > 1)


def too_long(package: Path) -> list[str]:
    """Files of more than MAX_LINES lines, compiled ones too."""
    found = [path for kind in ("*.py", *COMPILED) for path in package.rglob(kind)]
    lengths = {path.relative_to(package): len(path.read_text().splitlines()) for path in sorted(found)}
    return [f"{path}: {n} lines" for path, n in lengths.items() if n > MAX_LINES]


def run_through(package: Path) -> dict[str, list[str]]:
    """The package's files in which a function runs, of one command each."""
    with tempfile.TemporaryDirectory(prefix="spamnb-architecture-") as name:
        folder = Path(name)
        model, listing = str(folder / "model.spamnb"), folder / "files"
        (folder / "letter").write_bytes(LETTER)
        (folder / "page").write_bytes(HTML)
        commands = {
            "train": ["train", "-m", model, str(HERE / "corpora" / "mail")],
            "classify a plain letter": ["classify", "-m", model, str(folder / "letter")],
            "classify an HTML message": ["classify", "-m", model, str(folder / "page")],
        }
        found = {}
        for name, words in commands.items():
            environment = {**os.environ, "PYTHONPATH": str(package.parent), "OPENBLAS_NUM_THREADS": "1"}
            subprocess.run(
                [sys.executable, "-c", TRACER, str(listing), *words],
                env=environment,
                check=True,
                stdout=subprocess.DEVNULL,
            )
            found[name] = listing.read_text().split("\n")
        return found


def main() -> None:
    """Print the figures; exit status 1 where one of them is beyond its limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", nargs="?", type=Path, default=HERE / "spamnb", help="the package's folder")
    parser.add_argument("--files", action="store_true", help="list the files that a message runs through")
    options = parser.parse_args()
    package = options.package.resolve()
    modules = sources(package)
    broken = False

    def tell(what: str, found: list[str], most: int = 0) -> None:
        nonlocal broken
        broken |= len(found) > most
        print(f"{len(found):4}  {what} (at most {most})")
        if len(found) > most:
            print("".join(f"        {line}\n" for line in found), end="")

    tell("files flat in the package", [path.name for path in sorted(package.glob("*.py"))], MAX_FLAT)
    tell("imports against the order of the rooms", against_the_order(modules, package))
    tell("private names used across rooms", private_across_rooms(modules))
    tell("public classes or functions defined twice", defined_twice(modules), MAX_TWICE)
    tell(f"files over {MAX_LINES} lines", too_long(package))
    for command, files in run_through(package).items():
        if "letter" in command:
            tell(f"files run through by: {command}", files, MAX_FILES_OF_A_LETTER)
        else:
            print(f"{len(files):4}  files run through by: {command}")
        if options.files:
            print("".join(f"        {line}\n" for line in files), end="")
    sys.exit(broken)


if __name__ == "__main__":
    main()
