"""No message takes much longer than others of its size."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from spamnb.reader.message import Reader, Vocabulary

sys.path.insert(0, str(Path(__file__).parent))
from hostile import MESSAGES

MOST = 0.25  # seconds of the processor a megabyte, on a machine that does other things, too


@pytest.mark.parametrize("name", MESSAGES)
def test_time_is_bounded(name: str) -> None:
    message = MESSAGES[name]
    reader = Reader()
    taken = []
    for _ in range(3):
        begin = time.process_time()
        reader.read([message], Vocabulary())
        taken.append(time.process_time() - begin)
    assert min(taken) < MOST * max(len(message) / 1e6, 0.2)


@pytest.mark.parametrize("name", MESSAGES)
def test_parse_survives(name: str) -> None:
    message = Reader().parse(MESSAGES[name])
    assert len(message.digest) == 16 and len(message.parts) >= 1
