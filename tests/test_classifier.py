"""classifier.py: textbook posteriors against scikit-learn, and the algebra of learning and forgetting."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mail import mail, message, model_of, sums
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from spamnb.classifier import Classifier
from spamnb.reader.message import Reader
from spamnb.reader.options import TokenOptions
from spamnb.reader.token_array import TokenArray
from spamnb.reader.vocabulary import Vocabulary
from spamnb.settings import Settings
from spamnb.store.jsonl import export, parse_export
from spamnb.store.snapshot import Snapshot, atomic_replace, read_snapshot, write_snapshot
from spamnb.store.store import Store


def exported(classifier: Classifier) -> list[str]:
    return list(export(classifier.store))


@pytest.mark.parametrize(
    ("model_type", "twin", "binary"),
    [("multinomial", MultinomialNB, False), ("boolean", MultinomialNB, True), ("bernoulli", BernoulliNB, True)],
)
@pytest.mark.parametrize("alpha", [1.0, 0.03])
def test_textbook_posterior_is_scikit_learns(model_type: str, twin: type, binary: bool, alpha: float) -> None:
    messages = [*mail(15), ("list", message("ham", 99)), ("list", message("spam", 98))]
    classifier = model_of(messages, model_type=model_type, alpha=alpha, pooling="sum")
    reader = Reader()
    vectorizer = CountVectorizer(analyzer=lambda text: Counter(reader.tokens(text.encode())).elements(), binary=binary)
    X = vectorizer.fit_transform([raw for _, raw in messages])
    estimator = twin(alpha=alpha).fit(X, [label for label, _ in messages])
    for label in ("ham", "spam"):
        for number in range(200, 206):
            raw = message(label, number)
            judgement = classifier.classify(raw)
            expected = estimator.predict_proba(vectorizer.transform([raw]))[0]
            assert list(judgement.posterior) == estimator.classes_.tolist()
            np.testing.assert_allclose(list(judgement.posterior.values()), expected, rtol=1e-9, atol=1e-15)
            joint = estimator.predict_joint_log_proba(vectorizer.transform([raw]))[0]
            np.testing.assert_allclose(judgement.scores, joint, atol=1e-10)


def test_an_open_model_that_is_trained_anew_with_other_settings_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "m"
    content = read_snapshot(model_of(mail(8)).store)
    other = read_snapshot(
        model_of(mail(8), model_type="multinomial", tokens=TokenOptions(body_only=True, ngrams=1)).store
    )
    with atomic_replace(path, content.meta) as store:
        write_snapshot(store, content)
    raw = message("spam", 500)
    with Classifier.open(path, writable=True) as classifier:
        classifier.charge(false_positive_cost=3)
        before, read = classifier.classify(raw), classifier.read(raw)
        with atomic_replace(path, other.meta, force=True) as store:
            write_snapshot(store, other)
        with Classifier.open(path) as fresh:
            told = fresh.classify(raw)
        after = classifier.classify(raw)
        assert after.scores.tolist() == told.scores.tolist() != before.scores.tolist()
        assert classifier.classify(read).scores.tolist() == told.scores.tolist()  # read with tokens of before
        assert classifier.settings.loss.false_positive_cost == 3
        assert classifier.learn("spam", read) and classifier.forget("spam", raw)
        assert list(export(classifier.store)) == list(export(trained_as(other)))


def trained_as(content: Snapshot) -> Store:
    store = Store.create(":memory:", content.meta)
    write_snapshot(store, content)
    return store


def test_it_tells_unseen_messages_apart_and_says_why() -> None:
    classifier = model_of(mail(40))
    judgements = [(label, classifier.classify(message(label, n))) for label in ("ham", "spam") for n in range(500, 540)]
    assert sum(judgement.verdict == label for label, judgement in judgements) >= 78
    spam = classifier.classify(message("spam", 501))
    assert spam.probabilities["spam"] > 0.9 > spam.probabilities["ham"]
    assert abs(sum(spam.probabilities.values()) - 1) < 1e-12
    assert spam.score == pytest.approx(np.log(spam.probabilities["spam"] / spam.probabilities["ham"]))
    weights = [abs(evidence.weight) for evidence in spam.evidence]
    assert weights == sorted(weights, reverse=True)
    assert spam.evidence[0].weight > 0


@pytest.mark.parametrize("copy", [b"", b"\n", b"\r\n", b"\n\n\n"])
@pytest.mark.parametrize(
    "head", [b"", b"Content-Type: text/html\n", b"Content-Type: multipart/mixed; boundary=b\n\n--b\nX: y\n"]
)
def test_a_copy_with_other_line_ends_at_its_end_is_forgotten_and_moved(head: bytes, copy: bytes) -> None:
    """A mailbox adds an empty line behind a message, and a reader takes it away."""
    raw = b"Subject: lunch\n" + head + b"\nHello there"
    with model_of(mail(12)) as classifier:
        before = exported(classifier)
        for learned, told in ((raw, raw + copy), (raw + copy, raw)):
            assert classifier.learn("ham", learned)
            assert not classifier.learn("ham", told)
            assert classifier.learn("spam", told)
            assert classifier.forget("spam", learned)
            assert exported(classifier) == before


@settings(max_examples=15, deadline=None)
@given(st.permutations(mail(4)))
def test_the_order_of_learning_changes_the_correction_alone(messages: list[tuple[str, bytes]]) -> None:
    learned, in_order = (model_of(given, model_type="boolean") for given in (messages, mail(4)))
    assert sums(exported(learned)) == sums(exported(in_order))
    contents = [read_snapshot(model_of(given, model_type="corrected").store) for given in (messages, mail(4))]
    assert list(contents[0].tokens) == list(contents[1].tokens)
    assert str(contents[0].counts) == str(contents[1].counts)


def test_a_message_is_learned_once_and_moved_when_it_was_wrong() -> None:
    classifier = model_of(mail(3))
    raw = message("spam", 50)
    assert classifier.learn("ham", raw)
    once = exported(classifier)
    assert not classifier.learn("ham", raw)
    crlf = b"From mbox@example Mon Jan  1 00:00:00 2024\r\n" + raw.replace(b"\n", b"\r\n")
    assert not classifier.learn("ham", crlf), "other line endings, and an mbox's From line, are the same message"
    assert exported(classifier) == once
    assert classifier.learn("spam", raw)
    assert classifier.learned(raw) == "spam"
    straight = model_of([*mail(3), ("spam", raw)])
    assert classifier.store.totals().documents.tolist() == straight.store.totals().documents.tolist()
    tokens = list(Reader().tokens(raw))
    moved, direct = classifier.store.look_up(sorted(tokens)), straight.store.look_up(sorted(tokens))
    assert np.array_equal(moved.document_counts, direct.document_counts)
    assert not classifier.forget("ham", raw)


def test_what_a_person_taught_is_never_overridden_by_the_filter() -> None:
    classifier = model_of(mail(3))
    raw = message("spam", 60)
    assert classifier.learn("ham", raw, taught=False)
    assert not classifier.learn("ham", raw), "known already, but now a person has said so"
    assert not classifier.learn("spam", raw, taught=False)
    assert classifier.learned(raw) == "ham"
    assert classifier.learn("spam", raw)


def test_what_the_filter_learned_before_delivery_a_person_corrects_after_it() -> None:
    classifier = model_of(mail(3))
    before = exported(classifier)
    raw = message("spam", 61)
    delivered = b"Return-Path: <x@y.example>\nReceived: from mx.example\n\tby inbox.example; today\n" + raw
    assert classifier.learn("ham", raw, taught=False)
    assert not classifier.learn("ham", delivered, taught=False), "another copy of what it taught itself"
    assert classifier.learn("spam", delivered)
    assert (classifier.learned(raw), classifier.learned(delivered)) == (None, "spam")
    assert classifier.forget("spam", delivered)
    assert exported(classifier) == before
    assert classifier.learn("spam", raw, taught=False)
    taught = exported(classifier)
    assert not classifier.forget("ham", delivered)
    assert exported(classifier) == taught, "it was learned as spam, so forgetting it as ham changes nothing"
    assert classifier.forget("spam", delivered)
    assert exported(classifier) == before


def test_own_lessons_are_exported_and_the_oldest_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spamnb.store.store.MAX_AUTOLEARNED", 3)
    classifier = model_of(mail(3))
    for n in range(70, 76):
        classifier.learn("spam", message("spam", n), taught=False)
    lines = [line for line in exported(classifier) if line.startswith('{"lesson"')]
    assert len(lines) == 3
    content = parse_export(exported(classifier), "-")
    assert len(content.lessons) == 3


def test_one_class_alone_is_told_and_never_a_verdict() -> None:
    judgement = model_of([("spam", message("spam", 1))]).classify(message("spam", 2))
    assert (judgement.verdict, judgement.enough) == ("unsure", False)
    assert Classifier.create(":memory:").classify(b"hello").verdict == "unsure"


@pytest.mark.parametrize("order", [("ham", "spam"), ("spam", "ham")])
def test_teaching_one_class_after_the_other_does_not_make_all_mail_the_second(order: tuple[str, str]) -> None:
    classifier = model_of([(label, message(label, n)) for label in order for n in range(60)])
    asked = [(label, message(label, n)) for label in order for n in range(300, 340)]
    right = {
        label: sum(classifier.classify(raw).verdict == label for name, raw in asked if name == label) for label in order
    }
    assert right["ham"] == 40
    assert right["spam"] >= 30


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_get_a_verdict_and_can_be_learned(raw: bytes) -> None:
    classifier = model_of(mail(2))
    before = exported(classifier)
    assert classifier.classify(raw).verdict in ("ham", "spam", "unsure")
    assert classifier.learn("ham", raw)
    assert classifier.forget("ham", raw)
    assert exported(classifier) == before


@pytest.mark.parametrize("taught", [True, False])
def test_a_message_that_was_read_once_is_judged_and_learned_as_its_bytes_are(taught: bool) -> None:
    ours, theirs = model_of(mail(10)), model_of(mail(10))
    for number in range(60, 70):
        raw = b"Received: from a\n" + message("spam", number)
        read = ours.read(raw)
        one, other = ours.classify(read, tokens=3), theirs.classify_all([raw], tokens=3)[0]
        assert one._replace(scores=None) == other._replace(scores=None) and one.scores.tolist() == other.scores.tolist()
        assert ours.learn("spam", read, taught=taught) and theirs.learn("spam", raw, taught=taught)
        assert exported(ours) == exported(theirs)
    assert ours.forget("spam", read) and theirs.forget("spam", raw) and exported(ours) == exported(theirs)


@pytest.mark.parametrize("model_type", ["boolean", "corrected"])
def test_which_class_is_learned_first_does_not_matter(model_type: str) -> None:
    messages = sorted(mail(60))  # all ham, then all spam
    unseen = [message(label, n) for label in ("ham", "spam") for n in range(900, 920)]
    found = []
    for order in (messages, messages[::-1]):
        with Classifier.create(":memory:", Settings(model_type)) as classifier:
            for label, raw in order:
                classifier.learn(label, raw)
            found.append([classifier.classify(raw).probabilities for raw in unseen])
    for one, other in zip(*found):  # what a correction learns depends on what came before, and tells the same
        assert one == pytest.approx(other, abs=1e-9 if model_type == "boolean" else 0.05)


def test_curves_follow_each_change_and_inside_of_one_a_hundredth_of_the_messages(tmp_path: Path) -> None:
    path, curves = tmp_path / "m", []
    with Classifier.create(path) as classifier:
        with classifier.store.writing():
            for label, raw in mail(150):
                classifier.learn(label, raw)
        before = classifier.store.calibrated().curves()
        with classifier.store.writing():
            for n in range(200, 207):
                classifier.learn("ham", message("ham", n))
                curves.append(classifier.store.calibrated().curves())
        with Classifier.open(path) as other:
            after = other.store.calibrated().curves()
        assert classifier.store.calibrated().curves() == after not in (before, curves[-1])
        for n in range(200, 207):
            classifier.forget("ham", message("ham", n))
        assert classifier.store.calibrated().curves() == before
    assert 1 < len(set(map(tuple, curves))) <= 3


def test_two_words_of_one_hash_do_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = b"Subject: x\n\nminutes bbbbba1b6aa\n"
    classifier = model_of(mail(3))
    take = Vocabulary.take

    def with_twins(self: Vocabulary, ids: np.ndarray) -> TokenArray:
        tokens, one = take(self, ids), TokenArray.of(["minutes"]).hashes[0]
        hashes = np.where([text == "bbbbba1b6aa" for text in tokens], one, tokens.hashes)
        return TokenArray(tokens.text, tokens.offsets, tokens.lengths, hashes, tokens.groups)

    monkeypatch.setattr(Vocabulary, "take", with_twins)
    before = exported(classifier)
    assert classifier.learn("spam", raw)
    assert parse_export(exported(classifier), "-").counts.documents.sum() == 7
    totals, content = classifier.store.totals(), read_snapshot(classifier.store)
    whole = content.counts.totals()
    assert all(map(np.array_equal, totals[1:4], whole[1:4]))
    assert classifier.forget("spam", raw)
    assert exported(classifier) == before


def test_what_is_remembered_of_tokens_is_bounded_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [(label, message(label, number)) for number in range(60, 80) for label in ("ham", "spam")]
    whole, small = model_of(mail(20)), model_of(mail(20))
    expected = []
    for label, raw in asked:
        expected.append(whole.classify(raw).scores.tolist())
        whole.learn(label, raw)
    monkeypatch.setattr("spamnb.store.store.MAX_VOCABULARY", 50)
    for (label, raw), scores in zip(asked, expected):
        assert small.classify(raw).scores.tolist() == scores
        small.learn(label, raw)
        numbered = small.read(raw).tokens.vocabulary
        assert len(small.store.vocabulary) <= len(numbered) <= 50 + len(Reader().tokens(raw))
    assert exported(small) == exported(whole)


@pytest.mark.parametrize("tokenizer", ["own", "treebank"])
def test_a_message_whose_judgement_was_broken_off_leaves_nothing_to_the_next(tokenizer: str) -> None:
    classifier = Classifier.create(":memory:", Settings(tokens=TokenOptions(tokenizer=tokenizer)))
    for label, raw in mail(5):
        classifier.learn(label, raw)
    expected = classifier.classify(message("ham", 20))

    def broken_off() -> Iterator[bytes]:
        yield message("spam", 20)
        raise TimeoutError

    with pytest.raises(TimeoutError):
        classifier.classify_all(broken_off())
    assert classifier.classify(message("ham", 20)).evidence == expected.evidence


def test_one_class_alone_calibrates_nothing() -> None:
    classifier = model_of([("ham", message("ham", n)) for n in range(3)])
    assert not classifier.store.histogram().any()
    classifier.learn("spam", message("spam", 1))
    assert not classifier.store.histogram().any()  # there was nothing of its class to score it against
    classifier.learn("spam", message("spam", 2))
    histogram = classifier.store.histogram().copy()
    assert histogram.sum() == 2
    classifier.learn("list", message("ham", 90))
    assert np.array_equal(classifier.store.histogram()[:2], histogram) and classifier.store.histogram().sum() == 2


def test_other_costs_change_the_verdicts_to_come_and_not_the_model() -> None:
    classifier, raw = model_of(mail(20)), message("spam", 70)
    before, told = exported(classifier), classifier.classify(raw)
    assert told.verdict == "spam"
    classifier.charge(false_positive_cost=1e6)
    assert classifier.classify(raw).verdict == "ham"
    classifier.charge(unsure_cost=1e-9)
    assert classifier.classify(raw).verdict == "unsure"
    assert classifier.classify(raw).probabilities == told.probabilities
    classifier.charge(false_positive_cost=9, unsure_cost=1e6)
    assert classifier.classify(raw).verdict == "spam" and exported(classifier) == before


def test_a_verdict_is_of_one_state_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Classifier.create(tmp_path / "m") as writer, Classifier.open(tmp_path / "m") as reader:
        for label, raw in mail(5):
            writer.learn(label, raw)
        raw = message("spam", 50)
        before, read = writer.classify(raw).scores.tolist(), reader._reader.read

        def while_another_learns(*asked: Any, **options: Any) -> Any:
            writer.learn("ham", raw)
            return read(*asked, **options)

        monkeypatch.setattr(reader._reader, "read", while_another_learns)
        assert reader.classify(raw).scores.tolist() == before
        monkeypatch.undo()
        assert reader.classify(raw).scores.tolist() == writer.classify(raw).scores.tolist() != before


def test_a_str_is_a_text_without_headers() -> None:
    with Classifier.create(":memory:") as classifier:
        assert classifier.learn("spam", "Subject: pills")
        assert classifier.learned("Subject: pills") == classifier.learned(b"\nSubject: pills\n") == "spam"
        assert not classifier.learn("spam", b"\nSubject: pills\n")
        assert classifier.learn("ham", b"Subject: pills\n\n")
        by_text, by_raw = classifier.classify_all(["cheap pills", b"\ncheap pills\n"])
        assert by_text.probabilities == by_raw.probabilities == classifier.classify("cheap pills").probabilities
        assert classifier.read("pills").counts["pills"] == 1
        assert classifier.forget("spam", "Subject: pills")


@pytest.mark.parametrize("given", [None, 1.5, ["a"]])
def test_what_is_no_message_is_refused_in_one_line(given: Any) -> None:
    with (
        Classifier.create(":memory:") as classifier,
        pytest.raises(TypeError, match=r"a message is bytes .* or str .*, and this is"),
    ):
        classifier.learn("spam", given)
