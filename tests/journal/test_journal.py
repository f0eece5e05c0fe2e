"""The journal's file: bounded, private, one for several programs."""

import math
import os
import sqlite3
import time

import numpy as np
import pytest
from commands import output_of, run
from mail import count_verdicts, message
from unpacked import wait_until

from spamnb.errors import SpamnbError
from spamnb.filter import Classifier
from spamnb.journal.entries import (
    MAX_FIELD,
    NOWHERE,
    JournalEntry,
    Place,
    field_text,
    make_entry,
    pack_tokens,
    unpack_tokens,
)
from spamnb.journal.journal import Correction, Journal
from spamnb.journal.writer import JournalWriter
from spamnb.mail_result import classify_mail
from spamnb.mailbox import maildir
from spamnb.reader.message import digest


def made_up(at: float, p: float = 0.95, verdict: str = "spam", number: int = 0, tokens: int = 100) -> JournalEntry:
    words = [f"{number} {k}" for k in range(tokens)]
    packed = pack_tokens(words, np.ones(tokens, int))
    fields = ("", number.to_bytes(16, "little"), "", "ann", f"tea {number}", int(at))
    return JournalEntry(int(at), *fields, *NOWHERE, verdict, math.log(p / (1 - p)), math.log(9), "[]", "", packed)


def corrected(number: int, **more: object) -> Correction:
    return Correction(number.to_bytes(16, "little"), "ham", False, "client", **more)


def test_filter_sort_and_watch_write_it_where_they_are_told_to(model, tmp_path):
    journal = tmp_path / "journal"
    box = maildir.make_folder(tmp_path / "Mail")
    maildir.make_folder(box / ".Junk")
    plain = output_of("filter", "-m", model, stdin=message("spam", 900))
    assert not journal.exists()
    assert output_of("filter", "-m", model, "--journal", journal, stdin=message("spam", 900)) == plain
    for label in ("spam", "ham"):
        (box / "new" / f"1.{label}").write_bytes(message(label, 901))
    output_of("sort", "--dry-run", "--journal", journal, "-m", model, box)
    output_of("watch", "--once", "--journal", journal, "-m", model, box)
    output_of("sort", "--journal", journal, "-m", model, box)
    with Journal.open(journal) as kept:
        assert count_verdicts(kept) == 3
        positions = kept.execute("SELECT position FROM verdicts ORDER BY position").fetchall()
        filtered, ham, spam = [kept.verdict_at(*position) for position in positions]
        assert [each.verdict for each in (filtered, ham, spam)] == ["spam", "ham", "spam"]
        assert filtered.message_id == "<spam.900@spam.example>" and filtered.place == ""
        (moved,) = maildir.files(box / ".Junk" / "new")
        assert spam.place == str(moved) and spam.heaviest_tokens(5)
        os.rename(moved, box / "cur" / "1.back:2,S")  # a person's move
    output_of("watch", "--once", "--journal", journal, "-m", model, box)
    with Journal.open(journal) as kept:
        (made,) = kept.corrections()
        assert (made.label, made.spam, made.verdict, made.source) == ("ham", False, "spam", "move")
        assert kept.count_errors(0) == (1, 0)


@pytest.mark.parametrize("wrong", ["no folder", "damaged", "full"])
def test_mail_is_sorted_and_moves_are_learned_without_a_journal_too(model, tmp_path, monkeypatch, wrong):
    journal = tmp_path / "journal" if wrong != "no folder" else tmp_path / "none" / "journal"
    if wrong == "damaged":
        journal.write_bytes(b"no database at all" * 100)
    elif wrong == "full":

        def full(*arguments):
            raise SpamnbError("the disk is full")

        monkeypatch.setattr(Journal, "add", full)
        monkeypatch.setattr(Journal, "put_correction", full)
    box = maildir.make_folder(tmp_path / "Mail")
    for number in range(3):
        (box / "new" / f"{number}.spam").write_bytes(message("spam", 900 + number))
    options = ("--journal", journal, "-m", model, box)
    filtered = run("filter", *options[:-1], stdin=message("spam", 900))
    assert filtered.stdout == output_of("filter", "-m", model, stdin=message("spam", 900)) and filtered.exit_code == 0
    assert filtered.stderr.count("\n") == 1
    told = run("sort", *options)
    assert told.exit_code == 0 and told.stderr.count("no verdicts are written") == 1, told.output
    assert "3 messages: 3 to Junk\n" in told.stderr
    output_of("watch", "--once", "-m", model, box)
    moved, *_ = maildir.files(box / ".Junk" / "new")
    os.rename(moved, box / "cur" / "1.back:2,S")
    told = run("watch", "--once", *options)
    assert told.exit_code == 0 and told.stdout.startswith("learned\tham\t"), told.output
    assert told.stderr.count("no verdicts are written") == 1


def test_only_its_owner_can_read_it(tmp_path):
    before = os.umask(0)
    try:
        with Journal.open(tmp_path / "journal") as journal:
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
            Journal.open(path)
        assert path.read_bytes() == before
    (tmp_path / "text").write_bytes(b"no database at all" * 100)
    with pytest.raises(SpamnbError, match="name another file"):
        Journal.open(tmp_path / "text")


def test_what_is_old_or_too_much_leaves_with_its_tokens_and_words(tmp_path):
    now = time.time()
    with Journal.open(tmp_path / "journal") as journal:
        journal.add([made_up(now - 100 * 86_400, number=k) for k in range(3)])
        journal.add([made_up(now, number=k) for k in range(3, 50)])
        journal.tidy(journal.execute("SELECT max(position + size) FROM verdicts").fetchone()[0])
        assert count_verdicts(journal) == 47
        end = journal.execute("SELECT max(position + size) FROM verdicts").fetchone()[0]
        journal.tidy(end, max_bytes=10_000)
        sizes = journal.execute("SELECT sum(size) FROM verdicts").fetchone()[0]
        n_tokens = journal.execute("SELECT count(*) FROM tokens").fetchone()[0]
        assert 0 < sizes <= 10_000 and count_verdicts(journal) == n_tokens
        last = journal.last_verdict((49).to_bytes(16, "little"))
        assert last is not None and journal.last_verdict((3).to_bytes(16, "little")) is None
        assert len(unpack_tokens(journal.tokens(last.position))) == 100
        assert journal.delete_message(last.digest) == 1 and journal.tokens(last.position) == b""


def test_each_list_has_its_mail_in_its_order(tmp_path):
    now = int(time.time())
    with Journal.open(tmp_path / "journal") as journal:
        chances = [0.99, 0.91, 0.1, 0.88, 0.5, 0.96]
        journal.add([made_up(now - k, p, "spam" if p > 0.9 else "ham", k) for k, p in enumerate(chances)])
        journal.add([made_up(now - 6, 0.01, "unsure", 6), made_up(now - 8 * 86_400, 0.9001, "spam", 7)])

        def numbers(*arguments: str, **more: object) -> list[int]:
            return [int.from_bytes(entry.digest, "little") for entry in journal.list_verdicts(*arguments, **more)]

        assert numbers() == [*range(8)] and numbers(order="oldest") == [*range(7, -1, -1)]
        assert numbers("spam") == [0, 1, 5, 7] and numbers("good") == [2, 3, 4, 6]
        assert numbers("doubtful", order="doubtful") == [6, 7, 1, 3, 5, 4] and numbers("taught") == []
        journal.put_correction(corrected(1))
        assert numbers("spam") == [0, 5, 7] and numbers("good") == [1, 2, 3, 4, 6] and numbers("taught") == [1]
        assert numbers("doubtful") == [3, 4, 5, 6, 7] and numbers("good", limit=2, skip=1) == [2, 3]
        today = journal.count_by_day(2)[-1]
        assert (today.good, today.unsure, today.spam, today.doubtful) == (3, 1, 3, 5)
        assert sum(day.total for day in journal.count_by_day(30)) == 8 and journal.count_errors(now - 9) == (1, 0)


def test_a_search_finds_words_of_sender_and_subject_in_any_case_and_a_users_own_mail(tmp_path):
    now = int(time.time())
    fields = [("Ann Ärger", "tea", ""), ("bob", "Teatime 100%", "eve"), ("ann", "ПРИЗ' OR 1", "bob")]
    with Journal.open(tmp_path / "journal") as journal:
        for number, (sender, subject, user) in enumerate(fields):
            entry = made_up(now - number, number=number)
            journal.add([entry._replace(sender=sender, subject=subject, user=user)])

        def subjects(words: str, user: str = "") -> list[str]:
            return [entry.subject for entry in journal.list_verdicts("all", words, user=user)]

        assert subjects("TEA") == ["tea", "Teatime 100%"] and subjects("tea ANN") == ["tea"] == subjects("äRGER")
        assert subjects("приз") == ["ПРИЗ' OR 1"] == subjects("' or") and subjects("0%") == ["Teatime 100%"]
        assert subjects("t_a") == [] == subjects("ann", "eve") and subjects("", "bob") == ["ПРИЗ' OR 1"]
        assert journal.users() == ["bob", "eve"]


def test_the_date_of_mail_is_not_later_than_its_verdict(model):
    with Classifier.open(model) as classifier:

        def received(head: bytes) -> int:
            read = classifier.read(head + b"Subject: tea\n\nfour")
            return make_entry(read, classify_mail(classifier, read), classifier.settings).received

        assert received(b"Date: Thu, 22 Aug 2002 12:36:23 +0000\n") == 1_030_019_783
        forged = b"Received: by x; Thu, 22 Aug 2002 12:36:23 +0000\nDate: Fri, 1 Jan 1999 00:00:00 +0000\n"
        assert received(forged) == 1_030_019_783
        assert abs(received(b"Date: Fri, 1 Jan 2100 00:00:00 +0000\n") - time.time()) < 60


def test_an_entry_holds_the_tokens_and_the_evidence_of_its_message_and_hostile_fields_cut(model, tmp_path):
    hostile = b"From: \xff\xfe<script>\nSubject: " + b"A" * 1_000_000 + b"\nMessage-ID: \xed\xa0\x80\n\nhi"
    raws = [message("spam", 955), 'Subject: Приз\n\nвыигрыш "café" \\ \u0001 \x00 тест'.encode(), b"", hostile]
    with Journal.open(tmp_path / "journal") as journal, Classifier.open(model) as classifier:
        for raw in raws:
            read = classifier.read(raw)
            found = classify_mail(classifier, read)
            made = make_entry(read, found, classifier.settings, user="x" * 999).with_place(Place("/tmp/\udcff"))
            assert not read.counts or unpack_tokens(made.tokens) == read.counts
            journal.add([made])
            entry = journal.last_verdict(digest(raw))
            assert entry is not None and len(entry.subject) <= MAX_FIELD == len(entry.user)
            told = [(token[:80], round(weight, 4)) for token, weight in found.evidence[:20]]
            assert entry.heaviest_tokens() == told and entry.sender == field_text(read.header("from"))


def test_a_servers_thread_writes_all_it_was_handed_and_tells_of_faults(tmp_path):
    told: list[str] = []
    writer = JournalWriter(tmp_path / "journal", told.append)
    for number in range(500):
        writer.put(made_up(time.time(), number=number))
    writer.put(corrected(3))
    writer.close()
    with Journal.open(tmp_path / "journal") as journal:
        assert count_verdicts(journal) == 500 and journal.corrections()[0].verdict == "spam" and told == []
    writer = JournalWriter(tmp_path / "none" / "journal", told.append)
    wait_until(lambda: bool(told))  # before there is any verdict
    writer.put(made_up(time.time()))
    writer.close()
    (line,) = told
    assert "cannot be created (No such file" in line and line.endswith(
        "; no verdicts are written to the journal until this is repaired"
    )


def test_verdicts_that_came_too_fast_are_told_by_their_number(tmp_path, monkeypatch):
    monkeypatch.setattr("spamnb.journal.writer.MAX_WAITING", 2)
    told: list[str] = []
    writer = JournalWriter(tmp_path / "journal", told.append)
    with Journal.open(tmp_path / "journal") as journal, journal.writing():  # the thread waits for it
        for number in range(300):
            writer.put(made_up(time.time(), number=number))
    writer.close()
    with Journal.open(tmp_path / "journal") as journal:
        assert all(line.startswith("the journal is too slow: it lacks ") for line in told)
        assert 1 <= len(told) < 9 and sum(int(line.split()[-2]) for line in told) == 300 - count_verdicts(journal) > 0


def test_forget_takes_a_message_out_of_the_journal_too(model, tmp_path):
    journal, mails = tmp_path / "journal", [message("spam", 960), message("spam", 961)]
    for raw in mails:
        output_of("filter", "-m", model, "--journal", journal, stdin=raw)
    output_of("forget", "spam", "-m", model, "--journal", journal, stdin=mails[0])
    with Journal.open(journal) as kept:
        assert [entry.message_id for entry in kept.list_verdicts()] == ["<spam.961@spam.example>"]
        assert kept.execute("SELECT count(*) FROM tokens").fetchone()[0] == 1
