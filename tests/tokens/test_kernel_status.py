"""vectorizer.py tells whether messages are read by compiled modules, and whether those are of other source."""

import os
import tomllib
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from pathlib import Path

import pytest

from spamnb.tokens import vectorizer


def test_every_compiled_module_is_looked_at() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    built = {module["name"] for module in project["tool"]["setuptools"]["ext-modules"]}
    named = {f"spamnb.{room}.{name}" for room, names in vectorizer.COMPILED.items() for name in names}
    assert built == named | {"spamnb.reader._core"}  # which has no .py beside it, and cannot be left out


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for room, names in vectorizer.COMPILED.items():
        (tmp_path / room).mkdir()
        for name in names:
            for suffix in (".py", ".pxd", EXTENSION_SUFFIXES[0]):
                file = tmp_path / room / (name + suffix)
                file.touch()
                os.utime(file, (1e9, 1e9))
    monkeypatch.setattr(vectorizer, "__file__", str(tmp_path / "tokens" / "vectorizer.py"))

    def find(name: str) -> ModuleSpec:
        built = tmp_path.joinpath(*name.split(".")[1:]).with_suffix(EXTENSION_SUFFIXES[0])
        return ModuleSpec(name, None, origin=str(built if built.exists() else built.with_suffix(".py")))

    monkeypatch.setattr(vectorizer, "find_spec", find)
    return tmp_path


def test_what_is_compiled_is_told(package: Path) -> None:
    assert vectorizer.kernel_status() == "compiled"


@pytest.mark.parametrize("source", ["message/html.py", "tokens/groups.pxd"])
def test_what_was_compiled_of_other_source_is_told(package: Path, source: str) -> None:
    os.utime(package / source, (1e9 + 9, 1e9 + 9))  # as an installer may leave it
    assert vectorizer.kernel_status() == "compiled"
    os.utime(package / source, (1e9 + 60, 1e9 + 60))
    assert vectorizer.kernel_status().startswith(f"stale: {Path(source).name} of spamnb/{Path(source).parent} is newer")


def test_what_is_not_compiled_is_told(package: Path) -> None:
    (package / "tokens" / f"groups{EXTENSION_SUFFIXES[0]}").unlink()
    assert vectorizer.kernel_status().startswith("not compiled: spamnb.tokens.groups; ")
