"""A corrected model through all that a model file lives through: a log that is packed, several processes, lessons that
are taught again, upgrade, export and import, merge, and what is refused."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from commands import done, run
from mail import folders, mail, message, sums

from spamnb.classifier import Classifier
from spamnb.learners.corrected import offset_of
from spamnb.store import compaction
from spamnb.store import store as stores
from spamnb.store.database import FORMAT
from spamnb.store.jsonl import EXTENDED_VERSION, export
from spamnb.store.store import Store

LESSONS = [("spam", message("spam", 70)), ("ham", message("ham", 71)), ("spam", message("ham", 0))]


def content(model: Path, lessons: bool = False) -> list[str]:
    with Store.open(model) as store:
        return list(export(store, lessons=lessons))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Trained on 40 messages, and taught three, one of them another class than that of its folder."""
    path = tmp_path / "model"
    done("train", "-m", path, "--set", "model_type=corrected", folders(tmp_path / "mail", mail(20)))
    for label, raw in LESSONS:
        done("learn", "-m", path, label, stdin=raw)
    return path


def test_learning_and_forgetting_leave_no_trace_while_the_log_is_packed(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, more = content(model), [(label, message(label, n)) for n in range(200, 230) for label in ("ham", "spam")]
    with Classifier.open(model, writable=True) as classifier:
        for label, raw in more:
            assert classifier.learn(label, raw)
    taught = content(model)
    with Classifier.open(model, writable=True) as classifier:
        for label, raw in more[::-1]:
            assert classifier.forget(label, raw)
    assert content(model) == before
    monkeypatch.setattr(stores, "MAX_LOG", 100)
    monkeypatch.setattr(compaction, "MERGED_PAGES", 1)
    with Classifier.open(model, writable=True) as classifier:
        for label, raw in more:
            assert classifier.learn(label, raw)
    assert content(model) == taught
    with Classifier.open(model, writable=True) as classifier:
        for label, raw in more:
            assert classifier.forget(label, raw)
    assert content(model) == before


def test_a_reader_sees_what_another_process_taught(model: Path) -> None:
    raw = message("spam", 400)
    with Classifier.open(model) as reader, Classifier.open(model, writable=True) as writer:
        before = reader.classify(raw).scores
        assert writer.learn("spam", raw)
        after = reader.classify(raw).scores
        assert not np.array_equal(after, before)
        with Classifier.open(model) as fresh:
            assert np.array_equal(after, fresh.classify(raw).scores)
        assert writer.forget("spam", raw)
        assert np.array_equal(reader.classify(raw).scores, before)


def test_lessons_are_taught_again_by_train_and_by_upgrade(model: Path, tmp_path: Path) -> None:
    told = done("train", "--force", "-m", model, "--set", "model_type=corrected", tmp_path / "mail")
    assert "taught again 3 messages" in told
    right = [pair for pair in mail(20) if pair[1] != message("ham", 0)] + LESSONS
    done("train", "-m", tmp_path / "right", "--set", "model_type=corrected", folders(tmp_path / "sorted", right))
    assert content(model) == content(tmp_path / "right"), "as if they had been in the folders"
    with Store.open(model, writable=True) as store:
        store.put_meta({"tokens_version": 1})
    assert "taught again 3 messages" in done("upgrade", "-m", model)
    assert content(model) == content(tmp_path / "right")
    assert json.loads(done("info", "-m", model, "--format", "json"))["lessons"]["lessons"] == 3


@pytest.mark.parametrize("lessons", [False, True])
def test_export_and_import_give_the_same_model(model: Path, tmp_path: Path, lessons: bool) -> None:
    lines = done("export", "-m", model, *(["--lessons"] if lessons else []))
    assert json.loads(lines.splitlines()[0])["spamnb"] == EXTENDED_VERSION
    (tmp_path / "lines").write_text(lines)
    done("import", "-m", tmp_path / "copy", tmp_path / "lines")
    assert content(tmp_path / "copy", lessons) == content(model, lessons)
    for label, raw in LESSONS:
        assert "forgot" in done("forget", "-m", tmp_path / "copy", label, stdin=raw)
        done("forget", "-m", model, label, stdin=raw)
    assert content(tmp_path / "copy") == content(model)


def test_merged_models_hold_what_both_were_taught(model: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    more = [(label, message(label, n)) for n in range(300, 306) for label in ("ham", "spam")]
    done("train", "-m", other, "--set", "model_type=corrected", folders(tmp_path / "more", more))
    for first, second in ((model, other), (other, model)):
        done("merge", first, second, "-m", tmp_path / f"{first.name} first")
    both = tmp_path / "model first"
    assert sums(content(both, lessons=True)) == sums(content(tmp_path / "other first", lessons=True))
    with Classifier.open(both, writable=True) as classifier:
        for label, raw in more:
            assert classifier.forget(label, raw)
    assert sums(content(both))[1:] == sums(content(model))[1:]
    done("train", "-m", tmp_path / "plain", "--set", "model_type=boolean", tmp_path / "mail")
    assert "model_type differs" in run("merge", model, tmp_path / "plain", "-m", tmp_path / "never").output


def test_a_pruned_model_answers_learns_and_forgets_all_it_knows(model: Path, tmp_path: Path) -> None:
    rare = [("spam", message("spam", n) + f"rare{n}x of{n}y\n".encode()) for n in range(40)]
    with Classifier.open(model, writable=True) as classifier:
        for label, raw in rare:
            classifier.learn(label, raw)
    told = done("prune", "--yes", "--months", "0", "-m", model, tmp_path / "mail")
    assert "tokens taken out" in told and "on 40 messages, 40 of them learned and left out" in told
    with Classifier.open(model, writable=True) as classifier:
        assert classifier.classify(message("spam", 600)).verdict == "spam"
        assert classifier.classify(message("ham", 600)).verdict == "ham"
        for label, raw in [*mail(20), *LESSONS, *rare]:
            classifier.forget(classifier.learned(raw) or label, raw)
        whole = classifier.store.corrections.whole()
        assert not len(whole.weights.keys) and not len(whole.brought.digests)


def test_an_older_spamnb_is_told_that_a_newer_one_made_the_file(tmp_path: Path) -> None:
    done("train", "-m", tmp_path / "m", "--set", "model_type=corrected", folders(tmp_path / "mail", mail(5)))
    with sqlite3.connect(tmp_path / "m") as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (FORMAT,)
    connection.close()


def test_train_says_how_the_newest_fifth_is_judged_by_the_older_mail(tmp_path: Path) -> None:
    dated = [
        (label, b"Received: by here; Mon, %02d Nov 2004 %02d:00:00 +0000\n" % (1 + n // 24, n % 24) + raw)
        for n, (label, raw) in enumerate(mail(300))
    ]
    folders(tmp_path / "mail", dated)
    said = done("train", "-m", tmp_path / "m", "--set", "model_type=corrected", tmp_path / "mail")
    assert "The newest fifth, 120 messages since 2004-11-21" in said


def test_an_explanation_says_which_part_spoke_and_the_parts_add_up(model: Path, tmp_path: Path) -> None:
    (tmp_path / "letter").write_bytes(message("spam", 500))
    told = json.loads(done("classify", "-m", model, "--format", "json", "--explain", "1000", tmp_path / "letter"))
    done("train", "-m", tmp_path / "plain", "--set", "model_type=boolean", tmp_path / "mail")
    for label, raw in LESSONS:
        done("learn", "-m", tmp_path / "plain", label, stdin=raw)
    scores = []
    for path in (model, tmp_path / "plain"):
        with Classifier.open(path) as classifier:
            scores.append(np.ptp(classifier.classify(message("spam", 500)).scores))
    correction, whole = (sum(each[of] for each in told["evidence"]) for of in ("correction", "weight"))
    assert whole == pytest.approx(scores[0]) and correction != 0
    assert whole - correction == pytest.approx(offset_of(2) * scores[1]), "naive Bayes' part is what it says by itself"
    said = done("explain", "--verbose", "-m", model, tmp_path / "letter")
    assert f"naive Bayes gives {whole - correction:+.3f} nats, its correction {correction:+.3f}" in said
    text = done("classify", "-m", model, "--explain", "1", tmp_path / "letter")
    first = told["evidence"][0]
    assert text.splitlines()[1] == f"    {first['weight']:+7.2f}  {first['token']}"

