"""Progress is shown in a terminal that asked, and nowhere else."""

import io
import sys

import pytest

from spamnb.api import progress as module
from spamnb.api.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_how_far_it_is_and_then_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EVERY", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(ZeroDivisionError), progress("Reading") as show:
        show(10)
        show(3000)
        raise ZeroDivisionError
    first, second, last = sys.stderr.getvalue().split("\r\x1b[K")[1:]
    assert first.startswith("Reading 10 messages, ") and second.startswith("Reading 3,000 messages, ") and last == ""


@pytest.mark.parametrize(("stream", "wanted"), [(Terminal(), False), (io.StringIO(), True), (None, True)])
def test_nothing_is_shown_where_nobody_looks(monkeypatch: pytest.MonkeyPatch, stream: object, wanted: bool) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    with progress("Reading", wanted) as show:
        show(1)
    assert stream is None or stream.getvalue() == ""
