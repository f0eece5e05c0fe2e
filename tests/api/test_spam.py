"""SpamClassifier: the command line's model and numbers, with scikit-learn's interface."""

import copy
import pickle
import random
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import stdout_of
from sklearn.base import clone, is_classifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict

import spamnb
from spamnb import Classifier, Settings, SpamClassifier, SpamnbError
from spamnb.api import spam as module
from spamnb.api.message_estimators import as_mail
from spamnb.engines import executor
from spamnb.evaluation.protocols import assign_folds
from spamnb.reader.message import digest
from spamnb.settings import MODEL_SETTINGS
from spamnb.sources.entries import message_from_text

UNSEEN = ["cheap tea", "a prize to win", "report of the meeting", "", "пилюли 42"]


@pytest.fixture(scope="module")
def fitted(texts: list[str], labels: list[str]) -> SpamClassifier:
    return SpamClassifier().fit(texts, labels)


def lines_of(path: Path, texts: list[str], labels: list[str]) -> Path:
    path.write_text("".join(f"{label}\t{text}\n" for text, label in zip(texts, labels)))
    return path


def test_the_numbers_are_those_of_the_command_line(
    tmp_path: Path, texts: list[str], labels: list[str], fitted: SpamClassifier
) -> None:
    trained, saved = tmp_path / "trained", tmp_path / "saved"
    stdout_of("train", "-m", str(trained), str(lines_of(tmp_path / "lines", texts, labels)))
    fitted.save(saved)
    for path in (trained, saved):
        with Classifier.open(path) as classifier:
            told = [list(classifier.classify(text).probabilities.values()) for text in UNSEEN]
            assert [classifier.classify(text).verdict for text in UNSEEN] == fitted.verdicts(UNSEEN)
        assert fitted.predict_proba(UNSEEN).tolist() == told
        assert SpamClassifier.load(path).predict_proba(UNSEEN).tolist() == told
    one = tmp_path / "one.eml"
    one.write_bytes(message_from_text(UNSEEN[1]))
    assert stdout_of("classify", "-m", saved, one).split("\t")[0] == fitted.predict(UNSEEN)[1]


def test_the_folds_and_answers_are_those_of_evaluate(tmp_path: Path, texts: list[str], labels: list[str]) -> None:
    given, classes = [*texts, *texts[:9], "lunch"], [*labels, *labels[:9], "spam"]
    told = spamnb.evaluate(lines_of(tmp_path / "lines", given, classes), folds=4).to_dict()
    y = np.array(classes)
    digests = np.array([digest(message_from_text(text)) for text in given], "V16")
    fold = assign_folds(digests, (y == "spam").astype(np.intp), 4)
    cv = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(4)]
    p, ranked = (
        cross_val_predict(SpamClassifier(), given, y, cv=cv, method=method)
        for method in ("predict_proba", "decision_function")
    )
    assert 100 * (1 - roc_auc_score(y == "spam", ranked)) == pytest.approx(told["spam"]["one_minus_roca"]["value"])
    right = p[np.arange(len(p)), (y == "spam").astype(int)]
    assert -np.log(right).mean() == pytest.approx(told["calibration"]["log_loss"])


def test_labels_keep_their_kind(tmp_path: Path, texts: list[str], labels: list[str]) -> None:
    is_spam = np.array(labels) == "spam"
    for kind, y in {"int": is_spam.astype(int), "bool": is_spam, "float": is_spam.astype(float)}.items():
        own = SpamClassifier(spam=y.max()).fit(texts, y)
        assert own.classes_.dtype == y.dtype and own.predict(texts).dtype == y.dtype
        assert own.score(texts, y) > 0.9
        own.save(tmp_path / kind)
        again = SpamClassifier.load(tmp_path / kind)
        assert again.predict(UNSEEN).tolist() == own.predict(UNSEEN).tolist() and again.spam == own.spam
    many = SpamClassifier().fit(texts, np.arange(len(texts)) % 2 * 8 + 2)
    assert many.classes_.tolist() == [2, 10]  # as texts 10 would come first
    assert (many.predict_proba(UNSEEN).argmax(axis=1) == (many.predict(UNSEEN) == 10)).all()
    order = np.argsort(many.decision_function(texts), kind="stable")
    assert (np.diff(many.predict_proba(texts)[order, 1]) >= 0).all()


def test_several_classes_and_a_class_of_copies(texts: list[str]) -> None:
    y = ["a", "b", "c", "d"] * (len(texts) // 4)
    own = SpamClassifier().fit(texts, y)
    p = own.predict_proba(texts)
    assert own.classes_.tolist() == ["a", "b", "c", "d"] and p.sum(axis=1) == pytest.approx(np.ones(len(texts)))
    assert own.predict(texts).tolist() == own.classes_[p.argmax(axis=1)].tolist()
    assert own.decision_function(texts).shape == p.shape
    gone = SpamClassifier().fit([*texts, texts[0]], [*(["x"] + ["y", "z"] * 40)[: len(texts)], "y"])
    assert gone.classes_.tolist() == ["x", "y", "z"] and (gone.predict_proba(texts)[:, 0] == 0).all()


def test_of_a_few_short_texts_nearly_all_are_right() -> None:
    words = {"food": "soup bread salt lunch rice", "sport": "goal match team race ball", "work": "meeting budget memo"}
    others = "the for at is 10 3 ! 7:30 ? Please HELLO".split()
    chance, wrong, n_texts = random.Random(8), 0, 0
    for _ in range(40):
        names = chance.sample(list(words), chance.choice([2, 3]))
        labels, texts = names + chance.choices(names, k=chance.randint(1, 4)), []
        for label in labels:
            text = chance.sample(words[label].split(), chance.randint(1, 3))
            texts.append(" ".join(text + chance.sample(others, chance.randint(0, 4))))
        wrong += int((SpamClassifier(n_jobs=1).fit(texts, labels).predict(texts) != labels).sum())
        n_texts += len(texts)
    assert wrong <= n_texts / 50


def test_one_class_and_few_messages() -> None:
    one = SpamClassifier().fit(["lunch"], ["ham"])
    assert one.predict(["pills"]).tolist() == ["ham"] and one.verdicts(["pills"]) == ["unsure"]
    few = SpamClassifier(strictness="strict", unsure_cost=0.9).fit(["lunch", "pills"], ["ham", "spam"])
    assert few.predict(["pills"]).tolist() == ["spam"] == few.verdicts(["pills"])  # errors cost the same, p is .51
    assert few.verdicts(["pills lunch"]) != ["spam"]
    assert few.predict([]).shape == (0,) and few.predict_proba([]).shape == (0, 2)


def test_partial_fit_and_forget_are_learn_and_forget(texts: list[str], labels: list[str]) -> None:
    own = SpamClassifier()
    for first in range(0, len(texts), 30):
        own.partial_fit(texts[first : first + 30], labels[first : first + 30])
    with Classifier.create(":memory:") as by_hand:
        for first in range(0, len(texts), 30):
            by_hand.learn_all(labels[first : first + 30], texts[first : first + 30])
        told = [list(by_hand.classify(text).probabilities.values()) for text in UNSEEN]
    assert own.predict_proba(UNSEEN).tolist() == told
    own.partial_fit(["tea at four"], ["drinks"]).forget(["tea at four"], ["drinks"])
    assert own.classes_.tolist() == ["drinks", "ham", "spam"]
    assert own.predict_proba(UNSEEN)[:, 1:].tolist() == told


def test_forgetting_is_whole_or_not_at_all(texts: list[str], labels: list[str]) -> None:
    own = SpamClassifier().fit(texts, labels)
    before = own.predict_proba(UNSEEN).tolist()
    with pytest.raises(ValueError, match=r"X\[1\] was not learned in class 'ham'; nothing was forgotten"):
        own.forget([texts[0], "never seen"], ["ham", "ham"])
    assert own.predict_proba(UNSEEN).tolist() == before


def test_searches_curves_clone_and_pickle(texts: list[str], labels: list[str], fitted: SpamClassifier) -> None:
    grid = {"alpha": [0.1, 1.0], "pooling": ["mean", "sum"]}
    search = GridSearchCV(SpamClassifier(), grid, cv=2, scoring="neg_log_loss").fit(texts, labels)
    assert search.best_estimator_.predict(["cheap pills"]).tolist() == ["spam"]
    assert is_classifier(fitted) and not hasattr(clone(fitted), "classes_")
    expected = fitted.predict_proba(UNSEEN).tolist()
    for again in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):  # noqa: S301
        assert again.predict_proba(UNSEEN).tolist() == expected
        again.partial_fit(["one more"], ["ham"])
    assert fitted.predict_proba(UNSEEN).tolist() == expected


def test_several_threads_of_ours_and_of_others_find_the_same(
    fitted: SpamClassifier, texts: list[str], monkeypatch: Any
) -> None:
    own = copy.deepcopy(fitted).set_params(n_jobs=2)
    expected = fitted.set_params(n_jobs=1).predict_proba(texts).tolist()
    for where, name, value in (module, "MESSAGES_A_THREAD", 9), (executor, "MAX_PART_MESSAGES", 9):
        monkeypatch.setattr(where, name, value)
    assert own.predict_proba(texts).tolist() == expected
    with ThreadPoolExecutor(3) as threads:
        asked = [threads.submit(fitted.predict_proba, texts) for _ in range(3)]
        assert [each.result().tolist() for each in asked] == [expected] * 3


def test_what_is_handed_back_is_what_the_verbs_hand_back(
    tmp_path: Path, fitted: SpamClassifier, texts: list[str], labels: list[str]
) -> None:
    path = tmp_path / "saved"
    fitted.save(path)
    assert fitted.words(5, everything=True) == spamnb.words(path, 5, everything=True)
    own, verb = fitted.explain(texts[0], top=3), spamnb.explain(message_from_text(texts[0]), path, 3)
    assert own.to_dict() == verb.to_dict() and str(own) == str(verb)
    new = lines_of(tmp_path / "new", UNSEEN[:3], ["ham", "spam", "ham"])
    figures = fitted.evaluate(UNSEEN[:3], ["ham", "spam", "ham"]).to_dict()
    told = spamnb.evaluate(new, model=path).to_dict()
    assert figures.pop("protocol") != told.pop("protocol") and figures == told


@pytest.mark.parametrize("kind", ["bernoulli", "corrected", "lda"])
def test_every_type_of_model_fits_saves_and_loads(
    kind: str, tmp_path: Path, texts: list[str], labels: list[str]
) -> None:
    embedding = "lsa:5" if kind == "lda" else None
    own = SpamClassifier(model_type=kind, embedding=embedding).fit(texts, labels)
    assert own.score(texts, labels) > 0.9
    own.save(tmp_path / kind)
    again = SpamClassifier.load(tmp_path / kind)
    assert again.get_params() == {**own.get_params(), "n_jobs": -1}
    assert again.predict_proba(UNSEEN).tolist() == own.predict_proba(UNSEEN).tolist()


def test_parameters_are_named_as_in_the_settings() -> None:
    # The model type follows from the others.
    others = {"mail": "auto", "n_jobs": -1, "progress": False, "loss": None}
    settings = {name: value for name, value in Settings().to_dict().items() if name in MODEL_SETTINGS}
    assert SpamClassifier().get_params() == {**settings, "model_type": None, **others}


@pytest.mark.parametrize(
    ("act", "kind", "said"),
    [
        (lambda: SpamClassifier().predict(["a"]), ValueError, "not fitted yet"),
        (lambda: SpamClassifier().fit(["a"], ["x", "y"]), ValueError, "1 messages but 2 labels"),
        (lambda: SpamClassifier().fit(["a", "b"], ["unsure", "spam"]), ValueError, "'unsure' cannot name a class"),
        (lambda: SpamClassifier(spam="junk").fit(["a", "b"], ["x", "y"]), SpamnbError, "'junk' is none of the classes"),
        (lambda: SpamClassifier().fit(["a", "b"], ["x", "y"]).evaluate(["c"], ["z"]), SpamnbError, "'z' is none of"),
        (lambda: SpamClassifier(model_type="lda").partial_fit(["a"], ["x"]), SpamnbError, "^SpamClassifier: a lda"),
        (lambda: SpamClassifier.load(None), SpamnbError, "path is None: give the path of a file"),
        (lambda: SpamClassifier(alpha=0).fit(["a"], ["x"]), ValueError, "^SpamClassifier: alpha is 0: it must be"),
        (lambda: SpamClassifier(mail="maybe").fit(["a"], ["x"]), ValueError, "^SpamClassifier: mail is 'maybe': give"),
        (lambda: SpamClassifier(alpah=1), TypeError, r"^SpamClassifier\.__init__\(\) got an unexpected"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(act: Any, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said) as told:
        act()
    assert "\n" not in str(told.value)


def test_a_text_is_one_class_and_commas_part_names_of_fields() -> None:
    assert SpamClassifier().partial_fit(["a"], ["ham"], classes="spam").classes_.tolist() == ["ham", "spam"]
    assert spamnb.Settings(ignore_headers="Subject,from").ignore_headers == ("subject", "from")


def test_numbers_of_numpy_are_settings_as_a_search_gives_them(texts: list[str], labels: list[str]) -> None:
    model = SpamClassifier(ngrams=np.int64(1), alpha=np.float32(3), body_only=np.True_).fit(texts, labels)
    assert model.model_.classifier.settings.to_dict()["ngrams"] == 1 and model.predict(texts[:1]).tolist()


HEADER = "From: Ann <ann@example.org>\nSubject: tea\n\n"


@pytest.mark.parametrize(
    ("message", "mail", "has_header"),
    [
        (HEADER + "At four?", "auto", True),
        ("From ann@example.org Thu Aug 22\n" + HEADER, "auto", True),
        (HEADER.replace("\n", "\r\n"), "auto", True),
        ("Subject: tea\n\nAt four?", "auto", False),  # no From
        ("Hello\nFrom: the beginning\n\n", "auto", False),
        (HEADER.strip(), "auto", False),  # no line ends it
        ("Date: today\nServer: NCSA\nContent-type: text/html\n\n<p>tea</p>", "auto", False),
        (HEADER + "At four?", False, False),
        ("Subject: tea\n\nAt four?", True, True),
        (b"Subject: tea\n\nAt four?", "auto", True),
        (b"Subject: tea\n\nAt four?", False, False),
    ],
)
def test_mail_says_whether_headers_are_read(message: str | bytes, mail: bool | str, has_header: bool) -> None:
    tokens = spamnb.MailVectorizer(mail=mail).fit([message]).get_feature_names_out().tolist()
    assert ("subject:tea" in tokens) == has_header


def test_a_model_keeps_how_its_messages_are_read(tmp_path: Path) -> None:
    texts, labels = [HEADER + "pills", HEADER + "lunch"] * 2, ["spam", "ham"] * 2
    for mail in (True, False, "auto"):
        SpamClassifier(mail=mail).fit(texts, labels).save(tmp_path / "m", force=True)
        assert SpamClassifier.load(tmp_path / "m").mail == mail


def test_long_lines_of_fields_are_read_in_linear_time() -> None:
    start = time.process_time()
    as_mail("a:" * 500_000 + "\n" + " \n" * 100_000)
    as_mail("From: a\n" * 200_000)
    assert time.process_time() - start < 1


def test_one_message_at_a_time_is_nearly_the_stream_of_many(texts: list[str], labels: list[str]) -> None:
    one, many = SpamClassifier(n_jobs=1), SpamClassifier(n_jobs=1).partial_fit(texts[:40], labels[:40])
    assert one.predict_proba_one(texts[0]) == {} and one.predict_one(texts[0]) is None
    for text, label in zip(texts[:40], labels[:40]):
        one.learn_one(text, label)
    for text in UNSEEN:
        assert one.predict_one(text) == many.predict([text])[0]
        np.testing.assert_allclose([*one.predict_proba_one(text).values()], many.predict_proba([text])[0], atol=0.05)
    numbers = SpamClassifier(spam=1)
    numbers.learn_one("tea", 0)
    numbers.learn_one("pills", 1)
    assert type(numbers.predict_one("tea")) is int and list(numbers.predict_proba_one("tea")) == [0, 1]


def test_logarithms_are_those_of_the_probabilities(fitted: SpamClassifier) -> None:
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(UNSEEN)), fitted.predict_proba(UNSEEN))


def test_a_loss_decides_in_place_of_strictness(texts: list[str], labels: list[str]) -> None:
    lenient = {"ham": {"spam": 5}, "spam": {"ham": 1}}
    model = SpamClassifier(loss=lenient).fit(texts, labels)
    p = model.predict_proba(UNSEEN)
    assert model.predict(UNSEEN).tolist() == np.where(5 * p[:, 1] > p[:, 0], "spam", "ham").tolist()
    assert model.predict(UNSEEN).tolist() == model.decide(UNSEEN, lenient).tolist()
    rare = [*texts, "tea at four", "tea at five"], [*labels, "drinks", "drinks"]
    balanced = SpamClassifier(loss="balanced").fit(*rare)
    weighted = balanced.predict_proba(rare[0]) / [2, labels.count("ham"), labels.count("spam")]
    assert balanced.predict(rare[0]).tolist() == balanced.classes_[weighted.argmax(axis=1)].tolist()
