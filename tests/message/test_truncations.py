from __future__ import annotations

import re
from pathlib import Path

import spamnb.message
from spamnb.message.truncations import KINDS, what_was_cut


def test_whatever_is_cut_is_of_a_known_kind() -> None:
    folder = Path(next(iter(spamnb.message.__path__)))
    source = "".join(path.read_text() for path in [*folder.glob("*.py"), *folder.glob("*.pyx")])
    said = re.findall(r"truncations\.append\(\s*f?\"([^\"]+)\"", source)
    assert len(said) == len(re.findall(r"truncations\.append\(", source)) > 5
    known = {words.partition(" ")[0] for words in said} - {"{kind}"}  # PDF, TNEF
    assert known <= KINDS.keys()


def test_a_cut_of_no_known_kind_is_still_one() -> None:
    assert what_was_cut("something else") == "other"
