"""Results of an evaluation: what is recorded and written as scores."""

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax

from spamnb.errors import SpamnbError
from spamnb.evaluation.result import EvaluatedMessage, Result, compare_results, make_result
from spamnb.evaluation.scores import write_scores
from spamnb.shown_text import escape


def result_of(rows: list[tuple[str, str, str]]) -> Result:
    answers = []
    for name, truth, verdict in rows:
        answers.append(EvaluatedMessage(name, truth, verdict, {"ham": 0.0, "spam": 0.0}, {"ham": 0.5, "spam": 0.5}))
    return make_result(answers, "made up")


@given(st.lists(st.lists(st.floats(-500, 500), min_size=4, max_size=4), min_size=1, max_size=5))
def test_margin_is_the_log_odds_of_the_softmax(rows):
    scores = np.array(rows)
    n = len(rows)
    result = Result("", tuple("abcd"), [""] * n, np.zeros(n, int), scores, softmax(scores, axis=1), np.zeros(n, int))
    for c in range(4):
        expected = scores[:, c] - logsumexp(np.delete(scores, c, axis=1), axis=1)
        assert result.margins[:, c] == pytest.approx(expected, abs=1e-9)


def test_classes_may_turn_up_on_the_way():
    answers = [
        EvaluatedMessage("1", "ham", "unsure", {}, {}),
        EvaluatedMessage("2", "spam", "ham", {"ham": 0.0}, {"ham": 1.0}),
        EvaluatedMessage("3", "list", "spam", {"ham": 0.0, "spam": 1.0}, {"ham": 0.3, "spam": 0.7}),
    ]
    result = make_result(answers, "on-line")
    assert result.classes == ("ham", "list", "spam")
    assert result.verdicts.tolist() == [-1, 0, 2]
    assert result.probabilities[0].tolist() == [1 / 3] * 3
    assert result.probabilities[1].tolist() == [1, 0, 0]
    assert result.scores[2].tolist() == [0, -np.inf, 1]
    assert result.margins[:, 2].tolist() == pytest.approx([0, -1e100, 1])
    assert result.spam_index == 2 and make_result(answers, "on-line", spam="junk").spam_index is None


values = st.floats(allow_nan=False)
row = st.tuples(st.text(st.characters(codec="utf-8"), max_size=12), st.integers(0, 1), st.integers(-1, 1), values)


@given(st.lists(row, max_size=6, unique_by=lambda row: escape(row[0])), st.sampled_from(["tsv", "csv"]))
def test_scores_come_back_as_they_were_written(tmp_path_factory, rows, suffix):
    scores = np.array([[a, -a] for *_, a in rows]).reshape(len(rows), 2)
    truth, verdicts = (np.array([row[n] for row in rows], dtype=np.int64) for n in (1, 2))
    names, classes = [row[0] for row in rows], ("ham", "spam, and more")
    result = Result("split", classes, names, truth, scores, 1 - scores, verdicts, spam=classes[1])
    path = tmp_path_factory.getbasetemp() / f"scores.{suffix}"
    write_scores(result, path)
    with path.open(newline="") as stream:
        head, *lines = csv.reader(stream, delimiter="," if suffix == "csv" else "\t")
    assert head[3:] == ["score:ham", "score:spam, and more", "p:ham", "p:spam, and more"]
    assert [line[0] for line in lines] == list(map(escape, names))
    assert len(path.read_text().split("\n")) == len(rows) + 2
    assert [[float(cell) for cell in line[3:]] for line in lines] == [[*of, *(1 - of)] for of in scores]
    assert [tuple(line[1:3]) for line in lines] == [
        (classes[true], "unsure" if said < 0 else classes[said]) for true, said in zip(truth, verdicts)
    ]


def test_runs_are_paired_by_name_whatever_their_order():
    first = [("a", "ham", "ham"), ("b", "spam", "spam"), ("c", "spam", "ham"), ("d", "ham", "ham")]
    second = [("b", "spam", "ham"), ("a", "ham", "ham"), ("d", "ham", "spam"), ("c", "spam", "spam")]
    one, other = result_of(first), result_of(second)
    assert compare_results(one, other)[:2] == (2, 1) and compare_results(other, one)[:2] == (1, 2)
    for runs, said in (([("b", "ham", "ham")], "is in only one"), ([("a", "spam", "ham")], "true class of a")):
        with pytest.raises(SpamnbError, match=said):
            compare_results(result_of([("a", "ham", "ham")]), result_of(runs))


def test_a_folder_that_is_missing_is_an_error_of_one_line(tmp_path):
    with pytest.raises(SpamnbError, match="cannot be written"):
        write_scores(result_of([]), tmp_path / "none" / "scores")
