"""The published figures for Enron-Spam, by the script that reproduces them."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "reproduce_metsis.py"


@pytest.mark.slow
def test_discrete_models_are_within_a_point_or_two_of_the_published(corpora: Path) -> None:
    command = [sys.executable, SCRIPT, "--corpora", corpora, "--sets", "enron2"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = {line[8:28].strip(): list(map(float, line[28:].split())) for line in done.stdout.splitlines()[2:]}
    assert set(rows) == {"multinomial tf", "Bernoulli", "multinomial boolean", "Gaussian"}
    for model, (spam, our_spam, ham, our_ham) in rows.items():
        assert our_spam == pytest.approx(spam, abs=1.5), model
        assert our_ham == pytest.approx(ham, abs=1.5), model
