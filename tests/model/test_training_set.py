"""Training sets: sums over messages against scikit-learn, rows in files, and copies."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mail import count_messages, fail, mail, message, same_counts
from scipy.sparse import csr_array

from spamnb.engines import executor as engine
from spamnb.engines.counting import count_parallel
from spamnb.model import counting as module
from spamnb.model.class_counts import DOCUMENTS, OCCURRENCES
from spamnb.model.training_set import TrainingSet
from spamnb.reader import rows as rows_module
from spamnb.reader.message import Reader
from spamnb.settings import Settings
from spamnb.sources.entries import Entry

WORDS = "offer pills meeting lunch café prize $5 free! don't 無料 http://a.example/b".split()


def mail_of(label: str, *words: str) -> tuple[str, bytes]:
    return label, f"Subject: {words[0] if words else ''}\n\n{' '.join(words)}\n".encode()


def figures_of(made: TrainingSet) -> np.ndarray:
    """Return the figures (V, C, 3)."""
    return made.cells.table(len(made.tokens), len(made.classes))


def check_against_scikit_learn(made: TrainingSet, messages: Sequence[tuple[str, bytes]]) -> None:
    from sklearn.feature_extraction.text import CountVectorizer

    twin = CountVectorizer(analyzer=lambda n: Counter(Reader().tokens(messages[n][1])).elements())
    X = csr_array(twin.fit_transform(range(len(messages))))
    assert sorted(made.tokens) == sorted(twin.vocabulary_)
    assert (np.diff(made.document_frequency()) <= 0).all() and (np.diff(made.columns_by_hash()) != 0).all()
    X = X[:, [twin.vocabulary_[token] for token in made.tokens]]
    labels = np.array([label for label, _ in messages])
    assert made.classes == tuple(sorted(set(labels)))
    for c, name in enumerate(made.classes):
        mine = X[np.flatnonzero(labels == name)]
        assert made.documents[c] == mine.shape[0]
        np.testing.assert_array_equal(figures_of(made)[:, c, OCCURRENCES], mine.sum(axis=0))
        np.testing.assert_array_equal(figures_of(made)[:, c, DOCUMENTS], (mine > 0).sum(axis=0))
    place = 0
    for batch in made.rows.batches(7):
        for n, label in enumerate(batch.labels):
            part = slice(batch.indptr[n], batch.indptr[n + 1])
            row = X[[batch.positions[n]]].toarray()[0]
            assert made.classes[label] == labels[batch.positions[n]]
            assert dict(zip(batch.ids[part].tolist(), batch.counts[part].tolist())) == {
                int(j): int(row[j]) for j in np.flatnonzero(row)
            }
            place += 1
    assert place == len(messages)


def same(a: TrainingSet, b: TrainingSet) -> None:
    """Check that both have the same tokens with the same counts."""
    a, b = (each.select_columns(each.columns_by_hash()) for each in (a, b))
    assert list(a.tokens) == list(b.tokens)
    assert same_counts(a, b)


def test_sums_are_those_of_scikit_learn_on_real_mail(corpora: Path) -> None:
    folder = corpora / "spamassassin"
    paths = [
        (name, path) for name in ("easy_ham", "hard_ham", "spam") for path in sorted((folder / name).iterdir())[:150]
    ]
    messages = [(name, path.read_bytes()) for name, path in paths if path.name != "cmds"]
    check_against_scikit_learn(count_messages(messages), messages)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.lists(st.sampled_from(WORDS), max_size=12)), min_size=1, max_size=9)
)
def test_sums_are_those_of_scikit_learn(drawn: list[tuple[str, list[str]]]) -> None:
    messages = [mail_of(label, *words) for label, words in drawn]
    check_against_scikit_learn(count_messages(messages), messages)


def test_rows_that_lie_in_files_are_counted_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    messages = [mail_of("ab"[n % 2], *WORDS[n % 5 :], *WORDS[: n % 3]) for n in range(40)]
    monkeypatch.setattr(rows_module, "MESSAGES_AT_ONCE", 6)
    monkeypatch.setattr(module, "SORTED_AT_ONCE", 9)
    monkeypatch.setattr(engine, "MAX_PART_MESSAGES", 7)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for most in (0, 1000, 1 << 28):
        for each, name in ((module, "MAX_COUNTED_CELLS"), (rows_module, "MAX_ITEMS_IN_MEMORY")):
            monkeypatch.setattr(each, name, most)
        monkeypatch.setattr(module, "MAX_THREAD_TOKENS", 20 if most else 1 << 18)  # a vocabulary that is full makes way
        made = count_messages(messages)
        check_against_scikit_learn(made, messages)
        columns = np.array([4, 0])
        chosen = made.select_columns(columns)
        assert list(chosen.tokens) == [made.tokens[4], made.tokens[0]]
        np.testing.assert_array_equal(figures_of(chosen), figures_of(made)[columns])
        np.testing.assert_array_equal(chosen.rows.matrix().toarray(), made.rows.matrix().toarray()[:, columns])
    assert not list(tmp_path.iterdir())


def test_the_last_copy_counts_wherever_the_copies_were_counted() -> None:
    ham, spam, other = mail_of("ham", "lunch", "meeting"), mail_of("spam", "pills"), mail_of("ham", "prize", "lunch")
    moved = ("spam", ham[1])
    made = count_messages([ham, spam, moved, spam, other, spam]).deduplicate()
    same(made, count_messages([moved, other, spam]))
    assert sorted(made.rows.positions) == [2, 4, 5]
    same(made.deduplicate(), made)


def test_no_messages_no_tokens_and_what_cannot_be_read(tmp_path: Path) -> None:
    nothing = count_parallel([], Settings(), fail)
    assert (list(nothing.tokens), nothing.classes, list(nothing.rows.batches())) == ([], (), [])
    same(nothing.deduplicate(), nothing)
    empty = count_messages([("ham", b"")])
    assert empty.documents.tolist() == [1]
    unreadable: list[str] = []
    entries = [
        Entry("ham", "gone", str(tmp_path / "gone")),
        Entry("ham", "there", "", content=b"Subject: x\n\nlunch\n"),
    ]
    made = count_parallel(entries, Settings(), lambda name, error: unreadable.append(name))
    assert unreadable == ["gone"]
    assert made.documents.tolist() == [1]
    assert made.rows.positions.tolist() == [1]


def test_every_class_is_dealt_out_over_all_parts() -> None:
    made = count_messages([*mail(23), *mail(2)]).deduplicate()  # ham and spam in turn, then copies of some
    part = made.stratified_folds(4)
    assert len(part) == 46
    for label in range(2):
        of_class = part[made.rows.labels == label]
        assert set(np.bincount(of_class, minlength=4)) <= {5, 6}


@pytest.mark.parametrize("workers", [1, 2])
def test_what_stands_in_several_classes_is_counted(workers: int) -> None:
    labels = ["ham", "spam", "list"]
    entries = [
        Entry(labels[(n % 7) % 3] if n % 5 else "ham", str(n), "", content=message("ham", n % 50)) for n in range(200)
    ]
    training_set = count_parallel(entries, Settings(), fail, workers=workers)
    labels_of: dict[int, set[str | None]] = {}
    for place, entry in enumerate(entries):
        labels_of.setdefault(place % 50, set()).add(entry.label)
    assert training_set.count_in_several_classes() == sum(len(found) > 1 for found in labels_of.values())
    assert 0 < training_set.count_in_several_classes() < 50
