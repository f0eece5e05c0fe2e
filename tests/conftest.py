"""Fixtures that every test may use."""

import inspect
import os
import secrets
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))  # tests/mail.py, tests/commands.py

# Examples have no deadline, because a busy machine must not fail a test. They are the same in every run, and few;
# .ci/run also tests new ones, by the profile "explore" with a seed.
settings.register_profile(
    "spamnb",
    max_examples=25,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("explore", settings.get_profile("spamnb"), max_examples=50, derandomize=False, database=None)
settings.load_profile("spamnb")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in background jobs; tests of Ctrl-C need it
    signal.signal(signal.SIGINT, signal.default_int_handler)

if "mix_stderr" in inspect.signature(CliRunner).parameters:  # click before 8.2 mixes stderr into the output
    CliRunner.__init__ = partialmethod(CliRunner.__init__, mix_stderr=False)
    Result.output = property(lambda self: self.stdout + self.stderr)


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Return the folder of ``SPAMNB_CORPORA``, or skip the test if it is not set."""
    folder = os.environ.get("SPAMNB_CORPORA")
    if not folder:
        pytest.skip("SPAMNB_CORPORA is not set: see corpora/README.md for the public corpora")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"SPAMNB_CORPORA={folder} is no folder")
    return path


@pytest.fixture(autouse=True)
def ledger_of_one_test(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test have its own ledger."""
    monkeypatch.setenv("SPAMNB_LEDGER", str(tmp_path_factory.getbasetemp() / f"{secrets.token_hex(8)}.ledger"))


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model of 120 messages of each class. Tests must not change it: see ``model``."""
    from mail import mail

    from spamnb.filter import Classifier

    path = tmp_path_factory.mktemp("trained") / "model.spamnb"
    with Classifier.create(path) as classifier, classifier.store.writing():
        for label, raw in mail(120):
            classifier.learn(label, raw)
    return path


@pytest.fixture
def model(trained: Path, tmp_path: Path) -> Path:
    """Return a copy of the model that a test may change."""
    return Path(shutil.copy(trained, tmp_path / "model.spamnb"))


@pytest.fixture
def sure_model(tmp_path: Path) -> Path:
    """Make a model of so much mail that it calls nearly all spam of ``message`` spam."""
    from mail import count_messages, mail, train_file

    from spamnb.settings import Settings

    path = tmp_path / "sure.spamnb"
    train_file(path, count_messages(mail(120)), Settings(strictness="strict"))
    return path


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start a Chromium, or skip the test if it is not installed."""
    if shutil.which("chromium") is None:
        pytest.skip("chromium is not installed")
    from chromium import Chromium

    started = Chromium(tmp_path_factory.mktemp("chromium"))
    yield started
    started.close()


@pytest.fixture
def place() -> Iterator[Path]:
    """Make a folder that other users may enter, unlike pytest's own."""
    folder = Path(f"/tmp/spamnb-mail-{os.getpid()}-{time.monotonic_ns()}")
    folder.mkdir(mode=0o755)
    yield folder
    shutil.rmtree(folder)
