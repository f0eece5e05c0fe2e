"""Vocabulary against Counter, and against scikit-learn's CountVectorizer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from spamnb.tokens.matrix import Vocabulary

documents = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), max_size=8)


@given(documents)
def test_cells_are_what_counter_counts(texts: list[list[str]]) -> None:
    vocabulary = Vocabulary()
    X = vocabulary.matrix(texts)
    assert X.dtype == np.int32 and X.shape == (len(texts), len(vocabulary))
    for row, text in zip(X.toarray(), texts, strict=True):
        assert {t: int(n) for t, n in zip(vocabulary.tokens, row, strict=True) if n} == Counter(text)
    assert X.has_sorted_indices and X.has_canonical_format
    assert vocabulary.tokens == list(dict.fromkeys(token for text in texts for token in text))


@given(documents, documents)
def test_growing_adds_columns_at_the_end(first: list[list[str]], second: list[list[str]]) -> None:
    vocabulary = Vocabulary()
    before = vocabulary.matrix(first)
    tokens = list(vocabulary.tokens)
    known = vocabulary.matrix(second, grow=False)
    assert vocabulary.tokens == tokens and known.shape[1] == len(tokens)
    after = vocabulary.matrix(second)
    assert vocabulary.tokens[: len(tokens)] == tokens
    assert np.array_equal(after.toarray()[:, : len(tokens)], known.toarray())
    together = Vocabulary().matrix(first + second).toarray()
    assert np.array_equal(together[: len(first), : before.shape[1]], before.toarray())
    assert np.array_equal(together[len(first) :], after.toarray())


def test_equals_count_vectorizer() -> None:
    texts = ["the cat and the dog", "a dog", "", "cat cat cat"]
    twin = CountVectorizer(analyzer=str.split)
    theirs = twin.fit_transform(texts).toarray()
    vocabulary = Vocabulary()
    vocabulary.matrix([sorted(twin.vocabulary_, key=twin.vocabulary_.get)])
    assert np.array_equal(vocabulary.matrix((t.split() for t in texts), grow=False).toarray(), theirs)


def test_documents_are_read_once_and_lazily() -> None:
    def texts() -> Iterator[list[str]]:
        yield ["a"]
        assert vocabulary.columns == {"a": 0}
        yield ["b"]

    vocabulary = Vocabulary()
    assert vocabulary.matrix(texts()).shape == (2, 2)


def test_asking_for_an_unknown_token_does_not_add_it() -> None:
    vocabulary = Vocabulary()
    vocabulary.matrix([["a"]])
    with pytest.raises(ZeroDivisionError):
        vocabulary.matrix(["b", 1 / 0] for _ in range(1))
    with pytest.raises(KeyError):
        vocabulary.columns["new"]
    assert len(vocabulary) == 1
