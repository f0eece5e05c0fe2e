"""Copies under different labels, against a dictionary of what was counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from mail import message, never

from spamnb.counts.copies import in_several_classes
from spamnb.engines.counting import count_parallel
from spamnb.sources.entries import Entry
from spamnb.tokens.tokenizer import TokenOptions


@pytest.mark.parametrize("workers", [1, 2])
def test_every_copy_of_what_stands_in_several_classes_is_found(tmp_path: Path, workers: int) -> None:
    labels = ["ham", "spam", "list"]
    entries = [
        Entry(labels[(n % 7) % 3] if n % 5 else "ham", str(n), "", content=message("ham", n % 50)) for n in range(200)
    ]
    expected: dict[int, list[tuple[int, str]]] = {}
    for place, entry in enumerate(entries):
        expected.setdefault(place % 50, []).append((place, str(entry.label)))
    clashing = [copies for copies in expected.values() if len({label for _, label in copies}) > 1]
    assert 0 < len(clashing) < 50
    training_set = count_parallel(entries, TokenOptions(), tmp_path, never, workers=workers)
    assert in_several_classes(training_set) == sorted(clashing)


def test_copies_of_one_class_and_no_mail_at_all_are_none(tmp_path: Path) -> None:
    entries = [Entry("ham", str(n), "", content=message("ham", n % 3)) for n in range(9)]
    assert in_several_classes(count_parallel(entries, TokenOptions(), tmp_path, never)) == []
    assert in_several_classes(count_parallel([], TokenOptions(), tmp_path, never)) == []
