"""Tests never touch the files of the person who runs them.

Doctests that need mail or write files run in a folder of their own, with ``corpora/`` in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
WITH_FILES = {ROOT / "spamnb" / "api", ROOT / "spamnb" / "filter.py"}


@pytest.fixture(scope="session", autouse=True)
def _home_of_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name)))
        yield


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
