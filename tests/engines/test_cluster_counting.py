"""engines/cluster_counting.py without a cluster: mail that is counted in parts makes the model of one machine."""

import random
import shutil
import sys
from collections.abc import Callable
from concurrent.futures import Future
from email.utils import formatdate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mail import folders, mail, message, never

from spamnb.engines import cluster_counting
from spamnb.engines.cluster import rules
from spamnb.engines.cluster_counting import count_part
from spamnb.engines.counting import MailPart
from spamnb.engines.rebuilding import Lessons, Rebuilt, rebuild
from spamnb.errors import SpamnbError
from spamnb.reader.options import TokenOptions
from spamnb.reader.token_array import TokenArray
from spamnb.settings import Settings
from spamnb.sources.entries import Entry, LeftOut
from spamnb.sources.spec import entries as labelled
from spamnb.store.jsonl import export
from spamnb.store.store import Store

BEGIN = 1_600_000_000
BOOLEAN = Settings(model_type="boolean")
ORIGIN: dict[str, Any] = {}


class Here:
    """A cluster of nobody: what is handed out is done at once."""

    address = "here"
    workers = 2

    def __init__(self) -> None:
        self.names: set[str] = set()

    def submit(self, name: str, function: Callable[..., Any], *arguments: Any, told: str) -> Any:
        assert name not in self.names, "two tasks of one name are one task to a cluster"
        self.names.add(name)
        done: Future[Any] = Future()
        done.set_result(function(*arguments))
        return done

    def result(self, future: Any) -> Any:
        return future.result()


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
    given = (path, iter(entries), settings, lessons, ORIGIN, scratch, on_unreadable, lambda *_: None, 1)
    made = rebuild(*given, cluster=cluster, **how)
    with Store.open(path) as store:
        return list(export(store)), made


def in_parts_of(monkeypatch: pytest.MonkeyPatch, messages: int) -> None:
    monkeypatch.setattr(cluster_counting, "FIRST_PART", messages)
    monkeypatch.setattr(cluster_counting, "LARGEST_PART", messages)


@pytest.mark.parametrize(
    ("settings", "n_parts"),
    [
        (BOOLEAN, 1),
        (BOOLEAN, 16),
        (Settings(model_type="bernoulli", min_messages=3), 4),
        (Settings(model_type="corrected"), 7),
        (Settings(model_type="logistic"), 7),
        (Settings(model_type="lda", embedding="lsa:5"), 7),
        (Settings(model_type="boolean", top_words=200), 7),
    ],
    ids=lambda value: f"{value.model_type}{value.top_words or ''}" if isinstance(value, Settings) else str(value),
)
def test_parts_make_the_model_and_the_estimate_of_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings, n_parts: int
) -> None:
    entries = mixed(150)
    one, alone = made_by(tmp_path / "one", entries, settings)
    in_parts_of(monkeypatch, -(-len(entries) // n_parts))
    cluster = Here()
    other, shared = made_by(tmp_path / "parts", entries, settings, cluster)
    assert len(cluster.names) == n_parts
    assert other == one
    a, b = alone.left_out, shared.left_out
    assert a.classes == b.classes == ("ham", "spam") and a.tokens == b.tokens
    assert a.labels.tolist() == b.labels.tolist() and a.verdicts == b.verdicts
    assert np.array_equal(a.scores, b.scores)


def test_lessons_are_taught_again_and_copies_are_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from spamnb.classifier import Classifier
    from spamnb.counts.copies import in_several_classes

    entries = mixed(40)
    in_parts_of(monkeypatch, 13)
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
    in_parts_of(monkeypatch, 3)  # three parts hold nothing but what is gone
    results = []
    for name, cluster in (("one", None), ("parts", Here())):
        told: list[str] = []
        left_out = LeftOut(told.append)
        results.append((made_by(tmp_path / name, found, BOOLEAN, cluster, left_out)[0], told, left_out.count))
    assert results[0] == results[1]
    assert results[0][1:] == ([f"gone{n}: No such file or directory; left out" for n in range(12)], 12)


def test_archives_are_handed_out_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = folders(tmp_path / "mail", mail(12))
    in_parts_of(monkeypatch, 5)
    specs = [str(root)]
    for kind in ("tar", "zip"):
        shutil.make_archive(str(tmp_path / "packed"), kind, root)
        specs += [f"{tmp_path}/packed.{kind}"]
    exports = [
        made_by(tmp_path / str(n), list(labelled([spec], never)), BOOLEAN, Here() if n else None)[0]
        for n, spec in enumerate(specs)
    ]
    assert exports[0] == exports[1] == exports[2]


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
    with pytest.raises(SpamnbError, match="one_class=True trains on one"):
        made_by(tmp_path / "ham", ham, BOOLEAN, Here())
    assert not (tmp_path / "none").exists() and not (tmp_path / "ham").exists()


@pytest.mark.parametrize("what", ["spamnb", "tokens", "Unicode", "PDF attachments"])
def test_a_worker_by_other_rules_counts_nothing(what: str) -> None:
    expected = {**rules(), what: "another"}
    with pytest.raises(SpamnbError, match=f"^a worker has {what} .*, here it is another; install the same"):
        count_part(MailPart([], 0, 0), TokenOptions(), expected)


def test_a_million_tokens_are_not_48_bytes_to_a_cluster() -> None:
    tokens = TokenArray.of(map(str, range(1000)))
    arrays = (tokens.text, tokens.offsets, tokens.lengths, tokens.hashes)
    assert sys.getsizeof(tokens) >= sum(values.nbytes for values in arrays)
