"""Judging by several threads, and training beside the writing: the same results, and failures are told."""

import re
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from mail import count_messages, fail, mail, message, train_file

from spamnb.engines import executor as module
from spamnb.engines.classifying import classify_parallel
from spamnb.filter import Classifier
from spamnb.model.classification import Classification
from spamnb.settings import Settings
from spamnb.sources.entries import Entry
from spamnb.sources.spec import find_entries


def tell(entry: Entry, raw: bytes, classification: Classification) -> str:
    return f"{entry.name} {classification._replace(scores=classification.scores.tolist())!r}"  # type: ignore[arg-type]


@pytest.fixture(scope="module", params=["boolean", "multinomial", "bernoulli"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    train_file(folder / "m", count_messages(mail(40)), Settings(model_type=request.param))
    return folder / "m"


def name_of(entry: Entry, raw: bytes, classification: Classification) -> str:
    return entry.name


def some(n: int) -> list[Entry]:
    texts = [message("ham" if i % 3 else "spam", 100 + i) + b"word%d other%d\n" % (i, i) * (i % 5) for i in range(n)]
    texts[3:6] = [b"", b"\n", b"Subject: nothing known\n\nqqq www\n"]
    return [Entry(None, f"message {i}", "", content=raw) for i, raw in enumerate(texts)]


@pytest.mark.parametrize("tokens", [0, 3, None])
@pytest.mark.parametrize(("workers", "size"), [(1, 1000), (1, 7), (2, 5), (3, 1)])
def test_the_same_to_the_last_digit_whoever_classifies(
    model: Path, monkeypatch: pytest.MonkeyPatch, tokens: int | None, workers: int, size: int
) -> None:
    monkeypatch.setattr(module, "MAX_PART_MESSAGES", size)
    with Classifier.open(model) as classifier:
        expected = []
        for entry in some(60):
            one = classifier.classify(entry.read())
            expected.append(tell(entry, b"", one._replace(evidence=one.evidence[:tokens])))
    with Classifier.open(model) as classifier:
        assert list(classify_parallel(some(60), classifier, tell, fail, tokens, workers=workers)) == expected


@pytest.mark.parametrize(
    ("bounds", "body", "verdicts", "ahead"),
    [
        ({"MAX_PART_MESSAGES": 2}, b"money\n", 200, 300),
        ({"MAX_PART_BYTES": 1000, "PARTS_AHEAD": 3}, b"money\n" * 100, 50, 25),
    ],
    ids=["by number", "by what entries carry"],
)
def test_verdicts_come_while_messages_come(
    model: Path, monkeypatch: pytest.MonkeyPatch, bounds: dict[str, int], body: bytes, verdicts: int, ahead: int
) -> None:
    for name, bound in bounds.items():
        monkeypatch.setattr(module, name, bound)
    taken = 0

    def endless() -> Iterator[Entry]:
        nonlocal taken
        while True:
            taken += 1
            yield Entry(None, str(taken), "", content=b"Subject: prize\n\n" + body)

    with Classifier.open(model) as classifier:
        told = classify_parallel(endless(), classifier, tell, fail, workers=2)
        for n in range(1, verdicts):
            assert next(told).startswith(f"{n} ")
            assert taken < n + ahead
        told.close()  # type: ignore[attr-defined]


def test_one_letter_is_in_memory_at_a_time(model: Path, tmp_path: Path) -> None:
    for n in range(60):
        (tmp_path / str(n)).write_bytes(b"Subject: photographs\nContent-Type: image/jpeg\n\n" + b"%d\n" % n * 500_000)
    entries = list(find_entries([str(tmp_path)], fail))
    tracemalloc.start()
    try:
        with Classifier.open(model) as classifier:
            assert len(list(classify_parallel(entries, classifier, tell, fail))) == 60
        assert tracemalloc.get_traced_memory()[1] < 20e6  # bytes; the letters together are 80 million
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("few", [3, 1000])
def test_what_cannot_be_read_is_named_in_its_place(model: Path, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(module, "MAX_PART_MESSAGES", few)
    entries = some(20)
    for n in (0, 7, 8):
        entries[n] = Entry(None, f"gone {n}", "/nowhere/at/all")
    events: list[str] = []

    def on_unreadable(name: str, error: Exception) -> None:
        events.append(f"{name}: {error}")

    with Classifier.open(model) as classifier:
        for name in classify_parallel(
            entries, classifier, lambda entry, raw, classification: entry.name, on_unreadable
        ):
            events.append(name)
    assert [re.sub(r"\D", "", event) for event in events] == [str(n) for n in range(20)]
    assert events[7] == "gone 7: No such file or directory"
