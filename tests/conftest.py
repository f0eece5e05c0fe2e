"""Fixtures that every test may use."""

import inspect
import os
import signal
import sys
from functools import partialmethod
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))  # tests/mail.py, tests/commands.py

# A busy machine fails no test: examples have no deadline, and in CI they are the same in every run.
settings.register_profile(
    "spamnb",
    max_examples=50,
    deadline=None,
    derandomize="CI" in os.environ,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("spamnb")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as shells start background jobs; the tests of Ctrl-C need it
    signal.signal(signal.SIGINT, signal.default_int_handler)

if "mix_stderr" in inspect.signature(CliRunner).parameters:  # click before 8.2 keeps stderr apart where told to
    CliRunner.__init__ = partialmethod(CliRunner.__init__, mix_stderr=False)
    Result.output = property(lambda self: self.stdout + self.stderr)


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of public corpora that ``SPAMNB_CORPORA`` names; the test is skipped where it is unset."""
    folder = os.environ.get("SPAMNB_CORPORA")
    if not folder:
        pytest.skip("SPAMNB_CORPORA is not set: see corpora/README.md for the public corpora")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"SPAMNB_CORPORA={folder} is no folder")
    return path
