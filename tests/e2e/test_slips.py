"""Slips of the hand that turned the filter off: each is refused in a line that says what was meant, or does no harm."""

import itertools
import os
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import SPAMNB, run
from mail import export_lines, mail, message, write_folders

from spamnb.mailbox import maildir
from spamnb.reader.rows import Rows
from spamnb.store.store import Store


@pytest.mark.parametrize("label", ["spma", "SPAM", "hma", "good", "junk", "list"])
def test_learning_a_class_that_the_model_lacks_is_refused(model: Path, label: str) -> None:
    done = run("learn", "-m", model, label, stdin=message("spam", 70))
    assert done.exit_code == 1 and f"{label!r} is none of the classes ham, spam" in done.output
    assert ("did you mean" in done.output) == (label != "list")
    with Store.open(model) as store:
        assert store.model.totals.classes == ("ham", "spam")


def test_a_model_of_lessons_takes_its_first_two_classes_without_asking(tmp_path: Path) -> None:
    path = tmp_path / "model"
    wrong = run("learn", "-m", path, "spma", stdin=message("spam", 1))
    assert wrong.exit_code == 1 and "is none of the classes ham, spam; did you mean spam?" in wrong.output
    assert not path.exists()
    assert run("learn", "-m", path, "good", stdin=message("ham", 1)).exit_code == 0
    assert run("learn", "-m", path, "spam", stdin=message("spam", 1)).exit_code == 0
    assert run("learn", "-m", path, "other", stdin=message("ham", 2)).exit_code == 1


def test_training_refuses_classes_that_differ_in_case_alone(tmp_path: Path) -> None:
    write_folders(tmp_path / "mail", mail(5))
    (tmp_path / "mail" / "spam").rename(tmp_path / "mail" / "Ham")
    done = run("train", "-m", tmp_path / "model", tmp_path / "mail")
    assert done.exit_code == 1 and "classes 'Ham' and 'ham' differ in case alone" in done.output
    assert not (tmp_path / "model").exists()


def test_a_model_is_for_its_owner_alone_and_stays_as_its_owner_opens_it(tmp_path: Path) -> None:
    model, sources = tmp_path / "model", write_folders(tmp_path / "mail", mail(5))
    umask = os.umask(0)
    try:
        assert run("train", "-m", model, sources).exit_code == 0
        assert stat.S_IMODE(model.stat().st_mode) == 0o600
        model.chmod(0o640)
        assert run("train", "--force", "-m", model, sources).exit_code == 0
        assert stat.S_IMODE(model.stat().st_mode) == 0o640
        assert run("learn", "-m", tmp_path / "lessons", "spam", stdin=message("spam", 1)).exit_code == 0
        assert stat.S_IMODE((tmp_path / "lessons").stat().st_mode) == 0o600
    finally:
        os.umask(umask)


@pytest.mark.parametrize("words", [["learn", "spam"], ["forget", "spam"], ["classify"]])
def test_where_there_is_no_message_that_is_an_error(model: Path, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    for sources in ([tmp_path / "file"], [tmp_path / "folder"], [tmp_path / "file", tmp_path / "folder"]):
        done = run(*words, "-m", model, *sources)
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr == f"Error: {' '.join(map(str, sources))}: no message\n"
    assert run(*words, "-m", model, stdin=b"").stderr == "Error: standard input: no message\n"


@pytest.mark.parametrize(("command", "doing"), [("learn", "learning"), ("forget", "forgetting")])
def test_ctrl_c_tells_how_many_were_done_and_keeps_these(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, doing: str
) -> None:
    write_folders(tmp_path / "more", [("spam", message("spam", n)) for n in range(1000, 1600)])
    if command == "forget":
        assert run("learn", "-m", model, "spam", tmp_path / "more").exit_code == 0
    change, before = Store.add, documents(model)
    rest = f"{doing} 500 messages is done; run the command again for the rest"
    calls: Iterator[int] = iter(())

    def pressing_at_0(store: Store, messages: Sequence[Rows], *more: Any) -> None:
        if 0 in itertools.islice(calls, len(messages)):
            os.kill(os.getpid(), signal.SIGINT)
        change(store, messages, *more)

    monkeypatch.setattr(Store, "add", pressing_at_0)
    for pressed_at, done, told in ((50, 0, "nothing has changed"), (550, 500, rest), (1000, 600, "")):
        calls = itertools.count(1 - pressed_at)
        ran = run(command, "-m", model, "spam", tmp_path / "more")
        assert (ran.exit_code, ran.stderr) == ((130, f"\nspamnb: interrupted; {told}\n") if told else (0, ""))
        assert abs(documents(model) - before) == done


def documents(model: Path) -> int:
    with Store.open(model) as store:
        return int(store.model.totals.documents.sum())


@pytest.mark.parametrize("words", [[], ["--force"]])
def test_what_is_in_the_way_of_a_model_is_called_what_it_is(tmp_path: Path, words: list[str]) -> None:
    write_folders(tmp_path / "mail", mail(5))
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("some notes")
    for name, said in (
        ("folder", f"a folder; --model names the file to make in it, as {tmp_path}/folder/model.spamnb"),
        ("empty", "no model, and only a model is replaced; --model names another"),
        ("text", "only a model is replaced; --model names another"),
    ):
        before = (tmp_path / name).stat()
        done = run("train", *words, "-m", tmp_path / name, tmp_path / "mail")
        assert (done.exit_code, done.stdout) == (1, "")
        assert said in done.stderr and "--force" not in done.stderr and done.stderr.count("\n") == 1
        assert (tmp_path / name).stat().st_mtime_ns == before.st_mtime_ns


def test_a_source_for_two_classes_is_refused(tmp_path: Path) -> None:
    write_folders(tmp_path / "mail", mail(5))
    ham = tmp_path / "mail" / "ham"
    (tmp_path / "link").symlink_to(ham)
    for other in (ham, tmp_path / "link"):
        for command in (["train", "-m", tmp_path / "model"], ["evaluate"]):
            done = run(*command, f"ham={ham}", f"spam={other}")
            assert done.exit_code == 1 and not (tmp_path / "model").exists()
            assert f"ham={ham} and spam={other}: two classes have the same source" in done.stderr
    assert run("train", "-m", tmp_path / "model", "--one-class", f"ham={ham}", f"ham={ham}").exit_code == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_the_model_of_another_user_is_not_replaced(tmp_path: Path, mode: int) -> None:
    place = Path(tempfile.mkdtemp(prefix="spamnb-users-", dir="/tmp"))
    try:
        place.chmod(0o777)
        write_folders(place / "mail", mail(5))
        path = place / "model"
        assert run("train", "-m", path, place / "mail").exit_code == 0
        path.chmod(mode)
        before = path.read_bytes()
        code, said = as_nobody("train", "--force", "-m", path, place / "mail")
        assert code == 1 and said.count("\n") == 1, said
        assert f"{path}: cannot be written (permission denied)" in said
        assert path.read_bytes() == before and stat.S_IMODE(path.stat().st_mode) == mode
        assert not [each for each in place.iterdir() if each.name.startswith(".")]
    finally:
        shutil.rmtree(place)


def as_nobody(*words: object) -> tuple[int, str]:
    """Return exit code and output of a command as another user.

    The command runs in a child that has imported all modules, because that user may be unable to read this Python.
    """
    received, sent = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
            done = run(*words)
            os.write(sent, f"{done.exit_code} {done.output}".encode())
        finally:
            os._exit(0)
    os.close(sent)
    with os.fdopen(received) as stream:
        code, _, said = stream.read().partition(" ")
    os.waitpid(child, 0)
    return int(code), said


@pytest.mark.parametrize(
    "name", ["Junk", ".Spam", ".INBOX.Indésirables", "spam.mbox", "Maildir/.Junk/cur", "Courrier indésirable/"]
)
def test_a_folder_of_spam_is_not_taken_for_good_mail_unless_that_is_meant(tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    if name.endswith(".mbox"):
        place.write_bytes(b"".join(b"From a Thu\n" + message("ham", number) + b"\n" for number in range(9)))
    else:
        write_folders(place, [("", message("ham", number)) for number in range(9)])
    good = write_folders(tmp_path / "good", [("", message("spam", number)) for number in range(9)])
    swapped = ["-m", tmp_path / "m", f"ham={place}{'/' * name.endswith('/')}", f"spam={good}"]
    result = run("train", *swapped)
    assert result.exit_code == 1 and "is given as ham; --accept-junk accepts it" in result.stderr
    assert "--accept-junk" in run("train", "--force", *swapped).stderr, "another word for another thing"
    assert not (tmp_path / "m").exists()
    assert run("train", "--accept-junk", *swapped).exit_code == 0
    assert run("train", "-m", tmp_path / "other", f"spam={place}", f"ham={good}").exit_code == 0


def test_a_folder_of_another_class_is_not_learned_unless_that_is_meant(tmp_path: Path, model: Path) -> None:
    before = export_lines(model)
    for seeds in (range(800, 830), range(20)):  # new mail, and mail that ham has learned
        good = write_folders(tmp_path / f"good{seeds.start}", [("", message("ham", number)) for number in seeds])
        refused = run("learn", "-m", model, "spam", good)
        assert refused.exit_code == 1 and "nothing was learned, because most of the first 10" in refused.stderr
        assert "do not look like spam; if they are, --yes learns them" in refused.stderr
        assert export_lines(model) == before
    learned = run("learn", "--yes", "-m", model, "spam", tmp_path / "good800")
    assert learned.exit_code == 0 and learned.stdout.startswith("learned 30 of 30 as spam")


def test_copies_of_one_folder_as_two_classes_are_told(tmp_path: Path) -> None:
    for name in ("one", "copy"):
        write_folders(tmp_path / name, [("", message("ham", number)) for number in range(9)])
    result = run("train", "-m", tmp_path / "m", f"ham={tmp_path / 'one'}", f"spam={tmp_path / 'copy'}")
    told = "all messages of the other classes are in class 'spam' too: each class needs mail of its own"
    assert result.exit_code == 1 and result.stderr == f"Error: {told}\n"


def test_sort_counts_all_that_it_moved_though_nobody_reads_on(tmp_path: Path, sure_model: Path) -> None:
    box = maildir.make_folder(tmp_path / "Mail")
    for number in range(90):
        part, label = ("new", "spam") if number < 40 else ("cur", "ham")
        (box / part / f"{number:02}").write_bytes(message(label, 900 + number))
    command = f"{shlex.join(SPAMNB)} sort -m {sure_model} {box} | head -1"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)
    assert ran.stdout.count("\n") == 1 and ran.stderr == "spamnb: 40 messages: 40 to Junk\n"
    assert len(maildir.files(box / ".Junk" / "new")) == 40
