"""Real processes, killed and racing: the model is the state before or after, and nothing learned is lost."""

import contextlib
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from commands import SPAMNB, output_of, run_and_kill
from mail import mail, message, without_calibration, write_folders

from spamnb.filter import Classifier
from spamnb.store.jsonl import export
from spamnb.store.snapshot import read_snapshot
from spamnb.store.store import Store


def whole(path: Path) -> list[dict[str, Any]]:
    """Return the content of a model with its learned messages, without times and the calibration."""
    with Store.open(path) as store:
        found = without_calibration(export(store, with_lessons=True))[1:]
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    connection.close()
    return [{key: value for key, value in record.items() if key != "taught_at"} for record in found]


def copied(path: Path, to: Path) -> None:
    """Put a model that nobody has open in the place of another."""
    for suffix in ("-wal", "-shm"):
        Path(f"{to}{suffix}").unlink(missing_ok=True)
    shutil.copy(path, to)


def has_loaded_core(pid: int) -> bool:
    """Return whether a process has come so far that it reads mail: before, Python itself answers signals."""
    with contextlib.suppress(OSError):
        return "_core" in Path(f"/proc/{pid}/maps").read_text()
    return False


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_train_told_to_end_leaves_nothing_behind(tmp_path: Path, sent: signal.Signals) -> None:
    if signal.getsignal(sent) is signal.SIG_IGN:
        pytest.skip("spamnb heeds nohup, under which these tests run")
    mail_folder = write_folders(tmp_path / "mail", mail(1000))  # half a second of work
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    (tmp_path / "models").mkdir()
    train = [*SPAMNB, "train", "--workers", "2", "-m", str(tmp_path / "models" / "m.spamnb"), str(mail_folder)]
    ended = 0
    for n in range(4):
        process = subprocess.Popen(
            train,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "TMPDIR": str(temporary)},
        )
        while process.poll() is None:  # until it reads, or until it writes the model
            if any((tmp_path / "models").iterdir()) if n >= 2 else has_loaded_core(process.pid):
                break
            time.sleep(0.001)
        time.sleep(0.02 * (n % 2))
        with contextlib.suppress(ProcessLookupError):  # Ctrl-C goes to all processes of a terminal
            os.killpg(process.pid, sent) if sent is signal.SIGINT else process.send_signal(sent)
        _, told = process.communicate(timeout=120)
        # Python itself may end by the signal: where it comes while the interpreter is being taken down, or inside a
        # string that some library executes (Python then repeats the signal after all is cleaned up).
        assert process.returncode in (128 + sent, 0, -sent), told
        assert b"Traceback" not in told
        ended += process.returncode != 0
        assert not list(temporary.iterdir())
        left = {path.name for path in (tmp_path / "models").glob("*")}
        assert not left or {"m.spamnb"} <= left <= {"m.spamnb", "m.spamnb-wal", "m.spamnb-shm"}
        for name in left:
            (tmp_path / "models" / name).unlink()
    assert ended >= 1


COMMANDS = {  # and what they find in the folder: old, a model; other, another; mail, mail that neither has
    "learn": ["learn", "-m", "m", "spam", "mail/spam"],
    "forget": ["forget", "-m", "m", "spam", "first/spam"],
    "train": ["train", "--force", "-m", "m", "mail"],
    "upgrade": ["upgrade", "-m", "m", "mail"],
    "merge": ["merge", "--force", "-m", "m", "m", "other"],
}
STEPS = ("learn", "forget")  # message by message: what was done before it ended stays


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what the commands find, which they do not change."""
    folder = tmp_path_factory.mktemp("commands")
    write_folders(folder / "mail", mail(150))
    first = [(label, message(label, n)) for n in range(500, 600) for label in ("ham", "spam")]
    write_folders(folder / "first", first)
    output_of("train", "-m", folder / "old", folder / "first")
    with Classifier.open(folder / "old", writable=True) as classifier:
        for n in range(50):
            classifier.learn("spam", message("spam", 1000 + n) + b"only%d\n" % n)
    shutil.copy(folder / "old", folder / "other")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("fate", ["killed", "no room"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_ends_anywhere_leaves_a_whole_model(
    folder: Path, tmp_path: Path, command: str, fate: str
) -> None:
    model, chance = tmp_path / "m", random.Random(command + fate)
    for name in ("mail", "first", "other"):
        (tmp_path / name).symlink_to(folder / name)
    copied(folder / "old", tmp_path / "old")
    if command == "upgrade":
        with Store.open(tmp_path / "old", writable=True) as store:
            store.put_meta({"tokens_version": 1})
    arguments = [*SPAMNB, *COMMANDS[command]]

    def run_with(**how: Any) -> int:
        return subprocess.run(arguments, cwd=tmp_path, capture_output=True, **how).returncode

    copied(tmp_path / "old", model)
    started = time.monotonic()
    assert run_with() == 0
    takes, after, size = time.monotonic() - started, whole(model), model.stat().st_size
    copied(tmp_path / "old", model)
    before, unfinished, tries = whole(model), 0, 0
    while unfinished < 4:
        tries += 1
        assert tries < 60
        if fate == "killed":
            status = run_and_kill(arguments, chance.uniform(0.4, 1.1) * takes, tmp_path, cwd=tmp_path)
            takes *= 0.8 if status == 0 else 1
        else:
            most = chance.randrange(1000, size)  # bytes that a file may have
            bounded = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (most, most))
            # Python would leave compiled modules that end at the bound.
            status = run_with(preexec_fn=bounded, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        unfinished += status != 0
        left = whole(model)
        assert status != 0 or left == after
        if command not in STEPS:
            assert left in (before, after)
        if command not in STEPS or status == 0:
            copied(tmp_path / "old", model)
    assert run_with() == 0
    assert whole(model) == after


@pytest.mark.parametrize("seconds", [4, pytest.param(12, marks=pytest.mark.slow)])
def test_two_writers_and_eight_readers(tmp_path: Path, seconds: int) -> None:
    model, ends = tmp_path / "m", time.monotonic() + seconds
    with Classifier.create(model) as classifier:
        for label, raw in mail(5):
            classifier.learn(label, raw)

    def write(first: int) -> list[bytes]:
        learned = []
        with Classifier.open(model, writable=True) as classifier:
            for n in count(first):
                raw = message("spam", n)
                assert classifier.learn("spam", raw)
                learned.append(raw)
                if n % 3 == 0:
                    assert classifier.forget("spam", learned.pop(0))
                if time.monotonic() > ends:
                    return learned
        raise AssertionError

    def read(n: int) -> int:
        n_classified = 0
        with Classifier.open(model) as classifier:
            while time.monotonic() < ends:
                assert sum(classifier.classify(message("ham", n)).probabilities.values()) == pytest.approx(1)
                read_snapshot(classifier.store)  # which checks that all sums add up
                n_classified += 1
        return n_classified

    with ThreadPoolExecutor(10) as executor:
        writers = [executor.submit(write, first) for first in (1_000, 1_000_000)]
        readers = [executor.submit(read, n) for n in range(8)]
        assert min(reader.result() for reader in readers) > 0
        learned = [raw for writer in writers for raw in writer.result()]
    whole(model)
    with Classifier.open(model) as classifier:
        assert {classifier.learned(raw) for raw in learned} == {"spam"}
        assert dict(zip(classifier.model.totals.classes, classifier.model.totals.documents)) == {
            "ham": 5,
            "spam": 5 + len(learned),
        }
