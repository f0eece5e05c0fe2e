"""learned.py: rows as SQLite gives them, and rows that somebody damaged."""

from __future__ import annotations

import json
import sqlite3

import pytest

from spamnb.errors import Damaged
from spamnb.formulas.calibration import BINS
from spamnb.store.learned import LESSONS, MESSAGES, LearnedMessage, are_bins, read_lessons, read_messages

ONE, TWO = b"1" * 16, b"2" * 16


def test_what_the_queries_find_is_what_was_written() -> None:
    file = sqlite3.connect(":memory:")
    file.executescript("""
        CREATE TABLE classes (id INTEGER PRIMARY KEY, name);
        CREATE TABLE messages (digest, class, taught, bins);
        CREATE TABLE lessons (identity, digest, tokens);
        INSERT INTO classes VALUES (1, 'ham'), (2, 'spam');
    """)
    file.execute("INSERT INTO messages VALUES (?, 2, 1, NULL), (?, 1, 0, ?)", (ONE, TWO, json.dumps({"ham": BINS - 1})))
    file.execute("INSERT INTO lessons VALUES (?, ?, ?)", (ONE, TWO, json.dumps({"tea": 2})))
    assert read_messages(file.execute(MESSAGES)) == [
        (ONE, LearnedMessage("spam", True, None)),
        (TWO, LearnedMessage("ham", False, {"ham": BINS - 1})),
    ]
    assert read_lessons(file.execute(LESSONS)) == [(ONE, TWO, {"tea": 2})]
    file.execute("DELETE FROM classes WHERE name = 'ham'")
    with pytest.raises(Damaged, match="class in table messages: None"):
        read_messages(file.execute(MESSAGES))
    file.close()


@pytest.mark.parametrize(
    "column, row",
    [
        ("digest", (b"short", "ham", 1, None)),
        ("class", (ONE, "a\nb", 1, None)),
        ("taught", (ONE, "ham", 2, None)),
        ("taught", (ONE, "ham", -1, None)),
        ("bins", (ONE, "ham", 1, "{")),
        ("bins", (ONE, "ham", 1, json.dumps({"ham": BINS}))),
        ("bins", (ONE, "ham", 1, json.dumps(["ham", "x" * 1000]))),
    ],
)
def test_a_damaged_message_is_told_by_its_column(column: str, row: tuple) -> None:
    with pytest.raises(Damaged, match=f"^{column} in table messages: .{{1,40}}$"):
        read_messages([(TWO, "ham", 1, None), row])


@pytest.mark.parametrize(
    "column, row",
    [
        ("identity", (None, TWO, '{"tea": 2}')),
        ("digest", (ONE, "2" * 16, '{"tea": 2}')),
        ("tokens", (ONE, TWO, '{"tea": 0}')),
    ],
)
def test_a_damaged_lesson_is_told_by_its_column(column: str, row: tuple) -> None:
    with pytest.raises(Damaged, match=f"^{column} in table lessons: "):
        read_lessons([(ONE, TWO, '{"tea": 2}'), row])


def test_bins_are_places_in_the_calibration_by_class() -> None:
    good = [{}, {"ham": 0}, {"ham": 0, "spam": BINS - 1}]
    bad = [None, [], [["ham", 0]], {"": 0}, {"ham": -1}, {"ham": BINS}, {"ham": 1.0}, {"ham": True}, {"ham": None}]
    assert [are_bins(value) for value in good + bad] == [True] * len(good) + [False] * len(bad)
