"""Folds of whole senders, and the estimate of good mail lost of senders that a model has never seen."""

import tracemalloc
from collections import Counter

import numpy as np
import pytest
from mail import count_messages, message

from spamnb.evaluation.estimates import estimate
from spamnb.evaluation.protocols import model_of
from spamnb.filter import Classifier
from spamnb.model.bayes_model import NaiveBayes
from spamnb.model.learner import learner_for
from spamnb.model.new_senders import N_FOLDS, assign_senders
from spamnb.model.training_set import TrainingSet, add_up
from spamnb.reader.rows import NO_SENDER, Rows
from spamnb.reader.tokens import TokenArray
from spamnb.settings import Settings
from spamnb.training import fit, prepare


def from_senders(each: int, senders: int, prefix: str = "") -> list[tuple[str, bytes]]:
    """Good mail of some senders, and spam of twice as many others."""
    found = []
    for number in range(each):
        found.append(("ham", f"From: a@{prefix}good{number % senders}.org\n".encode() + message("ham", number)))
        found.append(("spam", f"From: b@bad{number % (2 * senders)}.org\n".encode() + message("spam", each + number)))
    return found


def test_all_mail_of_a_sender_is_in_one_fold_and_the_folds_are_of_one_size() -> None:
    training_set = prepare(count_messages(from_senders(200, 40)))
    fold, senders = assign_senders(training_set), training_set.rows.senders
    assert all(len({*fold[senders == each].tolist()}) == 1 for each in np.unique(senders))
    assert sorted(Counter(fold.tolist()).values()) == [40] * N_FOLDS


def test_mail_without_a_sender_and_the_sender_of_most_mail_of_a_class_are_in_no_fold() -> None:
    messages = from_senders(100, 20) + [("ham", b"Subject: minutes %d\n\nlunch at noon" % n) for n in range(5)]
    messages += [("ham", b"From: a@big.org\n" + message("ham", 2000 + n)) for n in range(106)]
    training_set = prepare(count_messages(messages))
    fold, rows = assign_senders(training_set), training_set.rows
    is_big = rows.senders == Counter(rows.senders.tolist()).most_common(1)[0][0]
    assert is_big.sum() == 106 and (fold[is_big] == -1).all()
    assert (fold[rows.senders == NO_SENDER] == -1).sum() == 5 and (fold >= 0).sum() == 200


@pytest.mark.parametrize("model_type", ["boolean", "multinomial", "bernoulli"])
def test_folds_of_naive_bayes_have_the_scores_of_models_trained_without_them(model_type: str) -> None:
    settings, training_set = Settings(model_type=model_type), prepare(count_messages(from_senders(40, 10)))
    fold = assign_senders(training_set)
    is_ham = training_set.rows.labels == training_set.classes.index("ham")
    left_out = learner_for(settings).score_folds(fit(training_set, settings), fold, is_ham)
    assert left_out is not None and not left_out.scores[~is_ham | (fold < 0)].any()
    for f in range(N_FOLDS):
        others, messages = training_set.split(fold == f)
        with Classifier(model_of(others, settings)) as classifier:
            scores = np.array([each.scores for each in classifier.classify_rows(messages)])
        assert np.allclose(left_out.scores[(fold == f) & is_ham], scores[is_ham[fold == f]], atol=1e-9)


def test_a_fold_with_most_of_the_mail_is_left_out_in_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spamnb.model.bayes_model.BATCH_MESSAGES", 64)
    n, tokens = 2000, TokenArray.of(f"word{number}" for number in range(1000))
    ids = np.tile(np.arange(1000, dtype=np.int32), n)
    columns = {"labels": np.arange(n) % 2, "classes": ("ham", "spam")}
    rows = Rows.of_cells(tokens, np.full(n, 1000), ids, np.ones(len(ids), np.uint16), **columns)
    training_set, fold = TrainingSet(rows, add_up(rows)), np.where(np.arange(n) < 1800, 0, -1)
    tracemalloc.start()
    try:
        NaiveBayes(Settings(model_type="boolean")).leave_folds_out(training_set, fold, np.arange(n) < 10)
        assert tracemalloc.get_traced_memory()[1] < ids.nbytes  # bytes: of the fold's cells only some at a time
    finally:
        tracemalloc.stop()


def test_the_corrected_model_has_nearly_the_scores_of_models_trained_without_the_fold() -> None:
    settings, training_set = Settings(), prepare(count_messages(from_senders(60, 12)))
    fold, learner = assign_senders(training_set), learner_for(settings)
    fitted = fit(training_set, settings)
    left_out = learner.score_folds(fitted, fold, np.ones(len(fold), bool))
    assert left_out is not None and not np.allclose(left_out.scores, fitted.left_out.scores, atol=0.01)
    for f in range(N_FOLDS):
        by_others = learner.scores_by_others(*training_set.split(fold == f))
        assert by_others is not None
        assert np.allclose(left_out.scores[fold == f], by_others.scores, atol=0.3)


def test_a_sender_whom_only_his_own_words_excuse_is_not_called_good_when_he_is_new() -> None:
    own = b"From: b@cedar.org\n%soak cedar birch alder"
    messages = from_senders(200, 40) + [("ham", own % message("spam", 9000 + n)) for n in range(40)]
    settings = Settings()
    left_out = estimate(fit(prepare(count_messages(messages)), settings), settings).left_out
    assert left_out.confusion[0].tolist() == [240, 0, 0]
    figures = left_out.new_senders
    assert figures is not None and figures[:2] == (240, 41)
    assert round(figures.lost + figures.unsure, 2) == 16.67  # 40 of 240
