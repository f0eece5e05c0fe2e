"""Examples in docstrings that need mail or write files run in a folder of their own, with ``corpora/`` in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

API = Path(__file__).parent / "spamnb" / "api"


@pytest.fixture(autouse=True)
def _folder_of_examples(request: pytest.FixtureRequest) -> Iterator[None]:
    if API not in request.path.parents:
        yield
        return
    folder = request.getfixturevalue("tmp_path")
    (folder / "corpora").symlink_to(API.parents[1] / "corpora")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield
