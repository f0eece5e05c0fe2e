"""The published results for concept learning and continuous models, by the scripts that reproduce them."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.mark.parametrize(
    ("script", "says", "figures"),
    [
        ("number_game", "Every printed digit agrees.", ["posteriors", "predictive"]),
        ("coin", "All agree.", []),
        ("gaussians", "every model reaches what theory promises it.", ["boundaries"]),
        ("overfitting", "Every penalised slope is where the derivative vanishes; nothing diverges.", []),
    ],
)
def test_agrees_and_draws(script: str, says: str, figures: list[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra spamnb[plot] is not installed")
    done = subprocess.run(
        [sys.executable, SCRIPTS / f"reproduce_{script}.py", *(["--figures", tmp_path] if figures else [])],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.rstrip().endswith(says)
    written = {path.name: path.read_bytes()[:4] for path in tmp_path.iterdir()}
    assert written == dict.fromkeys([f"{script}_{figure}.png" for figure in figures], b"\x89PNG")
