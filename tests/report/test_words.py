"""The words report as text: it keeps to the terminal's width and loses nothing for it."""

from __future__ import annotations

import pytest

from spamnb.counts.top_words import TopWords, Word
from spamnb.report.words import words_text


def report(classes: int) -> TopWords:
    likeliest = {f"class.number.{c}": [Word(f"word{c}x{i}", 0.5) for i in range(3)] for c in range(classes)}
    return TopWords(likeliest, [Word(f"telling{i}", 0.25) for i in range(3)])


@pytest.mark.parametrize("width", [40, 80, 100, 1000])
@pytest.mark.parametrize("classes", [1, 2, 20])
def test_every_class_is_there_within_the_width(classes: int, width: int) -> None:
    text = words_text(report(classes), width)
    assert max(map(len, text.splitlines())) <= width
    cells = text.split()
    for c in range(classes):
        assert cells.count(f"class.number.{c}") == 1
        assert all(f"word{c}x{i}" in cells for i in range(3))
    assert cells.count("0.250") == 3
    assert cells.count("bits") == 1


def test_two_classes_make_one_table_where_they_fit() -> None:
    assert len(words_text(report(2), 80).splitlines()) == 4
    assert len(words_text(report(2), 20).splitlines()) == 3 * 4 + 2


def test_control_characters_are_shown_as_escapes() -> None:
    text = words_text(TopWords({"spam": [Word("url:\x1b[31mx", 0.5)]}, [Word("\x9bm", 0.5)]), 80)
    assert "\\x1b[31mx" in text
    assert all(line.isprintable() for line in text.split("\n"))
