"""The table of letters that look Latin is that of Unicode, as the library ICU has it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from spamnb.reader.look_alikes import LOOK_ALIKES

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
from build_look_alikes import look_alikes


@pytest.mark.slow
def test_the_table_is_that_of_unicode() -> None:
    try:
        expected = look_alikes()
    except SystemExit as error:
        pytest.skip(str(error))
    found = dict(line.split(" ", 1) for line in LOOK_ALIKES.strip().split("\n"))
    n_common = sum(len(set(found[letter]) & set(chars)) for letter, chars in expected.items())
    assert n_common > 0.95 * max(len("".join(expected.values())), len("".join(found.values())))  # of any version of ICU
