"""tally.py: against scikit-learn's CountVectorizer with our tokenizer as its analyser, and the algebra of sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mail import mail, never
from scipy.sparse import csr_array

from spamnb.counts import training_set as module
from spamnb.counts.training_set import Tally, dealt, merge, restrict, tally, without_copies
from spamnb.message.parse import parse
from spamnb.sources.entries import Entry
from spamnb.tokens import vectorizer as numbering
from spamnb.tokens.tokenizer import Tokenizer

tokenize = Tokenizer()


@pytest.fixture(scope="module", autouse=True, params=["compiled", "dictionaries"])
def kernel(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every test here with the compiled kernel, where it is built, and without."""
    if request.param == "compiled" and numbering.kernel is None:
        pytest.skip("the kernel is not built: needs a C compiler when spamnb is installed")
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "dictionaries":
            patch.setattr(numbering, "kernel", None)
        yield


WORDS = "offer pills meeting lunch café prize $5 free! don't 無料 http://a.example/b".split()


def counted(folder: Path, messages: Sequence[tuple[str, bytes]], places: Sequence[int] | None = None) -> Tally:
    entries = [Entry(label, str(n), "", content=raw) for n, (label, raw) in enumerate(messages)]
    folder.mkdir(exist_ok=True, parents=True)
    return tally(zip(places or range(len(entries)), entries), Tokenizer(), folder / "rows", never)


def mail_of(label: str, *words: str) -> tuple[str, bytes]:
    return label, f"Subject: {words[0] if words else ''}\n\n{' '.join(words)}\n".encode()


def check_against_scikit_learn(made: Tally, messages: Sequence[tuple[str, bytes]]) -> None:
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(analyzer=lambda n: tokenize(parse(messages[n][1])))
    X = csr_array(vectorizer.fit_transform(range(len(messages))))
    assert sorted(made.tokens) == sorted(vectorizer.vocabulary_)
    assert (made.tokens.keys[1:] > made.tokens.keys[:-1]).all()
    X = X[:, [vectorizer.vocabulary_[token] for token in made.tokens]]
    labels = np.array([label for label, _ in messages])
    assert made.sums.classes == tuple(sorted(set(labels)))
    for c, name in enumerate(made.sums.classes):
        mine = X[np.flatnonzero(labels == name)]
        assert made.sums.documents[c] == mine.shape[0]
        np.testing.assert_array_equal(made.sums.counts.occurrences.toarray()[c], mine.sum(axis=0))
        np.testing.assert_array_equal(made.sums.counts.document_counts.toarray()[c], (mine > 0).sum(axis=0))
    place = 0
    for block in made.blocks(7):
        for n, label in enumerate(block.labels):
            part = slice(block.indptr[n], block.indptr[n + 1])
            row = X[[block.numbers[n]]].toarray()[0]
            assert made.sums.classes[label] == labels[block.numbers[n]]
            assert dict(zip(block.columns[part].tolist(), block.repeats[part].tolist())) == {
                int(j): int(row[j]) for j in np.flatnonzero(row)
            }
            place += 1
    assert place == len(messages)


def same(a: Tally, b: Tally) -> None:
    assert list(a.tokens) == list(b.tokens)
    assert a.sums.counts == b.sums.counts


def test_sums_are_those_of_scikit_learn_on_real_mail(corpora: Path, tmp_path: Path) -> None:
    folder = corpora / "spamassassin"
    paths = [
        (name, path) for name in ("easy_ham", "hard_ham", "spam") for path in sorted((folder / name).iterdir())[:150]
    ]
    messages = [(name, path.read_bytes()) for name, path in paths if path.name != "cmds"]
    check_against_scikit_learn(counted(tmp_path, messages), messages)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.lists(st.sampled_from(WORDS), max_size=12)), min_size=1, max_size=9)
)
def test_sums_are_those_of_scikit_learn(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[tuple[str, list[str]]]
) -> None:
    messages = [mail_of(label, *words) for label, words in drawn]
    check_against_scikit_learn(counted(tmp_path_factory.mktemp("t"), messages), messages)


def test_what_is_flushed_early_is_counted_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    messages = [mail_of("ab"[n % 2], *WORDS[n % 5 :], *WORDS[: n % 3]) for n in range(40)]
    monkeypatch.setattr(module, "FLUSH", 50)
    monkeypatch.setattr(module, "BLOCK", 6)
    check_against_scikit_learn(counted(tmp_path, messages), messages)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.lists(st.sampled_from(WORDS), max_size=5)), max_size=9),
    st.lists(st.integers(0, 2), min_size=9, max_size=9),
)
def test_shares_add_up_to_the_whole(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[tuple[str, list[str]]], owners: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("t")
    messages = [mail_of(label, *words, f"number{n}") for n, (label, words) in enumerate(drawn)]
    whole = counted(folder / "whole", messages)
    shares = []
    for owner in range(3):
        places = [n for n in range(len(messages)) if owners[n] == owner]
        shares.append(counted(folder / str(owner), [messages[n] for n in places], places))
    made = merge(shares)
    same(made, whole)
    same(shares[2] + shares[0] + shares[1], whole)
    numbers = np.concatenate([np.zeros(0, int), *(block.numbers for block in made.blocks())])
    assert sorted(numbers) == list(range(len(messages)))
    for block in made.blocks(2):
        for n, number in enumerate(block.numbers):
            expected = next(b for b in whole.blocks(1) if b.numbers[0] == number)
            part = slice(block.indptr[n], block.indptr[n + 1])
            assert sorted(zip(block.columns[part], block.repeats[part])) == sorted(
                zip(expected.columns, expected.repeats)
            )


def test_the_last_copy_counts_wherever_the_copies_were_counted(tmp_path: Path) -> None:
    ham, spam, other = mail_of("ham", "lunch", "meeting"), mail_of("spam", "pills"), mail_of("ham", "prize", "lunch")
    moved = ("spam", ham[1])
    first = counted(tmp_path / "1", [ham, spam, spam], [0, 3, 5])
    second = counted(tmp_path / "2", [other, moved], [4, 2])
    same(without_copies(first + second), counted(tmp_path / "3", [spam, other, moved]))
    same(without_copies(second + first), counted(tmp_path / "4", [spam, other, moved]))
    made = without_copies(first + second)
    assert sorted(np.concatenate([block.numbers for block in made.blocks()])) == [2, 4, 5]
    same(without_copies(made), made)


def test_restricted_to_columns_and_merged_again(tmp_path: Path) -> None:
    messages = [mail_of("ab"[n % 2], *WORDS[n % 5 :], f"number{n}") for n in range(12)]
    whole = counted(tmp_path / "1", messages)
    columns = np.array([0, 3, 4])
    part = restrict(whole, columns)
    assert list(part.tokens) == [whole.tokens[j] for j in columns]
    assert part.sums.counts == whole.sums.counts.columns(columns)
    for few, all_ in zip(part.blocks(5), whole.blocks(5)):
        X = csr_array((all_.repeats, all_.columns, all_.indptr), shape=(len(all_.labels), len(whole.tokens)))
        Y = csr_array((few.repeats, few.columns, few.indptr), shape=(len(few.labels), 3))
        np.testing.assert_array_equal(X.toarray()[:, columns], Y.toarray())
    twice = part + restrict(counted(tmp_path / "2", messages), columns)
    assert twice.sums.counts == part.sums.counts * 2
    same(without_copies(twice), part)


def test_no_messages_no_tokens_and_what_cannot_be_read(tmp_path: Path) -> None:
    nothing = tally(iter(()), Tokenizer(), tmp_path / "rows", lambda name, error: None)
    assert (list(nothing.tokens), nothing.sums.classes, list(nothing.blocks())) == ([], (), [])
    same(without_copies(nothing), nothing)
    empty = counted(tmp_path / "1", [("ham", b"")])
    assert empty.sums.documents.tolist() == [1]
    unreadable: list[str] = []
    entries = [
        Entry("ham", "gone", str(tmp_path / "gone")),
        Entry("ham", "there", "", content=b"Subject: x\n\nlunch\n"),
    ]
    made = tally(enumerate(entries), Tokenizer(), tmp_path / "rows", lambda name, error: unreadable.append(name))
    assert unreadable == ["gone"]
    assert made.sums.documents.tolist() == [1]
    assert made.rows[0].numbers.tolist() == [1]


def test_every_class_is_dealt_out_over_all_parts(tmp_path: Path) -> None:
    made = without_copies(counted(tmp_path, [*mail(23), *mail(2)]))  # ham and spam in turn, then copies of some
    part = dealt(made, 4)
    assert len(part) == 50 and (part == -1).sum() == 4
    for rows in made.rows:
        for label in range(2):
            of_class = part[rows.numbers[rows.kept & (rows.labels == label)]]
            assert set(np.bincount(of_class, minlength=4)) <= {5, 6}
