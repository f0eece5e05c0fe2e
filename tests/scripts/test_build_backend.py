"""scripts/build_backend.py: a checkout that pip installed from can be imported, too; a build needs no home."""

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest

FILE = Path(__file__).parents[2] / "scripts" / "build_backend.py"


@pytest.fixture
def backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the module with another setuptools, whose wheel has two files, in a checkout of these files."""

    def build_wheel(folder: str, *args: object) -> str:
        with ZipFile(Path(folder, "spamnb.whl"), "w") as wheel:
            wheel.writestr("spamnb/core/_core.abi3.so", "new")
            wheel.writestr("spamnb/core/library.py", "no part of this")
        return "spamnb.whl"

    setuptools, build_meta = ModuleType("setuptools"), ModuleType("setuptools.build_meta")
    setuptools.build_meta, build_meta.build_wheel = build_meta, build_wheel
    monkeypatch.setitem(sys.modules, "setuptools", setuptools)
    monkeypatch.setitem(sys.modules, "setuptools.build_meta", build_meta)
    monkeypatch.syspath_prepend(FILE.parent)
    spec = importlib.util.spec_from_file_location("build_backend", FILE)
    backend = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(backend)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "environ", {"CC": "cc"})
    (tmp_path / "spamnb/core").mkdir(parents=True)
    (tmp_path / "built").mkdir()
    return backend


def test_a_wheel_leaves_its_compiled_part_in_the_checkout(backend: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "spamnb/core/_core.abi3.so").write_text("old")
    loaded = open(tmp_path / "spamnb/core/_core.abi3.so", encoding="utf-8")  # noqa: SIM115
    assert backend.build_wheel("built") == "spamnb.whl"
    assert [file.name for file in (tmp_path / "spamnb/core").iterdir()] == ["_core.abi3.so"]
    assert (tmp_path / "spamnb/core/_core.abi3.so").read_text() == "new"
    with loaded:
        assert loaded.read() == "old", "a program that runs keeps its file"


def test_without_a_compiler_nothing_is_written_to_the_home(
    backend: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend.shutil, "which", lambda name: None)
    backend.build_wheel("built")
    assert "ziglang" in os.environ["CC"]
    assert Path(os.environ["ZIG_GLOBAL_CACHE_DIR"]).is_relative_to(tmp_path)


@pytest.mark.parametrize("hook", ["get_requires_for_build_wheel", "get_requires_for_build_editable"])
def test_a_build_without_headers_says_in_one_line_what_to_install(
    backend: ModuleType, hook: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend.sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(SystemExit, match=r"^spamnb: .*apt install python3-dev"):
        getattr(backend, hook)()


def test_a_source_distribution_has_all_files_of_the_checkout() -> None:
    """Without conftest.py its tests would write to the files of the person who runs them."""
    root = FILE.parents[1]
    included = {*(root / "MANIFEST.in").read_text().split(), "README.md"}  # setuptools adds README.md
    files = [*root.glob("*.md"), *root.glob("*.py")]
    assert {path.name for path in files} <= included
