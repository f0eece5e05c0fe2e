"""document_term_matrix against Counter, and against scikit-learn's CountVectorizer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from spamnb.tokens.vectorizer import document_term_matrix
from spamnb.tokens.vocabulary import Vocabulary

documents = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), max_size=8)


@given(documents)
def test_cells_are_what_counter_counts(texts: list[list[str]]) -> None:
    vocabulary = Vocabulary()
    X = document_term_matrix(texts, vocabulary)
    assert X.dtype == np.int32 and X.shape == (len(texts), len(vocabulary))
    for row, text in zip(X.toarray(), texts, strict=True):
        assert {t: int(n) for t, n in zip(list(vocabulary.tokens()), row, strict=True) if n} == Counter(text)
    assert X.has_sorted_indices and X.has_canonical_format
    assert list(vocabulary.tokens()) == list(dict.fromkeys(token for text in texts for token in text))


@given(documents, documents)
def test_growing_adds_columns_at_the_end(first: list[list[str]], second: list[list[str]]) -> None:
    vocabulary = Vocabulary()
    before = document_term_matrix(first, vocabulary)
    tokens = list(vocabulary.tokens())
    known = document_term_matrix(second, vocabulary, grow=False)
    assert list(vocabulary.tokens()) == tokens and known.shape[1] == len(tokens)
    after = document_term_matrix(second, vocabulary)
    assert list(vocabulary.tokens())[: len(tokens)] == tokens
    assert np.array_equal(after.toarray()[:, : len(tokens)], known.toarray())
    together = document_term_matrix(first + second, Vocabulary()).toarray()
    assert np.array_equal(together[: len(first), : before.shape[1]], before.toarray())
    assert np.array_equal(together[len(first) :], after.toarray())


def test_equals_count_vectorizer() -> None:
    texts = ["the cat and the dog", "a dog", "", "cat cat cat"]
    twin = CountVectorizer(analyzer=str.split)
    theirs = twin.fit_transform(texts).toarray()
    vocabulary = Vocabulary()
    document_term_matrix([sorted(twin.vocabulary_, key=twin.vocabulary_.get)], vocabulary)
    assert np.array_equal(document_term_matrix((t.split() for t in texts), vocabulary, grow=False).toarray(), theirs)


def test_documents_are_read_once_and_lazily() -> None:
    def texts() -> Iterator[list[str]]:
        yield ["a"]
        assert list(vocabulary.tokens()) == ["a"]
        yield ["b"]

    vocabulary = Vocabulary()
    assert document_term_matrix(texts(), vocabulary).shape == (2, 2)


def test_what_was_met_before_an_error_stays_numbered() -> None:
    vocabulary = Vocabulary()
    document_term_matrix([["a"]], vocabulary)
    with pytest.raises(ZeroDivisionError):
        document_term_matrix((["b", 1 / 0] for _ in range(1)), vocabulary)
    assert list(vocabulary.tokens()) == ["a"]
