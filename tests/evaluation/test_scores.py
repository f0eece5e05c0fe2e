"""The scores file: read back to the last bit, whatever the names; all else is refused in one line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spamnb.errors import SpamnbError
from spamnb.evaluation.result import Result
from spamnb.evaluation.scores import read_scores, write_scores
from spamnb.naming import escape

words = st.text(st.characters(codec="utf-8"), max_size=12)
values = st.floats(allow_nan=False)


@given(st.lists(st.tuples(words, st.integers(0, 1), st.integers(-1, 1), values, values), max_size=6), words)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@pytest.mark.parametrize("suffix", ["tsv", "csv"])
def test_round_trip(tmp_path, suffix, rows, protocol):
    n = len(rows)
    numbers = np.array([[a, b] for *_, a, b in rows]).reshape(n, 2)
    result = Result(
        protocol,
        ("ham", "spam, and more"),
        [escape(row[0]) for row in rows],
        np.array([row[1] for row in rows], dtype=np.int64),
        numbers,
        1 - numbers,
        np.array([row[2] for row in rows], dtype=np.int64),
        ordered=True,
        spam="spam, and more",
    )
    path = tmp_path / f"scores.{suffix}"
    write_scores(result, path)
    assert len(path.read_text(encoding="utf-8").split("\n")) == n + 3
    back = read_scores(path)
    assert (back.protocol, back.classes, list(back.names)) == (protocol, result.classes, result.names)
    assert (back.ordered, back.spam) == (True, result.spam)
    for ours, theirs in (
        (back.scores, result.scores),
        (back.probabilities, result.probabilities),
        (back.truth, result.truth),
        (back.verdicts, result.verdicts),
    ):
        assert np.array_equal(ours, theirs, equal_nan=True)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "s: no scores file; spamnb evaluate --scores"),
        (b"name\ttruth\n", "s: no scores file"),
        (b"# spamnb scores {\n", "s: a damaged scores file"),
        (b"# spamnb scores {}\n", "s: a damaged scores file"),
        (b"# spamnb scores []\nname\ttruth\tverdict\n", "s: .* its first two lines name other columns"),
        (b"# spamnb scores {}\nname\ttruth\tscore:a\n", "s: .* its first two lines name other columns"),
        (b"# spamnb scores {}\nname\ttruth\tverdict\tscore:a\tp:a\nx\ta\ta\t1\n", "s:3: 4 columns where 5"),
        (b"# spamnb scores {}\nname\ttruth\tverdict\tscore:a\tp:a\nx\tb\ta\t1\t1\n", "s:3: 'b' is none"),
        (b"# spamnb scores {}\nname\ttruth\tverdict\tscore:a\tp:a\nx\ta\ta\tone\t1\n", "s: .*float: 'one'"),
        (b"# spamnb scores \xff\xfe\x00\n", "s: a damaged scores file"),
        (b"\x89PNG" * 10, "s: no scores file"),
    ],
)
def test_what_is_no_scores_file_is_said_in_one_line(tmp_path, content, said):
    path = tmp_path / "s"
    path.write_bytes(content)
    with pytest.raises(SpamnbError, match=f"/{said}") as caught:
        read_scores(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("row", "said"), [("x\tb\ta", "'b'"), ("x\tunsure\ta", "'unsure'"), ("x\ta\tc", "'c'")])
def test_a_class_that_no_column_names_is_named(tmp_path, row, said):
    path = tmp_path / "scores"
    path.write_text(f"# spamnb scores {{}}\nname\ttruth\tverdict\tscore:a\tp:a\nx\ta\tunsure\t1\t1\n{row}\t1\t1\n")
    with pytest.raises(SpamnbError, match=f"scores:4: {said} is none of the classes"):
        read_scores(path)


def test_paths_that_cannot_be(tmp_path):
    with pytest.raises(SpamnbError, match="cannot be read"):
        read_scores(tmp_path / "none")
    result = Result("", (), [], np.zeros(0, int), np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0, int))
    with pytest.raises(SpamnbError, match="cannot be written"):
        write_scores(result, tmp_path / "none" / "scores")
