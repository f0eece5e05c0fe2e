"""The published results for the discrete models, by the scripts that reproduce them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


def run(script: str, *arguments: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, SCRIPTS / script, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_xwindows_agrees_to_every_printed_digit(corpora: Path) -> None:
    out = run("reproduce_xwindows.py", "--corpora", corpora)
    assert "Every printed digit agrees." in out
    ours = out[out.index("ours: likeliest") :]
    assert re.search(r"subject +0\.998 +subject +0\.998 +windows +0\.215", ours)


@pytest.mark.slow
def test_event_models_behave_as_published(corpora: Path) -> None:
    out = run("reproduce_event_models.py", "--corpora", corpora, "--trials", "1")
    rows = re.findall(r"^ +(\d+) +(0\.\d+) \(\S+\) +(0\.\d+) \(", out, flags=re.MULTILINE)
    accuracy = {int(size): (float(multinomial), float(bernoulli)) for size, multinomial, bernoulli in rows}
    largest = max(accuracy)
    assert largest > 50_000
    assert accuracy[10][1] > accuracy[10][0]  # few words: what is absent tells, too
    assert accuracy[largest][0] == pytest.approx(0.84, abs=0.01)
    assert max(b for _, b in accuracy.values()) == pytest.approx(0.745, abs=0.015)
    assert accuracy[largest][1] < max(b for _, b in accuracy.values()) - 0.01
