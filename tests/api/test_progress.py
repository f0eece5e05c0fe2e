"""Progress is shown in a terminal or a notebook that asked, and nowhere else."""

import io
import sys

import pytest

from spamnb import MailVectorizer, SpamClassifier
from spamnb.api import progress as module
from spamnb.api.progress import show_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Cell(io.StringIO):
    """Standard error below a notebook's cell."""


Cell.__module__ = "ipykernel.iostream"


@pytest.mark.parametrize("stream", [Terminal, Cell])
def test_a_terminal_and_a_notebook_show_how_far_it_is_and_then_nothing(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO]
) -> None:
    monkeypatch.setattr(module, "DRAWING_INTERVAL", 0.0)
    monkeypatch.setattr(sys, "stderr", stream())
    with pytest.raises(ZeroDivisionError), show_progress("Reading") as show:
        show(3000)
        show(10)
        raise ZeroDivisionError
    begin, first, second, blank, last = sys.stderr.getvalue().split("\r")[1:]
    assert begin == "Reading …" and first.startswith("Reading 3,000 messages, ")
    assert second.startswith("Reading 10 messages, ") and len(second) >= len(first), "nothing of the line before stays"
    assert blank == " " * len(second.rstrip()) and last == ""


@pytest.mark.parametrize(("stream", "is_shown"), [(Terminal(), False), (io.StringIO(), True), (None, True)])
def test_nothing_is_shown_where_nobody_looks(monkeypatch: pytest.MonkeyPatch, stream: object, is_shown: bool) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    with show_progress("Reading", is_shown) as show:
        show(1)
    assert stream is None or stream.getvalue() == ""


def test_estimators_show_it_where_they_are_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, labels = ["lunch at noon", "cheap pills"], ["ham", "spam"]
    for is_shown in (True, False):
        monkeypatch.setattr(sys, "stderr", Terminal())
        MailVectorizer(progress=is_shown).fit(texts)
        model = SpamClassifier(progress=is_shown).fit(texts, labels)
        model.evaluate(["tea", "money"], labels)
        words = [part.split()[0] for part in sys.stderr.getvalue().split("\r") if part.strip()]
        assert set(words) == ({"Reading", "Fitting", "Classifying"} if is_shown else set())
