"""The matrix of the page against scikit-learn's, and the mistakes made most often."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from spamnb.evaluation.metrics import UNSURE
from spamnb.evaluation.result import Result
from spamnb.report.confusion import MATRIX_CLASSES, matrix, mistakes


def result(classes: list[str], truth: list[int], verdicts: list[int]) -> Result:
    nothing = np.zeros((len(truth), len(classes)))
    names = [str(n) for n in range(len(truth))]
    return Result("", tuple(classes), names, np.array(truth), nothing, nothing, np.array(verdicts))


@pytest.mark.parametrize("size", [2, 3, MATRIX_CLASSES])
def test_cells_are_those_of_scikit_learn(size: int) -> None:
    rng = np.random.default_rng(size)
    truth, verdicts = rng.integers(0, size, 400), rng.integers(0, size, 400)
    classes = [f"c{n:02}" for n in range(size)]
    made = matrix(result(classes, truth.tolist(), verdicts.tolist()))
    assert made is not None
    found = [[int(cell.messages) for cell in cells] for _, cells in made.rows]
    assert found == confusion_matrix(truth, verdicts, labels=range(size)).tolist()
    assert made.columns == classes == [name for name, _ in made.rows]
    assert matrix(result([f"c{n}" for n in range(MATRIX_CLASSES + 1)], [0], [0])) is None


def test_a_cell_says_its_share_and_is_shaded_by_it() -> None:
    made = matrix(result(["ham", "spam"], [0] * 10 + [1] * 4, [0] * 9 + [1] + [1, 1, UNSURE, 0]))
    assert made is not None and made.columns == ["ham", "spam", "unsure"]
    (right, wrong, unsure), (missed, caught, doubted) = (cells for _, cells in made.rows)
    assert (right.messages, right.share, right.css) == ("9", "90.00 %", "right s9")
    assert (wrong.messages, wrong.share, wrong.css) == ("1", "10.00 %", "wrong s4")  # four times as strongly
    assert (unsure.messages, unsure.css, wrong.title) == ("0", "unsure", "ham called spam: 1 of 10")
    assert (missed.css, caught.css, doubted.css) == ("wrong s10", "right s5", "unsure s10")


def test_mistakes_are_those_made_most_often_and_none_that_was_not_made() -> None:
    made = mistakes(result(["a", "b", "c"], [0, 0, 0, 0, 1, 1, 2], [0, 1, 1, UNSURE, 2, 1, 2]))
    assert made == [("a → b", "2", "50.00"), ("a → unsure", "1", "25.00"), ("b → c", "1", "50.00")]
