"""Embeddings against a dense SVD, and hand-made files of vectors."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer

from spamnb.errors import SpamnbError
from spamnb.model.embeddings import embed, fit_embedding, parse_embedding

MAIL = [
    "cheap pills buy cheap pills now",
    "buy cheap watches now",
    "meeting agenda for the project",
    "the project meeting is moved",
    "cheap watches and pills",
    "agenda of the meeting and lunch",
]


def counts(texts: list[str], subjects: bool = False) -> tuple[csr_array, list[str]]:
    vectorizer = CountVectorizer(analyzer=lambda text: text.split() + ["subject:" + text.split()[0]] * subjects)
    X = csr_array(vectorizer.fit_transform(texts))
    return X, vectorizer.get_feature_names_out().tolist()


def random_counts(n: int = 80, width: int = 60, seed: int = 0) -> csr_array:
    rng = np.random.default_rng(seed)
    return csr_array(rng.poisson(rng.gamma(0.5, 1, (n, 3)) @ rng.gamma(0.2, 1, (3, width))).astype(np.int32))


def names(X: csr_array) -> list[str]:
    return [f"word{j}" for j in range(X.shape[1])]


def test_lsa_is_the_dense_svd_of_the_weighted_rows() -> None:
    X = random_counts()
    ours, again = (fit_embedding("lsa:5", X, names(X)) for _ in range(2))
    np.testing.assert_array_equal(ours.vectors, again.vectors)
    dense = X.toarray().astype(float)
    document_frequency = (dense > 0).sum(axis=0)
    share = dense / np.maximum(dense.sum(axis=0), 1)
    weight = 1 + np.where(share > 0, share * np.log(np.where(share > 0, share, 1)), 0).sum(axis=0) / np.log(81)
    weighted = np.where(dense > 0, 1 + np.log(np.maximum(dense, 1)), 0) * weight
    kept = weighted[:, document_frequency >= 2]
    unit = kept / np.maximum(np.linalg.norm(kept, axis=1, keepdims=True), 1e-300)
    right = np.linalg.svd(unit, full_matrices=False)[2][:5]
    right *= np.sign(right[np.arange(5), np.abs(right).argmax(axis=1)])[:, None]
    np.testing.assert_array_equal(ours.columns, np.flatnonzero(document_frequency >= 2))
    np.testing.assert_allclose(ours.vectors, (weight[ours.columns] * right).T, atol=1e-6)
    projected = unit @ right.T
    expected = np.sqrt(5) * projected / np.maximum(np.linalg.norm(projected, axis=1, keepdims=True), 1e-300)
    np.testing.assert_allclose(ours.transform(X), expected, atol=1e-5)


def test_lsa_of_little_mail_has_fewer_directions() -> None:
    X, tokens = counts(MAIL)
    fitted = fit_embedding("lsa:100", X, tokens)
    assert fitted.vectors.shape[1] == 6
    assert [tokens[j] for j in fitted.columns] == [
        "agenda", "and", "buy", "cheap", "meeting", "now", "pills", "project", "the", "watches"
    ]  # fmt: skip
    twice = fit_embedding("lsa:100", X[[0, 0, 1, 1]], tokens)
    assert twice.vectors.shape[1] == 2  # two different messages: rank 2
    with pytest.raises(SpamnbError, match="no token occurs in two"):
        fit_embedding("lsa:3", *counts(["one", "two"]))


def test_one_message_by_look_up_equals_its_row() -> None:
    X = random_counts(seed=2)
    fitted = fit_embedding("lsa:4", X, names(X))
    wider = csr_array(np.pad(X.toarray(), [(0, 0), (0, 3)], constant_values=1))  # tokens learned later
    together = fitted.transform(wider)
    np.testing.assert_array_equal(together, fitted.transform(X))
    np.testing.assert_array_equal(fitted.transform(csr_array(X.shape, dtype=np.int32)), np.zeros((80, 4)))
    table = dict(zip(fitted.columns, fitted.vectors))
    for i in range(X.shape[0]):
        row = X[[i]]
        known = [k for k, column in enumerate(row.indices) if column in table]
        if known:
            x, factors = embed(np.array([table[row.indices[k]] for k in known]), row.data[known])
            np.testing.assert_array_equal(x, together[i])
            np.testing.assert_allclose(x @ x, 4)
            assert factors.min() > 0


GLOVE = "the 0.5 0.25 -1\ncheap 1 0 0\npills 0.9 0.1 0\nmeeting 0 1 0\nat example.org 0 0 1\n"


def write(tmp_path: Path, content: str | bytes) -> str:
    path = tmp_path / "vectors.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return f"vectors:{path}"


@pytest.mark.parametrize("header", ["", "5 3\n"], ids=["glove", "word2vec"])
def test_word_vectors(tmp_path: Path, header: str) -> None:
    X, tokens = counts(MAIL, subjects=True)
    fitted = fit_embedding(write(tmp_path, header + GLOVE), X, tokens)
    found = {tokens[j]: vector for j, vector in zip(fitted.columns, fitted.vectors)}
    assert set(found) == {"the", "cheap", "pills", "meeting", "subject:cheap", "subject:meeting", "subject:the"}
    weight = 1 - np.log(3) / np.log(7)  # once in each of three of six messages: an entropy of ln 3
    np.testing.assert_allclose(found["the"], weight * np.array([0.5, 0.25, -1]), rtol=1e-6)
    weight = 1 - np.log(2) / np.log(7)
    np.testing.assert_allclose(found["subject:cheap"], [weight, 0, 0], rtol=1e-6)
    uneven = 1 + (0.5 * np.log(0.5) + 2 * 0.25 * np.log(0.25)) / np.log(7)  # "cheap": 2, 1 and 1 occurrences
    np.testing.assert_allclose(found["cheap"], [uneven, 0, 0], rtol=1e-6)
    z = fitted.transform(X)[2]  # "meeting agenda for the project"
    direction = found["meeting"] + found["the"] + found["subject:meeting"]
    np.testing.assert_allclose(z, np.sqrt(3) * direction / np.linalg.norm(direction), rtol=1e-6)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("the 1 2 3\ncheap 1 2\n", r"vectors\.txt:2: not a word and 3 numbers"),
        ("the 1 2 3\ncheap 1 nan 3\n", r"vectors\.txt:2: not a word and 3 numbers"),
        ("the 1 2 3\ncheap 1 1e300 3\n", r"vectors\.txt:2: not a word and 3 numbers"),
        ("5 3\nthe 1 2 3\n\ncheap 1 2 3\n", r"vectors\.txt:3: not a word and 3 numbers"),
        (b"\x00\x01\x02", r"vectors\.txt:1: not a word and 1 to 9,999 numbers"),
        ("the" + " 1" * 10_000, r"vectors\.txt:1: not a word and 1 to 9,999 numbers"),
        ("zebra 1 2\n", "none of the words"),
        ("", "none of the words"),
        ("the 0 0\ncheap 0 1e-60\n", "the vectors of all words in the training mail are 0"),
    ],
)
def test_a_file_of_no_use_is_told_with_its_line(tmp_path: Path, content: str | bytes, says: str) -> None:
    with pytest.raises(SpamnbError, match=says):
        fit_embedding(write(tmp_path, content), *counts(MAIL))


@given(st.binary(max_size=60))
def test_any_bytes_give_vectors_or_one_line(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes(content)
    try:
        assert np.isfinite(fit_embedding(f"vectors:{path}", *counts(["a b", "1 0"])).vectors).all()
    except SpamnbError as error:
        assert "\n" not in str(error)


def test_specifications(tmp_path: Path) -> None:
    for wrong in ("", "lsa", "lsa:", "lsa:0", "lsa:x", "lsa:-3", "lsa:99999999", "vectors", "vectors:", "bert"):
        with pytest.raises(SpamnbError, match="is unknown: use lsa:DIMENSIONS, 1 to 9999, or vectors:PATH"):
            parse_embedding(wrong)
    with pytest.raises(SpamnbError, match="absent:b: No such file"):
        fit_embedding(f"vectors:{tmp_path}/absent:b", *counts(MAIL))
