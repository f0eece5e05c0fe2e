"""A model, and the pages with three users who may log in."""

from pathlib import Path

import pytest
from mail import learned_model

from spamnb.journal.journal import Journal
from spamnb.review.app import Review
from spamnb.review.lessons import Teacher
from spamnb.review.passwords import Passwords, set_password

PASSWORD = "correct horse"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return learned_model(tmp_path / "model.spamnb")


@pytest.fixture
def review(tmp_path: Path, model: Path) -> Review:
    """The pages, with a journal. The password of each user is ``PASSWORD`` and the user's name."""
    for user in ("admin", "ann", "bob"):
        set_password(tmp_path / "passwords", user, PASSWORD + user)
    Journal.at(tmp_path / "journal").close()
    (tmp_path / "users").mkdir()
    return Review(tmp_path / "journal", Teacher(model, tmp_path / "users"), Passwords(tmp_path / "passwords"))
