"""training.py: figures counted by hand, in columns that stand below one another by rich's measure."""

from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

from spamnb.api.train import TrainingReport
from spamnb.settings import Settings
from spamnb.training import LeaveOneOutResult, NewestResult


def text(left_out: LeaveOneOutResult, spam: str, read: int, unreadable: int = 0) -> str:
    return str(TrainingReport(Path("m"), Settings(spam=spam), left_out, read, unreadable))


def report(
    names: tuple[str, ...],
    judged: dict[tuple[str, str], int],
    spam: str = "spam",
    copies: int = 0,
    unreadable: int = 0,
    parts: int | None = None,
    newest: NewestResult | None = None,
) -> list[str]:
    """``judged`` says how many messages of a class got a verdict."""
    truth = [names.index(name) for (name, _), n in judged.items() for _ in range(n)]
    verdicts = [verdict for (_, verdict), n in judged.items() for _ in range(n)]
    nothing = np.zeros((len(truth), len(names)))
    documents = np.bincount(truth, minlength=len(names))
    places, labels = np.arange(len(truth)), np.array(truth, np.intp)
    judged = places, labels, nothing, nothing, verdicts
    left_out = LeaveOneOutResult(names, documents, 1234, parts, *judged, newest=newest)
    return text(left_out, spam, len(truth) + copies, unreadable).split("\n")


def test_the_newest_fifth_has_its_own_figures_and_they_are_to_be_believed() -> None:
    truth, verdicts = [0] * 80 + [1] * 60, ["ham"] * 78 + ["spam"] * 2 + ["spam"] * 54 + ["unsure"] * 3 + ["ham"] * 3
    newest = NewestResult(1032946560, np.array(truth), verdicts)
    judged = {("ham", "ham"): 400, ("spam", "spam"): 300}
    assert report(("ham", "spam"), judged, newest=newest)[-4:] == [
        "The newest fifth, 140 messages since 2002-09-25, judged by a model of the older ones:",
        "  wrong: 5 of 140 (3.57 %), unsure: 3 (2.14 %)",
        "  good mail lost 2.50 %, spam let through 10.00 % (5.00 % called good, 5.00 % unsure)",
        "  For mail to come believe these: above, messages were judged by a model that knew newer mail.",
    ]
    lines = report(("a", "b"), {("a", "a"): 60, ("b", "b"): 60}, newest=newest._replace(verdicts=["a"] * 140))
    assert lines[-2] == "  wrong: 60 of 140 (42.86 %)"
    assert not [line for line in lines if "good mail" in line]


@pytest.mark.parametrize(("wrong", "told"), [(0, ""), (1, "1 message looks"), (3, "3 messages look")])
def test_how_many_look_mislabelled_is_said_where_they_are_not_named(wrong: int, told: str) -> None:
    p = np.array([[0.99, 0.01]] * 60 + [[0.01, 0.99]] * 60)
    labels = np.array([0] * 60 + [1] * 60)
    labels[:wrong] = 1
    verdicts = ["ham"] * 60 + ["spam"] * 60
    made = ("ham", "spam"), np.bincount(labels), 9, None, np.arange(120)
    left_out = LeaveOneOutResult(*made, labels, np.log(p), p, verdicts)
    lines = text(left_out, "spam", 120).split("\n")
    hints = [line for line in lines if "--doubtful" in line]
    command = f"'spamnb evaluate --leave-one-out --doubtful {wrong}'"
    assert hints == ([f"  {told} mislabelled: {command} with the same sources says which and why"] if wrong else [])


def test_every_figure_is_that_of_a_count() -> None:
    judged = {
        ("ham", "ham"): 1_195, ("ham", "spam"): 3, ("ham", "unsure"): 2,
        ("spam", "spam"): 48, ("spam", "ham"): 9, ("spam", "unsure"): 3,
    }  # fmt: skip
    lines = report(("ham", "spam"), judged, copies=5, unreadable=1_002)
    assert lines[:4] == [
        "m: 1,260 messages, 1,234 different tokens",
        "copies of these, not learned again: 5",
        "left out, as told above: 1,002",
        "Each message judged by the model without it:",
    ]
    assert [line.replace("→", "").split() for line in lines[4:7]] == [
        ["ham", "spam", "unsure"], ["ham", "1,200", "1,195", "3", "2"], ["spam", "60", "9", "48", "3"],
    ]  # fmt: skip
    assert lines[7:] == [
        "  wrong: 12 of 1,260 (0.952 %), unsure: 5 (0.397 %)",
        "  good mail lost 0.250 %, spam let through 20.00 % (15.00 % called good, 5.00 % unsure)",
    ]


def test_what_there_is_nothing_of_is_not_told() -> None:
    lines = report(("ham", "spam"), {("ham", "ham"): 50, ("spam", "spam"): 49})
    assert lines[0] == "m: 99 messages, 1,234 different tokens" and lines[1].startswith("Each message")
    assert "unsure" not in "\n".join(lines)
    assert lines[-2] == "  good mail lost 0 %, spam let through 0 %"
    assert lines[-1] == "  few messages of class 'spam' (49): these figures and all probabilities are rough"
    assert report(("ham",), {("ham", "unsure"): 9})[1:] == [
        "Only class 'ham': nothing to tell it from. Learn another class."
    ]


@pytest.mark.parametrize("spam", ["junk", "spam"])
def test_a_class_of_spam_that_is_none_is_told(spam: str) -> None:
    lines = report(("a", "b"), {("a", "a"): 60, ("b", "b"): 60}, spam)
    assert f"  there is no class '{spam}', so all errors cost the same; --set spam=CLASS names another" in lines
    assert not [line for line in lines if "good mail" in line]


@pytest.mark.parametrize(("classes", "rows"), [(7, 7), (8, 0)])
def test_the_table_has_as_many_columns_as_fit(classes: int, rows: int) -> None:
    names = tuple(f"c{n}" for n in range(classes))
    judged = {(name, name): 60 for name in names} | {(names[0], "unsure"): 1}
    lines = report(names, judged)
    assert len([line for line in lines if line.split()[0] in names]) == rows
    assert any(line.startswith(f"  wrong: 0 of {60 * classes + 1} (0 %), unsure: 1 (") for line in lines)


@pytest.mark.parametrize("names", [("ham", "spam"), ("日本", "spam"), ("e\u0301te\u0301", "ｈａｍ", "x" * 20)])
def test_columns_stand_below_one_another(names: tuple[str, ...]) -> None:
    lines = report(names, {(name, name): 60 for name in names} | {(names[0], "unsure"): 60})
    header, *rows = lines[2 : 3 + len(names)]
    assert {cell_len(row) for row in rows} == {cell_len(header)}
    assert all(f"→ {name}" in header for name in (*names, "unsure"))


def test_messages_that_were_not_learned_are_told() -> None:
    labels, p = np.array([0, 0, 1, 1]), np.array([[0.9, 0.1]] * 4)
    made = ("ham", "spam"), np.array([2, 1]), 9, None, np.arange(4)
    left_out = LeaveOneOutResult(*made, labels, np.log(p), p, ["ham"] * 4, doubted=1)
    lines = text(left_out, "spam", 4).split("\n")
    assert "  The labels of 1 message contradict all the others: it was not learned." in lines
    assert lines[0].startswith("m: 3 messages") and not any(line.startswith("copies") for line in lines)
