"""top_words.py: the class that a word speaks for, counted by hand; tests/formulas has its other figures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.counts.class_counts import ClassCounts
from spamnb.counts.top_words import top_words


def counts(rows: list[list[int]], labels: list[str]) -> ClassCounts:
    from scipy.sparse import csr_array

    return ClassCounts.from_matrix(csr_array(np.array(rows)), labels)


def test_a_word_speaks_for_the_class_that_holds_it_most_often_and_not_most() -> None:
    """40 of 100 ham hold "windows" and 5 of 8 ads: more messages, but a smaller share."""
    rows = [[int(n < 40)] for n in range(100)] + [[int(n < 5)] for n in range(8)]
    (word,) = top_words(counts(rows, ["ham"] * 100 + ["ads"] * 8), ["windows"]).informative
    assert word.token == "windows" and word.label == "ads"


@given(
    st.lists(st.tuples(st.sampled_from(["ham", "list", "spam"]), st.integers(0, 7)), min_size=1, max_size=25),
    st.sampled_from([0.1, 1.0]),
)
def test_the_class_is_that_of_the_likelier_message_by_brute_force(mail: list[tuple[str, int]], alpha: float) -> None:
    tokens = ["a", "b", "c"]
    rows = [[held >> j & 1 for j in range(3)] for _, held in mail]
    report = top_words(counts(rows, [label for label, _ in mail]), tokens, 3, alpha)
    assert len(report.informative) == (3 if len(report.likeliest) > 1 else 0)
    for word in report.informative:
        share = {}
        for name in report.likeliest:
            own = [held >> tokens.index(word.token) & 1 for label, held in mail if label == name]
            share[name] = (sum(own) + alpha) / (len(own) + 2 * alpha)
        assert share[word.label] == pytest.approx(max(share.values()))


def test_one_class_has_nothing_to_tell_it_from() -> None:
    report = top_words(counts([[1, 0], [1, 1]], ["ham", "ham"]), ["the", "lunch"])
    assert report.informative == [] and [word.token for word in report.likeliest["ham"]] == ["the", "lunch"]
