"""The flag that ends sort and watch, and what is tried again until it is set."""

import signal
from contextlib import closing

import pytest
from commands import run

from spamnb.cli.mailboxes import Stop, retry
from spamnb.sources.imap_connection import Unreachable


def test_ctrl_c_before_a_pause_ends_the_work(capsys):
    calls = []

    def lose_connection() -> None:
        calls.append(1)
        stop()
        raise Unreachable("mail.example: the connection was lost")

    with closing(Stop()) as stop, pytest.raises(KeyboardInterrupt):
        retry(lose_connection, stop)
    assert len(calls) == 1


def test_a_signal_without_a_handler_of_python_keeps_its_handler(monkeypatch):
    before = signal.getsignal(signal.SIGUSR1)
    with monkeypatch.context() as patched, closing(Stop()) as stop:
        patched.setattr(signal, "getsignal", lambda number: None)
        with stop.set_by(signal.SIGUSR1):
            pass
    assert signal.getsignal(signal.SIGUSR1) is before


@pytest.mark.parametrize(
    ("command", "option", "value", "advice"),
    [
        ("watch", "--interval", "0.5", "write a whole number from 1 to 86400"),
        ("words", "--top", "0", "write a whole number of at least 1"),
        ("serve", "--port", "70000", "write a whole number from 0 to 65535"),
    ],
)
def test_a_wrong_number_is_told_with_the_numbers_that_are_right(command, option, value, advice):
    result = run(command, option, value)
    assert result.exit_code == 2 and result.stderr.endswith(f"'{option}': '{value}'; {advice}\n")
