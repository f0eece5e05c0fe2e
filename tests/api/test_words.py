"""The words report as text: it keeps to the terminal's width and loses nothing for it."""

import pytest

from spamnb.api.words import WordShares, WordsReport
from spamnb.model.top_words import InformativeWord, Word


@pytest.mark.parametrize("width", [42, 80])
def test_every_class_is_there_within_the_width(width: int) -> None:
    likeliest = {f"class.number.{c}": [Word(f"word{c}x{i}", 0.5) for i in range(3)] for c in range(20)}
    text = WordsReport(likeliest, [InformativeWord("telling", 0.25, "class3")]).text(width)
    assert max(map(len, text.splitlines())) <= width
    assert {*likeliest, *(f"word{c}x{i}" for c in range(20) for i in range(3)), "telling", "class3"} <= {*text.split()}


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
    made = WordsReport({"ham": [Word("lunch", 0.5)]}, [InformativeWord("pills", 0.25, "spam")])
    assert made.to_dict() == {
        "likeliest": {"ham": [{"token": "lunch", "probability": 0.5}]},
        "informative": [{"token": "pills", "bits": 0.25, "class": "spam"}],
    }


def test_a_report_without_a_word_has_a_representation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "1")
    report = WordsReport({"ham": []}, [])
    assert repr(report) == f"<WordsReport: {str(report).strip()}>"


def test_a_notebook_shows_the_words_of_many_classes_below_one_another() -> None:
    report = WordsReport(
        {f"class{c}": [Word(f"word{c}", 0.5)] for c in range(6)}, [InformativeWord("x", 0.1, "class1")]
    )
    parts = report._repr_html_().split("<table>")[1:]
    assert [part.count("<th>") for part in parts] == [8, 7]
    assert all(f"word{c}" in parts[c // 4] for c in range(6))


def test_the_heads_of_shares_are_above_them_also_for_long_names() -> None:
    report = WordShares("free", {"comp.graphics": 9, "ham": 2}, {"free": {"comp.graphics": 0.5, "ham": 0.25}})
    assert str(report).splitlines() == ["comp.graphics      ham", "         50 %     25 %  free"]
