"""Links lead somewhere, and ARCHITECTURE.md names the packages and files that are there."""

import re
import runpy
from pathlib import Path

import pytest
from documents import COMMAND, DOCUMENTS, ROOT, anchors, blocks

ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text()
KINDS = (".py", ".c", ".h", ".html", ".css")


def named_paths() -> set[str]:
    """Yield the files and folders that ARCHITECTURE.md names."""
    words = re.findall(r"`([\w./-]+)`", ARCHITECTURE)
    return {word for word in words if "/" in word.strip("/") or word.endswith((*KINDS, ".toml", ".md", "/"))}


def exists(name: str) -> bool:
    """Relative to the repository or the package; a bare name in any of the package's folders."""
    package = ROOT / "spamnb"
    return any((base / name).exists() for base in (ROOT, package, *package.glob("*/")))


def test_every_path_in_the_architecture_exists() -> None:
    assert not {name for name in named_paths() if "NAME" not in name and not exists(name)}


def test_the_architecture_names_every_package_in_the_order_that_is_checked() -> None:
    checker = runpy.run_path(str(ROOT / "scripts" / "check_architecture.py"))
    folders = {child.name for child in (ROOT / "spamnb").iterdir() if (child / "__init__.py").exists()}
    packages = [name for name in checker["NEIGHBOURS"] if name not in checker["EVERYWHERE"]]
    known = [name for name in packages if name in folders]
    assert folders == set(known)
    assert re.findall(r"^\| `spamnb/(\w+)/`", ARCHITECTURE, re.MULTILINE) == known
    assert " ".join(packages) in " ".join(ARCHITECTURE.split())


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        other = (path.parent / name).resolve() if name else path
        assert other.exists(), f"{target} leads nowhere"
        assert not anchor or anchor in anchors(other.read_text()), f"{target}: no such heading"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_indented_command_line_is_code(path: Path) -> None:
    """Below an item of a list Markdown shows it as a paragraph of the item."""
    text = path.read_text()
    code = {line for block in blocks(text) for line in block.lines}
    commands = [line[4:] for line in text.splitlines() if line.startswith("    ") and COMMAND.fullmatch(line[4:])]
    assert set(commands) <= code


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
            if path.suffix in KINDS:
                text = path.read_text()
                named |= {(anchor, path.name) for anchor in re.findall(r"docs/experiments\.md#([\w-]+)", text)}
    assert {anchor for anchor, _ in named} <= known, sorted(pair for pair in named if pair[0] not in known)
    assert len(named) > 10, "the comments that name experiments are not found"
