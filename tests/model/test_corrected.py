"""model/corrected.py: the solution of the problem, kept as a sum that learns, forgets and merges."""

import random
import re
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mail import count_messages, export_lines, mail, message, train_file

from spamnb.errors import SpamnbError
from spamnb.filter import Classifier
from spamnb.model import corrected
from spamnb.model.bayes_model import NaiveBayes
from spamnb.model.class_counts import WEIGHT
from spamnb.model.corrected import Corrected, offset_scale
from spamnb.reader.message import digest
from spamnb.reader.tokens import TokenArray
from spamnb.settings import Settings
from spamnb.store.examples import read_examples
from spamnb.store.jsonl import export, parse_export
from spamnb.store.lessons import write_lessons_bound
from spamnb.store.merging import merge_models
from spamnb.store.messages import read_all_learned, read_learned
from spamnb.store.snapshot import Snapshot, read_snapshot, write_snapshot
from spamnb.store.store import Store

CORRECTED = Settings(model_type="corrected")


def labelled(n: int, classes: tuple[str, ...] = ("ham", "spam")) -> list[tuple[str, bytes]]:
    """Messages whose class one word in five tells, among many that are as likely in every class or lean to another."""
    chance, found = random.Random(1), []
    for _ in range(n):
        for c, label in enumerate(classes):
            words = [f"w{chance.randrange(60)}" for _ in range(12)]
            words += [f"of{(c + (chance.random() < 0.3)) % len(classes)}x{chance.randrange(6)}" for _ in range(3)]
            words += [f"odd{(c + 1) % len(classes)}x{k}" for k in range(4) if chance.random() < 0.6]
            words += [f"odd{c}x{k}" for k in range(4) if chance.random() < 0.5]
            chance.shuffle(words)
            found.append((label, f"Subject: {words[0]}\n\n{' '.join(words)}\n".encode()))
    return found


def test_left_out_scores_are_those_of_folds_solved_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    made = count_messages(labelled(150))
    fitted = Corrected(CORRECTED).fit(made)
    warm = fitted.left_out.scores
    monkeypatch.setattr(corrected, "PASSES", (10, 10, 60))
    exact = Corrected(CORRECTED).fit(made).left_out.scores
    plain = offset_scale(2) * NaiveBayes(Settings(model_type="boolean")).fit(fitted.training_set).left_out.scores
    moved = np.abs(exact - plain).mean()
    assert np.abs(warm - exact).mean() < 0.2 * moved


@pytest.mark.parametrize("newest", [3, 64])
@pytest.mark.parametrize("classes", [("ham", "spam"), ("ham", "list", "spam")])
def test_what_was_learned_is_forgotten_line_for_line(
    tmp_path: Path, classes: tuple[str, ...], newest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spamnb.store.examples.MAX_EXAMPLES", newest)  # 3: changed examples are no longer fitted
    messages = labelled(30, classes)
    train_file(tmp_path / "m", count_messages(messages[: 20 * len(classes)]), CORRECTED)
    before = export_lines(tmp_path / "m")
    rest = messages[20 * len(classes) :]
    with Classifier.open(tmp_path / "m", writable=True) as classifier:
        for label, raw in rest:
            assert classifier.learn(label, raw)
        assert any("contribution" in line for line in export(classifier.store) if line not in before)
        for label, raw in [*rest[::2], *rest[1::2]]:
            assert classifier.forget(label, raw)
    assert export_lines(tmp_path / "m") == before


LESSON = st.tuples(st.integers(0, 1), st.integers(0, 11), st.sampled_from(["ham", "spam", "list"]))


@settings(max_examples=15, deadline=None)
@given(st.lists(LESSON, max_size=24), st.sampled_from([3, 64]))
def test_weights_are_the_sum_of_contributions_whoever_learned_and_forgot_them(steps: list, newest: int) -> None:
    messages = [raw for _, raw in labelled(6)]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("spamnb.store.examples.MAX_EXAMPLES", newest)
        path = Path(folder, "m")
        Classifier.create(path, CORRECTED).close()
        writers = [Classifier.open(path, writable=True) for _ in range(2)]
        for who, number, label in steps:  # what was learned as this class is forgotten again
            if not writers[who].learn(label, messages[number]):
                assert writers[who].forget(label, messages[number])
            expected: dict[str, np.ndarray] = {}
            store = writers[1 - who].store
            names = list(store.own.class_ids)
            for raw in messages:
                read = writers[1 - who].read(raw)
                contribution = read_learned(store, read.digest).contribution
                for token in read.counts:
                    expected[token] = expected.get(token, 0) + np.array([contribution.get(name, 0) for name in names])
            sums = store.sums(TokenArray.of(expected).hashes)
            columns = [names.index(name) for name in sums.classes]
            assert np.array_equal(sums.weights, np.array(list(expected.values()))[:, columns])
            block = store.block()  # of all tokens, in another way
            hashes, cells = block.tokens.hashes, block.cells
            table, is_known = cells.table(len(hashes), len(names)), np.isin(sums.hashes, hashes)
            by_cells = table[np.searchsorted(hashes, sums.hashes[is_known]), :, WEIGHT]
            assert np.array_equal(by_cells[:, columns], sums.weights[is_known])
        for raw in messages:
            writers[0].forget(writers[0].learned(raw) or "", raw)
        assert not len(writers[1].store.block().tokens) and not read_all_learned(writers[1].store)
        for classifier in writers:
            classifier.close()


def contributions(store: Store) -> dict[bytes, dict[str, int]]:
    return {digest: {**learned.contribution} for digest, learned in read_all_learned(store) if learned.contribution}


def test_examples_that_a_lesson_made_wrong_are_fitted_again_and_that_is_taken_back(tmp_path: Path) -> None:
    messages = labelled(40)
    with Classifier.create(tmp_path / "m", CORRECTED) as classifier:
        for label, raw in messages[:60]:
            classifier.learn(label, raw)
        before, lines = contributions(classifier.store), list(export(classifier.store))
        examples = {each.digest for each in read_examples(classifier.store).messages}
        for label, raw in messages[60:70]:
            classifier.learn(label, raw)
        after = contributions(classifier.store)
        moved = {digest for digest, units in before.items() if after[digest] != units}
        assert moved and moved <= examples
        for label, raw in messages[60:70]:
            classifier.forget(label, raw)
        assert list(export(classifier.store)) == lines


def test_the_examples_in_memory_are_those_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spamnb.store.examples.MAX_EXAMPLES", 5)
    messages = labelled(40)
    with Classifier.create(tmp_path / "m", CORRECTED) as classifier:
        for label, raw in messages:
            classifier.learn(label, raw)
        for label, raw in messages[:9]:
            classifier.forget(label, raw)
        for label, raw in messages[:5]:
            classifier.learn(label, raw)
        in_memory = read_examples(classifier.store).messages
        with Store.open(tmp_path / "m") as store:
            read = read_examples(store).messages
    for one, other in zip(in_memory, read, strict=True):
        assert one.number == other.number and one.digest == other.digest
        assert {**one.contribution} == {name: units for name, units in other.contribution.items()}
    assert len(read) == 5


def test_forgetting_the_hardest_message_of_training_leaves_the_others_as_if_it_had_not_been_there(
    tmp_path: Path,
) -> None:
    folder = Path(__file__).parents[2] / "corpora" / "mail"
    sample = [(label, path.read_bytes()) for label in ("ham", "spam") for path in sorted((folder / label).iterdir())]
    train_file(tmp_path / "m", count_messages(sample), CORRECTED)
    with Classifier.open(tmp_path / "m", writable=True) as classifier:
        largest = {name: max(units.values()) for name, units in contributions(classifier.store).items()}
        ((label, raw),) = [each for each in sample if digest(each[1]) == max(largest, key=largest.__getitem__)]
        assert classifier.forget(label, raw)
        rest = [each for each in sample if each[1] != raw]
        forgotten = scores_of(classifier, rest)
    train_file(tmp_path / "n", count_messages(rest), CORRECTED)
    with Classifier.open(tmp_path / "n") as classifier:
        assert np.abs(forgotten - scores_of(classifier, rest)).mean() < 0.3  # nats; 2.1 where nothing is fitted again


def scores_of(classifier: Classifier, messages: list[tuple[str, bytes]]) -> np.ndarray:
    classifications = classifier.classify_all([raw for _, raw in messages], 0)
    return np.diff([classification.scores for classification in classifications])


def test_a_correction_that_cannot_be_is_not_imported(tmp_path: Path) -> None:
    train_file(tmp_path / "m", count_messages(labelled(20)), CORRECTED)
    lines = export_lines(tmp_path / "m")
    wrong = [re.sub(r'"correction": {"ham": -?', r"\g<0>1", line) for line in lines]
    with pytest.raises(SpamnbError, match="do not sum to 0"):
        parse_export(wrong, "x")
    plain = [line.replace('"model_type": "corrected"', '"model_type": "boolean"') for line in lines]
    with pytest.raises(SpamnbError, match="a correction in a model of another type"):
        parse_export(plain, "x")


def weights_of(snapshot: Snapshot) -> dict[tuple[int, str], int]:
    hashes, (token, label, figures) = snapshot.block.tokens.hashes, snapshot.block.cells
    keys = zip(hashes[token].tolist(), map([*snapshot.model.class_ids].__getitem__, label.tolist()))
    return defaultdict(int, zip(keys, figures[WEIGHT].tolist()))


def test_merged_models_score_by_the_sum_of_both_corrections(tmp_path: Path) -> None:
    messages = labelled(40)
    for name, part in (("a", messages[:40]), ("b", messages[40:])):
        train_file(tmp_path / name, count_messages(part), CORRECTED)
    parts = []
    for name in "ab":
        with Store.open(tmp_path / name) as store:
            parts.append(read_snapshot(store))
    merged, repeated = merge_models(parts, ["a", "b"])
    assert not repeated
    weights = [weights_of(part) for part in (merged, *parts)]
    assert all(weights[0][key] == weights[1][key] + weights[2][key] for key in set().union(*weights))
    with Store.create(tmp_path / "m", CORRECTED.as_meta()) as store:
        write_snapshot(store, merged)
        classifier = Classifier(store)
        for label, raw in messages:  # what either learned can be taken out of the sum
            assert classifier.forget(label, raw) or classifier.learned(raw) is None
        assert not len(store.block().tokens)


@pytest.mark.parametrize("path", [":memory:", "model"])
def test_two_classes_may_be_learned_one_after_the_other(tmp_path: Path, path: str) -> None:
    ham, spam = mail(60)[::2], mail(60)[1::2]
    exports = []
    for name, parts in (("mixed", [mail(60)]), ("one call", [ham + spam]), ("two calls", [ham, spam])):
        with Classifier.create(path if path == ":memory:" else tmp_path / name, CORRECTED) as classifier:
            for part in parts:
                learned = classifier.learn_all(*zip(*part))
                assert len(learned) == len(part) and all(each.is_new for each in learned)
            exports.append(list(export(classifier.store)))
    assert exports[0] == exports[1] == exports[2]


def test_classes_without_scores_move_no_weight() -> None:
    classifier = Classifier.create(":memory:", CORRECTED)
    write_lessons_bound(classifier.store, 0)
    for label, raw in sorted(mail(30)):  # all ham, then all spam: only spam could move weights
        classifier.learn(label, raw)
    assert not contributions(classifier.store)
    for label, raw in mail(90)[60:]:
        classifier.learn(label, raw)
    assert contributions(classifier.store)
    assert classifier.classify(message("spam", 90)).scores[1] > classifier.classify(message("ham", 90)).scores[1]


def test_a_copy_with_another_label_has_the_last_label() -> None:
    (_, raw), others = mail(1)[0], mail(9)[2:]
    classifier = Classifier.create(":memory:", CORRECTED)
    classifier.learn_all(["ham", *(label for label, _ in others), "spam"], [raw, *(raw for _, raw in others), raw])
    assert classifier.learned(raw) == "spam"
