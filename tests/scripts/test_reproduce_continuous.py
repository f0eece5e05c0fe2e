"""The published results for concept learning and continuous models, by the scripts that reproduce them."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


def run(script: str, *arguments: str | Path) -> str:
    command = [sys.executable, SCRIPTS / f"reproduce_{script}.py", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.rstrip()


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("coin", "All agree."),
        ("overfitting", "Every penalised slope is where the derivative vanishes; nothing diverges."),
    ],
)
def test_agrees(script: str, says: str) -> None:
    assert run(script).endswith(says)


@pytest.mark.parametrize(
    ("script", "says", "figure"),
    [
        ("number_game", "Every printed digit agrees.", "number_game_predictive.png"),
        ("gaussians", "every model reaches what theory promises it.", "gaussians_boundaries.png"),
    ],
)
def test_agrees_and_draws(script: str, says: str, figure: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra spamnb[plot] is not installed")
    assert run(script, "--figures", tmp_path).endswith(says)
    assert {path.name: path.read_bytes()[:4] for path in tmp_path.iterdir()} == {figure: b"\x89PNG"}
