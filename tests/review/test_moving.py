"""Mail moved by the page in a Maildir: with a lesson or without, back again, and never a second lesson."""

import os
from pathlib import Path

import pytest
from commands import done
from mail import learned, message

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.journal.journal import Journal
from spamnb.journal.whereabouts import INBOX, JUNK, folder_noted
from spamnb.review.lessons import Teacher
from spamnb.review.moving import Moving
from spamnb.sources import maildir

SPAM, HAM = message("spam", 900), message("ham", 900)


@pytest.fixture
def box(tmp_path: Path, model: Path) -> Path:
    """A Maildir that is watched, and sorted with a journal: SPAM in Junk, HAM in the inbox."""
    made = maildir.made(tmp_path / "Mail")
    maildir.made(made / ".Junk")
    (made / "new" / "1.spam").write_bytes(SPAM)
    (made / "new" / "2.ham").write_bytes(HAM)
    done("sort", "--journal", tmp_path / "journal", "-m", model, made)
    done("watch", "--once", "-m", model, made)
    assert where(made) == {"spam": [".Junk"], "ham": ["."]}
    return made


def where(box: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for folder in maildir.folders(box):
        for path in [*maildir.files(folder / "new"), *maildir.files(folder / "cur")]:
            label = {SPAM: "spam", HAM: "ham"}[path.read_bytes()]
            found.setdefault(label, []).append(os.path.relpath(folder, box))
    return found


def position(journal: Journal, model: Path, raw: bytes) -> int:
    with Classifier.open(model) as classifier:
        row = journal.of_message(classifier.read(raw).digest)
    assert row is not None
    return row.position


def test_a_lesson_moves_the_mail_and_undo_puts_it_back(tmp_path, model, box):
    teacher = Teacher(model, None)
    with Journal.at(tmp_path / "journal") as journal:
        rows = [position(journal, model, SPAM)]
        taught = teacher.teach(journal, rows, False, None, move=True)
        assert taught.problems == () and where(box) == {"spam": ["."], "ham": ["."]}
        assert learned(model, SPAM) == "ham"
        assert done("watch", "--once", "--sort", "-m", model, box) == "", "its move is no second lesson"
        assert learned(model, SPAM) == "ham" and where(box)["spam"] == ["."]
        assert teacher.undo(journal, taught.batch, None).problems == ()
        assert where(box) == {"spam": [".Junk"], "ham": ["."]} and learned(model, SPAM) is None
        assert done("watch", "--once", "--sort", "-m", model, box) == ""
        assert learned(model, SPAM) is None and where(box)["spam"] == [".Junk"]
        # A person's own move stays a lesson.
        (path,) = maildir.files(box / ".Junk" / "new")
        path.rename(box / "cur" / "1.back:2,S")
        assert done("watch", "--once", "-m", model, box).startswith("learned\tham")


def test_a_move_alone_teaches_nothing(tmp_path, model, box):
    teacher = Teacher(model, None)
    with Journal.at(tmp_path / "journal") as journal:
        spam, ham = (position(journal, model, raw) for raw in (SPAM, HAM))
        teacher.move(journal, spam, INBOX, None)
        teacher.move(journal, ham, JUNK, None)
        teacher.move(journal, ham, JUNK, None)  # twice is once
        assert where(box) == {"spam": ["."], "ham": [".Junk"]}
        assert done("watch", "--once", "--sort", "-m", model, box) == ""
        assert learned(model, SPAM) is None and learned(model, HAM) is None
        row = journal.row(ham)
        assert row is not None
        known = folder_noted(journal, row.entry.place)
        assert known is not None and known.role == JUNK and Path(row.entry.place).read_bytes() == HAM


def test_mail_that_is_gone_is_said_in_one_line_and_taught_all_the_same(tmp_path, model, box):
    teacher = Teacher(model, None)
    (path,) = maildir.files(box / ".Junk" / "new")
    path.rename(box / "cur" / "1.by-hand:2,S")
    with Journal.at(tmp_path / "journal") as journal:
        spam = position(journal, model, SPAM)
        with pytest.raises(SpamnbError, match=r"no longer in Junk of .*, so it was not moved"):
            teacher.move(journal, spam, INBOX, None)
        taught = teacher.teach(journal, [spam], False, None, move=True)
        assert len(taught.problems) == 1 and "\n" not in taught.problems[0] and taught.changed == 1
    assert where(box) == {"spam": ["."], "ham": ["."]} and learned(model, SPAM) == "ham"


def test_only_the_very_message_is_moved(tmp_path, model, box):
    (path,) = maildir.files(box / ".Junk" / "new")
    path.write_bytes(HAM)
    with Journal.at(tmp_path / "journal") as journal, Moving(journal) as moving:
        row = journal.row(position(journal, model, SPAM))
        assert row is not None and moving.mail(row) is None
        with pytest.raises(SpamnbError, match="no longer"):
            moving.to(row, INBOX)
    assert where(box) == {"ham": [".", ".Junk"]}


def test_a_folder_that_cannot_be_written_loses_nothing(tmp_path, model, box, monkeypatch):
    def full(*paths: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", full)
    with Journal.at(tmp_path / "journal") as journal, pytest.raises(SpamnbError, match=r"not moved: .*No space left"):
        Teacher(model, None).move(journal, position(journal, model, SPAM), INBOX, None)
    assert where(box) == {"spam": [".Junk"], "ham": ["."]}


def test_others_mail_and_mail_without_a_mailbox_is_not_moved(tmp_path, model, box):
    with Journal.at(tmp_path / "journal") as journal:
        spam = position(journal, model, SPAM)
        with pytest.raises(SpamnbError, match=f"message {spam} is not in the journal"):
            Teacher(model, tmp_path).move(journal, spam, INBOX, "ann")
        with journal.writing():
            journal.execute("DELETE FROM folders")
        with pytest.raises(SpamnbError, match="not known in which mailbox"):
            Teacher(model, None).move(journal, spam, INBOX, None)
        taught = Teacher(model, None).teach(journal, [spam], True, None, move=True)
        assert taught.problems == () and taught.changed == 1
    assert where(box) == {"spam": [".Junk"], "ham": ["."]}
