"""The terminal tables say the figures, and print markup in a class's name as it stands."""

import numpy as np
import pytest
from scipy.special import log_softmax

from spamnb.evaluation.figures import compute_figures
from spamnb.evaluation.result import Result
from spamnb.model.new_senders import NewSenders
from spamnb.report.evaluation import format_figures, format_percent, headline_rows


def printed(classes: tuple[str, ...], n: int = 500, sure: float = 0.4, verbose: bool = False) -> tuple[Result, str]:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, len(classes), n)
    log_p = log_softmax(rng.normal(size=(n, len(classes))) + 2 * np.eye(len(classes))[truth], axis=1)
    verdicts = np.where(log_p.max(axis=1) > np.log(sure), log_p.argmax(axis=1), -1)
    names = [str(i) for i in range(n)]
    result = Result("[red]made up[/red]", classes, names, truth, log_p, np.exp(log_p), verdicts)
    return result, format_figures(compute_figures(result, replicates=20), verbose)


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def test_two_classes():
    result, shown = printed(("ham", "spam"), verbose=True)
    found = compute_figures(result, replicates=20)
    assert found.spam is not None
    assert "[red]made up[/red]: 500 messages" in shown
    for row in headline_rows(found):
        assert any(all(cell in line for cell in row) for line in shown.splitlines())
    names = [name.partition("  ")[0] for name, *_ in headline_rows(found)]
    assert names[:4] == ["hm%", "sm%", "1-ROCA%", "sm% at hm% ≤ 0.1"]
    assert names[4:] == ["accuracy %", "log loss, nats", "expected calibration error %"]
    brief = printed(("ham", "spam"))[1]
    assert "precision" not in brief and "precision" in shown
    assert all(str(n) in shown for row in found.confusion for n in row[:2])


@pytest.mark.parametrize(("sure", "said"), [(0.01, "sm%  spam let through  "), (0.8, "let through, unsure included")])
def test_spam_called_unsure_is_let_through_and_that_is_said(sure: float, said: str) -> None:
    result, shown = printed(("ham", "spam"), sure=sure)
    spam = result.classes.index("spam")
    through = 100 * (result.verdicts[result.truth == spam] != spam).mean()
    assert any(said in line and format_percent(through) in line for line in shown.splitlines())
    assert (shown.count("unsure") > 1) == (sure == 0.8)  # the table of verdicts has its column


def test_no_row_of_the_main_figures_wraps_in_a_terminal_of_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    figures = compute_figures(printed(("ham", "spam"), sure=0.8)[0], replicates=20)
    figures = figures._replace(new_senders=NewSenders(50, 12, 34.56, 100.0))
    rows = headline_rows(figures)
    assert len(rows) == 9
    lines = format_figures(figures).splitlines()
    for row in rows:
        assert any(all(cell in line for cell in row) for line in lines), row


@pytest.mark.parametrize(("left", "said"), [(0, "there is no spam"), (1, "there is no good mail")])
def test_what_cannot_be_measured_says_why(left: int, said: str) -> None:
    truth, log_p = np.full(9, left), np.log(np.tile([0.7, 0.3], (9, 1)))
    result = Result("made up", ("ham", "spam"), list("abcdefghi"), truth, log_p, np.exp(log_p), np.zeros(9, int))
    rows = headline_rows(compute_figures(result, replicates=5))
    assert [row[2] for row in rows if row[1] == "–"] == [said] * 3


def test_many_classes_have_no_matrix_and_no_spam_figures():
    _, shown = printed(tuple(f"[b]{i}" for i in range(20)))
    assert "[b]19" in shown and "hm%" not in shown and "verdict" not in shown
