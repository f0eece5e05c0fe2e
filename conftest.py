"""Doctests: examples that need mail or write files run in a folder of their own, with ``corpora/`` in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
WITH_FILES = {ROOT / "spamnb" / "api", ROOT / "spamnb" / "filter.py"}


@pytest.fixture(autouse=True)
def _folder_of_examples(request: pytest.FixtureRequest) -> Iterator[None]:
    if WITH_FILES.isdisjoint((request.path, *request.path.parents)):
        yield
        return
    folder = request.getfixturevalue("tmp_path")
    (folder / "corpora").symlink_to(ROOT / "corpora")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield
