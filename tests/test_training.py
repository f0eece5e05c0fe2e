"""training.py: leave-one-out against the long way round (forget, classify, learn again), and files in one piece."""

import os
from pathlib import Path

import numpy as np
import pytest
from mail import counted, mail, message, sums

from spamnb.classifier import Classifier
from spamnb.counts.top_words import top_words
from spamnb.errors import SpamnbError
from spamnb.formulas.calibration import Calibration
from spamnb.settings import Settings
from spamnb.store.jsonl import export
from spamnb.store.snapshot import read_sums
from spamnb.store.store import Store
from spamnb.training import leave_one_out_estimate, prepare, train_file

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
    left_out = leave_one_out_estimate(prepare(counted(messages)), settings)
    classifier = Classifier.create(":memory:", settings)
    for label, raw in messages:
        classifier.learn(label, raw)
    assert [left_out.classes[label] for label in left_out.labels] == [label for label, _ in messages]
    for (label, raw), scores in zip(messages, left_out.scores):
        classifier.forget(label, raw)
        np.testing.assert_allclose(scores, classifier.classify(raw).scores, atol=1e-9)
        classifier.learn(label, raw)


def test_training_and_learning_make_the_same_sums_of_naive_bayes(tmp_path: Path) -> None:
    settings = Settings("boolean")
    left_out = train_file(tmp_path / "m", counted(THREE), settings)
    classifier = Classifier.create(":memory:", settings)
    for label, raw in THREE:
        classifier.learn(label, raw)
    calibration = Calibration(len(left_out.classes))
    calibration.add(left_out.scores, left_out.labels)
    with Store.open(tmp_path / "m") as store:
        assert sums(export(store)) == sums(export(classifier.store))
        np.testing.assert_array_equal(store.calibrated().histogram, calibration.histogram)
    np.testing.assert_allclose(left_out.probabilities, calibration.probabilities(left_out.scores))


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("kind", ["boolean", "bernoulli", "corrected", "gaussian"])
def test_a_class_of_copies_alone_does_not_exist(tmp_path: Path, kind: str) -> None:
    messages = [*mail(12), *(("a", message("ham", n)) for n in range(40, 46))]
    messages += [("ham", raw) for label, raw in messages if label == "a"]
    settings = Settings(model_type=kind, embedding="lsa:2" if kind == "gaussian" else None)
    left_out = train_file(tmp_path / "m", counted(messages), settings)
    assert (left_out.classes, np.bincount(left_out.labels).tolist()) == (("ham", "spam"), [18, 12])
    with Classifier.open(tmp_path / "m") as classifier:
        assert classifier.store.totals().documents.tolist() == [18, 12]
        assert classifier.classify(message("ham", 40)).verdict == "ham"


@pytest.mark.parametrize("kind", ["boolean", "multinomial", "bernoulli", "corrected", "logistic"])
def test_one_class_trains_and_takes_a_second(tmp_path: Path, kind: str) -> None:
    of_one_class = counted([("ham", message("ham", n)) for n in range(9)])
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
    train_file(folder / "m", counted(mail(6)), Settings())
    with Classifier.open(folder / "m") as classifier:
        assert classifier.store.totals().documents.sum() == 12


def test_top_words_are_those_with_the_highest_mutual_information(tmp_path: Path) -> None:
    full = counted(mail(20))
    _, informative = top_words(full.counts, full.tokens, 10)
    train_file(tmp_path / "m", full, Settings(top_words=10))
    with Store.open(tmp_path / "m") as store:
        found = read_sums(store)
    tokens, sums = found.tokens, found.counts
    bits = {word.token: word.value for word in informative}
    assert len(tokens) == 10
    assert set(tokens) >= {token for token, value in bits.items() if value > min(bits.values()) + 1e-12}
    assert {word.token: word.value for word in top_words(sums, tokens, 10)[1]}.keys() == set(tokens)


def test_no_messages_is_told(tmp_path: Path) -> None:
    with pytest.raises(SpamnbError, match="nothing to train on"):
        train_file(tmp_path / "m", counted([]), Settings())
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("model", [{}, {"model_type": "lda", "embedding": "lsa:20"}], ids=["counts", "vectors"])
def test_words_chosen_without_the_message_that_is_judged(tmp_path: Path, model: dict[str, str]) -> None:
    """Labels drawn by lot: nobody can tell the classes apart, and whoever had a say in the choice of words seems to."""
    rng = np.random.default_rng(4)
    texts = [" ".join(f"w{word}x" for word in rng.choice(1500, 150, replace=False)) for _ in range(120)]
    noise = [("ab"[n % 2], f"Subject: x\n\n{text}\n".encode()) for n, text in enumerate(texts)]
    left_out = train_file(tmp_path / "m", counted(noise), Settings(**model, top_words=40))
    assert left_out.n_folds == 10
    assert 40 <= (left_out.scores.argmax(axis=1) == left_out.labels).sum() <= 80, "of 120; chosen by all of them 100"


@pytest.mark.parametrize("settings", [Settings(top_words=15), Settings("bernoulli", pooling="sum")])
def test_a_part_is_judged_by_a_model_of_the_others(tmp_path: Path, settings: Settings) -> None:
    messages = [*mail(12), ("spam", message("spam", 3)), *(("list", message("ham", n)) for n in range(50, 56))]
    left_out = train_file(tmp_path / "m", counted(messages), settings)
    messages = [one for n, one in enumerate(messages) if one not in messages[n + 1 :]]  # the last copy is learned
    assert [left_out.classes[label] for label in left_out.labels] == [label for label, _ in messages]
    parts = np.empty(len(messages), int)
    parts[np.argsort(left_out.labels, kind="stable")] = np.arange(len(messages)) % 10
    for part in (0, 7):
        others = [one for one, own in zip(messages, parts) if own != part]
        train_file(tmp_path / f"{part}", counted(others), settings)
        with Classifier.open(tmp_path / f"{part}") as classifier:
            for n in np.flatnonzero(parts == part):
                np.testing.assert_allclose(left_out.scores[n], classifier.classify(messages[n][1]).scores, atol=1e-9)
