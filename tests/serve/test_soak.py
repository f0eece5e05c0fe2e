"""scripts/soak_server.py in short: workers killed while mail flows and is learned, slow clients beside fast ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from served import mail

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[2] / "scripts" / "soak_server.py"


def soak(model: Path, folder: Path, *options: str) -> list[dict]:
    folder.mkdir()
    for seed in range(100):
        (folder / f"{seed}").write_bytes(mail("spam" if seed % 2 else "ham", 40_000 + seed))
    command = [sys.executable, str(SCRIPT), str(model), str(folder), "--connections", "8", *options]
    env = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_workers_killed_under_load_lose_nothing(model, tmp_path):
    load, end = soak(model, tmp_path / "mail", "--teach", "--kill", "1", "--seconds", "6")
    assert load["answered"] > 20 and load["taught"] > 2
    assert load["wrong"] == load["lost"] == 0 and load["cut_off"] <= 60  # 8 connections, 6 kills or 7
    assert end == {"exit": 0, "damage": []}


def test_two_hundred_trickling_connections_hinder_nobody(model, tmp_path):
    load, _ = soak(model, tmp_path / "mail", "--trickle", "200", "--seconds", "4")
    assert load["answered"] > 20 and load["wrong"] == load["refused"] == load["cut_off"] == 0
    assert load["memory_after_mb"] < load["memory_before_mb"] + 30
