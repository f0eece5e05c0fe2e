"""engines/parts.py, cluster_graph.py and cluster_training.py without a cluster: parts give the model of the whole."""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from email.utils import formatdate
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mail import folders, mail, message, never

from spamnb.counts.class_counts import ClassCounts, SparseRow
from spamnb.engines import cluster_counting, cluster_graph, parts, range_sums
from spamnb.engines.cluster_counting import count_on_cluster, part_sizes
from spamnb.engines.cluster_training import is_made_in_parts
from spamnb.engines.counting import count_parallel
from spamnb.engines.rebuilding import Lessons, Rebuilt, rebuild
from spamnb.errors import SpamnbError
from spamnb.settings import Settings
from spamnb.sources.entries import Entry, LeftOut
from spamnb.sources.spec import entries as labelled
from spamnb.store.jsonl import export
from spamnb.store.store import Store
from spamnb.tokens.token_array import TokenArray
from spamnb.tokens.tokenizer import TokenOptions

BEGIN = 1_600_000_000
BOOLEAN = Settings(model_type="boolean")  # a model of sums, which is made in parts
ORIGIN: dict[str, Any] = {}


class Here:
    """A cluster of nobody: a task is done when it is handed out, and its arguments travel as they would."""

    address = "here"
    workers = 2
    room = 1

    def __init__(self) -> None:
        self.names: set[str] = set()

    def submit(
        self, name: str, function: Callable[..., Any], *arguments: Any, told: str | None = None, priority: int = 0
    ) -> Any:
        assert name not in self.names, "two tasks of one name are one task to a cluster"
        self.names.add(name)
        return function(*arguments)

    def results(self, futures: Iterable[Any]) -> Iterator[Any]:
        yield from futures

    def result(self, future: Any) -> Any:
        return future


def mixed(each: int) -> list[Entry]:
    """Mail of several months with copies within classes and between them, in no order of time."""
    found = []
    for number, (label, raw) in enumerate(mail(each)):
        received = b"Received: from there by here; %s\n" % formatdate(BEGIN + number * 3600).encode()
        if number > each and number % 3 == 0:
            raw = message("ham" if label == "spam" else "spam", 10_000 + number)
        found.append((label, received + raw))
    rng = random.Random(1)
    found += rng.sample(found, each // 15)
    found += [("ham" if label == "spam" else "spam", raw) for label, raw in rng.sample(found, 1 + each // 40)]
    rng.shuffle(found)
    label, raw = found[each]
    found = [("lost", raw), *found, (label, raw)]  # a class of which only a copy of another's message is there
    return [Entry(label, f"{label}/{n}", "", content=raw) for n, (label, raw) in enumerate(found)]


def made_by(
    path: Path,
    entries: list[Entry],
    settings: Settings,
    cluster: Any = None,
    on_unreadable: Callable[[str, Exception], None] = never,
    **how: Any,
) -> tuple[list[str], Rebuilt]:
    """The export of the model that is made of the mail, and what training said."""
    scratch = path.with_name(f"{path.name}.rows")
    scratch.mkdir()
    lessons = Lessons(path if path.exists() else None, None, never)
    made = rebuild(
        path,
        iter(entries),
        settings,
        lessons,
        ORIGIN,
        scratch,
        on_unreadable,
        lambda done, total: None,
        1,
        cluster=cluster,
        **how,
    )
    with Store.open(path) as store:
        return list(export(store)), made


def in_parts_of(monkeypatch: pytest.MonkeyPatch, size: int, tokens: int) -> None:
    """Parts of so many messages, and a range for each so many tokens."""
    monkeypatch.setattr(cluster_counting, "FIRST_PART", size)
    monkeypatch.setattr(cluster_counting, "LARGEST_PART", size)
    monkeypatch.setattr(cluster_graph, "RANGE_TOKENS", tokens)
    monkeypatch.setattr(cluster_graph, "MERGED_AT_ONCE", 3)


@pytest.mark.parametrize(
    ("settings", "n_parts"),
    [
        (BOOLEAN, 1),
        (BOOLEAN, 2),
        (BOOLEAN, 4),
        (BOOLEAN, 16),
        (Settings(model_type="multinomial", alpha=1, tokens=TokenOptions(ngrams=1)), 4),
        (Settings(model_type="bernoulli", pooling="sum"), 4),
        (Settings(model_type="boolean", min_messages=2), 4),
        (Settings(model_type="bernoulli", min_messages=3), 16),
    ],
    ids=["1", "2", "4", "16", "multinomial", "bernoulli", "2 messages", "3 messages"],
)
def test_parts_make_the_model_and_the_estimate_of_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings, n_parts: int
) -> None:
    entries = mixed(300)
    one, alone = made_by(tmp_path / "one", entries, settings)
    in_parts_of(monkeypatch, -(-len(entries) // n_parts), 1000)
    cluster = Here()
    other, shared = made_by(tmp_path / "parts", entries, settings, cluster)
    assert f"count-{n_parts - 1}" in cluster.names and f"count-{n_parts}" not in cluster.names
    assert other == one
    a, b = alone.left_out, shared.left_out
    assert a.classes == b.classes == ("ham", "spam") and a.tokens == b.tokens
    assert a.documents.tolist() == b.documents.tolist()
    assert a.labels.tolist() == b.labels.tolist() and a.verdicts == b.verdicts
    assert np.allclose(a.scores, b.scores, rtol=1e-12, atol=1e-12)
    assert a.newest is not None and b.newest is not None and len(b.newest.labels) > 100
    assert a.newest.since == b.newest.since
    assert a.newest.labels.tolist() == b.newest.labels.tolist() and a.newest.verdicts == b.newest.verdicts
    assert np.allclose(a.probabilities, b.probabilities, rtol=1e-12, atol=1e-12)


def test_lessons_are_taught_again_and_copies_are_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from spamnb.classifier import Classifier
    from spamnb.counts.copies import in_several_classes

    entries = mixed(40)
    in_parts_of(monkeypatch, 13, 1000)
    told = []
    for name, cluster in (("one", None), ("parts", Here())):
        made_by(tmp_path / name, entries, BOOLEAN)
        with Classifier.open(tmp_path / name, writable=True) as classifier:
            classifier.learn("spam", message("ham", 5_000))
            classifier.learn("spam", next(e.content or b"" for e in entries if e.label == "ham"))
        (tmp_path / f"{name}.rows").rename(tmp_path / f"{name}.before")
        lines, made = made_by(tmp_path / name, entries, BOOLEAN, cluster, force=True)
        assert made.lessons == 2
        told.append((lines, made.in_sources, made.other_class, in_several_classes(made.training_set)))
    assert told[0] == told[1]


def test_what_cannot_be_read_is_told_and_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = mixed(20)
    gone = [Entry("ham", f"gone{n}", str(tmp_path / f"gone{n}")) for n in range(12)]
    found = [*entries[:3], *gone, *entries[3:]]
    in_parts_of(monkeypatch, 3, 1000)  # three parts hold nothing but what is gone
    results = []
    for name, cluster in (("one", None), ("parts", Here())):
        told: list[str] = []
        left_out = LeftOut(told.append)
        results.append((made_by(tmp_path / name, found, BOOLEAN, cluster, left_out)[0], told, left_out.count))
    assert results[0] == results[1]
    assert results[0][1:] == ([f"gone{n}: No such file or directory; left out" for n in range(12)], 12)


def test_urls_and_archives_are_handed_out_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec")
    root = folders(tmp_path / "mail", mail(12))
    in_parts_of(monkeypatch, 5, 300)
    specs = [str(root), f"file://{root}"]
    for kind in ("tar", "zip"):
        shutil.make_archive(str(tmp_path / "packed"), kind, root)
        specs += [f"file://{tmp_path}/packed.{kind}"]
    exports = [
        made_by(tmp_path / str(n), list(labelled([spec], never)), BOOLEAN, Here() if n else None)[0]
        for n, spec in enumerate(specs)
    ]
    assert exports[0] == exports[1] == exports[2] == exports[3]


def test_a_file_that_only_the_client_sees_ends_the_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "mail.eml"
    there.write_bytes(message("ham", 1))
    monkeypatch.setattr(Entry, "read", lambda self: (tmp_path / "nothing").read_bytes())
    with pytest.raises(SpamnbError, match="all workers must see the mail's files under the same names"):
        made_by(tmp_path / "model", [Entry("ham", "mail.eml", str(there))], BOOLEAN, Here())
    assert not (tmp_path / "model").exists()


def test_no_messages_and_one_class_are_refused_as_on_one_machine(tmp_path: Path) -> None:
    ham = [entry for entry in mixed(5) if entry.label == "ham"]
    with pytest.raises(SpamnbError, match="no messages in the sources"):
        made_by(tmp_path / "none", [], BOOLEAN, Here())
    with pytest.raises(SpamnbError, match="--one-class trains on one"):
        made_by(tmp_path / "ham", ham, BOOLEAN, Here())
    assert not (tmp_path / "none").exists() and not (tmp_path / "ham").exists()
    exports = [
        made_by(tmp_path / name, ham, BOOLEAN, cluster, one_class=True)[0]
        for name, cluster in (("one", None), ("parts", Here()))
    ]
    assert exports[0] == exports[1]


@pytest.mark.parametrize(
    "settings",
    [
        *(Settings(model_type=name) for name in ("corrected", "logistic")),
        Settings(model_type="lda", embedding="lsa:5"),
        Settings(model_type="boolean", top_words=200),
    ],
    ids=lambda settings: f"{settings.model_type}{settings.top_words or ''}",
)
def test_what_is_more_than_sums_is_fitted_here_to_what_the_cluster_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    assert not is_made_in_parts(settings)
    entries = mixed(60)
    one, alone = made_by(tmp_path / "one", entries, settings)
    in_parts_of(monkeypatch, 17, 400)
    other, shared = made_by(tmp_path / "parts", entries, settings, Here())
    assert other == one
    assert alone.left_out.verdicts == shared.left_out.verdicts and len(shared.left_out.verdicts) > 100


def test_a_training_set_that_a_cluster_counted_is_that_of_one_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = [*mixed(60), Entry("ham", "gone", str(tmp_path / "gone"))]
    random.Random(3).shuffle(entries)
    in_parts_of(monkeypatch, 17, 400)
    (tmp_path / "parts").mkdir()
    told: list[str] = []
    given = (TokenOptions(), tmp_path, LeftOut(told.append), lambda done, total: None)
    alone = count_parallel(iter(entries), *given, workers=1)
    shared = count_on_cluster(Here(), iter(entries), *given[:1], tmp_path / "parts", *given[2:])  # type: ignore
    assert list(alone.tokens) == list(shared.tokens)
    assert alone.counts.classes == shared.counts.classes == ("ham", "lost", "spam")
    assert (alone.counts.occurrences != shared.counts.occurrences).nnz == 0
    assert (alone.counts.document_counts != shared.counts.document_counts).nnz == 0
    assert alone.counts.documents.tolist() == shared.counts.documents.tolist()
    for a, b in zip(alone.batches(), shared.batches(), strict=True):
        assert a.labels.tolist() == b.labels.tolist() and a.positions.tolist() == b.positions.tolist()
        assert a.rows.indptr.tolist() == b.rows.indptr.tolist()
        for row in range(len(a.labels)):
            cells = slice(*a.rows.indptr[row : row + 2].tolist())
            assert dict(zip(a.rows.ids[cells].tolist(), a.rows.counts[cells].tolist())) == dict(
                zip(b.rows.ids[cells].tolist(), b.rows.counts[cells].tolist())
            )
    assert told == ["gone: No such file or directory; left out"]
    assert not count_on_cluster(Here(), iter([]), *given).shards  # type: ignore[arg-type]


def test_a_part_that_was_counted_again_must_be_the_same() -> None:
    first, again = (parts.count_part(parts.MailPart(mixed(9)[:n]), TokenOptions(), parts.rules()) for n in (9, 8))
    head = parts.part_head(first)
    assert len(parts.settle(first, np.zeros(9, bool), head.seal, ("ham", "lost", "spam")).tokens) == head.tokens
    with pytest.raises(SpamnbError, match="the mail changed while it was being read"):
        parts.settle(again, np.zeros(9, bool), head.seal, ("ham", "lost", "spam"))


@pytest.mark.parametrize("what", ["spamnb", "tokens", "Unicode", "PDF attachments"])
def test_a_worker_by_other_rules_counts_nothing(what: str) -> None:
    expected = {**parts.rules(), what: "another"}
    with pytest.raises(SpamnbError, match=f"^a worker has {what} .*, here it is another; install the same"):
        parts.count_part(parts.MailPart([]), TokenOptions(), expected)


def test_of_tokens_of_one_hash_the_first_in_the_mail_stays() -> None:
    def piece(token: str) -> range_sums.Piece:
        made = TokenArray.of([token])
        same = TokenArray(made.text, made.offsets, made.lengths, np.array([7]))
        row = SparseRow(np.array([0]), np.array([1]), np.array([2]))
        return range_sums.Piece(same, ClassCounts(("ham",), np.array([1]), 1, (row,)))

    merged = range_sums.merge([range_sums.merge([piece("b"), piece("a")]), piece("c")])
    assert list(merged.tokens) == ["b"] and merged.counts.rows[0].occurrences.tolist() == [6]


@pytest.mark.parametrize("ranges", [1, 2, 3, 7, 64])
def test_ranges_share_all_tokens_in_their_order(ranges: int) -> None:
    counted = parts.count_part(parts.MailPart(mixed(20)), TokenOptions(), parts.rules())
    settled = parts.settle(counted, np.zeros(99, bool), parts.part_head(counted).seal, ("ham", "lost", "spam"))
    pieces = [parts.cut(settled, r, ranges) for r in range(ranges)]
    assert [token for piece in pieces for token in piece.tokens] == list(settled.tokens)
    assert sum(len(piece.tokens.text) for piece in pieces) == len(settled.tokens.text)  # and not each the whole text
    table = np.concatenate([range_sums.ask(piece, range_sums.merge([piece, piece]), BOOLEAN) for piece in pieces])
    assert (table.sum(axis=1) == 2 * settled.counts.document_frequency()).all()


def test_a_million_tokens_are_not_48_bytes_to_a_cluster() -> None:
    tokens = TokenArray.of(map(str, range(1000)))
    arrays = (tokens.text, tokens.offsets, tokens.lengths, tokens.hashes)
    assert sys.getsizeof(tokens) >= sum(values.nbytes for values in arrays)


def test_parts_grow_with_the_mail() -> None:
    for room in (1, 4):
        sizes = part_sizes(workers=5, room=room)
        first = [next(sizes) for _ in range(200)]
        assert first[0] == 1000 and first[-1] == 8000 * room and first == sorted(first)
    alone, many = part_sizes(workers=1), part_sizes(workers=20)
    assert sum(islice(alone, 40)) > sum(islice(many, 40))  # of little mail each of many workers has a part
