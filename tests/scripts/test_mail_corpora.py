"""Scripts that measure on the public corpora say in one line what they lack or do not know."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.mark.parametrize("name", ["compare_models", "experiment_logistic"])
def test_what_is_not_there_is_said_in_one_line(name: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS.parent), "SPAMNB_CORPORA": ""}
    for options, says in (([], "SPAMNB_CORPORA is not set"), (["--corpus", "mail"], "invalid choice: 'mail'")):
        command = [sys.executable, str(SCRIPTS / f"{name}.py"), *options]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode and says in done.stderr.splitlines()[-1] and "Traceback" not in done.stderr
