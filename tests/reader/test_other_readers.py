"""Python's email, Email::MIME and GMime as oracles: a text that two of them find is found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from spamnb.reader.message import parse

sys.path.insert(0, str(Path(__file__).parent))
from structures import Structures, read_by_others


@pytest.mark.parametrize("seed", [56, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(57, 62))])
def test_a_text_that_two_readers_find_is_found(seed: int) -> None:
    structures = Structures(seed)
    messages, words = [], []
    for _ in range(600):
        messages.append(structures.message())
        words.append(structures.words)
    readings = read_by_others(messages)
    n_found = n_texts = 0
    for number, raw in enumerate(messages):
        message = parse(raw)
        text = "\n".join([*message.texts, message.doubtful])
        for word in words[number]:
            n_readers = sum(word.encode() in reading[number] for reading in readings)
            n_texts += 1
            n_found += word in text
            assert n_readers < min(2, len(readings)) or word in text, (word, raw.decode("latin-1"))
    assert n_found > 0.98 * n_texts
