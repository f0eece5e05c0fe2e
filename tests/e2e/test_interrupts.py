"""Ctrl-C at random times of whole commands: they end at once, and leave no file or a whole model.

The times are processor time of the command, so that the test says the same on a busy machine.
"""

import os
import random
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from mail import mail, write_folders

from spamnb.filter import Classifier

pytestmark = pytest.mark.slow

MESSAGES = 300  # of each class
INTERRUPTED_AFTER = """
import os, signal, sys
from spamnb.__main__ import main
signal.signal(signal.SIGPROF, lambda *_: os.kill(os.getpid(), signal.SIGINT))
signal.setitimer(signal.ITIMER_PROF, float(sys.argv.pop(1)))
main()
"""


def children_seconds() -> float:
    """Return the processor time of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_interrupted(seconds: float, *arguments: object) -> tuple[int, bytes, float]:
    """Run a command that is interrupted after ``seconds``; never if 0. Return status, complaint and seconds."""
    words = [sys.executable, "-c", INTERRUPTED_AFTER, str(seconds), *map(str, arguments), "--workers", "1"]
    before = children_seconds()
    ran = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, timeout=300, env=dict(os.environ))
    return ran.returncode, ran.stderr, children_seconds() - before


@pytest.mark.parametrize("command", ["train", "classify"])
def test_a_command_that_is_interrupted_at_any_time_ends_at_once(command: str, trained: Path, tmp_path: Path) -> None:
    folders, out = write_folders(tmp_path / "mail", mail(MESSAGES)), tmp_path / "out"
    out.mkdir()
    model = out / "model.spamnb"
    arguments = ("train", "-m", model, folders) if command == "train" else ("classify", "-m", trained, folders)
    status, complaint, whole = run_interrupted(0, *arguments)
    assert status == 0, complaint
    rng, n_interrupted = random.Random(1), 0
    for _ in range(12):
        model.unlink(missing_ok=True)
        seconds = rng.uniform(0.01, whole)
        status, complaint, used = run_interrupted(seconds, *arguments)
        if status in (0, -signal.SIGPROF):  # it ended before, or had removed its handlers to end
            continue
        n_interrupted += 1
        # Python ends itself by the signal if it was interrupted in code that exec() runs; a shell says 130 of both.
        assert status in (130, -signal.SIGINT), (seconds, complaint)
        assert complaint in (b"", b"\nspamnb: interrupted\n"), seconds
        assert used < seconds + 1
        assert [path for path in out.iterdir() if path != model] == []
        if model.exists():  # the interrupt came after the model was written
            with Classifier.open(model) as classifier:
                assert classifier.model.totals.documents.sum() == 2 * MESSAGES
    assert n_interrupted > 4


LOST = """
import signal, sys, time, weakref
import spamnb.cli.info as info
from spamnb.__main__ import main
class Item: pass
def lose(*_, **__):
    item = Item()
    reference = weakref.ref(item, lambda _: signal.raise_signal(signal.SIGINT))
    del item
    time.sleep(30)
    print("not interrupted")
def lose_in_import(*_, **__):
    code = compile("import signal; signal.raise_signal(signal.SIGINT)", "<frozen importlib._bootstrap>", "exec")
    try:
        exec(code)
    except KeyboardInterrupt:
        print("raised in the code of import")
    time.sleep(30)
    print("not interrupted")
info.info_command.callback = {"callback": lose, "import": lose_in_import}[sys.argv.pop()]
main()
"""


@pytest.mark.parametrize("place", ["callback", "import"])
def test_an_interrupt_that_python_would_lose_is_raised_a_little_later(place: str) -> None:
    ran = subprocess.run([sys.executable, "-c", LOST, "info", place], capture_output=True, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, b"", b"\nspamnb: interrupted\n")
