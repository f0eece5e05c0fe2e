"""training.py: leave-one-out against the long way round (forget, classify, learn again), and files in one piece."""

import os
from pathlib import Path

import numpy as np
import pytest
from mail import count_messages, mail, message, train_file, without_calibration

from spamnb.errors import SpamnbError
from spamnb.evaluation.estimates import estimate
from spamnb.filter import Classifier
from spamnb.model import calibration
from spamnb.settings import Settings
from spamnb.store.jsonl import export
from spamnb.store.store import Store
from spamnb.training import check_classes, fit, prepare

THREE = [*mail(6), *[("list", message("ham", n)) for n in range(50, 53)], *[("list", message("spam", 60))]]


@pytest.mark.parametrize(
    ("model_type", "pooling"),
    [("boolean", "sum"), ("boolean", "mean"), ("multinomial", "sum"), ("multinomial", "mean"), ("bernoulli", "mean")],
)
@pytest.mark.parametrize("messages", [mail(8), THREE], ids=["two classes", "three classes"])
def test_leave_one_out_is_forgetting_each_message(
    model_type: str, pooling: str, messages: list[tuple[str, bytes]]
) -> None:
    settings = Settings(model_type=model_type, pooling=pooling, alpha=0.5)
    left_out = estimate(fit(prepare(count_messages(messages)), settings), settings).left_out
    classifier = Classifier.create(":memory:", settings)
    for label, raw in messages:
        classifier.learn(label, raw)
    assert [left_out.classes[label] for label in left_out.truth] == [label for label, _ in messages]
    for (label, raw), scores in zip(messages, left_out.scores):
        classifier.forget(label, raw)
        np.testing.assert_allclose(scores, classifier.classify(raw).scores, atol=1e-9)
        classifier.learn(label, raw)


def test_training_and_learning_make_the_same_sums_of_naive_bayes(tmp_path: Path) -> None:
    settings = Settings("boolean")
    left_out = estimate(train_file(tmp_path / "m", count_messages(THREE), settings), settings).left_out
    classifier = Classifier.create(":memory:", settings)
    for label, raw in THREE:
        classifier.learn(label, raw)
    histogram = calibration.histogram(left_out.scores, left_out.truth)
    curves = calibration.fit_curves(histogram)
    with Store.open(tmp_path / "m") as store:
        assert without_calibration(export(store)) == without_calibration(export(classifier.store))
        np.testing.assert_array_equal(store.own.histogram, histogram)
        for found, expected in zip(store.model.calibration, curves, strict=True):
            np.testing.assert_array_equal(found, expected)


def test_a_left_out_message_of_unknown_words_has_the_shares_of_the_classes_as_a_new_one_has(tmp_path: Path) -> None:
    settings, messages = Settings("boolean"), mail(20)
    left_out = estimate(
        train_file(tmp_path / "m", count_messages([*messages, ("spam", b"zyx wvu")]), settings), settings
    ).left_out
    with Classifier.open(tmp_path / "m", writable=True) as classifier:
        assert classifier.forget("spam", b"zyx wvu")
        new = classifier.classify(b"zyx wvu")
    np.testing.assert_allclose(left_out.probabilities[-1], list(new.probabilities.values()), atol=0.02)
    assert left_out.classes[left_out.verdicts[-1]] == new.verdict == "ham"


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("kind", ["boolean", "bernoulli", "corrected", "gaussian"])
def test_a_class_of_copies_alone_does_not_exist(tmp_path: Path, kind: str) -> None:
    messages = [*mail(12), *(("a", message("ham", n)) for n in range(40, 46))]
    messages += [("ham", raw) for label, raw in messages if label == "a"]
    settings = Settings(model_type=kind, embedding="lsa:2" if kind == "gaussian" else None)
    left_out = estimate(train_file(tmp_path / "m", count_messages(messages), settings), settings).left_out
    assert (left_out.classes, np.bincount(left_out.truth).tolist()) == (("ham", "spam"), [18, 12])
    with Classifier.open(tmp_path / "m") as classifier:
        assert classifier.model.totals.documents.tolist() == [18, 12]
        assert classifier.classify(message("ham", 40)).verdict == "ham"


@pytest.mark.parametrize("kind", ["boolean", "multinomial", "bernoulli", "corrected"])
def test_one_class_trains_and_takes_a_second(tmp_path: Path, kind: str) -> None:
    of_one_class = count_messages([("ham", message("ham", n)) for n in range(9)])
    train_file(tmp_path / "m", of_one_class, Settings(model_type=kind))
    with Classifier.open(tmp_path / "m", writable=True) as classifier:
        assert list(classifier.classify(message("ham", 20)).probabilities) == ["ham"]
        for n in range(20):
            classifier.learn("spam", message("spam", n))
        ham, spam = (classifier.classify(message(label, 30)).scores for label in ("ham", "spam"))
    assert spam[1] > spam[0] and spam[1] - spam[0] > ham[1] - ham[0]


def test_a_folder_whose_name_is_not_utf_8_holds_a_model(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system has UTF-8 names only")
    train_file(folder / "m", count_messages(mail(6)), Settings())
    with Classifier.open(folder / "m") as classifier:
        assert classifier.model.totals.documents.sum() == 12


@pytest.mark.parametrize(
    ("classes", "spam", "says"),
    [
        ((), "spam", "nothing to train on"),
        (("ham", "Ham", "spam"), "spam", "'ham' and 'Ham' differ in case alone"),
        (("ham",), "spam", "only class 'ham'"),
        (("ham", "list"), "junk", "no class has this name; the classes are ham, list"),
    ],
)
def test_classes_that_a_person_hardly_wants_are_told(classes: tuple[str, ...], spam: str, says: str) -> None:
    with pytest.raises(SpamnbError, match=says):
        check_classes(classes, Settings(spam=spam), one_class=False)


def test_a_part_is_classified_by_a_model_of_the_others(tmp_path: Path) -> None:
    settings = Settings("bernoulli", pooling="sum")
    messages = [*mail(12), ("spam", message("spam", 3)), *(("list", message("ham", n)) for n in range(50, 56))]
    left_out = estimate(train_file(tmp_path / "m", count_messages(messages), settings), settings).left_out
    messages = [one for n, one in enumerate(messages) if one not in messages[n + 1 :]]  # the last copy is learned
    assert [left_out.classes[label] for label in left_out.truth] == [label for label, _ in messages]
    parts = np.empty(len(messages), int)
    parts[np.argsort(left_out.truth, kind="stable")] = np.arange(len(messages)) % 10
    for part in (0, 7):
        others = [one for one, own in zip(messages, parts) if own != part]
        train_file(tmp_path / f"{part}", count_messages(others), settings)
        with Classifier.open(tmp_path / f"{part}") as classifier:
            for n in np.flatnonzero(parts == part):
                np.testing.assert_allclose(left_out.scores[n], classifier.classify(messages[n][1]).scores, atol=1e-9)
