"""The examples and the notebook run, type checkers find nothing in them, and they say what they find."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from documents import ROOT

EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.py"))
WRONG = """
import spamnb

spamnb.train("mail", "m", workers="1")
spamnb.words("m", top="3")
spamnb.evaluate("mail", split="half")
length: int = spamnb.read("mail")
spamnb.SpamClassifier(alpah=1)
spamnb.MailVectorizer(alpha=1)
spamnb.train("mail", "model.spamnb", alfa=1)
weights: int = spamnb.LogisticRegression().coef_
"""


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "MYPYPATH": str(ROOT)}


def errors_in(file: Path, cache: Path) -> list[str]:
    """Return the errors that mypy, strict, finds in a file of a user of the package.

    Its cache is that of the test, because another mypy may be writing to the one of the checkout.
    """
    pytest.importorskip("mypy")
    options = ["--strict", "--config-file=", "--follow-imports=silent", f"--cache-dir={cache}"]
    command = [sys.executable, "-m", "mypy", *options, str(file)]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment(), check=False)
    return [line for line in ran.stdout.splitlines() if ": error: " in line]


@pytest.mark.slow
def test_type_checkers_know_the_public_names(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for file in EXAMPLES:
        assert errors_in(file, cache) == []
    (tmp_path / "wrong.py").write_text(WRONG)
    assert {int(line.split(":")[1]) for line in errors_in(tmp_path / "wrong.py", cache)} == {4, 5, 6, 7, 8, 9, 10, 11}


@pytest.mark.slow
@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_an_example_runs(file: Path, tmp_path: Path) -> None:
    (tmp_path / "corpora").symlink_to(ROOT / "corpora")
    ran = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, cwd=tmp_path, env=environment(), check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "good mail lost: " in ran.stdout and ran.stdout.splitlines()[-1] == "spam"


def test_the_way_through_generative_models_runs_as_it_stands() -> None:
    page = str(ROOT / "docs" / "generative-models.md")
    failed, run = doctest.testfile(page, module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0 and run > 30


PATH = ROOT / "docs" / "notebook.ipynb"
MAX_BYTES = 600_000


def cells(notebook: Any, kind: str) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == kind]


@pytest.fixture(scope="module")
def notebook() -> Any:
    return pytest.importorskip("nbformat").read(PATH, as_version=4)


def test_every_cell_was_run_in_order_without_errors_or_warnings(notebook: Any) -> None:
    code = cells(notebook, "code")
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    kinds = {(output.output_type, output.get("name")) for cell in code for output in cell.outputs}
    assert kinds <= {("execute_result", None), ("display_data", None), ("stream", "stdout")}


def test_it_is_small_and_names_no_folder_of_whoever_ran_it(notebook: Any) -> None:
    text = PATH.read_text(encoding="utf-8")
    assert len(text.encode()) < MAX_BYTES
    assert "image/svg+xml" not in text, "Jupyter shows no SVG of a notebook that is not trusted"
    assert not [folder for folder in ("/home/", "/tmp/", "/root/", "/work/", "/Users/") if folder in text]


def test_its_links_lead_to_files(notebook: Any) -> None:
    for cell in cells(notebook, "markdown"):
        for target in re.findall(r"\]\(([^)\s:]+)\)", cell.source):
            assert (PATH.parent / target).exists(), target


@pytest.mark.slow
def test_it_runs_and_prints_what_it_holds(notebook: Any) -> None:
    nbclient, _ = pytest.importorskip("nbclient"), pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    before = [outputs_of(cell) for cell in cells(notebook, "code")]
    resources = {"metadata": {"path": str(PATH.parent)}}
    client = nbclient.NotebookClient(notebook, timeout=None, startup_timeout=600, resources=resources)
    client.execute()
    assert [outputs_of(cell) for cell in cells(notebook, "code")] == before


def outputs_of(cell: Any) -> list[str]:
    """Return the texts that a cell prints or returns."""
    found = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    return [text for text in found if " at 0x" not in text]
