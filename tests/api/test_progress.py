"""Progress is shown where somebody looks at it: a terminal that asked, a notebook's cell."""

import sys
import types
from typing import Any

import pytest

from spamnb.api import progress as module
from spamnb.api.progress import progress


def within(monkeypatch: pytest.MonkeyPatch, kernel: bool) -> list[Any]:
    """What a notebook, or IPython in a terminal, is asked to display from now on."""
    shown: list[Any] = []

    def display(what: Any, raw: bool, display_id: bool = True) -> Any:
        shown.append(what["text/plain"])
        return types.SimpleNamespace(update=display)

    shell = types.SimpleNamespace(**({"kernel": object()} if kernel else {}))
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    monkeypatch.setattr(module, "EVERY", 0.0)
    return shown


def test_a_notebook_shows_how_far_it_is_and_then_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = within(monkeypatch, True)
    with pytest.raises(ZeroDivisionError), progress("Reading <b>") as show:
        show(10)
        show(30)
        raise ZeroDivisionError
    assert shown[1].startswith("Reading <b> 10 messages, ") and shown[2].startswith("Reading <b> 30 messages, ")
    assert shown[-1] == ""


@pytest.mark.parametrize(("kernel", "wanted"), [(True, False), (False, None), (False, True)])
def test_nothing_is_shown_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kernel: bool, wanted: bool | None
) -> None:
    shown = within(monkeypatch, kernel)
    with progress("Reading", wanted) as show:
        show(1)
    assert not shown and capsys.readouterr() == ("", "")
