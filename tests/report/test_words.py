"""The words report as text: it keeps to the terminal's width and loses nothing for it."""

import json

import pytest

from spamnb.counts.top_words import TellingWord, TopWords, Word
from spamnb.report.words import words_csv, words_record, words_text


def report(classes: int) -> TopWords:
    likeliest = {f"class.number.{c}": [Word(f"word{c}x{i}", 0.5) for i in range(3)] for c in range(classes)}
    return TopWords(likeliest, [TellingWord(f"telling{i}", 0.25, f"class{i}") for i in range(3)])


@pytest.mark.parametrize("width", [42, 80, 100, 1000])
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
    for line in (line.split() for line in text.splitlines() if "telling" in line):
        at = next(at for at, cell in enumerate(line) if cell.startswith("telling"))
        assert line[at + 1 : at + 3] == ["0.250", line[at].replace("telling", "class")]


def test_two_classes_make_one_table_where_they_fit() -> None:
    assert len(words_text(report(2), 80).splitlines()) == 4
    assert len(words_text(report(2), 20).splitlines()) == 3 * 4 + 2


def test_control_characters_are_shown_as_escapes() -> None:
    text = words_text(TopWords({"spam": [Word("url:\x1b[31mx", 0.5)]}, [TellingWord("\x9bm", 0.5, "spam")]), 80)
    assert "\\x1b[31mx" in text
    assert all(line.isprintable() for line in text.split("\n"))


def test_other_programs_get_the_class_of_each_telling_word() -> None:
    made = TopWords({"ham": [Word("lunch", 0.5)], "spam": [Word("pills", 0.75)]}, [TellingWord("pills", 0.25, "spam")])
    assert json.loads(json.dumps(words_record(made))) == {
        "likeliest": {
            "ham": [{"token": "lunch", "probability": 0.5}],
            "spam": [{"token": "pills", "probability": 0.75}],
        },
        "informative": [{"token": "pills", "bits": 0.25, "class": "spam"}],
    }
    assert words_csv(made).splitlines() == [
        "list,rank,token,value,class",
        "ham,1,lunch,0.5,ham",
        "spam,1,pills,0.75,spam",
        "mutual information,1,pills,0.25,spam",
    ]


def test_where_nothing_tells_there_is_no_column_for_it() -> None:
    assert words_text(TopWords({"ham": [Word("lunch", 0.5)]}, []), 80) == "ham        p\nlunch  0.500\n"
