"""database.py: what rows may hold, and nothing else."""

from __future__ import annotations

import pytest

from spamnb.errors import Damaged
from spamnb.store import database as checks


@pytest.mark.parametrize("value", [None, True, 1.0, "1", b"1", -1, 10])
def test_whole_numbers_are_numbers_in_their_bounds(value: object) -> None:
    assert checks.checked_rows("t", [(0,), (9,)], n=checks.int_between(9)) == [(0,), (9,)]
    with pytest.raises(Damaged, match="n in table t: "):
        checks.checked_rows("t", [(0,), (value,)], n=checks.int_between(9))


def test_what_is_told_is_short_and_printable() -> None:
    with pytest.raises(Damaged) as error:
        checks.checked_rows("t", [("\x1b[2J" * 100,)], name=checks.is_class_name)
    assert str(error.value).isprintable() and len(str(error.value)) < 80


@pytest.mark.parametrize("row", [(1, 2.5), (1, "2"), (1, None), (1, b""), (1, -(1 << 63)), (1, (1 << 63) - 1)])
def test_figures_are_whole_numbers_with_room_to_add(row: tuple[object, ...]) -> None:
    assert checks.int_array("t", [(1, -2), (0, checks.MAX_SUM)]).tolist() == [[1, -2], [0, checks.MAX_SUM]]
    assert checks.int_array("t", []).size == 0
    with pytest.raises(Damaged, match="figures in table t"):
        checks.int_array("t", [(1, 2), row])


BAD = ["", "{", None, b"\xff", "[" * 100_000, "[1]", '{"a": 0}', '{"a": true}', '{"a": "b"}']


@pytest.mark.parametrize("value", BAD)
def test_counted_tokens_are_above_nothing(value: object) -> None:
    assert checks.token_counts("t", "c", '{"a": 2}') == {"a": 2}
    with pytest.raises(Damaged, match="c in table t: "):
        checks.token_counts("t", "c", value)


def test_digests_have_sixteen_bytes() -> None:
    assert [checks.is_digest(value) for value in (b"0" * 16, b"0" * 15, "0" * 16, None)] == [True, False, False, False]
