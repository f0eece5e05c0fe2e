"""Messages that may stand in the wrong folder: which, why, and nothing of what a stranger wrote reaches a terminal."""

import math

from spamnb.api.evaluate import LONGEST, lines_of, shortened
from spamnb.evaluation.metrics import surest
from spamnb.evaluation.result import Answer, result_of


def test_the_surest_stand_first() -> None:
    p_spam = {"a": 0.01, "b": 0.95, "c": 0.8, "d": 0.999, "e": 0.001, "f": 0.001, "g": 0.98}
    verdicts = {"a": "ham", "b": "spam", "c": "spam", "d": "spam", "e": "ham", "f": "ham", "g": "unsure"}
    answers = []
    for name, p in p_spam.items():
        odds = math.log(p / (1 - p)) * (2 if name == "f" else 1)
        scores, probabilities = {"ham": 0.0, "spam": odds}, {"ham": 1 - p, "spam": p}
        answers.append(Answer(name, "spam" if name in "ef" else "ham", verdicts[name], scores, probabilities))
    result = result_of(answers, "by hand")
    rows = surest(result.scores, result.probabilities, result.truth, result.verdicts)
    assert [answers[row].name for row in rows.tolist()] in (list("fedb"), list("fdeb"))


def test_what_a_stranger_wrote_is_escaped_and_short() -> None:
    nasty = "\x1b[2J\r\n\x9b31m" + "é" * 10_000
    lines = lines_of([Answer("in/\x1b", "ham", "spam", {}, {"spam": 0.99}, [(nasty, 2.0)] * 50, 0.0, nasty, nasty)])
    assert all(line.isprintable() for line in lines) and max(map(len, lines)) < 8 * LONGEST
    assert shortened(nasty).endswith("…") and len(shortened(nasty)) <= LONGEST
    assert shortened("\x07" * 60).startswith("\\x07") and len(shortened("\x07" * 60)) == LONGEST
