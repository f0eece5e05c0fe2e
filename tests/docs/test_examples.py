"""The example of docs/examples runs, and mypy and pyright find nothing in it: the public names have complete types."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from documents import ROOT

EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.py"))
WRONG = '''
import spamnb

spamnb.train("mail", "m", alhpa=1)  # no such setting
spamnb.train("mail", "m", alpha="1")  # no number
spamnb.words("m", top="3")
spamnb.evaluate("mail", split="half")
length: int = spamnb.read("mail")
'''


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "MYPYPATH": str(ROOT)}


def checked(tool: str, folder: Path, file: Path) -> list[str]:
    """The errors that a type checker finds in a file, strict, as a user of the package has it."""
    if tool == "mypy":
        pytest.importorskip("mypy")
        cache = f"--cache-dir={ROOT / '.mypy_cache'}"
        options = ["--strict", "--config-file=", "--follow-imports=silent", cache]
        command = [sys.executable, "-m", "mypy", *options, str(file)]
        ran = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment(), check=False)
        return [line for line in ran.stdout.splitlines() if ": error: " in line]
    pytest.importorskip("basedpyright", reason="pyright as a package that needs no download: it brings its own node")
    configuration = {
        "include": [str(file)],
        "extraPaths": [str(ROOT)],
        "pythonVersion": f"{sys.version_info.major}.{sys.version_info.minor}",
        "typeCheckingMode": "strict",
        "useLibraryCodeForTypes": True,
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(configuration))
    command = [sys.executable, "-m", "basedpyright", "-p", str(folder), "--pythonpath", sys.executable, "--outputjson"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment(), check=False)
    told = json.loads(ran.stdout)
    assert told["summary"]["filesAnalyzed"] == 1
    return [f"{each['range']['start']['line']}: {each['message']}" for each in told["generalDiagnostics"]]


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["mypy", "pyright"])
def test_type_checkers_know_the_public_names(tool: str, tmp_path: Path) -> None:
    for file in EXAMPLES:
        assert checked(tool, tmp_path, file) == []
    (tmp_path / "wrong.py").write_text(WRONG)
    assert len(checked(tool, tmp_path, tmp_path / "wrong.py")) >= 5, "what is wrong is seen"


@pytest.mark.slow
@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_an_example_runs(file: Path, tmp_path: Path) -> None:
    (tmp_path / "corpora").symlink_to(ROOT / "corpora")
    ran = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, cwd=tmp_path, env=environment(), check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "good mail lost: " in ran.stdout and ran.stdout.splitlines()[-1] == "spam"
