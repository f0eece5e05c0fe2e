"""explanation.py: the counts beside the tokens are those of counting by hand, and each note stands where it belongs."""

from dataclasses import replace

import pytest
from mail import mail, message, model_of

from spamnb.api.explain import explanation_of
from spamnb.classifier import Classifier
from spamnb.reader.message import Reader


def told(classifier: Classifier, raw: bytes, top: int, verbose: bool = False) -> list[str]:
    return explanation_of(raw, classifier, top).text(verbose).split("\n")


def without_evidence(classifier: Classifier) -> list[str]:
    found = explanation_of(b"x", classifier, 3)
    judgement = found.judgement._replace(evidence=[], truncations=("text after 9 bytes",))
    return str(replace(found, judgement=judgement)).split("\n")


@pytest.mark.parametrize("others", [0, 2, 3])
def test_counts_are_those_of_the_messages_that_hold_the_token(others: int) -> None:
    messages = mail(15) + [(f"list{n}", message("ham", 100 + 9 * n + k)) for n in range(others) for k in range(n + 1)]
    classifier = model_of(messages)
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
    held = {token: [label for label, other in messages if token in Reader().tokens(other)] for token, _ in evidence[:7]}
    everywhere = [k for k, (token, _) in enumerate(evidence[:7]) if len(held[token]) == len(messages)]
    alone = [k for k in range(7) if k not in everywhere]
    for line, k in zip(lines[at + 2 :], alone):
        token, weight = evidence[k]
        assert line.endswith(f"  {token}")
        first, second, *counts = line.removesuffix(f"  {token}").split()
        assert [float(first), float(second)] == pytest.approx([weight, corrections[k]], abs=5e-4)
        assert list(map(int, counts)) == [held[token].count(name) for name in names]
    rest = lines[at + 2 + len(alone) :]
    if everywhere:
        together = rest.pop(0)
        assert together.endswith("in every message: " + ", ".join(evidence[k].token for k in everywhere))
        assert float(together.split()[0]) == pytest.approx(sum(evidence[k].weight for k in everywhere), abs=5e-4)
    assert rest == [f"… and {len(evidence) - 7} lighter ones"]
    brief = "\n".join(told(classifier, raw, 7))
    assert "correction" not in brief and "calibration" not in brief and "textbook" not in brief


def test_few_messages_are_told_and_enough_are_not() -> None:
    few = "  the model has seen too few messages for these probabilities to mean much"
    assert few in told(model_of(mail(3)), message("spam", 70), 5)
    assert few not in told(model_of(mail(30)), message("spam", 70), 5)


@pytest.mark.parametrize("messages", [1, 100])
def test_one_class_is_against_nothing_and_that_is_all_that_is_said(messages: int) -> None:
    classifier = model_of([("ham", message("ham", n)) for n in range(messages)])
    said = "  the model has learned class 'ham' alone, and nothing to tell it from; 'spamnb learn' adds another class"
    assert told(classifier, message("ham", 70), 3) == ["verdict: unsure", said]
    assert without_evidence(classifier) == ["verdict: unsure", said, "  not read: text after 9 bytes"]


def test_without_evidence_that_is_said_and_what_was_not_read() -> None:
    lines = without_evidence(model_of(mail(15)))
    assert lines[-2:] == ["  not read: text after 9 bytes", "no token of this message is evidence"]
