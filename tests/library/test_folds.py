"""MessageFolds: every message is judged once, and never by a model that knows a copy of it."""

from __future__ import annotations

import numpy as np
import pytest

from spamnb import MessageFolds
from spamnb.library.given import class_name


@pytest.mark.parametrize("seed", range(3))
def test_every_message_is_judged_once_and_copies_stand_together(seed: int, texts: list[str], labels: list[str]) -> None:
    given, classes = [*texts, *texts[:20], b"\n" + texts[0].encode()], [*labels, *labels[:20], "ham"]
    folds = MessageFolds(5, seed=seed)
    judged = np.zeros(len(given), int)
    for learned, asked in folds.split(given, classes):
        judged[asked] += 1
        assert sorted([*learned, *asked]) == list(range(len(given)))
        raws = [text.encode() if isinstance(text, str) else text.strip() for text in given]
        assert not {raws[i] for i in learned} & {raws[i] for i in asked}
        distinct = {raws[i]: classes[i] for i in asked}
        assert [list(distinct.values()).count(name) for name in ("ham", "spam")] == [8, 8]
    assert (judged == 1).all() and folds.get_n_splits() == 5


def test_folds_do_not_depend_on_how_labels_are_written(texts: list[str], labels: list[str]) -> None:
    number = [{"ham": 0, "spam": 1}[label] for label in labels]
    by_name, by_number = (list(MessageFolds(3).split(texts, y)) for y in (labels, number))
    for (_, one), (_, other) in zip(by_name, by_number):
        assert one.tolist() == other.tolist()
    assert class_name(np.float64(2)) == "2"


def test_its_repr_makes_it_anew() -> None:
    assert repr(MessageFolds(3, seed=2)) == "MessageFolds(3, seed=2, input='auto')"
