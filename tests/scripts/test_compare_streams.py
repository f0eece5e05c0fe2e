"""Streams are arranged as the script says, and every part of one has its figures."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from mail import folders, mail

from spamnb.sources.entries import Entry

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    sys.path.insert(0, str(SCRIPTS))
    try:
        return importlib.import_module("compare_streams")
    finally:
        sys.path.remove(str(SCRIPTS))


def entries(ham: int, spam: int) -> list[Entry]:
    named = [(f"ham{n}", "ham") for n in range(ham)] + [(f"spam{n}", "spam") for n in range(spam)]
    return [Entry(label, name, name) for name, label in named]


def test_a_rare_class_comes_once_after_each_hundred(script: ModuleType) -> None:
    found, start = script.arranged(entries(1050, 30), "rare-spam", draw=0)
    assert start == 0
    assert [place for place, entry in enumerate(found) if entry.label == "spam"] == list(range(100, 1010, 101))
    rare = [int(entry.name[4:]) for entry in found if entry.label == "spam"]
    assert rare == sorted(set(rare))
    assert rare != [int(e.name[4:]) for e in script.arranged(entries(1050, 30), "rare-spam", draw=1)[0][100::101]]


def test_a_late_class_comes_after_a_thousand_and_is_mixed_evenly(script: ModuleType) -> None:
    found, start = script.arranged(entries(1400, 200), "late-spam", draw=0)
    assert (start, len(found)) == (1000, 1600)
    assert all(entry.label == "ham" for entry in found[:1000])
    tail = [entry.label == "spam" for entry in found[1000:]]
    assert {sum(tail[place : place + 60]) for place in range(0, 600, 60)} == {20}
    assert [entry.name for entry in found if entry.label == "spam"] == [f"spam{n}" for n in range(200)]


@pytest.mark.parametrize(
    ("start", "end", "names"),
    [
        (0, 90, ["1–90", "all"]),
        (0, 2500, ["1–100", "101–500", "501–2,000", "2,001–2,500", "all"]),
        (1000, 1300, ["1–100", "101–300", "all"]),
    ],
)
def test_parts_are_counted_from_where_figures_begin(script: ModuleType, start: int, end: int, names: list[str]) -> None:
    parts = script.parts(start, end)
    assert [name for name, _ in parts] == names
    assert [part.start for _, part in parts] == [start, *(part.stop for _, part in parts[:-2]), start]
    assert parts[-1][1] == slice(start, end)


def test_the_table_counts_every_message_once(tmp_path: Path) -> None:
    folder = folders(tmp_path / "mail", mail(30))
    command = [sys.executable, str(SCRIPTS / "compare_streams.py"), "--corpus", str(folder), "--filters", "spamnb"]
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS.parent)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    rows = [line.split("|")[1:-1] for line in done.stdout.splitlines()]
    assert [row[:2] for row in rows[2:]] == [
        [f"spamnb, {decision}", part] for part in ("1–60", "all") for decision in ("default", "p > .5")
    ]
    assert all(row[4].endswith(" of 30") and row[6].endswith(" of 30") for row in rows[2:])
