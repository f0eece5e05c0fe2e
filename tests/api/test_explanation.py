"""explain.py: the shares beside the tokens are those of counting by hand, and each note stands where it belongs."""

from dataclasses import replace

import numpy as np
import pytest
from mail import mail, make_model, message

from spamnb import SpamClassifier
from spamnb.api.explain import explain_message
from spamnb.filter import Classifier
from spamnb.model.corrected import offset_scale
from spamnb.reader.message import Reader


def told(classifier: Classifier, raw: bytes, top: int, verbose: bool = False) -> list[str]:
    return explain_message(raw, classifier, top).text(verbose).split("\n")


def without_evidence(classifier: Classifier) -> list[str]:
    found = explain_message(b"x", classifier, 3)
    classification = found.classification._replace(evidence=[], truncations=("text after 9 bytes",))
    return str(replace(found, classification=classification)).split("\n")


@pytest.mark.parametrize("others", [0, 3])
def test_shares_are_those_of_the_messages_that_hold_the_token(others: int) -> None:
    messages = mail(15) + [(f"list{n}", message("ham", 100 + 9 * n + k)) for n in range(others) for k in range(n + 1)]
    classifier, raw = make_model(messages), message("spam", 70)
    classification = classifier.classify(raw)
    lines = told(classifier, raw, 7, verbose=True)
    head = next(place for place, line in enumerate(lines) if line.startswith("for  "))
    every = sorted({label for label, _ in messages})
    names = lines[head].split()[3:-1]
    assert lines[head].split()[:3] == ["for", "nats", "correction"]
    assert names == every if len(every) <= 4 else (len(names) == 2 and names[0] == "spam")
    of_class = {name: [other for label, other in messages if label == name] for name in every}
    shares = [
        [sum(token in Reader().tokens(other) for other in of_class[name]) / len(of_class[name]) for name in every]
        for token, _ in classification.evidence[:7]
    ]
    alone = [k for k in range(7) if set(shares[k]) != {1.0}]
    for line, k in zip(lines[head + 1 :], alone):
        token, weight = classification.evidence[k]
        side, nats, correction, *rest = line.removeprefix("not ").split()
        if len(every) == 2:
            assert side == "spam" if weight > 0 else side != "spam"
        elif not line.startswith("not "):
            assert dict(zip(every, shares[k]))[side] > 0
        assert [float(nats), float(correction)] == pytest.approx([weight, classification.corrections[k]], abs=5e-4)
        expected = [f"{100 * share:.3g}" for name, share in zip(every, shares[k]) if name in names]
        assert sorted(rest[: 2 * len(names) : 2]) == sorted(expected) and token in line
    rest = lines[head + 1 + len(alone) :]
    if len(alone) < 7:
        assert rest.pop(0).endswith("base rate: evidence in every message")
    assert rest == [f"… and {len(classification.evidence) - 7} lighter tokens"]


def test_without_verbose_there_are_words_for_tokens_and_one_scale() -> None:
    brief = "\n".join(told(make_model(mail(15)), message("spam", 70), 400))
    assert not any(term in brief for term in ("nats", "correction", "calibration", "textbook", "header:", "part:"))
    assert "Subject: " in brief and "From: spam.example" in brief


def test_an_address_is_told_once() -> None:
    received = b"Received: from relay.example.org ([192.0.2.7])\n\tby mx.home.example; Mon, 1 Jan 2024 10:00:00 +0000\n"
    messages = [(label, received + raw if label == "spam" else raw) for label, raw in mail(15)]
    brief = "\n".join(told(make_model(messages), received + message("spam", 70), 400))
    assert brief.count("192.0.2") == 1 and "passed through 192.0.2.7\n" in brief
    assert brief.count("example.org") == 1 and "passed through relay.example.org\n" in brief


def test_why_a_message_is_unsure_is_told() -> None:
    """Of 330 messages 300 are spam, so a message of which nothing is known is likely spam."""
    messages = [(label, message(label, n)) for label, count in (("ham", 30), ("spam", 300)) for n in range(count)]
    with make_model(messages) as classifier:
        unknown = classifier.classify(b"\n\nzyzzyva")
        assert (unknown.verdict, unknown.doubt) == ("unsure", "the model knows next to nothing of it")
        assert unknown.probabilities["spam"] > 0.9
        assert f"  {unknown.doubt}" in told(classifier, b"\n\nzyzzyva", 5)


def test_what_can_be_said_of_one_class_and_without_evidence() -> None:
    one = make_model([("ham", message("ham", n)) for n in range(3)])
    said = "  the model has learned only class 'ham'; 'spamnb learn' adds messages of another class"
    assert told(one, message("ham", 70), 3) == ["verdict: unsure", said]
    assert without_evidence(one) == ["verdict: unsure", said, "  not read: text after 9 bytes"]
    lines = without_evidence(make_model(mail(15)))
    assert lines[-2:] == ["  not read: text after 9 bytes", "no token of this message is evidence"]


def test_naive_bayes_and_its_correction_add_up() -> None:
    raw, scores = message("spam", 500), {}
    for kind in ("corrected", "boolean"):
        with make_model(mail(20), model_type=kind) as classifier:
            classification, scores[kind] = classifier.classify(raw), np.ptp(classifier.classify(raw).scores)
            if kind == "corrected":
                whole = sum(weight for _, weight in classification.evidence)
                correction = sum(classification.corrections)
                said = f"naive Bayes gives {whole - correction:+.3f} nats, its correction {correction:+.3f}"
                assert said in told(classifier, raw, 5, verbose=True)
    assert whole == pytest.approx(scores["corrected"]) and correction != 0
    assert whole - correction == pytest.approx(offset_scale(2) * scores["boolean"]), "as naive Bayes says by itself"


def test_with_many_classes_evidence_names_the_class_that_has_the_token() -> None:
    texts = ["goal match team", "code server bug", "cake sugar oven", "bank loan rate", "cake flour recipe"]
    labels = ["sport", "tech", "food", "money", "food"]
    explanation = SpamClassifier().fit(texts, labels).explain("goal goal server cake")
    lines = {line.split()[-1]: line.split()[0] for line in str(explanation).splitlines() if line}
    assert (lines["goal"], lines["server"], lines["cake"]) == ("sport", "tech", "food")


def test_hidden_words_are_named_if_the_verdict_would_be_another_without_them() -> None:
    good, bad = "minutes agenda budget review draft team", "cheap pills casino winner prize credit"
    texts = [(label, f"{words} {n}") for n in range(40) for label, words in (("ham", good), ("spam", bad))]
    classifier = make_model([(label, f"Subject: {n}\n\n{text}\n".encode()) for n, (label, text) in enumerate(texts)])
    line = "  hidden or doubtful text: without its words the verdict would be another"
    page = "Content-Type: text/html\n\n<p>{}</p><div style='display:none'>{}</div>"
    for shown, hidden, has_line in (("pills cheap", bad, True), ("pills cheap", good, False)):
        raw = page.format(shown, hidden).encode()
        assert (line in told(classifier, raw, 3)) == has_line
