"""A file that adds to another model: its answers are those of the sum, and all that it learns can be forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from mail import count_messages, mail, message, train_file

from spamnb.api.replaced_model import retrain_on_lessons
from spamnb.api.words import word_of, words_of
from spamnb.errors import SpamnbError
from spamnb.filter import Classifier
from spamnb.model import model
from spamnb.model.calibration import fit_curves
from spamnb.model.class_counts import Cells
from spamnb.model.model import SIZE
from spamnb.settings import Settings
from spamnb.store.jsonl import export
from spamnb.store.merging import merge_models
from spamnb.store.snapshot import create_empty, read_snapshot, write_snapshot
from spamnb.store.store import Store

KINDS = "corrected", "boolean", "multinomial"
Lessons = list[tuple[str, str, int]]  # class, what it looks like, number
lessons = st.lists(
    st.tuples(st.sampled_from(["ham", "spam", "list"]), st.sampled_from(["ham", "spam"]), st.integers(0, 40)),
    max_size=8,
)


WEIGHT = 5


@pytest.fixture(scope="module", autouse=True)
def small_shared_model() -> Iterator[None]:
    """Count each lesson as 5 messages: the shared model has 30. Read the headers of the first lessons, too."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(model, "MIN_OWN", 0)
        patched.setattr(model, "SHARED_LESSONS", 30 // WEIGHT)
        yield


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Make a model of each kind, of the same mail."""
    folder = tmp_path_factory.mktemp("shared")
    for kind in KINDS:
        train_file(folder / kind, count_messages(mail(15)), Settings(model_type=kind))
    return {kind: folder / kind for kind in KINDS}


@contextmanager
def user_of(common: Path) -> Iterator[Classifier]:
    """Make a new model that adds to ``common``, open to be taught."""
    path = common.with_name(f"{common.name}.user")
    path.unlink(missing_ok=True)
    with Store.open(common) as store:
        create_empty(path, store.addition(path))
    with Classifier.open(path, writable=True) as classifier:
        yield classifier


def scores(classifier: Classifier) -> list[list[float]]:
    raws = [message(kind, number) for kind in ("ham", "spam") for number in range(35, 45)]
    return [result.scores.tolist() for result in classifier.classify_all(raws)]


@pytest.mark.parametrize("kind", KINDS)
@given(taught=lessons)
@examples(max_examples=10, deadline=None)
def test_scores_are_those_of_one_file_that_holds_both_and_each_lesson_several_times(
    shared: dict[str, Path], kind: str, taught: Lessons
) -> None:
    with user_of(shared[kind]) as user, Store.open(shared[kind]) as common, Store.create(":memory:", {}) as one:
        for label, look, number in taught:
            user.learn(label, message(look, number))
        parts = [read_snapshot(common), read_snapshot(user.store)]
        token, label, figures = parts[1].block.cells
        cells = Cells(token, label, figures * np.array([[WEIGHT], [WEIGHT], [1]]))  # contributions count once
        block = parts[1].block._replace(cells=cells)
        own = parts[1].model
        sums = WEIGHT * own.sums
        model_of_user = replace(own, meta=parts[0].model.meta, sums=sums)
        parts[1] = parts[1]._replace(model=model_of_user, block=block)
        write_snapshot(one, merge_models(parts, ["shared", "user"])[0])
        one.put_meta({SIZE: user.model.meta[SIZE]})  # in which a token that both hold counts twice
        whole = Classifier(one)
        assert scores(user) == scores(whole)
        assert user.model.totals.classes == one.model.totals.classes
        if user.model.totals.classes == common.model.totals.classes:  # each score counts once in the curves
            numbers, added = one.model.nonempty_classes, common.model.add(user.store.own)
            expected = fit_curves(one.model.histogram[numbers], added.unscored[added.nonempty_classes])
            assert [*map(list, user.model.calibration[:3])] == [*map(list, expected[:3])]
        assert user.model.totals.sums.tolist() == one.model.totals.sums.tolist()


@pytest.mark.parametrize("kind", KINDS)
@given(first=lessons, last=lessons)
@examples(max_examples=10, deadline=None)
def test_what_is_forgotten_leaves_no_trace(shared: dict[str, Path], kind: str, first: Lessons, last: Lessons) -> None:
    before = shared[kind].read_bytes()
    with user_of(shared[kind]) as user:
        for label, look, number in first:
            user.learn(label, message(look, number))
        content, answers = [*export(user.store)], scores(user)
        new = {message(look, number): label for label, look, number in last}
        new = {raw: label for raw, label in new.items() if user.learned(raw) is None}
        for raw, label in new.items():
            assert user.learn(label, raw)
        for raw, label in reversed(new.items()):
            assert user.forget(label, raw)
        assert [*export(user.store)] == content and scores(user) == answers
    assert shared[kind].read_bytes() == before


def test_one_lesson_changes_the_answer_and_only_this_users(shared: dict[str, Path]) -> None:
    raw = message("ham", 99)
    with user_of(shared["corrected"]) as user, Classifier.open(shared["corrected"]) as common:
        before = common.classify(raw)
        assert user.classify(raw).scores.tolist() == before.scores.tolist()
        user.learn("spam", raw)
        assert user.classify(raw).probabilities["spam"] > before.probabilities["spam"]
        assert common.classify(raw).scores.tolist() == before.scores.tolist()


def test_a_shared_model_that_is_trained_anew_is_followed(tmp_path: Path) -> None:
    common = tmp_path / "common"
    train_file(common, count_messages(mail(8)), Settings())
    with user_of(common) as user:
        user.learn("spam", message("ham", 99))
        first = scores(user)
        train_file(common, count_messages(mail(20)), Settings(), force=True)
        assert scores(user) != first
        assert user.model.totals.documents.tolist() == [20, 20 + 40 // 6]
        train_file(common, count_messages(mail(20)), Settings(ngrams=1), force=True)
        with pytest.raises(
            SpamnbError, match=r"its shared model, .* has other tokens .*'spamnb upgrade' trains it again"
        ):
            user.classify(b"Subject: x\n\nbody")
        assert retrain_on_lessons(Path(user.store.path), False, lambda name, error: None) == 1
        assert user.learned(message("ham", 99)) == "spam"
        assert user.model.totals.documents.tolist() == [20, 20 + 40 // 6]


def test_what_a_user_sets_is_kept_beside_the_settings_of_the_shared_model(shared: dict[str, Path]) -> None:
    with user_of(shared["corrected"]) as user:
        user.store.put_meta({"strictness": "cautious"})
        user.classify(b"Subject: x\n\nbody")
        assert user.settings.strictness == "cautious"
    with Classifier.open(shared["corrected"]) as common:
        assert common.settings.strictness == "normal"


def test_models_that_cannot_add_up_are_refused(shared: dict[str, Path], tmp_path: Path) -> None:
    with user_of(shared["boolean"]) as user, pytest.raises(SpamnbError, match="so nothing can be added to it"):
        user.store.addition(Path("x"))
    path = tmp_path / "third"
    with pytest.raises(SpamnbError, match="which adds to another model itself"):
        Store.create(path, {"shared_model": str(shared["boolean"].with_name("boolean.user"))})
    with pytest.raises(SpamnbError, match="shared_model in table meta is no path"):
        Store.create(tmp_path / "odd", {"shared_model": 7})
    train_file(tmp_path / "other", count_messages(mail(5)), Settings(model_type="bernoulli"))
    refused = "nothing can be added to a bernoulli model"
    with Store.open(tmp_path / "other") as common, pytest.raises(SpamnbError, match=refused):
        common.addition(tmp_path / "user")
    with Store.open(shared["boolean"]) as common:
        create_empty(tmp_path / "user", common.addition(tmp_path / "user") | {"shared_model": str(tmp_path / "other")})
    with pytest.raises(SpamnbError, match=f"other: {refused}"):
        Classifier.open(tmp_path / "user")
    (tmp_path / "other").unlink()
    with pytest.raises(SpamnbError, match=r"user: adds to .*other, where no model is; restore that model"):
        Classifier.open(tmp_path / "user")
    with Store.open(shared["boolean"]) as common, user_of(shared["boolean"]) as user:
        snapshots = [read_snapshot(user.store), read_snapshot(common)]
    with pytest.raises(SpamnbError, match="b: its shared_model differs from the shared_model of a"):
        merge_models(snapshots, ["a", "b"])


def test_new_classes_come_in_the_order_of_their_names(shared: dict[str, Path]) -> None:
    with user_of(shared["boolean"]) as user:
        for i, name in enumerate("hgfedcba"):
            user.learn(name, message("ham", 900 + i))
        assert [*user.model.class_ids][-8:] == list("abcdefgh")


@pytest.mark.parametrize("kind", KINDS)
def test_words_are_those_of_both_files(shared: dict[str, Path], kind: str) -> None:
    with user_of(shared[kind]) as user, Store.open(shared[kind]) as common:
        of_shared = words_of(common, 10_000, True, print)
        assert words_of(user.store, 10_000, True, print) == of_shared
        words = [word.token for word in of_shared.likeliest["ham"] if ":" not in word.token][:50]
        before = [word_of(common, word) for word in words]
        assert [word_of(user.store, word) for word in words] == before and all(each.shares for each in before)
        user.learn("ham", b"Subject: minutes\n\ngrandma")
        n_ham = 15 + WEIGHT
        grandma = word_of(user.store, "grandma")
        assert grandma.shares == {"grandma": {"ham": WEIGHT / n_ham, "spam": 0}}
        assert grandma.messages == {"ham": 15 + 1, "spam": 15}, "a lesson is one message, whatever it weighs"
        likeliest = {word.token: word.value for word in words_of(user.store, 10_000, True, print).likeliest["ham"]}
        shares = {word: word_of(user.store, word).shares[word]["ham"] for word in ["grandma", *words]}
        assert {word: likeliest[word] for word in shares} == {
            word: pytest.approx((share * n_ham + 1) / (n_ham + 2)) for word, share in shares.items()
        }
