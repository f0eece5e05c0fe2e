"""The digest of filtered mail, and passwords of the review's pages."""

import email
import os
import re
import stat
import time
from email.message import EmailMessage
from email.policy import default
from pathlib import Path

import pytest
from commands import done, run
from mail import message, note
from selectolax.lexbor import LexborHTMLParser

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.journal.digests import MOST, filtered_since_digest
from spamnb.journal.journal import Journal
from spamnb.journal.teaching import noted
from spamnb.review import delivery
from spamnb.review.passwords import Passwords, set_password
from spamnb.serve.own_mail import is_own, learn_unless_own, signature
from spamnb.serve.score import score_message
from spamnb.sources import maildir

SCRIPT = "<script>alert(1)</script>\" onload='x' &lt;"


def digest(tmp_path: Path, model: Path, *more: object, to: object = "-") -> bytes:
    ran = run("review", "--digest", "--to", to, "--journal", tmp_path / "journal", "-m", model, *more)
    assert (ran.exit_code, ran.stderr) == (0, ""), ran.stderr
    return ran.stdout.encode()


def parts(raw: bytes) -> tuple[EmailMessage, str, str]:
    found = email.message_from_bytes(raw, policy=default)
    assert isinstance(found, EmailMessage)
    text, page = found.get_body(("plain",)), found.get_body(("html",))
    assert text is not None and page is not None
    return found, text.get_content(), page.get_content()


def test_it_tells_what_was_filtered_once_and_nothing_where_there_is_nothing(tmp_path, model):
    Journal.at(tmp_path / "journal").close()
    assert digest(tmp_path, model) == b""
    note(tmp_path, model, *(message("spam", 900 + k) for k in range(3)))
    note(tmp_path, model, message("ham", 900), points=1)
    note(tmp_path, model, message("spam", 910), points=1, verdict="unsure")
    head, text, page = parts(digest(tmp_path, model, "--url", "https://mail.example.org:8765/"))
    assert head["subject"] == "4 messages filtered" and head["auto-submitted"] == "auto-generated"
    links = [node.attributes["href"] for node in LexborHTMLParser(page).css("a")]
    with Journal.at(tmp_path / "journal") as journal:
        filtered = [row.position for row in journal.doubtful(0) if row.entry.verdict != "ham"]
    assert {f"https://mail.example.org:8765/message/{position}" for position in filtered} == set(links[:-1])
    assert all(link in text for link in links if link)
    assert digest(tmp_path, model) == b"", "what was told is not told again"
    note(tmp_path, model, message("spam", 920), message("spam", 921))
    with Journal.at(tmp_path / "journal") as journal, Classifier.open(model) as classifier:
        journal.correct([noted(classifier.read(message("spam", 921)).digest, "ham", False, "move")])
    assert parts(digest(tmp_path, model))[0]["subject"] == "1 message filtered", "what was corrected is known"


def test_of_many_the_most_doubtful_are_listed(tmp_path, model):
    note(tmp_path, model, message("spam", 900))
    with Journal.at(tmp_path / "journal") as journal:
        row = journal.row(0)
        assert row is not None
        journal.add([row.entry._replace(digest=k.to_bytes(16, "big"), points=6 + k / 10) for k in range(300)])
        found = filtered_since_digest(journal, None)
        assert len(found.rows) == MOST and found.spam == 301 and found.rows[0].entry.points == 5.5
        assert [row.entry.points for row in found.rows] == sorted(row.entry.points for row in found.rows)
        assert filtered_since_digest(journal, None, now=time.time() + 8 * 86_400).rows == []
    _, text, page = parts(digest(tmp_path, model))
    assert "and 201 more" in text and "And 201 more" in page


def test_each_user_is_told_of_their_own_mail(tmp_path, model):
    (tmp_path / "users").mkdir()
    for user in ("ann", "bob"):
        note(tmp_path, model, message("spam", 900), user=user)
    note(tmp_path, model, message("spam", 901), user="bob")
    models = ("--models", tmp_path / "users")
    assert parts(digest(tmp_path, model, "--user", "bob", *models))[0]["subject"] == "2 messages filtered"
    assert parts(digest(tmp_path, model, "--user", "ann", *models))[0]["subject"] == "1 message filtered"
    assert parts(digest(tmp_path, model, *models))[0]["subject"] == "3 messages filtered"


def test_hostile_fields_are_text_in_both_parts_and_break_no_header(tmp_path, model):
    raws = [
        f"From: {SCRIPT}\nSubject: {SCRIPT}\n\nx".encode(),
        "Subject: \u202eevil\u2066\nFrom: a\r\n b\n\nx".encode(),
        b"Subject: =?utf-8?q?one=0D=0ABcc:_x@example.org=0D=0A=0D=0Abody?=\n\nx",
        b"Subject: " + b"x" * 1_000_000 + b"\n\nx",
        b"Subject: \xff\xfe\nFrom: \xed\xa0\x80\n\nx",
    ]
    note(tmp_path, model, *raws)
    raw = digest(tmp_path, model)
    head, text, page = parts(raw)
    assert raw.isascii() and len(raw) < 50_000 and max(map(len, raw.split(b"\n"))) < 999
    assert head["bcc"] is None and head["subject"] == "5 messages filtered"
    tree = LexborHTMLParser(page)
    assert not tree.css("script, img, [onload]") and SCRIPT in [node.text() for node in tree.css("bdi")]
    assert not set(text + page) & set("\u202e\u2066\r\x00") and SCRIPT in text


def test_in_a_maildir_it_is_neither_judged_nor_a_lesson(tmp_path, model):
    box = maildir.made(tmp_path / "Mail")
    maildir.made(box / ".Junk")
    note(tmp_path, model, *(message("spam", 900 + k) for k in range(20)))
    assert digest(tmp_path, model, to=box) == b""
    (path,) = maildir.files(box / "new")
    raw = path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and os.listdir(box / "tmp") == []
    assert done("sort", "--all", "-m", model, box).startswith("ham\t-99.9")
    done("watch", "--once", "-m", model, box)
    os.rename(path, box / ".Junk" / "cur" / "1.moved:2,S")
    assert done("watch", "--once", "-m", model, box).startswith("known\tspam")
    with Classifier.open(model) as classifier:
        assert classifier.learned(raw) is None


def test_only_the_models_owner_can_make_one(tmp_path, model):
    note(tmp_path, model, *(message("spam", 900 + k) for k in range(3)))
    raw = digest(tmp_path, model)
    delivered = b"Received: from mx by mx2; Sun, 22 Nov 2026 10:00:00 +0000\n" + raw
    with Classifier.open(model, writable=True) as classifier:
        for ours in (raw, delivered, raw.replace(b"\n", b"\r\n"), classifier.read(raw)):
            assert is_own(classifier, ours) and score_message(classifier, ours).verdict == "ham"
        assert not learn_unless_own(classifier, "spam", raw) and classifier.learned(raw) is None
        code = re.search(rb"X-Spamnb-Digest: (\w+)", raw)
        assert code is not None
        forged = [
            raw.replace(code[1], b"0" * 64),
            raw.replace(b"Message-ID: <", b"Message-ID: <x"),
            raw.replace(code[0], b"X-Spamnb-Digest:"),
            raw.replace(code[1], b"\xff" * 64),
            message("spam", 1).replace(b"Message-ID:", b"X-Spamnb-Digest: " + code[1] + b"\nMessage-ID:"),
        ]
        for each in forged:
            assert not is_own(classifier, each)
        assert score_message(classifier, forged[-1]).verdict == "spam"
    with Classifier.create(tmp_path / "other.spamnb") as other:
        assert not is_own(other, raw)
        assert len({signature([other], "<x>") for _ in range(2)}) == 1, "the key stays"


def test_filter_lets_it_pass(tmp_path, model):
    note(tmp_path, model, *(message("spam", 900 + k) for k in range(3)))
    assert "X-Spam-Status: No, score=-99.9" in done("filter", "-m", model, stdin=digest(tmp_path, model))


def test_sendmail_gets_the_address_and_a_failure_is_told_again_next_time(tmp_path, model, monkeypatch):
    note(tmp_path, model, message("spam", 900))
    program = tmp_path / "sendmail"
    script = 'echo "$@" > asked; cat > sent; exit $(cat status)'
    program.write_text(f"#!/bin/sh\ncd {tmp_path}\n{script}\n")
    program.chmod(0o700)
    monkeypatch.setattr(delivery, "_SENDMAIL", (str(program),))
    (tmp_path / "status").write_text("75")
    given = ("review", "--digest", "--to", "ann@example.org", "--journal", tmp_path / "journal", "-m", model)
    failed = run(*given)
    assert failed.exit_code == 1 and "status 75" in failed.stderr and failed.stderr.count("\n") == 1
    (tmp_path / "status").write_text("0")
    assert run(*given).exit_code == 0 and (tmp_path / "asked").read_text() == "-i -- ann@example.org\n"
    assert parts((tmp_path / "sent").read_bytes())[0]["to"] == "ann@example.org"


@pytest.mark.parametrize(
    "wrong",
    [["--to", "nowhere"], ["--to", "-x@example.org"], ["--to", "imaps://nobody"], ["--to", "-", "--url", "ftp://x"]],
)
def test_what_is_no_place_is_refused_in_one_line(tmp_path, model, wrong):
    ran = run("review", "--digest", "--journal", tmp_path / "journal", "-m", model, *wrong)
    assert ran.exit_code == 1 and ran.stderr.count("\n") == 1


def test_options_that_do_not_belong_together_are_usage_errors(tmp_path, model):
    given = ("review", "--journal", tmp_path / "journal", "-m", model)
    for wrong in (["--digest"], ["--to", "-"], ["--url", "http://x"]):
        assert run(*given, *wrong).exit_code == 2


def test_a_password_is_kept_as_a_hash_that_only_it_fits(tmp_path):
    path = tmp_path / "folder" / "passwords"
    set_password(path, "ann", "correct horse")
    set_password(path, "bob", "correct horse")
    assert "correct" not in path.read_text() and path.stat().st_mode & 0o777 == 0o600
    known = Passwords(path)
    assert known.check("ann", "correct horse") and not known.check("ann", "correct hors")
    assert not known.check("eve", "correct horse") and not known.check("ann", "")
    set_password(path, "ann", "battery staple")
    assert known.check("ann", "battery staple") and known.check("bob", "correct horse")


def test_a_file_that_others_read_is_refused(tmp_path):
    path = tmp_path / "passwords"
    set_password(path, "ann", "correct horse")
    path.chmod(0o640)
    with pytest.raises(SpamnbError, match="chmod 600"):
        Passwords(path)
    path.chmod(0o600)
    path.write_text('{"ann": {"salt": "x"}}')
    with pytest.raises(SpamnbError, match="no file of passwords"):
        Passwords(path)


def test_the_command_sets_one_and_refuses_what_would_not_be_safe(tmp_path):
    path = tmp_path / "passwords"
    journal = ("review", "--journal", tmp_path / "journal", "--passwords", path)
    assert "--set-password" in run(*journal).stderr
    assert run("review", "--set-password", "--passwords", path, stdin=b"short\n").exit_code == 1
    assert run("review", "--set-password", "--user", "../x", "--passwords", path, stdin=b"long enough\n").exit_code == 1
    assert not path.exists()
    assert run("review", "--set-password", "--passwords", path, stdin=b"long enough\n").exit_code == 0
    assert Passwords(path).check("admin", "long enough")
    for wrong in (["--host", "0.0.0.0"], ["--key", "x"], ["--user", "ann"]):
        assert run(*journal, *wrong).exit_code == 2
    assert run("review").exit_code == 2
    assert run(*journal, "-m", tmp_path / "none").exit_code == 1
