"""Fixtures that every test may use."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # tests/mail.py


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of public corpora that ``SPAMNB_CORPORA`` names; the test is skipped where it is unset."""
    folder = os.environ.get("SPAMNB_CORPORA")
    if not folder:
        pytest.skip("SPAMNB_CORPORA is not set: see corpora/README.md for the public corpora")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"SPAMNB_CORPORA={folder} is no folder")
    return path
