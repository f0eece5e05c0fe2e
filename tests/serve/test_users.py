"""users.py: whose model answers and whose learns, and that few files are open at once."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from served import mail

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.serve import users
from spamnb.serve.users import Models, class_of_label, is_name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "users").mkdir()
    return tmp_path / "users"


def test_names_are_those_of_files_in_the_folder_and_of_no_others():
    good = ["a", "_", "ann@example.org", "a.b-c+d", "A" * 128]
    bad = ["", ".", "..", ".a", "-a", "@a", "a/b", "../a", "a\0", "a\n", "ä", "A" * 129]
    assert [is_name(name) for name in good + bad] == [True] * len(good) + [False] * len(bad)


def test_without_a_folder_everybody_has_the_shared_model(model):
    models = Models(model, None, 1, writable=True)
    for user in ("", "ann", "../ann"):
        assert models.for_classifying(user) is models.taught(user) is models.for_learning(user)
        assert models.may_teach(user)
    models.close()


def test_a_model_answers_once_it_has_learned_enough_of_both_classes(model, folder):
    models = Models(model, folder, 2, writable=True)
    shared = models.for_classifying("")
    assert models.for_classifying("ann") is models.for_learning("") is models.taught("") is shared
    assert models.taught("ann") is None and list(folder.iterdir()) == []
    assert models.may_teach("ann") and models.may_teach("") and not models.may_teach("../ann")
    own = models.for_learning("ann")
    assert own is models.for_learning("ann") is models.taught("ann") and own is not shared
    assert own.settings == shared.settings
    for label, seed in (("spam", 1), ("spam", 2), ("ham", 1), ("ham", 2)):
        assert models.for_classifying("ann") is shared
        own.learn(label, mail(label, seed))
    assert models.for_classifying("ann") is own
    assert models.for_classifying("bob") is shared
    models.close()


def test_few_models_are_open_at_once_and_a_closed_one_is_opened_again(model, folder, monkeypatch):
    monkeypatch.setattr(users, "MAX_OPEN_MODELS", 2)
    models = Models(model, folder, 1, writable=True)
    ann, bob = models.for_learning("ann"), models.for_learning("bob")
    ann.learn("spam", mail("spam", 1))
    assert models.taught("ann") is ann  # and so bob's is the one that was not asked for longest
    cy = models.for_learning("cy")
    assert ann.learned(mail("spam", 1)) == "spam" and cy.learned(mail("spam", 1)) is None
    with pytest.raises(sqlite3.ProgrammingError):
        bob.store._connection.execute("SELECT 1")
    again = models.taught("bob")
    assert again is not None and again.learned(mail("spam", 1)) is None
    models.close()
    for one in (ann, cy, again):
        with pytest.raises(sqlite3.ProgrammingError):
            one.store._connection.execute("SELECT 1")


def test_what_was_replaced_is_opened_anew(model, folder):
    models = Models(model, folder, 1, writable=True)
    before, own = models.for_classifying(""), models.for_learning("ann")
    models.reopen()
    assert models.for_classifying("") is not before and models.taught("ann") is not own
    model.write_bytes(b"no model " * 100)
    kept = models.for_classifying("")
    with pytest.raises(SpamnbError, match="not a spamnb model"):
        models.reopen()
    assert models.for_classifying("") is kept
    models.close()


@pytest.mark.parametrize(
    ("classes", "called"), [(["work", "spam"], "work"), (["ham", "b", "spam"], "ham"), ([], "ham")]
)
def test_ham_is_the_other_class_where_there_is_one(classes, called):
    with Classifier.create(":memory:") as classifier:
        for name in classes:
            classifier.learn(name, mail("ham", len(name)) + name.encode())
        assert (class_of_label(classifier, "ham"), class_of_label(classifier, "spam")) == (called, "spam")
