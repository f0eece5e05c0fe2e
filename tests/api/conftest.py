"""Texts whose class can be told, and some mail."""

import numpy as np
import pytest

WORDS = {"ham": "lunch noon meeting minutes report tea garden", "spam": "cheap pills offer prize click win free"}


@pytest.fixture(scope="session")
def texts() -> list[str]:
    chance = np.random.default_rng(7)
    both = [list(chance.choice(words.split(), 4)) for _ in range(40) for words in WORDS.values()]
    return [f"{' '.join(words)} {number}" for number, words in enumerate(both)]


@pytest.fixture(scope="session")
def labels(texts: list[str]) -> list[str]:
    return ["ham", "spam"] * (len(texts) // 2)
