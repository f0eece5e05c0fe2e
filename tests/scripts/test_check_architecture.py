"""check_architecture.py finds what is against the rules, and nothing in a package that keeps them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_architecture.py"


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_architecture", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check = script()


def package(folder: Path, files: dict[str, str]) -> tuple[Path, dict[str, Any]]:
    """A package of these files, and its modules."""
    root = folder / "spamnb"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root, check.sources(root)


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("formulas/a.py", "from spamnb.store.b import c\n", "formulas.a imports store.b"),
        ("formulas/a.py", "def f():\n    import spamnb.store.b\n", "formulas.a imports store.b"),
        ("tokens/a.pyx", "from spamnb.store.b cimport c\n", "tokens/a.pyx imports store.b"),
        ("tokens/a.pxd", "cimport spamnb.cli.b as b\n", "tokens/a.pxd imports cli.b"),
        ("serve/a.py", "from spamnb.cli.b import c\n", "serve.a imports cli.b"),
    ],
)
def test_imports_of_a_later_room_are_found(tmp_path: Path, name: str, text: str, fault: str) -> None:
    root, modules = package(tmp_path, {name: text, "store/b.py": "c = 1\n", "cli/b.py": "c = 1\n"})
    assert check.against_the_order(modules, root) == [fault]


def test_imports_of_an_earlier_room_are_right(tmp_path: Path) -> None:
    files = {
        "store/a.py": "from spamnb.tokens.b import c\n",
        "tokens/a.pyx": "from spamnb.tokens.b cimport c\n",
        "tokens/b.py": "c = 1\n",
        "cli/a.py": "from spamnb.serve.b import c\nfrom spamnb import __version__\n",
        "serve/b.py": "c = 1\n",
    }
    root, modules = package(tmp_path, files)
    assert check.against_the_order(modules, root) == []


def test_private_names_of_another_room_are_found(tmp_path: Path) -> None:
    files = {
        "store/a.py": "class A:\n    def _own(self):\n        return self._other\n",
        "cli/b.py": "def f(a):\n    return a._own()._replace()\n",
        "store/c.py": "def f(a):\n    return a._own()\n",
    }
    assert check.private_across_rooms(package(tmp_path, files)[1]) == ["cli.b uses _own"]


def test_public_names_of_two_files_are_found(tmp_path: Path) -> None:
    files = {
        "store/a.py": "def twice(): ...\ndef _private(): ...\nclass A:\n    def method(self): ...\n",
        "cli/b.py": "class twice: ...\ndef _private(): ...\ndef method(): ...\n",
    }
    assert check.defined_twice(package(tmp_path, files)[1]) == ["twice: cli.b, store.a"]


def test_long_files_are_found_compiled_ones_too(tmp_path: Path) -> None:
    lines = check.MAX_LINES * "x = 1\n"
    root, _ = package(tmp_path, {"a.py": lines, "b.py": lines + "\n", "tokens/c.pyx": lines + "\n"})
    assert check.too_long(root) == [f"b.py: {check.MAX_LINES + 1} lines", f"tokens/c.pyx: {check.MAX_LINES + 1} lines"]
