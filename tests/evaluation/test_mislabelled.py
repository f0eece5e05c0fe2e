"""Which messages look mislabelled, in what order, and what is found of them in the sources."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from mail import message

from spamnb.evaluation.mislabelled import Doubtful, Head, doubtful, heads, named
from spamnb.evaluation.result import ErrorDetail, Result
from spamnb.sources.entries import Entry

P = np.array([[0.99, 0.01], [0.05, 0.95], [0.2, 0.8], [0.001, 0.999], [0.999, 0.001], [0.999, 0.001], [0.02, 0.98]])


def result() -> Result:
    truth, verdicts = np.array([0, 0, 0, 0, 1, 1, 0]), np.array([0, 1, 1, 1, 0, 0, -1])
    scores = np.log(P)
    scores[5] *= 2
    details = {3: ErrorDetail("offer", [("free", 1.5)])}
    return Result("by hand", ("ham", "spam"), list("abcdefg"), truth, scores, P, verdicts, details=details)


def test_the_surest_stand_first_and_neither_right_nor_unsure_nor_weak_verdicts_are_named() -> None:
    found = doubtful(result(), 10)
    assert [each.name for each in found] in (list("fedb"), list("fdeb"))
    assert found[0] == Doubtful("f", "spam", "ham", 0.999, ())
    assert [each for each in found if each.name == "d"] == [Doubtful("d", "ham", "spam", 0.999, [("free", 1.5)])]
    assert doubtful(result(), 2) == found[:2] and doubtful(result(), 0) == []


def test_heads_are_read_of_what_is_asked_for_alone(tmp_path: Path) -> None:
    read: list[str] = []

    def entries():
        for n in range(100):
            read.append(str(n))
            content = None if n == 7 else message("ham", n)
            yield Entry("ham", str(n), str(tmp_path / "gone"), content=content)

    found = heads(entries(), [("3", "ham"), ("7", "ham"), ("4", "spam"), ("5", "ham")])
    assert found.keys() == {("3", "ham"), ("5", "ham")} and found["3", "ham"].sender == "ham3@ham.example"
    read.clear()
    heads(entries(), [("3", "ham")])
    assert len(read) <= 5, "the rest of the sources is not gone through"
    assert isinstance(found["5", "ham"], Head) and found["5", "ham"].subject


def test_names_are_those_of_places_unless_the_sources_changed() -> None:
    entries = [Entry("spam" if n % 2 else "ham", f"m{n}", "") for n in range(10)]
    assert named(entries, [[(1, "spam"), (2, "ham")], [(3, "ham"), (4, "ham")], [(12, "ham")]]) == [
        [("spam", "m1"), ("ham", "m2")], [("ham", "m4")], [],
    ]  # fmt: skip
    assert named(entries, []) == []
