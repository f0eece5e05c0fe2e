"""The journal's file: bounded, private, one for several programs; and lessons by what it holds undone exactly."""

import os
import sqlite3
import time
from pathlib import Path

import numpy as np
import pytest
from commands import done, run
from mail import learned_model, message, sums

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.journal.entries import MAX_FIELD, Verdict, entry_of, field_text, pack_tokens, unpack_tokens
from spamnb.journal.figures import days, directions
from spamnb.journal.journal import Journal
from spamnb.journal.teaching import noted, teach, undo
from spamnb.journal.writer import JournalWriter
from spamnb.serve.score import score_message
from spamnb.sources import maildir


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return learned_model(tmp_path / "model.spamnb")


def judged(classifier: Classifier, raw: bytes, **more: str) -> Verdict:
    read = classifier.read(raw)
    return entry_of(read, score_message(classifier, read), classifier.settings, **more)


def made_up(at: float, points: float = 6.0, verdict: str = "spam", number: int = 0, tokens: int = 100) -> Verdict:
    words = [f"{number} {k}" for k in range(tokens)]
    digest = number.to_bytes(16, "little")
    packed = pack_tokens(words, np.ones(tokens, int))
    return Verdict(int(at), "", digest, digest, "", "ann", "tea", 0, "", verdict, points, 1.0, "[]", "", packed)


def exported(path: Path) -> list[dict]:
    return sums(done("export", "-m", path).splitlines())


def test_filter_sort_and_watch_write_it_where_they_are_told_to(model, tmp_path):
    journal = tmp_path / "journal"
    box = maildir.made(tmp_path / "Mail")
    maildir.made(box / ".Junk")
    plain = done("filter", "-m", model, stdin=message("spam", 900))
    assert not journal.exists()
    assert done("filter", "-m", model, "--journal", journal, stdin=message("spam", 900)) == plain
    for label in ("spam", "ham"):
        (box / "new" / f"1.{label}").write_bytes(message(label, 901))
    done("sort", "--dry-run", "--journal", journal, "-m", model, box)
    done("watch", "--once", "--journal", journal, "-m", model, box)
    done("sort", "--journal", journal, "-m", model, box)
    with Journal.at(journal) as kept:
        assert kept.count() == 3
        positions = kept.execute("SELECT position FROM verdicts ORDER BY position").fetchall()
        rows = [kept.row(*position) for position in positions]
        assert [row.entry.verdict for row in rows] == ["spam", "ham", "spam"]
        assert rows[0].entry.message_id == "<spam.900@spam.example>" and rows[0].entry.place == ""
        (moved,) = maildir.files(box / ".Junk" / "new")
        assert rows[2].entry.place == str(moved) and rows[2].entry.heaviest(5)
        os.rename(moved, box / "cur" / "1.back:2,S")  # a person's move
    done("watch", "--once", "--journal", journal, "-m", model, box)
    with Journal.at(journal) as kept:
        (made,) = kept.corrections(0)
        assert (made.label, made.spam, made.verdict, made.source) == ("ham", False, "spam", "move")
        assert directions(kept, 0)._asdict() == dict(rescued=1, caught=0, settled=0, confirmed=0, unknown=0)


def test_a_correction_that_is_written_before_its_verdict_knows_it_all_the_same():
    now = int(time.time())
    with Journal.at(":memory:") as journal:
        for number in range(3):
            journal.correct([noted(number.to_bytes(16, "little"), "ham", False, "client")._replace(at=now)])
        # The first was judged before it was taught, the second only afterwards, the third never.
        journal.add([made_up(now, number=0), made_up(now + 5, number=1)])
        journal.add([made_up(now, verdict="unsure", number=0)])
        assert [made.verdict for made in journal.corrections(0)] == ["", "", "spam"]


def test_a_journal_that_cannot_be_written_costs_no_mail(model, tmp_path):
    plain = done("filter", "-m", model, stdin=message("spam", 900))
    told = run("filter", "-m", model, "--journal", tmp_path / "none" / "journal", stdin=message("spam", 900))
    assert told.exit_code == 0 and told.stdout == plain and told.stderr.count("\n") == 1
    assert "folder is not there" in told.stderr


@pytest.mark.parametrize("wrong", ["no folder", "damaged", "full"])
def test_mail_is_sorted_and_moves_are_learned_without_a_journal_too(model, tmp_path, monkeypatch, wrong):
    journal = tmp_path / "journal" if wrong != "no folder" else tmp_path / "none" / "journal"
    if wrong == "damaged":
        journal.write_bytes(b"no database at all" * 100)
    elif wrong == "full":

        def full(*arguments):
            raise SpamnbError("the disk is full")

        monkeypatch.setattr(Journal, "add", full)
        monkeypatch.setattr(Journal, "correct", full)
    box = maildir.made(tmp_path / "Mail")
    for number in range(3):
        (box / "new" / f"{number}.spam").write_bytes(message("spam", 900 + number))
    options = ("--journal", journal, "-m", model, box)
    told = run("sort", *options)
    assert told.exit_code == 0 and told.stderr.count("nothing is noted") == 1, told.output
    assert told.stderr.endswith("3 messages: 3 to Junk\n")
    done("watch", "--once", "-m", model, box)
    moved, *_ = maildir.files(box / ".Junk" / "new")
    os.rename(moved, box / "cur" / "1.back:2,S")
    told = run("watch", "--once", *options)
    assert told.exit_code == 0 and told.stdout.startswith("learned\tham\t"), told.output
    assert told.stderr.count("nothing is noted") == 1


def test_only_its_owner_can_read_it(tmp_path):
    before = os.umask(0)
    try:
        with Journal.at(tmp_path / "journal") as journal:
            journal.add([made_up(time.time())])
            assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    finally:
        os.umask(before)


def test_another_programs_database_is_refused_and_left_alone(model, tmp_path):
    other = tmp_path / "other"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE letters (a)")
    connection.close()
    for path in (other, model):
        before = path.read_bytes()
        with pytest.raises(SpamnbError, match="another program"):
            Journal.at(path)
        assert path.read_bytes() == before
    (tmp_path / "text").write_bytes(b"no database at all" * 100)
    with pytest.raises(SpamnbError, match="begun"):
        Journal.at(tmp_path / "text")


def test_what_is_old_or_too_much_leaves_with_its_tokens_and_words(tmp_path):
    now = time.time()
    with Journal.at(tmp_path / "journal") as journal:
        journal.add([made_up(now - 100 * 86_400, number=k) for k in range(3)])
        journal.add([made_up(now, number=k) for k in range(3, 50)])
        journal.tidy(journal.execute("SELECT max(position + size) FROM verdicts").fetchone()[0])
        assert journal.count() == 47
        end = journal.execute("SELECT max(position + size) FROM verdicts").fetchone()[0]
        journal.tidy(end, most=10_000)
        sizes = journal.execute("SELECT sum(size) FROM verdicts").fetchone()[0]
        assert 0 < sizes <= 10_000 and journal.count() == journal.execute("SELECT count(*) FROM tokens").fetchone()[0]
        last = journal.of_message((49).to_bytes(16, "little"))
        assert last is not None and journal.of_message((3).to_bytes(16, "little")) is None
        assert len(unpack_tokens(journal.tokens(last.position))) == 100
        assert journal.drop(last.entry.digest) == 1 and journal.tokens(last.position) == b""


def test_the_most_doubtful_come_first_and_what_was_corrected_does_not(tmp_path):
    now = time.time()
    with Journal.at(tmp_path / "journal") as journal:
        points = [9.0, 5.1, -3.0, 4.6, 0.0]
        journal.add([made_up(now, p, "spam" if p >= 5 else "ham", k) for k, p in enumerate(points)])
        journal.add([made_up(now - 8 * 86_400, 5.0, "spam", 9)])
        assert [row.entry.points for row in journal.doubtful(now - 7 * 86_400)] == [5.1, 4.6, 9.0, 0.0]
        journal.correct([noted((1).to_bytes(16, "little"), "ham", False, "client")])
        assert [row.entry.points for row in journal.doubtful(now - 7 * 86_400)] == [4.6, 9.0, 0.0]
        today = days(journal, 2)[-1]
        assert (today.good, today.unsure, today.spam, today.doubtful) == (3, 0, 2, 2)
        assert sum(day.total for day in days(journal, 30)) == 6


def test_the_errors_that_the_model_expects_are_summed_by_day():
    with Journal.at(":memory:") as journal:  # log-odds of 1: the probability of spam is .73
        journal.add([made_up(1_800_000_000, 6, "spam", 1), made_up(1_800_000_000, -3, "ham", 2)])
        journal.add([made_up(1_800_000_000, 0.1, "unsure", 3)])
        (today,) = days(journal, 1, now=1_800_000_000)
    p = 1 / (1 + np.exp(-1))
    assert today.total == 3 and today.expected == pytest.approx((1 - p) + p)


def test_a_lesson_by_tokens_is_the_lesson_by_mail_and_undo_leaves_the_model_as_it_was(model, tmp_path):
    raw = message("spam", 950)
    untouched = exported(model)
    with Journal.at(tmp_path / "journal") as journal, Classifier.open(model, writable=True) as classifier:
        journal.add([judged(classifier, raw)])
        (row,) = [journal.of_message(classifier.read(raw).digest)]
        assert row is not None and teach(journal, classifier, row, "ham", "one")
        assert classifier.learned(raw) == "ham" and not teach(journal, classifier, row, "ham", "two")
        by_tokens = exported(model)
        (made,) = journal.corrections(0)
        assert undo(journal, classifier, made) and journal.corrections(0) == []
        assert classifier.learned(raw) == "ham", "the second lesson found it learned, so that is what it goes back to"
        classifier.forget("ham", raw)
        without = exported(model)
        classifier.learn("ham", raw)
        by_mail = exported(model)
    for found, expected in ((by_tokens, by_mail), (without, untouched)):
        assert [line for line in found if "token" in line] == [line for line in expected if "token" in line]
    assert any("token" in line for line in by_mail)


def test_the_mail_itself_is_taught_and_kept(model, tmp_path):
    raw = message("spam", 951)
    with Journal.at(tmp_path / "journal") as journal, Classifier.open(model, writable=True) as classifier:
        journal.add([judged(classifier, raw)])
        row = journal.of_message(classifier.read(raw).digest)
        assert row is not None
        lessons = "SELECT count(*) FROM kept_lessons"
        before = classifier.store.execute(lessons).fetchone()[0]
        teach(journal, classifier, row, "ham", "one", raw)
        assert classifier.store.execute(lessons).fetchone()[0] == before + 1
        (made,) = journal.batch("one")
        assert undo(journal, classifier, made) and classifier.learned(raw) is None


def test_tokens_of_another_reading_are_refused(model, tmp_path):
    raw = message("spam", 952)
    with Journal.at(tmp_path / "journal") as journal, Classifier.open(model, writable=True) as classifier:
        journal.add([judged(classifier, raw)._replace(made_by="other")])
        row = journal.of_message(classifier.read(raw).digest)
        assert row is not None
        with pytest.raises(SpamnbError, match="reads mail otherwise"):
            teach(journal, classifier, row, "ham", "one")
        assert classifier.learned(raw) is None and journal.corrections(0) == []


def test_an_entry_holds_the_tokens_and_the_evidence_of_its_message(model):
    odd = "Subject: Приз\n\nвыигрыш \"caf\u00e9\" \\ \u0001 \x00 тест"
    raws = [message("spam", 955), odd.encode(), b"", b"\xff\xfe\x00\n\n\x00"]
    with Classifier.open(model) as classifier:
        for raw in raws:
            read = classifier.read(raw)
            found = score_message(classifier, read)
            entry = entry_of(read, found, classifier.settings)
            if read.counts:
                assert unpack_tokens(entry.tokens) == read.counts
            told = [(token[:80], round(weight, 4)) for token, weight in found.evidence[:20]]
            assert entry.heaviest() == told and entry.sender == field_text(read.header("from"))


def test_hostile_fields_are_cut_and_kept(model, tmp_path):
    raw = b"From: \xff\xfe<script>\nSubject: " + b"A" * 1_000_000 + b"\nMessage-ID: \xed\xa0\x80\n\nhi"
    with Journal.at(tmp_path / "journal") as journal, Classifier.open(model) as classifier:
        journal.add([judged(classifier, raw, user="x" * 999, place="/tmp/\udcff")])
        row = journal.of_message(classifier.read(raw).digest)
        assert row is not None and len(row.entry.subject) == MAX_FIELD and row.entry.sender


def test_a_servers_thread_writes_all_it_was_handed_and_tells_of_faults(tmp_path):
    told: list[str] = []
    writer = JournalWriter(tmp_path / "journal", told.append)
    for number in range(500):
        writer.put(made_up(time.time(), number=number))
    writer.put(noted((3).to_bytes(16, "little"), "ham", False, "client"))
    writer.close()
    with Journal.at(tmp_path / "journal") as journal:
        assert journal.count() == 500 and journal.corrections(0)[0].verdict == "spam" and told == []
    idle = JournalWriter(tmp_path / "none" / "journal", told.append)
    time.sleep(0.5)  # it looks five times a second
    idle.close()
    assert told == []
    writer = JournalWriter(tmp_path / "none" / "journal", told.append)
    writer.put(made_up(time.time()))
    writer.close()
    assert len(told) == 1 and "1 verdict" in told[0]


def test_forget_takes_a_message_out_of_the_journal_too(model, tmp_path):
    journal, mails = tmp_path / "journal", [message("spam", 960), message("spam", 961)]
    for raw in mails:
        done("filter", "-m", model, "--journal", journal, stdin=raw)
    done("forget", "spam", "-m", model, "--journal", journal, stdin=mails[0])
    with Journal.at(journal) as kept:
        assert [row.entry.message_id for row in kept.doubtful(0)] == ["<spam.961@spam.example>"]
        assert kept.execute("SELECT count(*) FROM tokens").fetchone()[0] == 1
