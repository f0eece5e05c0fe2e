"""MailVectorizer: the counts of the tokenizer, with how many threads ever."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils import estimator_checks

from spamnb import MailVectorizer, MultinomialNB, SpamClassifier, SpamnbError
from spamnb.api.message_estimators import as_mail
from spamnb.engines import executor
from spamnb.reader.message import Reader
from spamnb.settings import TOKEN_SETTINGS, Settings

MAIL = [
    b"From: a@example.org\nSubject: cheap pills\n\nBuy pills NOW at http://pills.example/?id=7 !!\n",
    b"Subject: minutes\nContent-Type: text/html\n\n<p style='color:#fff'>The <b>minutes</b> of the caf\xc3\xa9</p>\n",
    b"",
    b"\xff\x00",
]
# scikit-learn runs its other checks on numbers: check_estimator yields none for what reads texts, its own
# CountVectorizer included.
CHECKS = [
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_estimator_repr,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_set_params,
    estimator_checks.check_valid_tag_types,
]


@pytest.mark.parametrize("estimator", [MailVectorizer(), SpamClassifier()], ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_scikit_learns_checks_that_apply_to_texts(estimator: Any, check: Any) -> None:
    check(type(estimator).__name__, estimator)


@pytest.mark.parametrize("estimator", [MailVectorizer(), SpamClassifier()], ids=lambda one: type(one).__name__)
def test_they_pass_check_estimator(estimator: Any) -> None:
    with pytest.warns(SkipTestWarning, match="requires input"):  # as for its own CountVectorizer
        results = estimator_checks.check_estimator(estimator)
    assert {result["status"] for result in results} == {"passed"}


def test_scikit_learns_configuration_holds_for_messages(texts: list[str], labels: list[str]) -> None:
    with config_context(transform_output="pandas"):
        assert MailVectorizer().fit_transform(texts).columns.size > 10
    assert "SpamClassifier" in SpamClassifier()._repr_html_()
    with config_context(enable_metadata_routing=True):
        model = MultinomialNB().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        search = GridSearchCV(model, {"alpha": [0.1, 1.0]}, cv=2)
        X, weight = MailVectorizer().fit_transform(texts), np.arange(len(texts)) % 3
        found = search.fit(X, labels, sample_weight=weight).best_estimator_
    expected = MultinomialNB(found.alpha).fit(X, labels, weight)
    np.testing.assert_array_equal(found.feature_count_, expected.feature_count_)


def test_pairs_alone_and_english_stop_words() -> None:
    vectorizer = MailVectorizer(mail=False, ngram_range=(2, 2), stop_words="english")
    assert vectorizer.fit(["the lunch at noon is good food"]).get_feature_names_out().tolist() == ["good food"]
    every = MailVectorizer(mail=False, ngram_range=(1, 2)).fit(["lunch at noon"]).get_feature_names_out()
    assert {"lunch", "lunch at"} <= {*every} and not any(token.startswith(("part:", "charset:")) for token in every)


@pytest.mark.parametrize(
    "options",
    [{}, {"ngrams": 1}, {"body_only": True}, {"ngrams": 3, "stem": "english"}, {"ignore_headers": ("subject",)}],
    ids=str,
)
def test_a_row_holds_what_the_tokenizer_finds(options: dict[str, Any]) -> None:
    vectorizer, reader = MailVectorizer(**options), Reader(Settings(**options))
    X = vectorizer.fit_transform(MAIL)
    names = vectorizer.get_feature_names_out()
    for row, raw in zip(X.toarray(), MAIL):
        assert {names[j]: row[j] for j in np.flatnonzero(row)} == reader.tokens(raw)
    assert (vectorizer.transform(MAIL) != X).nnz == 0
    assert X.dtype == np.int64 and X.has_canonical_format
    assert [vectorizer.vocabulary_[name] for name in names] == list(range(X.shape[1]))
    assert MailVectorizer(**options).fit(MAIL[::-1]).get_feature_names_out().tolist() == names.tolist()


def test_min_df_and_binary(texts: list[str]) -> None:
    every, some = MailVectorizer().fit(texts), MailVectorizer(min_df=3, binary=True)
    held = (every.transform(texts) > 0).sum(axis=0)
    X = some.fit_transform(texts)
    assert some.get_feature_names_out().tolist() == every.get_feature_names_out()[held >= 3].tolist()
    assert set(X.data.tolist()) == {1}
    assert (some.transform(texts) != X).nnz == 0


def test_several_threads_find_the_same_as_one(texts: list[str], monkeypatch: Any) -> None:
    monkeypatch.setattr(executor, "MAX_PART_MESSAGES", 7)
    given = [*texts, *MAIL]
    alone, shared = MailVectorizer(n_jobs=1), MailVectorizer(n_jobs=3)
    X, Y = alone.fit_transform(given), shared.fit_transform(given)
    assert X.shape == Y.shape and (X != Y).nnz == 0
    assert (shared.transform(iter(given)) != X).nnz == 0


@pytest.mark.parametrize("model", [LinearSVC(), MultinomialNB()], ids=repr)
def test_pipelines_searches_and_unions(model: Any, texts: list[str], labels: list[str]) -> None:
    pipeline = make_pipeline(MailVectorizer(), TfidfTransformer(), clone(model))
    assert cross_val_score(pipeline, texts, labels, cv=3).mean() > 0.9
    search = GridSearchCV(pipeline, {"mailvectorizer__ngrams": [1, 2]}, cv=2).fit(texts, labels)
    assert search.best_params_["mailvectorizer__ngrams"] in (1, 2)
    both = FeatureUnion([("headers", MailVectorizer()), ("body", MailVectorizer(body_only=True))])
    assert both.fit_transform(texts).shape[0] == len(texts)
    again = pickle.loads(pickle.dumps(pipeline.fit(texts, labels)))  # noqa: S301
    assert again.predict(texts).tolist() == pipeline.predict(texts).tolist()


@pytest.mark.parametrize(
    ("act", "kind", "said"),
    [
        (lambda: MailVectorizer().fit("a text"), TypeError, "a single message: give a list"),
        (lambda: MailVectorizer().fit({"a", "b"}), TypeError, "X is a set: give a list of messages"),
        (lambda: MailVectorizer().fit(3), TypeError, "X is a int: give a list of messages"),
        (lambda: MailVectorizer().fit(frozenset("a")), TypeError, "X is a frozenset: give a list of messages"),
        (lambda: SpamClassifier().fit({"a": 1}, ["ham"]), TypeError, "X is a dict: give a list of messages"),
        (lambda: MailVectorizer().fit(["a", np.float64("nan")]), TypeError, r"X\[1\]: .* an empty cell: drop its"),
        (lambda: MailVectorizer().fit(["a", 1.5]), TypeError, r"X\[1\]: a message must be bytes .* not float"),
        (lambda: MailVectorizer(min_df=9).fit(["a"]), ValueError, "no token of X is left: min_df is 9, max_df is 1.0"),
        (lambda: MailVectorizer(min_df=0).fit(["a"]), SpamnbError, "^MailVectorizer: min_df is 0"),
        (lambda: MailVectorizer(max_df=1.5).fit(["a"]), SpamnbError, "^MailVectorizer: max_df is 1.5: a whole number"),
        (lambda: MailVectorizer(stem="klingon").fit(["a"]), ValueError, "^MailVectorizer: stem is 'klingon'"),
        (lambda: MailVectorizer(n_jobs=0).fit(["a"]), ValueError, "n_jobs is 0"),
        (lambda: MailVectorizer().transform(["a"]), ValueError, "not fitted yet"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(act: Any, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said) as told:
        act()
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(("min_df", "max_df"), [(1, 1.0), (0.1, 0.5), (2, 12), (0.0, 3), (np.float64(0.2), 1.0)])
def test_bounds_of_document_frequency_are_those_of_scikit_learn(min_df: Any, max_df: Any, texts: list[str]) -> None:
    texts = [*texts, *texts[:3]]  # copies count too
    reader = Reader(Settings())
    twin = CountVectorizer(analyzer=lambda text: list(reader.tokens(as_mail(text))), min_df=min_df, max_df=max_df)
    ours = MailVectorizer(min_df=min_df, max_df=max_df).fit(texts)
    assert sorted(ours.get_feature_names_out()) == sorted(twin.fit(texts).get_feature_names_out())


def test_rows_are_data_frames_if_that_was_set(texts: list[str]) -> None:
    pandas = pytest.importorskip("pandas")
    column = pandas.Series(texts, index=[f"text {n}" for n in range(len(texts))])
    vectorizer = clone(MailVectorizer().set_output(transform="pandas"))
    frame = vectorizer.fit_transform(column)
    assert frame.index.equals(column.index) and frame.columns.tolist() == list(vectorizer.tokens_)
    assert (frame.sparse.to_coo() != MailVectorizer().fit_transform(texts)).nnz == 0
    assert vectorizer.transform(texts[:2]).index.tolist() == [0, 1]
    assert "MailVectorizer" in make_pipeline(vectorizer, MultinomialNB())._repr_html_()


def test_stop_words_and_the_commonest_tokens_choose_columns() -> None:
    mail = [*MAIL, b"Subject: the minutes\n\nthe minutes of the tea"]
    every = MailVectorizer().fit(mail)
    tokens = every.get_feature_names_out()
    stopped = MailVectorizer(stop_words=["The", "pills"]).fit(mail)
    expected = [t for t in tokens if not {"the", "pills"} & set(t.rpartition(":")[2].split())]
    assert stopped.get_feature_names_out().tolist() == expected and len(expected) < len(tokens)
    assert {"the", "subject:the", "the tea"} <= {*tokens} - {*expected}
    held = np.asarray((every.transform(mail) > 0).sum(axis=0)).ravel()
    few = MailVectorizer(max_features=5).fit(mail)
    assert few.transform(mail).shape == (5, 5)
    kept = [held[every.vocabulary_[token]] for token in few.get_feature_names_out()]
    assert sorted(kept) == sorted(held)[-5:]
    wrong = (
        ({"max_features": 0}, "max_features is 0"),
        ({"stop_words": 3}, "stop_words is 3: give a list"),
        ({"stop_words": "german"}, "stop_words is 'german': give a list"),
        ({"ngram_range": (2, 1)}, r"ngram_range is \(2, 1\): give the least"),
        ({"ngram_range": 2}, "ngram_range is 2: give"),
    )
    for options, said in wrong:
        with pytest.raises(ValueError, match=f"^MailVectorizer: {said}"):
            MailVectorizer(**options).fit(mail)


def test_rows_give_back_their_tokens() -> None:
    vectorizer = MailVectorizer()
    X = vectorizer.fit_transform(MAIL)
    for rows in (X, X.toarray()):
        found = vectorizer.inverse_transform(rows)
        assert [set(tokens) for tokens in found] == [set(Reader(Settings()).tokens(raw)) for raw in MAIL]


def test_a_column_of_a_table_is_chosen_by_scikit_learn(texts: list[str]) -> None:
    pandas, compose = pytest.importorskip("pandas"), pytest.importorskip("sklearn.compose")
    table = pandas.DataFrame({"text": texts, "length": [len(text) for text in texts]})
    both = compose.ColumnTransformer([("words", MailVectorizer(), "text"), ("length", "passthrough", ["length"])])
    X = both.fit_transform(table)
    assert X.shape == (len(texts), MailVectorizer().fit_transform(texts).shape[1] + 1)


def test_parameters_of_tokens_have_the_defaults_of_the_settings() -> None:
    parameters, defaults = MailVectorizer().get_params(), Settings().to_dict()
    assert {name: parameters[name] for name in TOKEN_SETTINGS} == {name: defaults[name] for name in TOKEN_SETTINGS}
