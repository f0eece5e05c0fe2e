"""Document-term matrices, and lists of tokens in one piece."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spamnb.reader.rows import TokenIds
from spamnb.reader.token_array import FNV_OFFSET, FNV_PRIME, MIX, TokenArray, merge_vocabularies
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


TEXT = st.text(st.characters(codec="utf-8"), max_size=12)


def key(token: str) -> int:
    """The definition, one byte after the other."""
    h = FNV_OFFSET
    for byte in token.encode():
        h = (h ^ byte) * FNV_PRIME % (1 << 64)
    h = (h ^ h >> 32) * MIX % (1 << 64)
    return h - (1 << 64 if h >> 63 else 0)


@settings(max_examples=100, deadline=None)
@given(st.lists(TEXT, max_size=30), st.data())
def test_a_list_in_one_piece_is_a_list(words: list[str], data: st.DataObject) -> None:
    tokens = TokenArray.of(words)
    assert (list(tokens), len(tokens)) == (words, len(words))
    assert tokens.hashes.tolist() == list(map(key, words))
    indices = np.array(data.draw(st.lists(st.integers(0, len(words) - 1), max_size=9)) if words else [], np.intp)
    taken = tokens.take(indices)
    assert list(taken) == [words[i] for i in indices]
    assert taken.hashes.tolist() == [key(words[i]) for i in indices]
    assert taken.packed().tobytes().decode() == "".join(taken)
    assert [tokens[i] for i in range(len(words))] == words
    assert list(tokens[1::2]) == words[1::2]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(TEXT, unique=True, max_size=12), min_size=1, max_size=4))
def test_union(lists: list[list[str]]) -> None:
    tokens, indices = merge_vocabularies([TokenArray.of(words) for words in lists])
    assert sorted(tokens) == sorted({word for words in lists for word in words})
    assert (tokens.hashes[1:] > tokens.hashes[:-1]).all()
    for words, index in zip(lists, indices, strict=True):
        assert [tokens[int(i)] for i in index] == words


def test_numbers_and_lists_of_them() -> None:
    vocabulary = Vocabulary()
    assert vocabulary.ids("abbca").tolist() == [0, 1, 1, 2, 0]
    assert list(vocabulary.tokens()) == vocabulary.take(np.arange(3)) == list("abc")
    assert vocabulary.joined(np.array([2, 0])) == b"c\x00a" and vocabulary.joined(np.array([], int)) == b""
    assert vocabulary.hashes(np.array([2, 0])).tolist() == TokenArray.of("ca").hashes.tolist()
    some = TokenIds(vocabulary, np.array([2, 0, 1]))
    assert (list(some), len(some), some[0], list(some[1:])) == (["c", "a", "b"], 3, "c", ["a", "b"])
    assert list(some.take(np.array([2, 0]))) == ["b", "c"]
