"""The published results, by the scripts that reproduce them."""

import re
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
    ("script", "says", "figures"),
    [
        ("coin", "All agree.", ["coin_posteriors"]),
        (
            "overfitting",
            "Every penalised slope is where the derivative vanishes; nothing diverges.",
            ["overfitting_sigmoids"],
        ),
        ("number_game", "Every printed digit agrees.", ["number_game_bars", "number_game_predictive"]),
        pytest.param(
            "gaussians",
            "every model reaches what theory promises it.",
            [
                "basis_functions",
                "gaussians_boundaries",
                "gaussians_densities",
                "gaussians_posterior",
                "gaussians_three_classes",
            ],
            marks=pytest.mark.slow,
        ),
    ],
)
def test_agrees_and_draws(
    script: str,
    says: str,
    figures: list[str],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("matplotlib", reason="the extra spamnb[plot] is not installed")
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path_factory.mktemp("matplotlib")))  # matplotlib's files, not at home
    assert run(script, "--figures", tmp_path).endswith(says)
    drawn = {path.name: path.read_bytes()[:4] for path in tmp_path.iterdir()}
    assert drawn == {f"{figure}.png": b"\x89PNG" for figure in figures}
    assert {*drawn} <= {path.name for path in (SCRIPTS.parent / "docs/figures").iterdir()}


def test_models_of_known_classes_reach_what_theory_promises_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(SCRIPTS)
    import reproduce_gaussians

    monkeypatch.setattr(reproduce_gaussians, "FEW", (6,))
    monkeypatch.setattr(reproduce_gaussians, "DRAWS", 100)
    assert reproduce_gaussians.compare() == []


def test_xwindows_agrees_to_every_printed_digit(corpora: Path) -> None:
    out = run("xwindows")
    assert "Every printed digit agrees." in out
    ours = out[out.index("ours: likeliest") :]
    assert re.search(r"subject +0\.998 +subject +0\.998 +windows +0\.215", ours)


@pytest.mark.slow
def test_event_models_behave_as_published(corpora: Path) -> None:
    out = run("event_models", "--trials", "1")
    rows = re.findall(r"^ +(\d+) +(0\.\d+) \(\S+\) +(0\.\d+) \(", out, flags=re.MULTILINE)
    accuracy = {int(size): (float(multinomial), float(bernoulli)) for size, multinomial, bernoulli in rows}
    largest = max(accuracy)
    assert largest > 50_000
    assert accuracy[10][1] > accuracy[10][0]  # few words: what is absent tells, too
    assert accuracy[largest][0] == pytest.approx(0.84, abs=0.01)
    assert max(b for _, b in accuracy.values()) == pytest.approx(0.745, abs=0.015)
    assert accuracy[largest][1] < max(b for _, b in accuracy.values()) - 0.01


@pytest.mark.slow
def test_discrete_models_are_within_a_point_or_two_of_the_published(corpora: Path) -> None:
    lines = run("metsis", "--sets", "enron2").splitlines()
    rows = {line[8:28].strip(): list(map(float, line[28:].split())) for line in lines[2:]}
    assert set(rows) == {"multinomial tf", "Bernoulli", "multinomial boolean", "Gaussian"}
    for model, (spam, our_spam, ham, our_ham) in rows.items():
        assert our_spam == pytest.approx(spam, abs=1.5), model
        assert our_ham == pytest.approx(ham, abs=1.5), model
