"""Messages that may be in the wrong folder: which, why, and nothing of what a stranger wrote reaches a terminal."""

import numpy as np

from spamnb.api.evaluate import MAX_TEXT, describe_mislabelled, shorten
from spamnb.evaluation.metrics import mislabelled_rows
from spamnb.evaluation.result import EvaluatedMessage


def test_the_least_trusted_stand_first() -> None:
    """Of messages along the border, those that stand furthest on the wrong side of it."""
    margin = np.linspace(-10, 10, 201)
    labels = (margin > 0).astype(int)
    wrong = [195, 3, 190, 12, 185]  # ascending by how near to the border they are
    labels[wrong] = 1 - labels[wrong]
    scores = np.stack([np.zeros(201), margin], axis=1)
    assert mislabelled_rows(scores, labels).tolist() == sorted(wrong, key=lambda row: -abs(margin[row]))
    assert not len(mislabelled_rows(scores, (margin > 0).astype(int)))


def test_a_message_with_the_verdict_unsure_looks_like_the_likeliest_other_class() -> None:
    message = EvaluatedMessage("a", "ham", "unsure", {}, {"ham": 0.04, "spam": 0.95, "list": 0.01})
    assert "  a: labelled ham, looks like spam (95.00 %)" in describe_mislabelled([message])


def test_what_a_stranger_wrote_is_escaped_and_short() -> None:
    nasty = "\x1b[2J\r\n\x9b31m" + "é" * 10_000
    lines = describe_mislabelled(
        [EvaluatedMessage("in/\x1b", "ham", "spam", {}, {"spam": 0.99}, [(nasty, 2.0)] * 50, 0.0, nasty, nasty)]
    )
    assert all(line.isprintable() for line in lines) and max(map(len, lines)) < 8 * MAX_TEXT
    assert shorten(nasty).endswith("…") and len(shorten(nasty)) <= MAX_TEXT
    assert shorten("\x07" * 60).startswith("\\x07") and len(shorten("\x07" * 60)) == MAX_TEXT
