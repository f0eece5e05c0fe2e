"""Parquet tables as pandas and pyarrow write them, and what is none."""

import datetime
import random
import sys
import tracemalloc
from pathlib import Path

import pandas
import pyarrow
import pytest
from pyarrow import parquet

from spamnb.errors import SpamnbError
from spamnb.sources import tables
from spamnb.sources.one_class import ReadOptions, unlabelled
from spamnb.sources.spec import entries

ROWS = [("ham", "tea, at\nfour"), ("spam", 'a "prize"'), ("ham", "naïve ☕"), ("spam", ";,\t")]


def read(path: Path, told: list[str] | None = None, **options: str) -> list[tuple[str | None, str]]:
    def report(name: str, error: Exception) -> None:
        assert told is not None, f"{name}: {error}"
        told.append(f"{name.removeprefix(str(path))} {error}")

    found = entries([str(path)], report, ReadOptions(**options))  # type: ignore[arg-type]
    return [(entry.label, entry.read().decode()[1:-1]) for entry in found]


def write(path: Path, columns: dict[str, object], **options: object) -> Path:
    parquet.write_table(pyarrow.table(columns), path, **options)
    return path


@pytest.mark.parametrize("kind", ["object", "category", "string[pyarrow]"])
@pytest.mark.parametrize("compression", ["snappy", "gzip", "zstd", None])
def test_what_pandas_writes_is_read(tmp_path: Path, kind: str, compression: str | None) -> None:
    frame = pandas.DataFrame(ROWS, columns=["label", "text"]).astype(kind)
    frame["number"] = range(len(frame))
    frame.to_parquet(tmp_path / "a.parquet", compression=compression)
    assert read(tmp_path / "a.parquet") == ROWS
    assert [entry.label for entry in unlabelled([str(tmp_path / "a.parquet")], pytest.fail)] == [None] * 4


@pytest.mark.parametrize("kind", [pyarrow.string(), pyarrow.large_string(), pyarrow.binary(), pyarrow.large_binary()])
def test_every_type_of_text_is_text(tmp_path: Path, kind: pyarrow.DataType) -> None:
    said = pyarrow.array([text.encode() for _, text in ROWS], pyarrow.binary()).cast(kind)
    path = write(tmp_path / "a.parquet", {"said": said, "spam": [False, True, False, True]})
    assert read(path, text_column="said") == ROWS
    assert read(path, text_column="1", label_column="2") == ROWS


def test_many_row_groups_are_read_in_order_and_numbered(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", {"text": [f"t{n}" for n in range(3000)]}, row_group_size=700)
    found = list(unlabelled([str(path)], pytest.fail))
    assert [entry.read() for entry in found] == [b"\nt%d\n" % n for n in range(3000)]
    assert found[-1].name == f"{path}:3000"


def test_rows_without_a_message_are_told(tmp_path: Path) -> None:
    said = pyarrow.array([b"a", None, b"\xff", b"x" * ((1 << 20) + 1), b" ", b"b"], pyarrow.binary())
    path = write(tmp_path / "a.parquet", {"text": said, "label": ["ham", "ham", "spam", "ham", "ham", None]})
    told: list[str] = []
    assert read(path, told) == [("ham", "a"), ("spam", "\ufffd")]
    assert told == [
        ":2 no text under 'text'",
        ":4 a text that is too long",
        ":5 no text in this row",
        ":6 no class under 'label'",
    ]


def test_all_cells_are_kept_as_text(tmp_path: Path) -> None:
    columns = {
        "when": [datetime.date(2024, 5, 1), None],
        "text": ["a", "b"],
        "part": [1.5, None],
        "list": [["é", None], []],
        "spam": [True, False],
    }
    path = write(tmp_path / "a.parquet", columns)
    names, rows = tables.table_with_cells(str(path), tables.Columns(), pytest.fail)
    assert names == [*columns]
    assert [cells for _, cells in rows] == [
        ["2024-05-01", "a", "1.5", '["é", null]', "true"],
        ["", "b", "", "[]", "false"],
    ]


def test_a_text_that_a_few_bytes_repeat_takes_little_memory(tmp_path: Path) -> None:
    """50,000 rows of one text of half a mebibyte: 25 GB out of a file of a few hundred kilobytes."""
    same = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 50_000, pyarrow.int32()), ["y" * (1 << 19)])
    path = write(tmp_path / "a.parquet", {"text": same}, compression="gzip")
    assert path.stat().st_size < 1 << 20
    before = pyarrow.total_allocated_bytes()
    tracemalloc.start()
    for number, _ in enumerate(unlabelled([str(path)], pytest.fail)):
        assert pyarrow.total_allocated_bytes() - before < 1 << 30
        if number == 1000:
            break
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 29


def test_what_is_no_parquet_is_one_line(tmp_path: Path) -> None:
    good = write(tmp_path / "a.parquet", {"text": ["a"] * 99, "label": ["ham"] * 99}).read_bytes()
    dice = random.Random(1)
    path = tmp_path / "b.parquet"
    for number in range(300):
        broken = bytearray(good)
        for _ in range(1 + number % 5):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        path.write_bytes(b"PAR1" if not number else good[: -dice.randrange(1, 300)] if number < 30 else bytes(broken))
        try:
            told: list[str] = []
            read(path, told)
            said = told
        except SpamnbError as error:
            said = [str(error)]
        assert all(line.isprintable() and len(line) < 600 for line in said), said


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    one = pyarrow.array(["a"])
    parquet.write_table(pyarrow.Table.from_arrays([one, one], names=["text", "text"]), tmp_path / "a.parquet")
    with pytest.raises(SpamnbError, match="two columns of one name"):
        next(unlabelled([str(tmp_path / "a.parquet")], pytest.fail))


def test_without_pyarrow_the_refusal_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.parquet", {"text": ["a"]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(SpamnbError, match=r"pip install pyarrow"):
        next(unlabelled([str(path)], pytest.fail))


@pytest.mark.parametrize("kind", [pyarrow.binary(), pyarrow.large_binary(), pyarrow.string()])
def test_a_column_of_raw_messages_holds_mail_with_its_headers(tmp_path: Path, kind: object) -> None:
    raw = [b"Subject: tea\r\n\r\nAt four?\r\n", b"Subject: pills\n\ncheap\n"]
    held = pyarrow.array([*raw, None], pyarrow.binary()).cast(kind)
    path = write(tmp_path / "a.parquet", {"label": ["ham", "spam", "ham"], "raw": held})
    told: list[str] = []
    found = list(entries([str(path)], lambda name, error: told.append(f"{name} {error}")))
    assert [entry.read() for entry in found] == raw and told == [f"{path}:3 no text under 'raw'"]


def test_a_raw_message_keeps_its_bytes_and_text_beside_it_is_a_doubt(tmp_path: Path) -> None:
    raw = b"Subject: x\nContent-Type: text/plain; charset=latin-1\n\nna\xefve\n"
    columns: dict[str, object] = {"label": ["ham"], "rfc822": pyarrow.array([raw], pyarrow.binary())}
    (entry,) = entries([str(write(tmp_path / "a.parquet", columns))], pytest.fail)
    assert entry.read() == raw
    both = write(tmp_path / "b.parquet", {**columns, "text": ["tea"]})
    with pytest.raises(SpamnbError, match="several columns could hold the text"):
        list(entries([str(both)], pytest.fail))
    assert read(both, text_column="text") == [("ham", "tea")]
