"""The pages with a journal and a folder for users' models."""

from pathlib import Path

import pytest

from spamnb.journal.journal import Journal
from spamnb.review.app import Review
from spamnb.review.lessons import Teacher


@pytest.fixture
def review(tmp_path: Path, model: Path) -> Review:
    Journal.at(tmp_path / "journal").close()
    (tmp_path / "users").mkdir()
    return Review(tmp_path / "journal", Teacher(model, tmp_path / "users"), "secret")
