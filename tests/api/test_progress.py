"""Progress is shown where somebody looks at it: a terminal that asked, a notebook's cell."""

import sys
import types
from pathlib import Path
from typing import Any

import pytest
from mail import folders, mail

import spamnb
from spamnb.api import progress as module
from spamnb.api.progress import progress


class Notebook(types.ModuleType):
    """Stands for IPython in a kernel, or in a terminal; keeps what was displayed."""

    def __init__(self, kernel: bool) -> None:
        super().__init__("IPython")
        self.shown: list[Any] = []
        self.shell = types.SimpleNamespace(**({"kernel": object()} if kernel else {}))

    def get_ipython(self) -> Any:
        return self.shell

    def display(self, what: Any, display_id: bool) -> Any:
        assert display_id
        self.shown.append(what)
        return types.SimpleNamespace(update=self.shown.append)


def within(monkeypatch: pytest.MonkeyPatch, kernel: bool) -> Notebook:
    notebook = Notebook(kernel)
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=notebook.display))
    monkeypatch.setattr(module, "EVERY", 0.0)
    return notebook


def test_a_notebook_shows_how_far_it_is_and_then_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = within(monkeypatch, True)
    with progress("Reading <b>") as show:
        show(10)
        show(30, 40)
    assert repr(notebook.shown[1]).startswith("Reading <b> 10 messages, ")
    assert repr(notebook.shown[2]).startswith("Reading <b> 30 of 40 messages, ")
    assert repr(notebook.shown[-1]) == ""


def test_a_failure_clears_the_line_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = within(monkeypatch, True)
    with pytest.raises(ZeroDivisionError), progress("Reading"):
        raise ZeroDivisionError
    assert repr(notebook.shown[-1]) == ""


@pytest.mark.parametrize(("kernel", "wanted"), [(True, False), (False, None), (False, True)])
def test_nothing_is_shown_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kernel: bool, wanted: bool | None
) -> None:
    notebook = within(monkeypatch, kernel)
    with progress("Reading", wanted) as show:
        show(1, 2)
    assert not notebook.shown and capsys.readouterr() == ("", "")


def test_training_shows_it_in_a_notebook(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    notebook = within(monkeypatch, True)
    spamnb.train(folders(tmp_path / "mail", mail(70)), tmp_path / "m")
    assert any("messages" in repr(each) for each in notebook.shown)
