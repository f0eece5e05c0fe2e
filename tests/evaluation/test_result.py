"""Results of an evaluation: what is recorded and written as scores."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax

from spamnb.errors import SpamnbError
from spamnb.evaluation.result import Answer, Recorder, Result
from spamnb.evaluation.scores import read_scores, write_scores
from spamnb.naming import escape


def result_of(rows: list[tuple[str, str, str]], classes: tuple[str, ...] = ("ham", "spam")) -> Result:
    recorder = Recorder()
    for name, truth, verdict in rows:
        p = {c: 0.9 if c == verdict else 0.1 / (len(classes) - 1) for c in classes}
        recorder.add(name, truth, Answer(verdict, {c: math.log(p[c]) for c in classes}, p))
    return recorder.result("made up")


@given(st.lists(st.lists(st.floats(-500, 500), min_size=4, max_size=4), min_size=1, max_size=5))
def test_margin_is_the_log_odds_of_the_softmax(rows):
    scores = np.array(rows)
    n = len(rows)
    result = Result("", tuple("abcd"), [""] * n, np.zeros(n, int), scores, softmax(scores, axis=1), np.zeros(n, int))
    for c in range(4):
        expected = scores[:, c] - logsumexp(np.delete(scores, c, axis=1), axis=1)
        assert result.margin(c) == pytest.approx(expected, abs=1e-9)


def test_classes_may_turn_up_on_the_way():
    recorder = Recorder()
    recorder.add("1", "ham", Answer("unsure", {}, {}))
    recorder.add("2", "spam", Answer("ham", {"ham": 0.0}, {"ham": 1.0}))
    recorder.add("3", "list", Answer("spam", {"ham": 0.0, "spam": 1.0}, {"ham": 0.3, "spam": 0.7}))
    result = recorder.result("on-line", ordered=True)
    assert result.classes == ("ham", "list", "spam")
    assert result.verdicts.tolist() == [-1, 0, 2]
    assert result.probabilities[0].tolist() == [1 / 3] * 3
    assert result.probabilities[1].tolist() == [1, 0, 0]
    assert result.scores[2].tolist() == [0, -np.inf, 1]
    assert result.margin(2).tolist() == [0, -np.inf, 1]
    assert result.spam_index == 2


def test_runs_are_paired_by_name_whatever_their_order():
    first = result_of([("a", "ham", "ham"), ("b", "spam", "spam"), ("c", "spam", "ham"), ("a", "ham", "ham")])
    second = result_of([("b", "spam", "ham"), ("a", "ham", "ham"), ("a", "ham", "spam"), ("c", "spam", "spam")])
    assert first.against(second)[:2] == (2, 1)
    assert second.against(first)[:2] == (1, 2)


def test_runs_over_other_messages_are_refused_by_name():
    one = result_of([("a", "ham", "ham")])
    with pytest.raises(ValueError, match="a is in only one"):
        one.against(result_of([("b", "ham", "ham")]))
    with pytest.raises(ValueError, match="true class of a"):
        one.against(result_of([("a", "spam", "ham")]))


def test_no_spam_class_no_spam_figures():
    assert result_of([("a", "x", "x")], ("x", "y")).spam_index is None
    with pytest.raises(ValueError, match="cannot have arrays"):
        Result("", ("a",), ["1"], np.zeros(2, int), np.zeros((1, 1)), np.zeros((1, 1)), np.zeros(1, int))


values = st.floats(allow_nan=False)
names = st.text(st.characters(codec="utf-8"), max_size=12)
row = st.tuples(names, st.integers(0, 1), st.integers(-1, 1), values, values)


@given(st.lists(row, max_size=6), st.sampled_from(["tsv", "csv"]))
def test_scores_come_back_as_they_were_written(tmp_path_factory, rows, suffix):
    numbers = np.array([[a, b] for *_, a, b in rows]).reshape(len(rows), 2)
    truth, verdicts = (np.array([row[n] for row in rows], dtype=np.int64) for n in (1, 2))
    names, classes = [escape(row[0]) for row in rows], ("ham", "spam, and more")
    result = Result("split", classes, names, truth, numbers, 1 - numbers, verdicts, ordered=True, spam=classes[1])
    path = tmp_path_factory.getbasetemp() / f"scores.{suffix}"
    write_scores(result, path)
    assert len(path.read_text(encoding="utf-8").split("\n")) == len(rows) + 3
    back = read_scores(path)
    for field in ("protocol", "classes", "names", "ordered", "spam"):
        assert getattr(back, field) == getattr(result, field)
    for field in ("truth", "verdicts", "scores", "probabilities"):
        assert np.array_equal(getattr(back, field), getattr(result, field), equal_nan=True)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "s: no scores file; spamnb evaluate --scores"),
        (b"# spamnb scores {\n", "s: a damaged scores file"),
        (b"# spamnb scores []\nname\ttruth\tverdict\n", "s: .* its first two lines name other columns"),
        (b"# spamnb scores {}\nname\ttruth\tscore:a\n", "s: .* its first two lines name other columns"),
        (b"# spamnb scores {}\nname\ttruth\tverdict\tscore:a\tp:a\nx\ta\ta\t1\n", "s:3: 4 columns where 5"),
        (b"# spamnb scores {}\nname\ttruth\tverdict\tscore:a\tp:a\nx\tb\ta\t1\t1\n", "s:3: 'b' is none"),
        (b"# spamnb scores {}\nname\ttruth\tverdict\tscore:a\tp:a\nx\ta\ta\tone\t1\n", "s: .*float: 'one'"),
        (b"# spamnb scores \xff\xfe\x00\n", "s: a damaged scores file"),
    ],
)
def test_what_is_no_scores_file_is_said_in_one_line(tmp_path, content, said):
    path = tmp_path / "s"
    path.write_bytes(content)
    with pytest.raises(SpamnbError, match=f"/{said}") as caught:
        read_scores(path)
    assert "\n" not in str(caught.value)


def test_paths_that_cannot_be(tmp_path):
    with pytest.raises(SpamnbError, match="cannot be read"):
        read_scores(tmp_path / "none")
    result = Result("", (), [], np.zeros(0, int), np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0, int))
    with pytest.raises(SpamnbError, match="cannot be written"):
        write_scores(result, tmp_path / "none" / "scores")
