"""vectorizer.py tells whether the compiled kernel is used, and uses none that was built of other source."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from spamnb.tokens import vectorizer as module
from spamnb.tokens.tokenizer import TOKENS_VERSION
from spamnb.tokens.vocabulary import Vocabulary


def test_the_kernel_is_made_for_these_tokens() -> None:
    source = (Path(__file__).parents[2] / "spamnb" / "tokens" / "_made_for.pxd").read_text()
    assert f"TOKENS_VERSION = {TOKENS_VERSION}  #" in source
    assert f"KERNEL_VERSION = {module.KERNEL_VERSION}  #" in source


class _Unimportable:
    """An import system in which the kernel fails while it is imported, as one does that lacks what it looks for."""

    def find_spec(self, name: str, *_: object) -> None:
        if name == "spamnb.tokens._kernel":
            raise AttributeError("no attribute 'renamed'")


def vectorizer_anew() -> dict[str, Any]:
    """What vectorizer.py has when it is imported now."""
    return runpy.run_path(str(module.__file__))


def test_a_kernel_of_other_source_is_told_and_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    other = ModuleType("spamnb.tokens._kernel")
    monkeypatch.setattr("spamnb.tokens._kernel", other, raising=False)
    monkeypatch.setitem(sys.modules, "spamnb.tokens._kernel", other)
    for made_for in ((TOKENS_VERSION - 1, module.KERNEL_VERSION), (TOKENS_VERSION, module.KERNEL_VERSION + 1), None):
        other.MADE_FOR = made_for  # type: ignore[attr-defined]
        found = vectorizer_anew()
        assert found["kernel"] is None
        assert found["kernel_status"]() == "stale: built of other source; reinstall"
    other.MADE_FOR = (TOKENS_VERSION, module.KERNEL_VERSION)  # type: ignore[attr-defined]
    found = vectorizer_anew()
    assert found["kernel"] is other
    assert found["kernel_status"]() == "compiled"


def test_a_kernel_that_cannot_be_imported_is_told_and_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("spamnb.tokens._kernel", raising=False)
    monkeypatch.delitem(sys.modules, "spamnb.tokens._kernel", raising=False)
    monkeypatch.setattr(sys, "meta_path", [_Unimportable(), *sys.meta_path])
    found = vectorizer_anew()
    assert found["kernel"] is None
    assert found["kernel_status"]() == "stale: built of other source (no attribute 'renamed'); reinstall"
    assert isinstance(found["new_vocabulary"](), Vocabulary)


def test_a_kernel_that_is_not_built_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("spamnb.tokens._kernel", raising=False)
    monkeypatch.setitem(sys.modules, "spamnb.tokens._kernel", None)
    found = vectorizer_anew()
    assert found["kernel"] is None
    assert found["kernel_status"]().startswith("not compiled: ")
