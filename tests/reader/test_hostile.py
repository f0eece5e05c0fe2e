"""No message takes much longer than others of its size, and none makes the core read or write where it must not."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from spamnb.reader.message import Reader
from spamnb.reader.tokens import Vocabulary

sys.path.insert(0, str(Path(__file__).parent))
from fuzzing import NoSanitizer, fuzz
from hostile import NAMES, hostile

MOST = 0.25  # seconds of the processor a megabyte, on a machine that does other things, too: the slowest takes a fifth


def seconds(raw: bytes) -> float:
    begin = time.process_time()
    Reader().read([raw], Vocabulary())
    return time.process_time() - begin


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("megabytes", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_time_is_linear_and_short(name: str, megabytes: int) -> None:
    raw = hostile(name, megabytes * 1_000_000)
    assert any(seconds(raw) < MOST * megabytes for _ in range(3))


@pytest.mark.slow
def test_mutated_messages_are_read() -> None:
    try:
        number, failure = fuzz(seconds=5, seed=1)
    except NoSanitizer as error:
        pytest.skip(str(error))
    assert failure == "" and number > 100
