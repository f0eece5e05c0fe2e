"""Whoever types what the documents show gets what they say: every command line in them runs, from top to bottom."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from documents import DOCUMENTS, ROOT, blocks, command_lines
from mail import mail, message, write_folders

# Command lines that are not run here, by how they begin, and why. Their options are looked up all the same.
NOT_RUN = {
    "scripts/demo": "makes an environment out of packages from the network; tests/scripts runs it without",
    "scripts/test": "this test is a part of it",
    ".ci/run": "this test is a part of it",
    "pip install": "needs the network; the extras that it names are looked up",
    "spamnb train --dask t": "needs a cluster; tests/engines/test_cluster.py has one",
    "spamnb train --dask /": "needs a cluster; tests/engines/test_cluster.py has one",
    'spamnb train --dask "$file"': "needs Slurm",
    "python scripts/fetch_corpora.py": "needs the network",
    "python scripts/build_commands.py": "writes docs/commands.md; test_reference.py compares it",
    "python scripts/build_reference.py": "tests/api/test_reference.py builds the pages",
    "python scripts/check_architecture.py": "checks the code, not the documents",
    "python scripts/compare_": "needs the public corpora and other filters",
    "python scripts/build_starter.py": "needs the public corpora",
    "python scripts/evaluate_": "needs the public corpora, and minutes",
    "python scripts/benchmark": "needs the public corpora or a quiet machine",
    "python scripts/soak_imap.py": "takes an hour; tests/mailbox does its work",
    "python scripts/soak_server.py": "needs a quiet machine; tests/serve does its work",
    "python scripts/experiment_": "needs the public corpora, and hours",
    "python scripts/reproduce_": "tests/scripts runs them",
}
# Commands that go on until they are told to end, and what they say when they are ready; 'watch' can look once.
UNTIL_TOLD = {"spamnb serve": '"event": "ready"', "spamnb review": "Ctrl-C ends it"}
WATCH = "spamnb watch"


class Place:
    """A home with mail and models of made-up mail, in which the documents' command lines run."""

    def __init__(self, home: Path, corpora: Path) -> None:
        self.home = home
        self.work = home / "work"
        self.work.mkdir()
        for name in ("corpora", "scripts"):
            (self.work / name).symlink_to(ROOT / name)
        (self.work / "20news-bydate").symlink_to(corpora)
        (self.work / "message.eml").write_bytes(message("spam", 1000))
        rows = [f'{label},"{raw.decode().splitlines()[-1]}",,,' for label, raw in mail(40)]
        (self.work / "spam.csv").write_text("\n".join(["v1,v2,,,", *rows]))  # like Kaggle's
        write_folders(home / "mail", mail(60))
        for folder, label in (("Maildir", "ham"), ("Maildir/.Junk", "spam")):
            for part in ("cur", "new", "tmp"):
                (home / folder / part).mkdir(parents=True)
            for path in (home / "mail" / label).iterdir():
                shutil.copy(path, home / folder / "cur" / f"{path.stem}:2,S")
        (home / "Maildir" / "new" / "1").write_bytes(message("spam", 1001))
        programs = home / "bin"
        programs.mkdir()
        for name, words in (("spamnb", ["-m", "spamnb"]), ("python", [])):
            program = programs / name
            program.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, *words])} "$@"\n')
            program.chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SPAMNB_", "XDG_"))}
        self.environment = {
            **kept,
            "HOME": str(home),
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "PYTHONIOENCODING": "utf-8",
            "OPENBLAS_NUM_THREADS": "1",
            "COLUMNS": "120",
        }

    def local(self, line: str) -> str:
        """Return the command line with paths outside of a home moved into this home."""
        for folder in ("/var/lib/spamnb", "/run", "/etc/spamnb"):
            (self.home / "root" / folder[1:] / "users").mkdir(parents=True, exist_ok=True)  # of users' models
            line = re.sub(rf"(?<![\w/]){folder}(?=[/\s]|$)", str(self.home / "root" / folder[1:]), line)
        return line

    def run(self, line: str) -> subprocess.CompletedProcess[str]:
        command = ["bash", "-e", "-o", "pipefail", "-c", self.local(line)]
        how = {"cwd": self.work, "env": self.environment, "stdin": subprocess.DEVNULL}
        return subprocess.run(command, capture_output=True, encoding="utf-8", **how)

    def run_until_told_to_end(self, line: str, ready: str) -> tuple[int, str]:
        """Exit status and log of a command line that is sent SIGTERM as soon as its log holds ``ready``."""
        log = self.home / "log"
        words = shlex.split(self.local(line).replace("~", str(self.home)), comments=True)
        with log.open("wb") as output:
            process = subprocess.Popen(
                words, cwd=self.work, env=self.environment, stdout=output, stderr=output, stdin=subprocess.DEVNULL
            )
        try:
            deadline = time.monotonic() + 120
            while ready not in log.read_text() and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
            process.send_signal(signal.SIGTERM)
            return process.wait(120), log.read_text()
        finally:
            process.kill()
            process.wait()


@pytest.fixture(scope="session")
def newsgroups(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy posts of this project under the names that the public corpus of newsgroups has."""
    root = tmp_path_factory.mktemp("20news-bydate")
    (root / "train").mkdir()
    for name, own in (("comp.windows.x", "rec.cycling"), ("comp.os.ms-windows.misc", "rec.gardening")):
        (root / "train" / name).symlink_to(ROOT / "corpora" / "newsgroups" / own)
    return root


@pytest.fixture
def place(newsgroups: Path) -> Iterator[Place]:
    with TemporaryDirectory(prefix="spamnb-docs-") as folder:  # a Unix socket's path holds some 100 characters
        yield Place(Path(folder), newsgroups)


def runs(line: str) -> bool:
    return not line.startswith(tuple(NOT_RUN)) and not of_account(line)


def of_account(line: str) -> bool:
    """Return whether a command line needs an account; tests/mailbox runs these against a real server."""
    return line.startswith("spamnb ") and "imaps://" in line


def check_output(shown: list[str], printed: str) -> None:
    """Is what a document shows what was printed? A line with ``…`` alone stands for all further ones."""
    lines = printed.splitlines()
    for number, line in enumerate(shown):
        if line.strip() == "…":
            assert len(lines) > number, "the output ends before the dots"
            return
        assert lines[number : number + 1] == [line]
    assert len(lines) == len(shown)


def documents(holding: str = "") -> list[Any]:
    paths = [path for path in DOCUMENTS if holding in path.read_text()]
    slow = {path: () if path.name == "README.md" and path.parent == ROOT else pytest.mark.slow for path in paths}
    return [pytest.param(path, id=str(path.relative_to(ROOT)), marks=slow[path]) for path in paths]


@pytest.mark.parametrize("path", documents())
def test_every_command_line_of_a_document_runs_from_top_to_bottom(path: Path, place: Place) -> None:
    for line in filter(lambda line: runs(line.text), command_lines(path.read_text())):
        text = line.text
        if ready := next((said for start, said in UNTIL_TOLD.items() if text.startswith(start)), ""):
            text, _, _ = text.partition("#")
            port = "" if "--socket" in text else " --port 0"  # 783 needs root, and any may be taken
            status, log = place.run_until_told_to_end(text + port, ready)
            assert status in (0, -signal.SIGTERM) and ready in log, f"{text}\n{log}"
            continue
        if text.startswith(WATCH) and "--once" not in text.partition("#")[0]:
            text = text.replace(WATCH, f"{WATCH} --once", 1)
        done = place.run(text)
        fine = {0, 1} if "--exit-code" in text else {0}  # there 1 is a verdict
        assert done.returncode in fine, f"{line.text}\n{done.stdout}{done.stderr}"
        if line.output:
            check_output(line.output, done.stdout)


@pytest.mark.parametrize("path", documents("```python"))
def test_the_python_of_a_document_runs_from_top_to_bottom(path: Path, place: Place) -> None:
    assert place.run("spamnb train -m model.spamnb ~/mail").returncode == 0
    code = [line for block in blocks(path.read_text()) if block.language == "python" for line in block.lines]
    (place.work / "example.py").write_text("\n".join(code))
    done = place.run("python example.py")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_words_report_shown_is_that_of_the_newsgroups(corpora: Path, place: Place) -> None:
    (place.work / "20news-bydate").unlink()
    (place.work / "20news-bydate").symlink_to(corpora.resolve() / "20news-bydate")
    train, words, _, *table = blocks((ROOT / "docs" / "words-report.md").read_text())[0].lines
    assert place.run(train).returncode == 0
    check_output(table, "\n".join(line.rstrip() for line in place.run(words).stdout.splitlines()))


def test_what_is_not_run_is_shown_and_its_script_or_extra_exists() -> None:
    lines = [line.text for path in DOCUMENTS for line in command_lines(path.read_text())]
    for start in NOT_RUN:
        assert any(line.startswith(start) for line in lines), f"no document shows {start}: it need not be an exception"
    extras = (ROOT / "pyproject.toml").read_text().partition("[project.optional-dependencies]")[2]
    for line in filter(lambda line: not runs(line) and not line.startswith("spamnb"), lines):
        words = shlex.split(line, comments=True)
        names = [name for extra in re.findall(r"\[(.*)\]", line) for name in extra.split(",")]
        assert all(re.search(rf"^{name} = ", extras, re.MULTILINE) for name in names), line
        assert words[0] == "pip" or (ROOT / words[words[0] == "python"]).is_file(), line
