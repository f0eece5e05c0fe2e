"""The core under sanitizers: mutated messages for a few seconds. ``fuzzing.py`` does it for as long as wanted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from fuzzing import build, fuzz


def test_mutated_messages_are_read(tmp_path: Path) -> None:
    try:
        build(tmp_path)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no C compiler with sanitizers")
    found = fuzz(5.0, 1, 10**9)
    assert found.returncode == 0, found.stderr[-3000:]
    assert int(found.stdout.split()[0]) > 100
