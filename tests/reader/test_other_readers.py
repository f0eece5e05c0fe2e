"""Python's email, Email::MIME and GMime as oracles: a text that two of them find is found."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from spamnb.reader.message import parse

sys.path.insert(0, str(Path(__file__).parent))
from structures import Structures, read_by_others


def read_all(seed: int, is_damaged: bool) -> Iterator[tuple[bytes, str, int, bool]]:
    """Yield messages with a word of each, the number of other readers that find it, and whether it is found."""
    structures = Structures(seed)
    messages, words = [], []
    for _ in range(600):
        raw = structures.message()
        messages.append(structures.damage(raw) if is_damaged else raw)
        words.append(structures.words)
    readings = read_by_others(messages)
    for number, raw in enumerate(messages):
        message = parse(raw)
        text = "\n".join([*message.texts, message.doubtful])
        for word in words[number]:
            yield raw, word, sum(word.encode() in reading[number] for reading in readings), word in text


@pytest.mark.parametrize("seed", [56, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(57, 62))])
def test_a_text_that_two_readers_find_is_found(seed: int) -> None:
    n_found = n_texts = 0
    for raw, word, n_readers, is_found in read_all(seed, is_damaged=False):
        n_texts += 1
        n_found += is_found
        assert n_readers < 2 or is_found, (word, raw.decode("latin-1"))
    assert n_found > 0.98 * n_texts


@pytest.mark.parametrize("seed", [4001, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4002, 4006))])
def test_of_texts_in_damaged_messages_nearly_all_that_two_readers_find_are_found(seed: int) -> None:
    texts = list(read_all(seed, is_damaged=True))
    missed = [(raw, word) for raw, word, n_readers, is_found in texts if n_readers >= 2 and not is_found]
    assert len(missed) <= len(texts) / 1000, missed
