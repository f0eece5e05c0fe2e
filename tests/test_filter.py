"""filter.py: textbook uncalibrated_rows against scikit-learn, and the algebra of learning and forgetting."""

from collections import Counter
from collections.abc import Callable
from email.message import EmailMessage
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mail import count_messages, mail, make_model, message, same_counts, train_file, without_calibration
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

import spamnb.model.model
from spamnb.errors import SpamnbError
from spamnb.filter import Classifier
from spamnb.model import calibration
from spamnb.model.class_counts import DOCUMENTS, OCCURRENCES
from spamnb.reader.message import Reader
from spamnb.reader.rows import Rows
from spamnb.reader.tokens import TokenArray, Vocabulary
from spamnb.settings import Settings
from spamnb.store.examples import read_examples
from spamnb.store.jsonl import export, parse_export
from spamnb.store.merging import merge_models
from spamnb.store.snapshot import atomic_replace, read_snapshot, write_snapshot
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
    classifier = make_model(messages, model_type=model_type, alpha=alpha, pooling="sum")
    reader = Reader()
    vectorizer = CountVectorizer(analyzer=lambda text: Counter(reader.tokens(text.encode())).elements(), binary=binary)
    X = vectorizer.fit_transform([raw for _, raw in messages])
    estimator = twin(alpha=alpha).fit(X, [label for label, _ in messages])
    for label in ("ham", "spam"):
        for number in range(200, 206):
            raw = message(label, number)
            classification = classifier.classify(raw)
            expected = estimator.predict_proba(vectorizer.transform([raw]))[0]
            assert list(classification.uncalibrated) == estimator.classes_.tolist()
            np.testing.assert_allclose(list(classification.uncalibrated.values()), expected, rtol=1e-9, atol=1e-15)
            joint = estimator.predict_joint_log_proba(vectorizer.transform([raw]))[0]
            np.testing.assert_allclose(classification.scores, joint, atol=1e-10)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Classifier.open(None),  # type: ignore[arg-type]
        lambda: Classifier.create(5),  # type: ignore[arg-type]
        lambda: Classifier.create(":memory:", {"alpha": 1}),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_path_or_no_settings_is_told(make: Callable[[], Classifier]) -> None:
    with pytest.raises(SpamnbError, match=r"^(path|settings) is .*: give "):
        make()


def put(path: Path, classifier: Classifier) -> None:
    """Write the model to the file at ``path``, as training does."""
    content = read_snapshot(classifier.store)
    with atomic_replace(path, content.model.meta, force=True) as store:
        write_snapshot(store, content)


def test_an_open_model_that_is_trained_anew_with_other_settings_is_followed(tmp_path: Path) -> None:
    path, raw = tmp_path / "m", message("spam", 500)
    put(path, make_model(mail(8)))
    with Classifier.open(path, writable=True) as classifier:
        before, read = classifier.classify(raw), classifier.read(raw)
        put(path, make_model(mail(8), model_type="multinomial", body_only=True, ngrams=1))
        with Classifier.open(path) as fresh:
            told, whole = fresh.classify(raw), exported(fresh)
        assert classifier.classify(raw).scores.tolist() == told.scores.tolist() != before.scores.tolist()
        assert classifier.classify(read).scores.tolist() == told.scores.tolist()  # read with tokens of before
        assert classifier.learn("spam", read) and classifier.forget("spam", raw)
        assert exported(classifier) == whole


def test_it_tells_unseen_messages_apart_and_says_why() -> None:
    classifier = make_model(mail(40))
    classifications = [
        (label, classifier.classify(message(label, n))) for label in ("ham", "spam") for n in range(500, 540)
    ]
    assert sum(classification.verdict == label for label, classification in classifications) >= 78
    spam = classifier.classify(message("spam", 501))
    assert spam.probabilities["spam"] > 0.9 > spam.probabilities["ham"]
    assert abs(sum(spam.probabilities.values()) - 1) < 1e-12
    assert spam.log_odds == pytest.approx(np.log(spam.probabilities["spam"] / spam.probabilities["ham"]))
    weights = [abs(evidence.weight) for evidence in spam.evidence]
    assert weights == sorted(weights, reverse=True)
    assert spam.evidence[0].weight > 0


@pytest.mark.parametrize(("n_spam", "verdict"), [(30, "ham"), (600, "unsure")])
@pytest.mark.parametrize("model_type", ["corrected", "boolean", "multinomial", "bernoulli"])
def test_a_message_without_a_known_token_has_the_prior_and_is_never_spam(
    n_spam: int, verdict: str, model_type: str
) -> None:
    messages = [("ham", message("ham", n)) for n in range(30)] + [("spam", message("spam", n)) for n in range(n_spam)]
    with Classifier.create(":memory:", Settings(model_type=model_type)) as classifier:
        classifier.learn_all(*zip(*messages))
        classification = classifier.classify_rows(Rows.of([{"neverseen": 1}]))[0]
        n = classifier.model.totals.documents
        assert list(classification.probabilities.values()) == pytest.approx((n + 1) / (n.sum() + 2))
        assert classification.verdict == verdict and not classification.evidence


@pytest.mark.parametrize("copy", [b"", b"\n", b"\r\n", b"\n\n\n"])
@pytest.mark.parametrize(
    "head", [b"", b"Content-Type: text/html\n", b"Content-Type: multipart/mixed; boundary=b\n\n--b\nX: y\n"]
)
def test_a_copy_with_other_line_ends_at_its_end_is_forgotten_and_moved(head: bytes, copy: bytes) -> None:
    """A mailbox adds an empty line behind a message, and a reader takes it away."""
    raw = b"Subject: lunch\n" + head + b"\nHello there"
    with make_model(mail(12)) as classifier:
        before = exported(classifier)
        for learned, told in ((raw, raw + copy), (raw + copy, raw)):
            assert classifier.learn("ham", learned)
            assert not classifier.learn("ham", told)
            assert classifier.learn("spam", told)
            assert classifier.forget("spam", learned)
            assert exported(classifier) == before


@cache
def learned_in_order(model_type: str) -> Classifier:
    return make_model(mail(4), model_type=model_type)


@settings(max_examples=15, deadline=None)
@given(st.permutations(mail(4)))
def test_the_order_of_learning_changes_the_correction_alone(messages: list[tuple[str, bytes]]) -> None:
    learned = make_model(messages, model_type="boolean")
    assert without_calibration(exported(learned)) == without_calibration(exported(learned_in_order("boolean")))
    classifiers = make_model(messages, model_type="corrected"), learned_in_order("corrected")
    contents = [read_snapshot(classifier.store) for classifier in classifiers]
    assert list(contents[0].block.tokens) == list(contents[1].block.tokens)
    assert same_counts(*contents)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 7), st.sampled_from(["ham", "spam", "list"])), max_size=60))
def test_messages_that_are_learned_together_are_counted_as_one_by_one(lessons: list[tuple[int, str]]) -> None:
    raws = [message(("ham", "spam")[number % 2], number) for number in range(8)]
    one, many = (make_model(mail(5), model_type="boolean") for _ in range(2))
    alone = [(one.learned(raws[number]) or "", one.learn(label, raws[number])) for number, label in lessons]
    changes = many.learn_all([label for _, label in lessons], [raws[number] for number, _ in lessons])
    assert [(each.old.label, each.is_new) for each in changes] == alone
    assert all(0 <= each.trust <= 1 for each in changes)
    assert {*map(str, without_calibration(exported(many)))} == {*map(str, without_calibration(exported(one)))}
    for raw in raws:
        assert many.learned(raw) == one.learned(raw)
        many.forget(many.learned(raw) or "", raw)
    rest = make_model([(label, raw) for label, raw in mail(5) if raw not in raws], model_type="boolean")
    totals, expected = many.model.totals, rest.model.totals
    assert totals.documents.tolist() == expected.documents.tolist()
    assert totals.occurrences.tolist() == expected.occurrences.tolist()


def test_a_message_is_learned_once_and_moved_when_it_was_wrong() -> None:
    classifier = make_model(mail(3))
    raw = message("spam", 50)
    assert classifier.learn("ham", raw)
    once = exported(classifier)
    assert not classifier.learn("ham", raw)
    crlf = b"From mbox@example Mon Jan  1 00:00:00 2024\r\n" + raw.replace(b"\n", b"\r\n")
    assert not classifier.learn("ham", crlf), "other line endings, and an mbox's From line, are the same message"
    assert exported(classifier) == once
    assert classifier.learn("spam", raw)
    assert classifier.learned(raw) == "spam"
    straight = make_model([*mail(3), ("spam", raw)])
    assert classifier.model.totals.documents.tolist() == straight.model.totals.documents.tolist()
    tokens = list(Reader().tokens(raw))
    moved, direct = (each.store.look_up(sorted(tokens)) for each in (classifier, straight))
    assert np.array_equal(moved.document_counts, direct.document_counts)
    assert not classifier.forget("ham", raw)


def test_one_class_alone_is_never_a_verdict_and_calibrates_nothing() -> None:
    assert Classifier.create(":memory:").classify(b"hello").verdict == "unsure"
    classifier = make_model([("ham", message("ham", n)) for n in range(3)])
    classification = classifier.classify(message("ham", 9))
    assert (classification.verdict, classification.doubt) == ("unsure", "")
    assert not classifier.store.own.histogram.any()
    classifier.learn("spam", message("spam", 1))
    assert classifier.store.own.histogram.sum() == 2  # the last of three good messages, which is learned again
    classifier.learn("spam", message("spam", 2))
    assert classifier.store.own.histogram.sum() == 4
    classifier.learn("list", message("ham", 90))  # there was nothing of its class to score it against
    assert classifier.store.own.histogram.sum() == 4


@settings(max_examples=20, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_get_a_verdict_and_can_be_learned(raw: bytes) -> None:
    classifier = make_model(mail(2))
    before = exported(classifier)
    assert classifier.classify(raw).verdict in ("ham", "spam", "unsure")
    assert classifier.learn("ham", raw)
    assert classifier.forget("ham", raw)
    assert exported(classifier) == before


def test_a_message_that_was_read_once_is_classified_and_learned_as_its_bytes_are() -> None:
    ours, theirs = make_model(mail(10)), make_model(mail(10))
    for number in range(60, 70):
        raw = b"Received: from a\n" + message("spam", number)
        read = ours.read(raw)
        one, other = ours.classify(read, n_evidence=3), theirs.classify_all([raw], n_evidence=3)[0]
        assert one == other
        assert ours.learn("spam", read) and theirs.learn("spam", raw)
        assert exported(ours) == exported(theirs)
    assert ours.forget("spam", read) and theirs.forget("spam", raw) and exported(ours) == exported(theirs)


def test_two_words_of_one_hash_do_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = b"Subject: x\n\nminutes bbbbba1b6aa\n"
    classifier = make_model(mail(3))
    take, one = Vocabulary.take, TokenArray.of(["minutes"]).hashes[0]

    def with_twins(self: Vocabulary, ids: np.ndarray) -> TokenArray:
        tokens = take(self, ids)
        hashes = np.where([text == "bbbbba1b6aa" for text in tokens], one, tokens.hashes)
        return TokenArray(tokens.text, tokens.offsets, tokens.lengths, hashes, tokens.groups)

    monkeypatch.setattr(Vocabulary, "take", with_twins)
    before = exported(classifier)
    assert classifier.learn("spam", raw)
    assert parse_export(exported(classifier), "-").model.sums[:, 0].sum() == 7
    own, cells = classifier.store.own, read_snapshot(classifier.store).block.cells
    by_class = [cells.sums(figure, cells.label, len(own.sums)) for figure in (DOCUMENTS, OCCURRENCES)]
    assert np.array_equal(np.transpose(by_class), own.sums[:, 1:])
    assert classifier.forget("spam", raw)
    assert exported(classifier) == before


def check_curves(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that the curves in the file are those of its histograms."""
    with Store.open(path) as store:
        with store.reading():
            own = store.own
            assert np.array_equal(own.unscored, own.sums[:, 0] - own.histogram[:, 0].sum(axis=1))
            curves = calibration.fit_curves(own.histogram[own.nonempty_classes], own.unscored[own.nonempty_classes])
        for found, expected in zip(store.model.calibration, curves, strict=True):
            np.testing.assert_array_equal(found, expected)
    with monkeypatch.context() as patch, Classifier.open(path) as reader:
        patch.setattr(spamnb.model.model, "fit_curves", lambda *_: pytest.fail("a reader fitted the calibration"))
        reader.classify(message("spam", 900))
        assert len(reader.classify_all([message("ham", 901)])) == 1


def test_a_message_of_training_counts_once_when_it_is_forgotten(tmp_path: Path) -> None:
    train_file(tmp_path / "m", count_messages(mail(20)), Settings())
    with Classifier.open(tmp_path / "m", writable=True) as classifier:
        assert classifier.forget(*mail(20)[0])
        own = classifier.store.own
        assert own.sums[:, 0].sum() == 39
        assert own.typicality[:, 0].tolist() == own.histogram[:, 0].sum(axis=1).tolist() == own.sums[:, 0].tolist()


def test_a_file_holds_the_curves_of_its_sums_whoever_wrote_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train_file(tmp_path / "a", count_messages(mail(30)), Settings())
    check_curves(tmp_path / "a", monkeypatch)
    with Classifier.create(tmp_path / "b") as classifier:
        for number, (label, raw) in enumerate([*mail(90)[60:], ("spam", message("ham", 500))]):
            classifier.learn(label, raw)
            if number % 20 == 0:
                check_curves(tmp_path / "b", monkeypatch)
        classifier.learn("ham", message("ham", 500))  # moved
        check_curves(tmp_path / "b", monkeypatch)
        assert classifier.forget("ham", message("ham", 500)) and classifier.forget(*mail(90)[70])
        check_curves(tmp_path / "b", monkeypatch)
        lines = exported(classifier)
    parts = []
    for name in "ab":
        with Store.open(tmp_path / name) as store:
            parts.append(read_snapshot(store))
    merged, _ = merge_models(parts, ["a", "b"])
    for name, content in (("merged", merged), ("imported", parse_export(lines, "-"))):
        with atomic_replace(tmp_path / name, content.model.meta) as store:
            write_snapshot(store, content)
        check_curves(tmp_path / name, monkeypatch)


def test_what_is_remembered_of_tokens_is_bounded_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [(label, message(label, number)) for number in range(60, 80) for label in ("ham", "spam")]
    whole, small = make_model(mail(20)), make_model(mail(20))
    expected = []
    for label, raw in asked:
        expected.append(whole.classify(raw).scores.tolist())
        whole.learn(label, raw)
    monkeypatch.setattr("spamnb.store.store.MAX_VOCABULARY", 50)
    monkeypatch.setattr("spamnb.store.token_table.MAX_ROWS", 50)
    for (label, raw), scores in zip(asked, expected):
        assert small.classify(raw).scores.tolist() == scores
        small.learn(label, raw)
        assert len(small.store._vocabulary) <= 50 + len(Reader().tokens(raw))
        n_looked_up = len(Reader().tokens(raw)) + sum(len(each.hashes) for each in read_examples(small.store).messages)
        assert small.store._rows is not None and len(small.store._rows) <= 50 + n_looked_up
    assert exported(small) == exported(whole)


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


def test_a_photo_without_a_word_is_unsure_if_only_spam_has_pictures() -> None:
    def with_picture(text: str, subject: str) -> bytes:
        mail = EmailMessage()
        mail["Subject"] = subject
        if text:
            mail.set_content(text)
        mail.add_attachment(bytes(range(256)), maintype="image", subtype="jpeg", filename="IMG_2231.jpeg")
        return bytes(mail)

    good = [("ham", message("ham", n)) for n in range(60)]
    spam = [("spam", with_picture(f"cheap pills, offer {n}", f"OFFER_{n}")) for n in range(60)]
    photo = make_model(good + spam).classify(with_picture("", "IMG_2231"))
    assert photo.probabilities["spam"] > 0.9 and photo.verdict == "unsure"
    assert photo.doubt == "the model knows no word of it"


def test_words_that_may_be_hidden_are_known_words_too() -> None:
    head = b"Subject: Neverseen title\nContent-Type: text/html\n\n<p style='position:fixed'>"
    classifier = make_model(mail(40))
    ham, spam = classifier.classify(
        head + b"casino prize offer"
    ).typicality  # by the layout of the subject, and structure
    assert 0 < ham + spam < 1, "some of its structure is unknown"
    assert classifier.classify(head + b"nevergonna seenbefore").typicality == (0, 0)


def test_a_message_of_which_parts_were_not_read_is_not_called_good() -> None:
    classifier, good = make_model(mail(40)), message("ham", 500)
    assert classifier.classify(good).verdict == "ham"
    found = classifier.classify(b"Content-Type: multipart/mixed; boundary=b\n" + good + b"\n" + b"--b\n\nx\n" * 30_000)
    assert found.probabilities["ham"] > 0.9 and found.verdict == "unsure"
    assert found.doubt == "some of its parts were not read, because there are too many"


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
        with pytest.raises(TypeError, match="a single message: give a list"):
            classifier.classify_all("cheap pills")


def test_classifications_are_compared_and_hashed_by_what_they_hold() -> None:
    with Classifier.create(":memory:") as classifier:
        classifier.learn("ham", message("ham", 1)), classifier.learn("spam", message("spam", 1))
        first, same, other = (
            classifier.classify(message(label, n)) for label, n in (("spam", 2), ("spam", 2), ("ham", 3))
        )
        assert first == same and (first != same) is False and hash(first) == hash(same)
        assert first != other and first != tuple(first) and len({first, same, other}) == 2
