"""The words report as text: it keeps to the terminal's width and loses nothing for it."""

import pytest

from spamnb.api.words import WordsReport
from spamnb.counts.top_words import TellingWord, Word


@pytest.mark.parametrize("width", [42, 80, 1000])
@pytest.mark.parametrize("classes", [1, 2, 20])
def test_every_class_is_there_within_the_width(classes: int, width: int) -> None:
    likeliest = {f"class.number.{c}": [Word(f"word{c}x{i}", 0.5) for i in range(3)] for c in range(classes)}
    made = WordsReport(likeliest, [TellingWord(f"telling{i}", 0.25, f"class{i}") for i in range(3)])
    text = made.text(width)
    assert max(map(len, text.splitlines())) <= width
    cells = text.split()
    assert cells.count("bits") == 1 and cells.count("0.250") == 3
    for c in range(classes):
        assert cells.count(f"class.number.{c}") == 1 and all(f"word{c}x{i}" in cells for i in range(3))
    for i in range(3):
        at = cells.index(f"telling{i}")
        assert cells[at + 1 : at + 3] == ["0.250", f"class{i}"]


def test_two_classes_make_one_table_where_they_fit() -> None:
    likeliest = {"ham": [Word("lunch", 0.5)], "spam": [Word("url:\x1b[31mx", 0.75), Word("pills", 0.5)]}
    made = WordsReport(likeliest, [])
    assert made.text(80).splitlines() == [
        "ham        p  spam               p",
        "lunch  0.500  url:\\x1b[31mx  0.750",
        "              pills          0.500",
    ]
    assert len(made.text(20).splitlines()) == 2 + 1 + 3


def test_other_programs_get_the_class_of_each_telling_word() -> None:
    made = WordsReport({"ham": [Word("lunch", 0.5)]}, [TellingWord("pills", 0.25, "spam")])
    assert made.to_dict() == {
        "likeliest": {"ham": [{"token": "lunch", "probability": 0.5}]},
        "informative": [{"token": "pills", "bits": 0.25, "class": "spam"}],
    }
