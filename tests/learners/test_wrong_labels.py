"""Wrong labels: what training leaves out, and what a lesson moves that all others contradict."""

from __future__ import annotations

import os
import random
from pathlib import Path

import numpy as np
import pytest
from mail import counted

from spamnb.classifier import Classifier
from spamnb.learners.corrected import Corrected
from spamnb.reader.message import digest
from spamnb.settings import Settings
from spamnb.store.jsonl import export
from spamnb.training import prepare, train_file

N = 400  # messages of each class
MAIL = {"ham": ("spamassassin/easy_ham",), "spam": ("spamassassin/spam_2",)}
NEWS = {group: (f"20news-bydate/train/{group}",) for group in ("rec.autos", "sci.space", "talk.politics.guns")}
Labelled = list[tuple[str, bytes]]


def letters(where: dict[str, tuple[str, ...]], first: int = 0, n: int = N) -> Labelled:
    """Real messages, ``n`` of each class from number ``first`` on, the classes in turn."""
    if "SPAMNB_CORPORA" not in os.environ:
        pytest.skip("SPAMNB_CORPORA is not set: see corpora/README.md for the public corpora")
    root, of_class = Path(os.environ["SPAMNB_CORPORA"]), []
    for label, folders in where.items():
        files = sorted(path for folder in folders for path in (root / folder).iterdir())
        random.Random(1).shuffle(files)
        of_class.append([(label, path.read_bytes()) for path in files[first : first + n]])
    return [each for row in zip(*of_class) for each in row]


def wrongly_filed(right: Labelled, share: float) -> tuple[Labelled, set[int]]:
    """The messages, of which every so many are labelled as the next class, and where these are."""
    wrong = set(range(0, len(right), round(1 / share)))
    classes = sorted({label for label, _ in right})
    following = dict(zip(classes, (*classes[1:], classes[0])))
    return [(following[c] if i in wrong else c, raw) for i, (c, raw) in enumerate(right)], wrong


@pytest.mark.parametrize(("where", "share"), [(MAIL, 0.02), (MAIL, 0.05), (MAIL, 0.2), (NEWS, 0.05)])
def test_messages_in_the_wrong_folder_are_not_learned(
    where: dict[str, tuple[str, ...]], share: float
) -> None:
    mail, wrong = wrongly_filed(letters(where), share)
    found = Corrected(Settings()).screen(prepare(counted(mail)))
    assert found.doubted is not None
    doubted = set(found.doubted.included_positions().tolist())
    assert len(doubted & wrong) >= 0.75 * len(wrong) and len(doubted - wrong) <= 0.02 * len(mail)
    assert not doubted & set(found.training_set.included_positions().tolist())
    clean = prepare(counted([each for i, each in enumerate(mail) if i not in doubted]))
    learned = found.training_set.select_columns(found.training_set.by_hash())
    assert list(learned.tokens) == list(clean.select_columns(clean.by_hash()).tokens)
    assert np.array_equal(found.training_set.counts.documents, clean.counts.documents)
    right = Corrected(Settings()).screen(prepare(counted(letters(where))))
    assert right.doubted is None and right.noise == 0, "where labels are clean every message is learned"


def test_what_was_left_out_is_judged_by_the_rest_and_told(tmp_path: Path) -> None:
    mail, wrong = wrongly_filed(letters(MAIL), 0.05)
    estimate = train_file(tmp_path / "m", counted(mail), Settings())
    rows = np.flatnonzero(np.isin(estimate.positions, list(wrong)))
    assert estimate.doubted >= 0.75 * len(wrong)
    assert estimate.documents.sum() == len(estimate.positions) - estimate.doubted
    said = np.array(estimate.verdicts)[rows] != np.array(estimate.classes)[estimate.labels[rows]]
    assert said.mean() >= 0.75, "a wrong label is judged as what the message is"
    with Classifier.open(tmp_path / "m", writable=True) as classifier:
        label, raw = mail[int(estimate.positions[-1])]
        assert classifier.learned(raw) is None and classifier.contradicts(label, classifier.classify(raw))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    train_file(tmp_path / "model", counted(letters(MAIL)), Settings())
    return tmp_path / "model"


def spam(first: int, n: int) -> list[bytes]:
    return [raw for label, raw in letters(MAIL, first, n) if label == "spam"]


def caught(classifier: Classifier) -> int:
    return [judgement.verdict for judgement in classifier.classify_all(spam(N, 100))].count("spam")


def test_eight_wrong_lessons_leave_the_filter_as_it_was(model: Path) -> None:
    lessons = spam(N + 100, 8)
    with Classifier.open(model, writable=True) as classifier:
        before, content = caught(classifier), list(export(classifier.store))
        for raw in lessons:
            assert not classifier.contradicts("spam", classifier.classify(raw))
            assert classifier.learn("ham", raw)
            assert classifier.classify(raw).verdict == "ham", "judged as taught"
        assert before >= 95 and caught(classifier) >= before - 4
        for raw in random.Random(1).sample(lessons, len(lessons)):
            assert classifier.forget("ham", raw)
        assert list(export(classifier.store)) == content


@pytest.mark.parametrize(("n", "counts"), [(150, False), (N, True)])
def test_a_wrong_lesson_counts_in_the_calibration_of_many_messages(tmp_path: Path, n: int, counts: bool) -> None:
    train_file(tmp_path / "model", counted(letters(MAIL, 0, n)), Settings())
    (raw,) = spam(N + 100, 1)
    with Classifier.open(tmp_path / "model", writable=True) as classifier:
        assert classifier.contradicts("ham", classifier.classify(raw))
        classifier.learn("ham", raw)
        known = classifier.store.learned(digest(raw))
        assert known is not None and bool(known.bins) is counts


def test_three_lessons_of_a_sender_are_enough_for_that_sender(model: Path) -> None:
    head = b"From: News <news@shop.example>\nReceived: from out.shop.example (10.1.2.3)\nReply-To: ask@shop.example\n"
    bodies = [raw.partition(b"\n\n")[2] for raw in spam(N + 200, 40)]
    of_sender = [head + b"Subject: our offer\n\n" + body for body in bodies]
    with Classifier.open(model, writable=True) as classifier:
        before = [judgement.verdict for judgement in classifier.classify_all(of_sender[3:])].count("spam")
        for raw in of_sender[:3]:
            classifier.learn("ham", raw)
        after = [judgement.verdict for judgement in classifier.classify_all(of_sender[3:])].count("spam")
        assert after <= before // 10, (before, after)
        assert caught(classifier) >= 93
