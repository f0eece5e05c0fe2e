"""Links lead somewhere, and ARCHITECTURE.md names the files that are there."""

import importlib.util
import re
from pathlib import Path

import pytest
from documents import DOCUMENTS, ROOT, anchors

ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text()
HOSTILE = {"../../outside"}  # a name in an archive, no path of ours
KINDS = (".py", ".pyx", ".pxi", ".html", ".css")  # a .pxd says of its .pyx what others may use, and goes unnamed
def code_files() -> set[str]:
    """The package's files, relative to it, but for the rooms' own ``__init__.py``, which hold a docstring."""
    package = ROOT / "spamnb"
    files = {path for kind in KINDS for path in package.rglob(f"*{kind}")}
    empty = {path for path in files if path.name == "__init__.py" and len(path.read_text().splitlines()) < 40}
    return {str(path.relative_to(package)) for path in files - empty}


def named_files() -> tuple[set[str], set[str]]:
    """The paths that ARCHITECTURE.md names: those that exist, relative to the package where they lie in it, and others.

    Below a heading that names a folder, ``name.py`` is a file of that folder.
    """
    there, missing = set(), set()
    for section in re.split(r"^(?=#)", ARCHITECTURE, flags=re.MULTILINE):
        heading = re.match(r"#+ `(spamnb/\w+)/`", section)
        bases = [ROOT / "spamnb", ROOT, *([ROOT / heading[1]] if heading else [])]
        words = re.findall(r"`([\w./-]+)`", section)
        for word in words:
            if "/" not in word.strip("/") and not word.endswith((*KINDS, ".toml", ".md", "/")):
                continue
            paths = [base / word for base in bases if (base / word).exists()]
            if paths:
                there.add(str(paths[-1].relative_to(ROOT)).removeprefix("spamnb/"))
            else:
                missing.add(word)
    return there, missing


def test_every_path_in_the_architecture_exists() -> None:
    assert named_files()[1] == HOSTILE


def test_every_file_of_the_package_is_in_the_architecture() -> None:
    assert not code_files() - named_files()[0]


def test_every_room_has_a_section_in_the_order_that_is_checked() -> None:
    path = ROOT / "scripts" / "check_architecture.py"
    spec = importlib.util.spec_from_file_location("check_architecture", path)
    assert spec is not None and spec.loader is not None
    checker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checker)
    folders = [name for name in (*checker.ROOMS, *checker.WINGS) if (ROOT / "spamnb" / name).is_dir()]
    assert re.findall(r"^### `spamnb/(\w+)/`", ARCHITECTURE, re.MULTILINE) == folders
    assert f"\n    {' '.join(checker.ROOMS)}\n" in ARCHITECTURE


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        other = (path.parent / name).resolve() if name else path
        assert other.exists(), f"{target} leads nowhere"
        assert not anchor or anchor in anchors(other.read_text()), f"{target}: no such heading"


def test_every_document_can_be_reached_from_the_readme() -> None:
    seen, waiting = set(), [ROOT / "README.md"]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            links = re.findall(r"\]\(([^)#\s:]+\.md)", path.read_text())
            waiting += [(path.parent / link).resolve() for link in links]
    assert {path.resolve() for path in DOCUMENTS} <= seen


def test_every_experiment_that_a_comment_names_has_its_heading() -> None:
    known = anchors((ROOT / "docs" / "experiments.md").read_text())
    named = set()
    for folder in ("spamnb", "scripts"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (*KINDS, ".pxd"):
                text = path.read_text()
                assert not re.search(r"experiments-\w+\.md", text), f"{path}: now docs/experiments.md"
                named |= {(anchor, path.name) for anchor in re.findall(r"docs/experiments\.md#([\w-]+)", text)}
    assert {anchor for anchor, _ in named} <= known, sorted(pair for pair in named if pair[0] not in known)
    assert len(named) > 20, "the comments that name experiments are not found"


def test_no_two_experiments_have_the_same_heading() -> None:
    headings = re.findall(r"^#+ (.*)$", (ROOT / "docs" / "experiments.md").read_text(), re.MULTILINE)
    assert len(headings) == len({heading.lower() for heading in headings})
