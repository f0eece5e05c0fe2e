"""Hosts that learn together: scripts/soak_postgresql.py in short."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[2] / "scripts" / "soak_postgresql.py"


@pytest.mark.usefixtures("server")  # or it is skipped
def test_every_acknowledged_lesson_is_there_once_when_servers_and_postgresql_are_killed():
    if shutil.which("spamc") is None:
        pytest.skip("no spamc (Debian: apt-get install spamc)")
    options = ["--kills", "3", "--every", ".5", "--clients", "2", "--model-type", "corrected"]
    environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[1])}
    command = [sys.executable, str(SCRIPT), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["wrong"] == [] and found["killed"] == {"serve": 2, "PostgreSQL": 1}
    assert found["lessons"] > 0 and found["taught"] >= found["lessons"]
