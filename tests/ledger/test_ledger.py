"""The ledger's file: bounded, private, one for several programs."""

import math
import os
import sqlite3
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
from commands import output_of, run
from mail import count_verdicts, message
from unpacked import wait_until

from spamnb.errors import SpamnbError
from spamnb.filter import Classifier
from spamnb.ledger import verdicts
from spamnb.ledger.ledger import Batch, Correction, Ledger
from spamnb.ledger.verdicts import (
    MAX_FIELD,
    NOWHERE,
    Place,
    VerdictRow,
    field_text,
    make_verdict,
    pack_tokens,
    unpack_tokens,
)
from spamnb.ledger.writer import LedgerWriter
from spamnb.mail_result import classify_mail
from spamnb.mailbox import maildir
from spamnb.reader.message import digest


def made_up(at: float, p: float = 0.95, verdict: str = "spam", number: int = 0, tokens: int = 100) -> VerdictRow:
    words = [f"{number} {k}" for k in range(tokens)]
    packed = pack_tokens(words, np.ones(tokens, int))
    fields = ("", number.to_bytes(16, "little"), "", "ann", f"tea {number}", int(at))
    return VerdictRow(int(at), *fields, *NOWHERE, verdict, math.log(p / (1 - p)), math.log(9), "[]", "", "", "", packed)


def corrected(number: int, **more: object) -> Correction:
    return Correction(number.to_bytes(16, "little"), "ham", False, "client", **more)


def test_filter_sort_and_watch_write_it_where_they_are_told_to(model, tmp_path):
    ledger = tmp_path / "ledger"
    box = maildir.make_folder(tmp_path / "Mail")
    maildir.make_folder(box / ".Junk")
    plain = output_of("filter", "-m", model, stdin=message("spam", 900))
    assert not ledger.exists()
    assert output_of("filter", "-m", model, "--ledger", ledger, stdin=message("spam", 900)) == plain
    for label in ("spam", "ham"):
        (box / "new" / f"1.{label}").write_bytes(message(label, 901))
    output_of("sort", "--dry-run", "--ledger", ledger, "-m", model, box)
    output_of("watch", "--once", "--ledger", ledger, "-m", model, box)
    output_of("sort", "--ledger", ledger, "-m", model, box)
    with Ledger.open(ledger) as kept:
        assert count_verdicts(kept) == 3
        positions = kept.execute("SELECT position FROM verdicts ORDER BY position").fetchall()
        filtered, ham, spam = [kept.find(position=position[0]) for position in positions]
        assert [each.verdict for each in (filtered, ham, spam)] == ["spam", "ham", "spam"]
        assert filtered.message_id == "<spam.900@spam.example>" and filtered.place == ""
        (moved,) = maildir.files(box / ".Junk" / "new")
        assert spam.place == str(moved) and spam.heaviest_tokens(5)
        os.rename(moved, box / "cur" / "1.back:2,S")  # a person's move
    output_of("watch", "--once", "--ledger", ledger, "-m", model, box)
    with Ledger.open(ledger) as kept:
        (made,) = kept.corrections()
        assert (made.label, made.spam, made.source) == ("ham", False, "move")
        assert sum(day.false_positives for day in kept.statistics()) == 1


@pytest.mark.parametrize("wrong", ["no folder", "damaged", "full"])
def test_without_a_ledger_filter_answers_and_sort_moves_nothing(model, tmp_path, monkeypatch, wrong):
    """What sort moved could not be undone or finished after a kill."""
    ledger = tmp_path / "ledger" if wrong != "no folder" else tmp_path / "none" / "ledger"
    if wrong == "damaged":
        ledger.write_bytes(b"no database at all" * 100)
    elif wrong == "full":
        monkeypatch.setattr(Ledger, "put", Mock(side_effect=SpamnbError("the disk is full")))
    box = maildir.make_folder(tmp_path / "Mail")
    for number in range(3):
        (box / "new" / f"{number}.spam").write_bytes(message("spam", 900 + number))
    options = ("--ledger", ledger, "-m", model, box)
    filtered = run("filter", *options[:-1], stdin=message("spam", 900))
    assert filtered.stdout == output_of("filter", "-m", model, stdin=message("spam", 900)) and filtered.exit_code == 0
    assert filtered.stderr.count("\n") == 1
    told = run("sort", *options)
    assert told.exit_code == 1 and told.stderr.count("\n") == 1 and "Traceback" not in told.output
    assert len(maildir.files(box / "new")) == 3
    monkeypatch.undo()
    if wrong == "full":
        assert "3 messages: 3 to Junk\n" in run("sort", *options).stderr


def test_only_its_owner_can_read_it(tmp_path):
    before = os.umask(0)
    try:
        with Ledger.open(tmp_path / "ledger") as ledger:
            ledger.put([made_up(time.time())])
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
            Ledger.open(path)
        assert path.read_bytes() == before
    (tmp_path / "text").write_bytes(b"no database at all" * 100)
    with pytest.raises(SpamnbError, match="name another file"):
        Ledger.open(tmp_path / "text")


def test_what_is_old_or_too_much_leaves_with_its_tokens_and_words(tmp_path):
    now = time.time()
    with Ledger.open(tmp_path / "ledger") as ledger:
        ledger.put([made_up(now - 100 * 86_400, number=k) for k in range(3)])
        ledger.put([made_up(now, number=k) for k in range(3, 50)])
        ledger.tidy(ledger.execute("SELECT max(position + size) FROM verdicts").fetchone()[0])
        assert count_verdicts(ledger) == 47
        end = ledger.execute("SELECT max(position + size) FROM verdicts").fetchone()[0]
        ledger.tidy(end, max_bytes=10_000)
        sizes = ledger.execute("SELECT sum(size) FROM verdicts").fetchone()[0]
        n_tokens = ledger.execute("SELECT count(*) FROM tokens").fetchone()[0]
        assert 0 < sizes <= 10_000 and count_verdicts(ledger) == n_tokens
        last = ledger.find(digest=(49).to_bytes(16, "little"))
        assert last is not None and ledger.find(digest=(3).to_bytes(16, "little")) is None
        assert len(unpack_tokens(ledger.tokens(last.position))) == 100
        assert ledger.delete("verdicts", digest=last.digest) == 1 and ledger.tokens(last.position) == b""


def test_each_list_has_its_mail_in_its_order(tmp_path):
    now = int(time.time())
    with Ledger.open(tmp_path / "ledger") as ledger:
        chances = [0.99, 0.91, 0.1, 0.88, 0.5, 0.96]
        ledger.put([made_up(now - k, p, "spam" if p > 0.9 else "ham", k) for k, p in enumerate(chances)])
        ledger.put([made_up(now - 6, 0.01, "unsure", 6), made_up(now - 8 * 86_400, 0.9001, "spam", 7)])

        def numbers(*arguments: str, **more: object) -> list[int]:
            return [int.from_bytes(entry.digest, "little") for entry in ledger.list_verdicts(*arguments, **more)]

        assert numbers() == [*range(8)] and numbers(order="oldest") == [*range(7, -1, -1)]
        assert numbers("spam") == [0, 1, 5, 7] and numbers("good") == [2, 3, 4, 6]
        assert numbers("doubtful", order="doubtful") == [6, 7, 1, 3, 5, 4] and numbers("taught") == []
        ledger.put([corrected(1)])
        assert numbers("spam") == [0, 5, 7] and numbers("good") == [1, 2, 3, 4, 6] and numbers("taught") == [1]
        assert numbers("doubtful") == [3, 4, 5, 6, 7] and numbers("good", limit=2, skip=1) == [2, 3]
        today = ledger.statistics(2)[-1]
        assert (today.good, today.unsure, today.spam, today.doubtful) == (3, 1, 3, 5)
        assert sum(day.total for day in ledger.statistics(30)) == 8
        assert (today.false_positives, today.false_negatives) == (1, 0)


def test_the_statistics_count_a_verdict_once_and_by_its_last_correction_as_the_lists_do(tmp_path):
    now = int(time.time())
    with Ledger.open(tmp_path / "ledger") as ledger:
        ledger.put([made_up(now)._replace(user=user) for user in ("ann", "bob")])
        ledger.put([corrected(0, user="ann"), corrected(0, batch="of all")])  # by the models of ann and of all users

        def n_wrong(user: str = "") -> int:
            (today,) = ledger.statistics(1, user)
            assert today.false_negatives == 0
            return today.false_positives

        assert [n_wrong(user) for user in ("ann", "bob", "eve", "")] == [1, 1, 0, 2]
        assert len(ledger.list_verdicts("taught")) == 2
        ledger.put([corrected(0, batch="again")._replace(label="spam", spam=True)])
        assert n_wrong() == 0 and ledger.list_verdicts("good") == []


def test_a_message_that_is_sorted_again_has_one_verdict_and_copies_have_their_own(model, tmp_path, monkeypatch):
    box = maildir.make_folder(tmp_path / "Mail")
    maildir.make_folder(box / ".Junk")
    for number in (905, 906):
        (box / "new" / f"{number}.ham").write_bytes(message("ham", number))
    (box / "new" / "copy.ham").write_bytes(message("ham", 905))
    command = "sort", "--all", "-q", "--ledger", tmp_path / "ledger", "-m", model, box
    now = int(time.time())
    for at in range(now - 2, now + 1):  # the time of a verdict is in seconds
        monkeypatch.setattr(verdicts, "time", SimpleNamespace(time=partial(int, at)))
        output_of(*command)
    with Ledger.open(tmp_path / "ledger") as ledger:
        digests = [row.digest for row in ledger.list_verdicts()]
        assert sorted(digests) == sorted(digest(message("ham", number)) for number in (905, 905, 906))
        assert ledger.statistics(1)[0].total == 3


def test_a_correction_by_the_shared_model_has_no_mailbox_of_another_user(tmp_path):
    now, place = int(time.time()), Place("/box/cur/1", "/box", "INBOX", "inbox")
    with Ledger.open(tmp_path / "ledger") as ledger:
        own, filtered = made_up(now - 2).with_place(place), made_up(now - 1)
        of_bob = made_up(now)._replace(user="bob").with_place(place._replace(mailbox="/bob"))
        ledger.put([own, filtered, of_bob])
        assert ledger.verdict_of(corrected(0)).mailbox == "/box"
        assert ledger.verdict_of(corrected(0, user="bob")).mailbox == "/bob"
        assert ledger.verdict_of(corrected(0, user="eve")) is None
        ledger.delete("verdicts", user="")
        assert ledger.verdict_of(corrected(0)).user == "bob"


def test_a_search_finds_words_of_sender_and_subject_in_any_case_and_a_users_own_mail(tmp_path):
    now = int(time.time())
    fields = [("Ann Ärger", "tea", ""), ("bob", "Teatime 100%", "eve"), ("ann", "ПРИЗ' OR 1", "bob")]
    with Ledger.open(tmp_path / "ledger") as ledger:
        for number, (sender, subject, user) in enumerate(fields):
            entry = made_up(now - number, number=number)
            ledger.put([entry._replace(sender=sender, subject=subject, user=user)])

        def subjects(words: str, user: str = "") -> list[str]:
            return [entry.subject for entry in ledger.list_verdicts("all", words, user=user)]

        assert subjects("TEA") == ["tea", "Teatime 100%"] and subjects("tea ANN") == ["tea"] == subjects("äRGER")
        assert subjects("приз") == ["ПРИЗ' OR 1"] == subjects("' or") and subjects("0%") == ["Teatime 100%"]
        assert subjects("t_a") == [] == subjects("ann", "eve") and subjects("", "bob") == ["ПРИЗ' OR 1"]
        assert ledger.users(9) == ["bob", "eve"]
        totals = [sum(day.total for day in ledger.statistics(2, user)) for user in ("", "bob", "eve", "ann")]
        assert totals == [3, 1, 1, 0]


def test_the_date_of_mail_is_not_later_than_its_verdict(model):
    with Classifier.open(model) as classifier:

        def received(head: bytes) -> int:
            read = classifier.read(head + b"Subject: tea\n\nfour")
            return make_verdict(read, classify_mail(classifier, read), classifier).received

        assert received(b"Date: Thu, 22 Aug 2002 12:36:23 +0000\n") == 1_030_019_783
        forged = b"Received: by x; Thu, 22 Aug 2002 12:36:23 +0000\nDate: Fri, 1 Jan 1999 00:00:00 +0000\n"
        assert received(forged) == 1_030_019_783
        assert abs(received(b"Date: Fri, 1 Jan 2100 00:00:00 +0000\n") - time.time()) < 60


def test_an_entry_holds_the_tokens_and_the_evidence_of_its_message_and_hostile_fields_cut(model, tmp_path):
    hostile = b"From: \xff\xfe<script>\nSubject: " + b"A" * 1_000_000 + b"\nMessage-ID: \xed\xa0\x80\n\nhi"
    raws = [message("spam", 955), 'Subject: Приз\n\nвыигрыш "café" \\ \u0001 \x00 тест'.encode(), b"", hostile]
    with Ledger.open(tmp_path / "ledger") as ledger, Classifier.open(model) as classifier:
        for raw in raws:
            read = classifier.read(raw)
            found = classify_mail(classifier, read)
            made = make_verdict(read, found, classifier, user="x" * 999).with_place(Place("/tmp/\udcff"))
            assert not read.counts or unpack_tokens(made.tokens) == read.counts
            ledger.put([made])
            entry = ledger.find(digest=digest(raw))
            assert entry is not None and len(entry.subject) <= MAX_FIELD == len(entry.user)
            told = [(token[:80], round(weight, 4)) for token, weight in found.evidence[:20]]
            assert entry.heaviest_tokens() == told and entry.sender == field_text(read.header("from"))


def test_a_servers_thread_writes_all_it_was_handed_and_tells_of_faults(tmp_path):
    told: list[str] = []
    writer = LedgerWriter(tmp_path / "ledger", told.append)
    for number in range(500):
        writer.put(made_up(time.time(), number=number))
    writer.put(corrected(3))
    writer.close()
    with Ledger.open(tmp_path / "ledger") as ledger:
        assert count_verdicts(ledger) == 500 and len(ledger.corrections()) == 1 and told == []
    writer = LedgerWriter(tmp_path / "none" / "ledger", told.append)
    wait_until(lambda: bool(told))  # before there is any verdict
    writer.put(made_up(time.time()))
    writer.close()
    (line,) = told
    assert "cannot be created (No such file" in line and line.endswith(
        "; nothing is written to the ledger until this is repaired"
    )


def test_nothing_is_written_into_a_removed_ledger(tmp_path):
    told: list[str] = []
    path = tmp_path / "ledger"
    writer = LedgerWriter(path, told.append)
    writer.put(made_up(time.time(), number=1))
    wait_until(lambda: path.exists() and count_of(path) == 1)
    with Ledger.open(path) as ledger:
        path.unlink()
        with pytest.raises(SpamnbError, match="ledger: was removed or replaced while it was in use"):
            ledger.put([made_up(time.time(), number=2)])
    writer.put(made_up(time.time(), number=3))
    writer.close()
    with Ledger.open(path) as ledger:
        assert [row.subject for row in ledger.list_verdicts()] == ["tea 3"] and told == []


def count_of(path: Path) -> int:
    with Ledger.open(path) as ledger:
        return count_verdicts(ledger)


def test_programs_that_make_a_ledger_at_once_wait_for_one_another(tmp_path):
    for number in range(50):
        told: list[str] = []
        writer = LedgerWriter(tmp_path / str(number), told.append)  # opens it in its thread
        Ledger.open(tmp_path / str(number)).close()
        writer.close()
        assert not told


def test_verdicts_that_came_too_fast_are_told_by_their_number(tmp_path, monkeypatch):
    monkeypatch.setattr("spamnb.ledger.writer.MAX_WAITING", 2)
    told: list[str] = []
    writer = LedgerWriter(tmp_path / "ledger", told.append)
    with Ledger.open(tmp_path / "ledger") as ledger, ledger.writing():  # the thread waits for it
        for number in range(300):
            writer.put(made_up(time.time(), number=number))
    writer.close()
    with Ledger.open(tmp_path / "ledger") as ledger:
        assert all(line.startswith("the ledger is too slow: it lacks ") for line in told)
        assert 1 <= len(told) < 9 and sum(int(line.split()[-2]) for line in told) == 300 - count_verdicts(ledger) > 0


def test_forget_takes_a_message_out_of_the_ledger_too(model, tmp_path):
    ledger, mails = tmp_path / "ledger", [message("spam", 960), message("spam", 961)]
    for raw in mails:
        output_of("filter", "-m", model, "--ledger", ledger, stdin=raw)
    output_of("forget", "spam", "-m", model, "--ledger", ledger, stdin=mails[0])
    with Ledger.open(ledger) as kept:
        assert [entry.message_id for entry in kept.list_verdicts()] == ["<spam.961@spam.example>"]
        assert kept.execute("SELECT count(*) FROM tokens").fetchone()[0] == 1


@pytest.mark.parametrize("who", ["", "ann"])
def test_what_a_model_forgets_stays_in_the_ledger_of_the_other_models(model, tmp_path, who):
    ledger, raw, models = tmp_path / "ledger", message("spam", 960), {"": model}
    for user in ("ann", "bob"):
        models[user] = tmp_path / f"{user}.spamnb"
        output_of("learn", "-m", models[user], "--shared", model, "--ledger", ledger, "ham", stdin=message("ham", 961))
    for path in models.values():
        output_of("filter", "-m", path, "--ledger", ledger, stdin=raw)
        output_of("learn", "-m", path, "--ledger", ledger, "spam", stdin=raw)
    with Ledger.open(ledger) as kept:
        for user in ("ann", "bob"):  # as `serve` and `review` write them, with --models
            kept.put([made_up(time.time())._replace(digest=digest(raw), user=user, model=str(models[user]))])
            kept.put([Correction(digest(raw), "spam", True, "page", user)])
        output_of("forget", "-m", models[who], "--ledger", ledger, "spam", stdin=raw)
        others = {str(path) for user, path in models.items() if user != who}
        rows, corrections = kept.find_all(digest=digest(raw)), kept.corrections(digest=digest(raw))
        assert {row.model for row in rows} == {batch_model(kept, each) for each in corrections if each.batch} == others
        users = {"ann", "bob"} - {who}
        assert {row.user for row in rows} - {""} == {each.user for each in corrections if not each.batch} == users


@pytest.mark.parametrize("is_there", [True, False])
def test_what_a_model_forgets_stays_in_the_ledger_of_an_independent_model_that_is_there(model, tmp_path, is_there):
    ledger, raw, other = tmp_path / "ledger", message("spam", 960), tmp_path / "other.spamnb"
    output_of("backup", "-m", model, other)
    for path in (model, other):
        output_of("learn", "-m", path, "--ledger", ledger, "spam", stdin=raw)
        with Ledger.open(ledger) as kept:
            kept.put([made_up(time.time() - (path == other))._replace(digest=digest(raw), model=str(path))])
    if not is_there:  # the model may have been moved from there
        other.unlink()
    output_of("forget", "-m", model, "--ledger", ledger, "spam", stdin=raw)
    with Ledger.open(ledger) as kept:
        others = {str(other)} if is_there else set()
        assert {row.model for row in kept.find_all(digest=digest(raw))} == others
        assert {batch_model(kept, each) for each in kept.corrections(digest=digest(raw))} == others


def test_forget_and_undo_never_wait_for_each_other(model, tmp_path, monkeypatch):
    """Undo locks the ledger and then the model, so forget may not lock the ledger inside a transaction of the model."""
    raw, was_locked = message("spam", 960), []
    output_of("learn", "-m", model, "spam", stdin=raw)
    forget = Ledger.forget

    def check_model(ledger, *arguments):
        with Classifier.open(model, writable=True) as other:
            other.store.check_writable()
        was_locked.append(False)
        forget(ledger, *arguments)

    monkeypatch.setattr("spamnb.store.database.BUSY_SECONDS", 0.1)
    monkeypatch.setattr(Ledger, "forget", check_model)
    output_of("forget", "-m", model, "spam", stdin=raw)
    assert was_locked == [False]


def batch_model(ledger: Ledger, correction: Correction) -> str:
    batch = ledger.last_batch(batch=correction.batch)
    assert batch is not None
    return batch.model


CORRECTIONS_4 = (  # of versions 3 and 4
    "CREATE TABLE corrections (number INTEGER PRIMARY KEY, at INTEGER NOT NULL, user TEXT NOT NULL,"
    " digest BLOB NOT NULL, label TEXT NOT NULL, spam INTEGER NOT NULL, source TEXT NOT NULL,"
    " before TEXT NOT NULL, batch TEXT NOT NULL, moved_from TEXT NOT NULL, UNIQUE (digest, user, batch))"
)
CORRECTIONS_2 = CORRECTIONS_4.replace(" source", " verdict TEXT NOT NULL, source")


OLD_BATCHES = (  # of version 3
    "CREATE TABLE batches (number INTEGER PRIMARY KEY, batch TEXT NOT NULL UNIQUE, command TEXT NOT NULL,"
    " model TEXT NOT NULL, at REAL NOT NULL)"
)


@pytest.mark.parametrize("version", [2, 3, 4])
@pytest.mark.parametrize("more", ["", "CREATE VIEW w AS SELECT 1"])
def test_a_ledger_of_a_version_before_keeps_all_that_it_has(tmp_path, version, more):
    path = tmp_path / "ledger"
    with Ledger.open(path) as ledger:
        ledger.put([made_up(time.time())])
    correction = f"(1, {int(time.time())}, '', zeroblob(16), 'ham', 0, 'page', '', 'b', '')"
    with sqlite3.connect(path) as database:
        old_corrections = CORRECTIONS_2 if version == 2 else CORRECTIONS_4
        for statement in (
            "DROP TABLE corrections",
            old_corrections,
            "CREATE INDEX corrections_by_time ON corrections (at)",
        ):
            database.execute(statement)
        if version == 2:
            for statement in (
                "DROP INDEX verdicts_by_time",
                "CREATE INDEX verdicts_by_time ON verdicts (at, user, verdict, doubtful)",
            ):
                database.execute(statement)
            correction = correction.replace("'page'", "'spam', 'page'")
        if version < 4:
            database.execute("DROP TABLE batches")
            database.execute(OLD_BATCHES)
        for statement in (
            "INSERT INTO batches (number, batch, command, model, at) VALUES (1, 'b', 'review', '/model', 1.5)",
            f"INSERT INTO corrections VALUES {correction}",  # noqa: S608 (our own words)
            *("INSERT INTO mailboxes VALUES (1, 'Mail')", more, f"PRAGMA user_version = {version}"),
        ):
            database.execute(statement)
    database.close()
    if more:
        before = path.read_bytes()
        with pytest.raises(SpamnbError, match="other tables, views, triggers or indexes than a ledger's"):
            Ledger.open(path)
        assert path.read_bytes() == before
        return
    with Ledger.copy_places(path) as places:  # for a dry run, which writes nothing
        assert places.execute("SELECT address FROM mailboxes").fetchall() == [("Mail",)]
    for _ in range(2):
        with Ledger.open(path) as ledger:
            assert count_verdicts(ledger) == 1
            assert [(each.label, each.source) for each in ledger.corrections()] == [("ham", "page")]
            assert all(each.was_lesson for each in ledger.corrections())
            assert ledger.last_batch() == Batch("b", "review", "/model", 1.5, of_user=False)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON verdicts BEGIN DELETE FROM verdicts; END",
        "CREATE TRIGGER t AFTER INSERT ON mailboxes BEGIN"
        " INSERT INTO marks WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        " SELECT 1, i, '' FROM n; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE INDEX i ON verdicts (evidence)",
        "DROP TABLE corrections",
    ],
)
def test_a_ledger_with_other_tables_triggers_or_views_is_refused_before_anything_is_moved(model, tmp_path, statement):
    path, box = tmp_path / "ledger", maildir.make_folder(tmp_path / "Mail")
    (box / "new" / "1").write_bytes(message("spam", 900))
    Ledger.open(path).close()
    with sqlite3.connect(path) as database:
        database.execute(statement)
    for options in ([], ["--dry-run"]):
        told = run("sort", "--ledger", path, "-m", model, *options, box)
        assert told.exit_code == 1 and "other tables, views, triggers or indexes than a ledger's" in told.stderr
    assert len(maildir.files(box / "new")) == 1
