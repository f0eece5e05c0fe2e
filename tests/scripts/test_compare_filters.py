"""The comparison of filters: on mail so easy that every filter must get it right, and where a filter is missing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mail import folders, mail

SCRIPT = Path(__file__).parents[2] / "scripts" / "compare_filters.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folders(tmp_path_factory.mktemp("mail"), mail(60))


def run(folder: Path, *options: str, path: str | None = None) -> tuple[str, list[dict]]:
    out = folder.parent / "figures.json"
    command = [sys.executable, str(SCRIPT), "--corpus", str(folder), "--json", str(out), *options]
    environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[1]), **({"PATH": path} if path else {})}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(out.read_text())


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["split", "online"])
def test_every_filter_tells_easy_mail_apart(folder: Path, protocol: str) -> None:
    out, rows = run(folder, "--protocol", protocol, "--filters", "spamnb,bogofilter,logistic, raw")
    assert f"{protocol}: 60 ham, 60 spam" in out
    names = {row["filter"] for row in rows}
    assert names >= {"spamnb", "scikit-learn logistic, raw"}
    assert ("bogofilter" in names) == (shutil.which("bogofilter") is not None)
    for row in rows:
        assert row["one_minus_roca"] < (0.5 if protocol == "split" else 25), row
        assert row["peak_mb"] > 2 and row["train_seconds"] > 0
        assert 0 <= row["hm"] <= 20 or protocol == "online", row
    assert all(row["filter"] in out for row in rows)


def test_what_is_lacking_to_read_a_corpus_is_one_line(tmp_path: Path) -> None:
    for named in ("", str(tmp_path)):
        environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[1]), "SPAMNB_CORPORA": named}
        command = [sys.executable, str(SCRIPT), "--corpus", "spamassassin"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert (done.returncode, done.stdout) == (1, "") and done.stderr.count("\n") == 1
        assert "SPAMNB_CORPORA" in done.stderr and "corpora/README.md" in done.stderr
        assert ("is not set" if not named else f"{tmp_path}/spamassassin/easy_ham: no such file") in done.stderr


def test_what_is_not_installed_is_named(folder: Path, tmp_path: Path) -> None:
    out, rows = run(folder, "--filters", "bogofilter,crm114,SpamAssassin", path=str(tmp_path))
    assert rows == []
    for said in ("bogofilter: bogofilter not installed", "crm114: crm not installed", "perl, sa-learn not installed"):
        assert said in out
