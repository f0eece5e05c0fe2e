"""explanation.py: the counts beside the tokens are those of counting by hand, and each note stands where it belongs."""


import pytest
from mail import mail, message, model_of

from spamnb.classifier import Classifier
from spamnb.reader.message import Reader
from spamnb.report.explanation import explanation


def told(classifier: Classifier, raw: bytes, top: int, verbose: bool = False) -> list[str]:
    judgement = classifier.classify(raw)
    found = classifier.store.look_up([evidence.token for evidence in judgement.evidence[:top]])
    settings, totals = classifier.settings, classifier.store.totals()
    return explanation(judgement, settings, totals, found, top, verbose).split("\n")


def learned(messages: list[tuple[str, bytes]]) -> Classifier:
    classifier = model_of(messages)
    return classifier


@pytest.mark.parametrize("others", [0, 2, 3])
def test_counts_are_those_of_the_messages_that_hold_the_token(others: int) -> None:
    messages = mail(15) + [(f"list{n}", message("ham", 100 + 9 * n + k)) for n in range(others) for k in range(n + 1)]
    classifier = learned(messages)
    raw = message("spam", 70)
    judged = classifier.classify(raw)
    evidence, corrections = judged.evidence, judged.corrections
    lines = told(classifier, raw, 7, verbose=True)
    at = next(i for i, line in enumerate(lines) if line.startswith("weight in nats for spam (+) against "))
    assert lines[at + 1].split()[:2] == ["nats", "correction"]
    columns = [column.split(" /") for column in lines[at + 1].removesuffix("  token").split("  ") if " /" in column]
    names = [name.strip() for name, _ in columns]
    every = sorted({label for label, _ in messages})
    assert names == every if len(every) <= 4 else (len(names) == 2 and names[0] == "spam")
    assert [int(n) for _, n in columns] == [sum(label == name for label, _ in messages) for name in names]
    for line, (token, weight), part in zip(lines[at + 2 : at + 9], evidence[:7], corrections[:7], strict=True):
        assert line.endswith(f"  {token}")
        first, second, *counts = line.removesuffix(f"  {token}").split()
        assert [float(first), float(second)] == pytest.approx([weight, part], abs=5e-4)
        holders = [label for label, other in messages if token in Reader().tokens(other)]
        assert list(map(int, counts)) == [holders.count(name) for name in names]
    assert lines[at + 9 :] == [f"… and {len(evidence) - 7} lighter ones"]
    brief = "\n".join(told(classifier, raw, 7))
    assert "correction" not in brief and "calibration" not in brief and "textbook" not in brief


def test_few_messages_are_told_and_enough_are_not() -> None:
    few = "  the model has seen too few messages for these probabilities to mean much"
    assert few in told(learned(mail(3)), message("spam", 70), 5)
    assert few not in told(learned(mail(30)), message("spam", 70), 5)


@pytest.mark.parametrize("messages", [1, 100])
def test_one_class_is_against_nothing_and_that_is_all_that_is_said(messages: int) -> None:
    classifier = learned([("ham", message("ham", n)) for n in range(messages)])
    said = "  the model has learned class 'ham' alone, and nothing to tell it from; 'spamnb learn' adds another class"
    assert told(classifier, message("ham", 70), 3) == ["verdict: unsure", said]
    judgement = classifier.classify(b"x")._replace(truncations=("text after 9 bytes",))
    found, totals = classifier.store.look_up([]), classifier.store.totals()
    lines = explanation(judgement, classifier.settings, totals, found, [], 3).split("\n")
    assert lines == ["verdict: unsure", said, "  not read: text after 9 bytes"]


def test_a_model_that_has_learned_nothing_says_so() -> None:
    lines = told(learned([]), message("ham", 70), 3)
    assert lines == ["verdict: unsure", "  the model has learned nothing yet; 'spamnb learn' adds messages"]


def test_without_evidence_that_is_said_and_what_was_not_read() -> None:
    classifier = learned(mail(15))
    judgement = classifier.classify(b"x")._replace(evidence=[], truncations=("text after 9 bytes",))
    found = classifier.store.look_up([])
    lines = explanation(judgement, classifier.settings, classifier.store.totals(), found, 5).split("\n")
    assert lines[-2:] == ["  not read: text after 9 bytes", "no token of this message is evidence"]


