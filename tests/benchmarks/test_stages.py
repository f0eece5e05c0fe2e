"""What each stage costs. A run is of 1,000 messages, so its milliseconds are the microseconds of a message.

    SPAMNB_CORPORA=DIR pytest tests/benchmarks --benchmark-enable

With the rest of the tests every stage runs once and is not timed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spamnb.classifier import Classifier
from spamnb.counts.training_set import TrainingSet, count_messages
from spamnb.learners.learner import learner_for
from spamnb.message.parse import Message, parse
from spamnb.settings import Settings
from spamnb.sources.entries import Entry
from spamnb.store.snapshot import read_snapshot, write_snapshot
from spamnb.store.store import Store
from spamnb.tokens.tokenizer import Tokenizer
from spamnb.tokens.vectorizer import Vectorizer
from spamnb.training import prepare, snapshot_of, with_fit_result

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
from benchmark_corpora import messages

SIZE = 1000
SETTINGS = Settings()
Benchmark = Callable[..., Any]


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    import os

    root = os.environ.get("SPAMNB_CORPORA")
    if not root:
        pytest.skip("SPAMNB_CORPORA is not set: see corpora/README.md for the public corpora")
    return [Entry(label, str(path), str(path)) for label, path, _ in messages(Path(root), "mail")[:SIZE]]


@pytest.fixture(scope="module")
def parsed(entries: list[Entry]) -> list[Message]:
    return [parse(entry.read()) for entry in entries]


def counted(entries: list[Entry], path: Path) -> TrainingSet:
    return count_messages(enumerate(entries), Tokenizer(SETTINGS.tokens), path, print)


@pytest.fixture(scope="module")
def sums(entries: list[Entry], tmp_path_factory: pytest.TempPathFactory) -> TrainingSet:
    return prepare(counted(entries, tmp_path_factory.mktemp("sums") / "rows"))


def made(sums: TrainingSet) -> Store:
    store = Store.create(":memory:", SETTINGS.as_meta())
    write_snapshot(store, with_fit_result(snapshot_of(sums, SETTINGS), learner_for(SETTINGS).train(sums)))
    return store


def test_read(benchmark: Benchmark, entries: list[Entry]) -> None:
    assert len(benchmark(lambda: [entry.read() for entry in entries])) == SIZE


def test_message(benchmark: Benchmark, entries: list[Entry]) -> None:
    raws = [entry.read() for entry in entries]
    assert len(benchmark(lambda: [parse(raw) for raw in raws])) == SIZE


def test_tokens(benchmark: Benchmark, parsed: list[Message]) -> None:
    tokenizer = Tokenizer(SETTINGS.tokens)
    assert all(benchmark(lambda: [tokenizer(message) for message in parsed]))


def test_rows_of_numbers(benchmark: Benchmark, parsed: list[Message]) -> None:
    def rows() -> list[int]:
        vectorizer = Vectorizer(Tokenizer(SETTINGS.tokens))
        return [vectorizer.add(message) for message in parsed]

    assert all(benchmark(rows))


def test_rows_of_bytes(benchmark: Benchmark, entries: list[Entry]) -> None:
    raws = [entry.read() for entry in entries]

    def rows() -> list[int]:
        vectorizer = Vectorizer(Tokenizer(SETTINGS.tokens))
        return [vectorizer.read(raw).length for raw in raws]

    assert all(benchmark(rows))


def test_all_to_sums(benchmark: Benchmark, entries: list[Entry], tmp_path: Path) -> None:
    assert benchmark(counted, entries, tmp_path / "rows").counts.documents.sum() == SIZE


def test_merge_of_two(benchmark: Benchmark, entries: list[Entry], tmp_path: Path) -> None:
    halves = [counted(entries[i::2], tmp_path / f"rows{i}") for i in (0, 1)]
    assert benchmark(TrainingSet.sum, halves).counts.documents.sum() == SIZE


def test_leave_one_out(benchmark: Benchmark, sums: TrainingSet) -> None:
    assert len(benchmark(learner_for(SETTINGS).train, sums).labels) == sums.counts.documents.sum()


def test_write(benchmark: Benchmark, sums: TrainingSet) -> None:
    assert benchmark(made, sums).totals().vocabulary_size == len(sums.tokens)


def test_load(benchmark: Benchmark, sums: TrainingSet) -> None:
    store = made(sums)
    assert len(benchmark(read_snapshot, store).tokens) == len(sums.tokens)


@pytest.mark.parametrize("at_once", [1, 128])
def test_classify(benchmark: Benchmark, sums: TrainingSet, entries: list[Entry], at_once: int) -> None:
    classifier = Classifier(made(sums))
    raws = [entry.read() for entry in entries]

    def classify() -> list[Any]:
        return [j for i in range(0, SIZE, at_once) for j in classifier.classify_all(raws[i : i + at_once], 0)]

    assert len(benchmark(classify)) == SIZE
