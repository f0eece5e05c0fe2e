"""The words report as text: it keeps to the terminal's width and loses nothing for it."""

import json

import pytest

from spamnb.api.words import WordsReport
from spamnb.counts.top_words import TellingWord, Word


def report(classes: int) -> WordsReport:
    likeliest = {f"class.number.{c}": [Word(f"word{c}x{i}", 0.5) for i in range(3)] for c in range(classes)}
    return WordsReport(likeliest, [TellingWord(f"telling{i}", 0.25, f"class{i}") for i in range(3)])


@pytest.mark.parametrize("width", [42, 80, 100, 1000])
@pytest.mark.parametrize("classes", [1, 2, 20])
def test_every_class_is_there_within_the_width(classes: int, width: int) -> None:
    text = report(classes).text(width)
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
    assert len(report(2).text(80).splitlines()) == 4
    assert len(report(2).text(20).splitlines()) == 3 * 4 + 2


def test_control_characters_are_shown_as_escapes() -> None:
    text = WordsReport({"spam": [Word("url:\x1b[31mx", 0.5)]}, [TellingWord("\x9bm", 0.5, "spam")]).text(80)
    assert "\\x1b[31mx" in text
    assert all(line.isprintable() for line in text.split("\n"))


def test_other_programs_get_the_class_of_each_telling_word() -> None:
    likeliest = {"ham": [Word("lunch", 0.5)], "spam": [Word("pills", 0.75)]}
    made = WordsReport(likeliest, [TellingWord("pills", 0.25, "spam")])
    assert json.loads(json.dumps(made.to_dict())) == {
        "likeliest": {
            "ham": [{"token": "lunch", "probability": 0.5}],
            "spam": [{"token": "pills", "probability": 0.75}],
        },
        "informative": [{"token": "pills", "bits": 0.25, "class": "spam"}],
    }
    assert made.to_csv().splitlines() == [
        "list,rank,token,value,class",
        "ham,1,lunch,0.5,ham",
        "spam,1,pills,0.75,spam",
        "mutual information,1,pills,0.25,spam",
    ]


def test_where_nothing_tells_there_is_no_column_for_it() -> None:
    assert WordsReport({"ham": [Word("lunch", 0.5)]}, []).text(80) == "ham        p\nlunch  0.500\n"
