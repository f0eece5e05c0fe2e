"""buckets.py: tokens that are written are read again, and buckets that no model has are told in one line."""

import json
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mail import add, mail, make_store

from spamnb.core.buckets import NO_BUCKET, Buckets, ChangedTokens
from spamnb.core.score import MAX_COUNT
from spamnb.errors import Damaged, SpamnbError
from spamnb.filter import Classifier
from spamnb.model.class_counts import Cells
from spamnb.model.delta import MAX_UNITS
from spamnb.reader.tokens import TokenArray
from spamnb.store import buckets
from spamnb.store.buckets import (
    LOWEST,
    Block,
    read_all_figures,
    read_figures,
    read_tokens,
    read_vectors,
    rewrite,
    write_blocks,
)
from spamnb.store.database import MAX_VALUE_BYTES
from spamnb.store.jsonl import export
from spamnb.store.snapshot import read_snapshot
from spamnb.store.store import Store

CLASSES = 4
EDGES = [0, 1, 127, 128, 255, 256, 32_767, 32_768, 65_535, 65_536, MAX_UNITS]
HASHES = st.one_of(st.sampled_from([LOWEST, -1, 0, 1, (1 << 63) - 1]), st.integers(LOWEST, (1 << 63) - 1))
COUNT = st.one_of(st.sampled_from([*EDGES, MAX_COUNT // 2]), st.integers(1, 300))
WEIGHT = st.one_of(st.sampled_from([*EDGES, *(-n for n in EDGES), -129]), st.integers(-300, 300))
CELL = st.tuples(COUNT.filter(bool), COUNT, WEIGHT)
TOKENS = st.dictionaries(
    HASHES, st.dictionaries(st.integers(0, CLASSES - 1), CELL, min_size=1, max_size=3), max_size=30
)
Figures = dict[int, dict[int, tuple[int, int, int]]]  # by hash and class: messages, further occurrences, weight


def cells_of(figures: Figures) -> tuple[np.ndarray, Cells]:
    """Return the hashes, ascending, and the cells."""
    rows = [
        (token, label, documents, documents + further, weight)
        for token, (_, cells) in enumerate(sorted(figures.items()))
        for label, (documents, further, weight) in sorted(cells.items())
    ]
    token, label, *columns = np.array(rows, np.int64).reshape(-1, 5).T
    return np.array(sorted(figures), np.int64), Cells(token, label, np.array(columns))


def texts_of(figures: Figures) -> TokenArray:
    """Return a text for each hash, in another order."""
    hashes = np.array(sorted(figures)[::-1], np.int64)
    texts = [f"t{number}" * (number % 7) for number in hashes.tolist()]
    array = TokenArray.of(texts)
    return TokenArray(array.text, array.offsets, array.lengths, hashes, np.zeros(len(hashes), np.int8))


def read(store: Store, dimensions: int) -> Figures:
    parts, figures_alone = list(read_tokens(store, CLASSES, dimensions)), list(read_all_figures(store, CLASSES))
    tokens = TokenArray.concat([part for part, *_ in parts])
    hashes = tokens.hashes.tolist()
    cells = Cells.concat([(len(part), Cells.of_table(table)) for part, table, _ in parts])
    assert [hash_ for part, _ in figures_alone for hash_ in part.tolist()] == hashes
    assert all(np.array_equal(table, other) for (_, table, _), (_, other) in zip(parts, figures_alone, strict=True))
    figures: Figures = {hash_: {} for hash_ in hashes}
    for token, label, (documents, occurrences, weight) in zip(
        cells.token.tolist(), cells.label.tolist(), cells.figures.T.tolist()
    ):
        figures[hashes[token]][label] = documents, occurrences - documents, weight
    assert [f"t{number}" * (number % 7) for number in hashes] == list(tokens)
    return figures


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(buckets, "BUCKET_TOKENS", 2)
    monkeypatch.setattr(buckets, "MAX_BUCKET_TOKENS", 4)
    return


@given(TOKENS, st.lists(TOKENS, max_size=4), st.randoms(use_true_random=False), st.integers(0, 3))
def test_tokens_that_are_rewritten_are_read_again(
    first: Figures, changes: list[Figures], chance: random.Random, dimensions: int
) -> None:
    with pytest.MonkeyPatch.context() as patch, Store.create(":memory:", {}) as store, store.writing():
        patch.setattr(buckets, "BUCKET_TOKENS", 2)
        patch.setattr(buckets, "MAX_BUCKET_TOKENS", 4)
        hashes, cells = cells_of(first)
        texts = texts_of(first)
        vectors = np.arange(1, len(hashes) + 1, dtype=np.float32)[:, None] * np.ones(dimensions, np.float32)
        blocks = [Block(texts.take(np.argsort(texts.hashes)), cells, vectors)] if len(hashes) else []
        write_blocks(store, blocks, CLASSES)
        expected = dict(first)
        for change in changes:
            deleted = {hash_ for hash_ in expected if chance.random() < 0.3}
            expected = {hash_: cells for hash_, cells in expected.items() if hash_ not in deleted} | change
            hashes, cells = cells_of({hash_: {} for hash_ in deleted} | change)
            if len(hashes):
                table, size = cells.table(len(hashes), CLASSES), chance.choice([0, 1 << 30])
                rewrite(store, hashes, table, texts_of(change), size, dimensions)
            assert read(store, dimensions) == expected
        sizes = [len(row[0]) // 8 for row in store.execute("SELECT hashes FROM tokens")]
        assert all(1 <= size <= 4 for size in sizes)
        asked = np.array(sorted({*first, *expected, 5}), np.int64)
        for size in (0, 1 << 30):  # the buckets are read in one range, or each by a hash
            figures = read_figures(store, CLASSES, asked, size)
            known, cells = cells_of(expected)
            table = dict(zip(known.tolist(), cells.table(len(known), CLASSES).tolist()))
            assert figures.tolist() == [table.get(hash_, [[0] * 3] * CLASSES) for hash_ in asked.tolist()]
            of_hash = dict(zip(asked.tolist(), read_vectors(store, CLASSES, dimensions, asked, size).tolist()))
            assert all(of_hash[hash_] == [0] * dimensions for hash_ in of_hash.keys() - expected)
        for number, hash_ in enumerate(sorted(first), 1):
            unchanged = hash_ in expected and not any(hash_ in change for change in changes)
            assert not unchanged or of_hash[hash_] == [number] * dimensions


def test_a_deleted_tokens_hash_is_not_left_as_a_key(small: None) -> None:
    rng = np.random.default_rng(1)
    figures: Figures = {int(hash_): {0: (1, 0, 0)} for hash_ in rng.integers(LOWEST, (1 << 63) - 1, 500)}
    with Store.create(":memory:", {}) as store, store.writing():
        hashes, cells = cells_of(figures)
        rewrite(store, hashes, cells.table(len(hashes), CLASSES), texts_of(figures), 0)
        keys = {key for (key,) in store.execute("SELECT bucket FROM tokens")}
        assert len(keys) > 200 and not keys & {*figures}


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        ("hashes = substr(hashes, 2)", "truncated hashes"),
        ("hashes = zeroblob(length(hashes))", "hashes .* not in order"),
        ("hashes = 'x'", "hashes .* not bytes"),
        ("bucket = 9000000000000000000", "hashes .* not in order"),
        ("width = 5", "width .* no record"),
        ("width = 'x'", "width .* no record"),
        ("width = NULL", "width .* no record"),
        ("cells = substr(cells, 2)", "truncated cells"),
        ("cells = 'x'", "cells .* not bytes"),
        ("cells = CAST(x'7f' || substr(cells, 2) AS BLOB)", "places .* not in order"),
        ("cells = CAST(x'0009' || substr(cells, 3) AS BLOB)", "unknown or repeated classes"),
        ("cells = CAST(substr(cells, 1, 4) || cells AS BLOB)", "unknown or repeated classes"),
        ("cells = CAST(x'00000001' || substr(cells, 5) AS BLOB)", "impossible figures"),
        ("width = 15, cells = x'000000ffffffffffffffff00000000'", "impossible figures"),
        ("texts = NULL", "texts .* not bytes"),
        ("texts = x''", "truncated texts"),
        ("texts = 'y'", "texts .* not bytes"),
        ("texts = CAST(texts || 'a' AS BLOB)", "truncated texts"),
        ("texts = CAST(texts || x'ff' AS BLOB)", "truncated texts"),
        ("texts = x'61ff62ff64ff'", "another hash"),
        ("vectors = x'0000'", "truncated vectors"),
        ("vectors = zeroblob(length(hashes) / 2)", "truncated vectors"),  # a model without vectors
    ],
)
def test_buckets_that_no_model_has_are_told(tmp_path: Path, spoil: str, says: str) -> None:
    store = make_store([("ham", {"a": 1, "b": 3}), ("spam", {"a": 2, "c": 1})])
    store.execute("PRAGMA writable_schema = ON")
    store.execute("UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL', '') WHERE name = 'tokens'")
    store.execute("PRAGMA writable_schema = RESET")
    store.execute(f"UPDATE tokens SET {spoil}")  # noqa: S608
    with pytest.raises(SpamnbError, match=says) as error:
        read_snapshot(store)
    assert "\n" not in str(error.value)


@given(TOKENS.filter(bool), TOKENS, st.data())
def test_spoiled_buckets_are_read_or_told(first: Figures, change: Figures, data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch, Store.create(":memory:", {}) as store, store.writing():
        patch.setattr(buckets, "BUCKET_TOKENS", 2)
        patch.setattr(buckets, "MAX_BUCKET_TOKENS", 4)
        hashes, cells = cells_of(first)
        dimensions = data.draw(st.integers(0, 2))
        vectors = np.ones((len(hashes), dimensions), np.float32)
        rewrite(store, hashes, cells.table(len(hashes), CLASSES), texts_of(first), 0, dimensions, vectors)
        column = data.draw(st.sampled_from(["hashes", "width", "cells", "texts", "vectors"]))
        (old,) = store.execute(f"SELECT {column} FROM tokens ORDER BY bucket LIMIT 1").fetchone()  # noqa: S608
        if column == "width":
            new: bytes | int = data.draw(st.sampled_from([0, 4, 6, 8, 10, 15, 16]))
        else:
            begin = data.draw(st.integers(0, len(old)))
            new = old[:begin] + data.draw(st.binary(max_size=20)) + old[begin + data.draw(st.integers(0, 9)) :]
        key = "(SELECT min(bucket) FROM tokens)"
        store.execute(f"UPDATE tokens SET {column} = ? WHERE bucket = {key}", (new,))  # noqa: S608
        hashes, cells = cells_of(change)
        table = cells.table(len(hashes), CLASSES)
        for access in (
            lambda: list(read_all_figures(store, CLASSES)),
            lambda: list(read_tokens(store, CLASSES, dimensions)),
            lambda: rewrite(store, hashes, table, texts_of(change), 0, dimensions),
            lambda: list(read_all_figures(store, CLASSES)),
        ):
            try:
                access()
            except Damaged as error:
                assert "in table tokens" in str(error)


def test_texts_that_end_in_another_bucket_are_told(small: None) -> None:
    """The ends of all texts are as many as the tokens, but one bucket has one too few, and the next one too many."""
    store = make_store([("ham", {f"word{n}": 1 for n in range(9)})])
    (first, texts), (second, others) = store.execute("SELECT bucket, texts FROM tokens ORDER BY bucket LIMIT 2")
    word, rest = texts.split(b"\xff", 1)
    for key, content in ((first, word + rest), (second, others + b"\xff")):
        store.execute("UPDATE tokens SET texts = ? WHERE bucket = ?", (content, key))
    with pytest.raises(Damaged, match="truncated texts"):
        list(read_tokens(store, 1, 0))


def test_a_hash_above_the_next_key_is_told_in_any_batch_of_buckets(
    small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "MAX_CELLS", 1)  # a batch has one bucket
    store = make_store([("ham", {f"word{n}": 1 for n in range(9)})])
    first, second = store.execute("SELECT bucket, hashes FROM tokens ORDER BY bucket LIMIT 2").fetchall()
    store.execute("UPDATE tokens SET hashes = ? WHERE bucket = ?", (first[1][:8] + second[1][8:16], first[0]))
    for access in (read_all_figures(store, 1), read_tokens(store, 1, 0)):
        with pytest.raises(Damaged, match="hashes in table tokens that are not in order"):
            list(access)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        ("texts = x'61'", "truncated texts"),
        ("vectors = x'0000'", "truncated vectors"),
        ("vectors = zeroblob(4000000 * length(hashes) / 8)", "truncated vectors"),
    ],
)
@pytest.mark.parametrize("n_tokens", [2, 3])
def test_a_damaged_bucket_is_told_before_it_gets_a_token(spoil: str, says: str, n_tokens: int) -> None:
    store = make_store([("ham", dict.fromkeys("abc"[:n_tokens], 1))])
    store.execute(f"UPDATE tokens SET {spoil}")  # noqa: S608
    with pytest.raises(SpamnbError, match=says):
        add(store, "ham", {"d": 1})


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan])
def test_infinite_vectors_are_told(number: float) -> None:
    old, new = TokenArray.of(["a"]), TokenArray.of(["b"])
    figures = np.ones((1, CLASSES, 3), np.int64)
    with Store.create(":memory:", {}) as store, store.writing():
        rewrite(store, old.hashes, figures, old, 0, 2, np.array([[1, number]], np.float32))
        for access in (
            lambda: list(read_tokens(store, CLASSES, 2)),
            lambda: read_vectors(store, CLASSES, 2, old.hashes, 0),
            lambda: rewrite(store, new.hashes, figures, new, 0, 2),
        ):
            with pytest.raises(Damaged, match="vectors that are not finite in table tokens"):
                access()


@pytest.mark.parametrize(
    ("change", "sizes"),
    [
        ({"text_begins": np.array([0, 2])}, (64, 32)),
        ({"text_begins": np.array([0, -1])}, (64, 32)),
        ({"text_lengths": np.array([1, 2])}, (64, 32)),
        ({"text_lengths": np.array([1, -2])}, (64, 32)),
        ({"text_lengths": np.array([1])}, (64, 32)),
        ({"vectors": np.zeros((1, 3), np.float32)}, (64, 32)),
        ({"vectors": np.zeros((2, 4), np.float32)}, (64, 32)),
        ({"figures": np.ones((2, 1, 3), np.int64)}, (64, 32)),
        ({}, (32, 64)),
        ({}, (257, 32)),
        ({}, (64, 0)),
    ],
)
def test_arrays_of_other_sizes_are_refused(change: dict[str, np.ndarray], sizes: tuple[int, int]) -> None:
    buckets = Buckets([(LOWEST, *NO_BUCKET)], 2, 3)
    tokens = ChangedTokens(
        np.array([1, 2]), np.ones((2, 2, 3), np.int64), np.frombuffer(b"ab", np.uint8), np.array([0, 1]),
        np.array([1, 1]), np.ones((2, 3), np.float32),
    )  # fmt: skip
    assert buckets.change(tokens, 64, 32)[1][4] == [b"a\xffb\xff"]
    with pytest.raises(ValueError, match=r"another type or shape|out of bounds|outside of|has 1 to 256"):
        buckets.change(tokens._replace(**change), *sizes)


@pytest.mark.parametrize(
    ("figures", "says"),
    [
        ([1, MAX_COUNT + 1, 0], "counted more than 4,294,967,295 times"),
        ([1, 1, -MAX_UNITS - 1], "weight is larger than a model file holds"),
        ([5, 3, 0], "impossible figures"),
        ([0, 1, 0], "impossible figures"),
        ([-1, 1, 0], "impossible figures"),
        ([-(1 << 63), (1 << 63) - 1, 0], "impossible figures"),
        ([(1 << 63) - 1, -(1 << 63), 0], "impossible figures"),
    ],
)
def test_figures_that_no_bucket_holds_are_refused(figures: list[int], says: str) -> None:
    with pytest.raises(SpamnbError, match=says), Store.create(":memory:", {}) as store, store.writing():
        rewrite(store, TokenArray.of(["a"]).hashes, np.array([[figures]]), TokenArray.of(["a"]), 0)


def test_a_token_that_is_too_long_is_refused() -> None:
    with pytest.raises(SpamnbError, match="a token is longer than a model file holds"):
        make_store([("ham", {"a" * (1 << 16): 1})])


@pytest.mark.parametrize("table", ["meta", "tokens", "classes", "messages"])
def test_a_huge_value_is_refused_before_it_is_read(tmp_path: Path, table: str) -> None:
    path, columns = tmp_path / "m", {"meta": "value", "tokens": "texts", "classes": "name", "messages": "facts"}
    with Classifier.create(path) as classifier:
        for label, raw in mail(2):
            classifier.learn(label, raw)
    with sqlite3.connect(path) as connection:
        row = f"rowid = (SELECT min(rowid) FROM {table})" if table in ("tokens", "classes") else "true"  # noqa: S608
        key = "key = 'alpha'" if table == "meta" else row
        connection.execute(
            f"UPDATE {table} SET {columns[table]} = CAST(zeroblob({MAX_VALUE_BYTES + 1000}) AS TEXT) WHERE {key}"  # noqa: S608
            + (" AND digest = (SELECT min(digest) FROM messages)" if table == "messages" else "")
        )
    connection.close()
    with pytest.raises(SpamnbError, match=r"too big|too long"), Store.open(path) as store:
        list(export(store))


def test_settings_of_megabytes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m"
    Classifier.create(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = 'alpha'", (json.dumps("x" * 20_000_000),))
    connection.close()
    with pytest.raises(SpamnbError, match="alpha in table meta is too long"):
        Store.open(path)


def test_a_forgotten_word_is_not_in_the_bytes_of_the_file(tmp_path: Path) -> None:
    """Neither words nor the hashes of words of a forgotten message are left, while other messages come and go."""
    path, rng = tmp_path / "m", random.Random(1)
    with Store.create(path, {}) as store:
        words = [f"common{n}" for n in range(3000)]
        for n in range(30):
            add(store, ("ham", "spam")[n % 2], dict.fromkeys(rng.sample(words, 300), 1))
        secret = [
            dict.fromkeys([f"secret{n}word{i}" for i in range(150)] + rng.sample(words, 100), 2) for n in range(12)
        ]
        for n, message in enumerate(secret):
            add(store, "ham", message)
            if n % 2:
                add(store, "ham", secret[n - 1], -1)
        for message in secret[1::2]:
            add(store, "ham", message, -1)
        assert store.empty_log()
        content = path.read_bytes() + Path(f"{path}-wal").read_bytes()
        assert b"common7" in content and b"secret" not in content
        forgotten = TokenArray.of([word for message in secret for word in message if word.startswith("secret")])
        assert not [word for word, hash_ in zip(forgotten, forgotten.hashes) if hash_.tobytes() in content]


def test_damaged_texts_are_noticed_by_whatever_reads_all() -> None:
    store = make_store([("ham", {"café": 1})])
    store.execute("UPDATE tokens SET texts = x'636166c3ff'")  # what should be é lacks its second byte
    with pytest.raises(SpamnbError, match="not UTF-8"):
        read_snapshot(store)
    with pytest.raises(Damaged, match="begin inside"):
        tokens = TokenArray.of_packed(np.frombuffer("é".encode(), np.uint8), np.array([1, 1], np.int32))
        buckets.check_texts(Block(tokens, Cells.of_table(np.zeros((2, 1, 3), int)), np.zeros((2, 0), np.float32)))
