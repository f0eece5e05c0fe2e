"""Tables of text against the standard library's readers and writers."""

import csv
import gzip
import io
import json
import tracemalloc
from pathlib import Path

import pytest

from spamnb.errors import SpamnbError
from spamnb.sources import tables
from spamnb.sources.one_class import ReadOptions, unlabelled
from spamnb.sources.spec import entries

Found = list[tuple[str | None, str, str]]


def read(path: Path, told: list[str] | None = None, **options: str) -> Found:
    def report(name: str, error: Exception) -> None:
        if told is None:
            pytest.fail(f"{name}: {error}")
        told.append(f"{name.removeprefix(str(path))} {error}")

    found = entries([str(path)], report, ReadOptions(**options))  # type: ignore[arg-type]
    return [(e.label, e.name.removeprefix(str(path)), e.read().decode()[1:-1]) for e in found]


def test_kaggles_table_is_latin_1_and_its_header_no_message(tmp_path: Path) -> None:
    path = tmp_path / "spam.csv"
    path.write_bytes(
        b'v1,v2,,,\r\nham,"Go until jurong point, crazy..",,,\r\nspam,WIN \xa31000 now!,,,\r\n'
        b'ham,"He said ""hi""\nand left",,,\r\nham,ok,and more," in other",cells\r\n'
    )
    assert read(path) == [
        ("ham", ":2", "Go until jurong point, crazy.."),
        ("spam", ":3", "WIN £1000 now!"),
        ("ham", ":4", 'He said "hi"\nand left'),
        ("ham", ":6", "ok"),
    ]
    assert [entry.label for entry in unlabelled([str(path)], pytest.fail)] == [None] * 4
    with pytest.raises(SpamnbError, match="a table, whose rows have classes of their own; write"):
        entries([f"spam={path}"], pytest.fail)


def test_what_the_standard_library_writes_is_read(tmp_path: Path) -> None:
    rows = [("ham", "tea, at\nfour"), ("spam", 'a "prize"'), ("ham", "naïve ☕"), ("spam", ";,\t")]
    for delimiter, name in ((",", "a.csv"), (";", "b.csv"), ("\t", "c.CSV.gz")):
        out = io.StringIO()
        writer = csv.writer(out, delimiter=delimiter)
        writer.writerows([("id", "Message", "Category"), *((n, text, label) for n, (label, text) in enumerate(rows))])
        raw = out.getvalue().encode("utf-8-sig")
        (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
        assert [(label, text) for label, _, text in read(tmp_path / name)] == rows
    path = tmp_path / "d.jsonl"
    lines = (json.dumps({"n": n, "text": text, "label": label}) for n, (label, text) in enumerate(rows))
    path.write_text("\n".join(lines))
    assert [(label, text) for label, _, text in read(path)] == rows


def test_tabs_have_no_quotes_that_swallow_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text('label\ttext\nham\t"Hi, she said\nspam\t"all ""yours"""\nham\ta\tb\nham\n')
    told: list[str] = []
    assert read(path, told) == [("ham", ":2", '"Hi, she said'), ("spam", ":3", 'all "yours"')]
    assert told == [":4 3 columns where the first row has 2", ":5 only 1 columns"]
    path.write_text("ham\thello\nspam\tWIN\n")  # as before: label TAB text
    assert read(path) == [("ham", ":1", "hello"), ("spam", ":2", "WIN")]


def test_a_header_in_a_file_of_label_tab_text_is_no_class(tmp_path: Path) -> None:
    path = tmp_path / "sms.txt"
    path.write_text("label\ttext\nham\thello\nlabel\ttext\n")
    assert read(path) == [("ham", ":2", "hello"), ("label", ":3", "text")]


def test_columns_are_asked_for_where_there_is_doubt(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,message,kind\na,b,ham\nc,d,spam\n")
    with pytest.raises(SpamnbError, match=r"several columns could hold the text \(columns: text, message, kind\)"):
        read(path)
    with pytest.raises(SpamnbError, match="no column's name says that it holds the label"):
        read(path, text_column="text")
    with pytest.raises(SpamnbError, match="no column 'subject' beside text, message, kind"):
        read(path, text_column="subject", label_column="kind")
    expected = [("ham", ":2", "b"), ("spam", ":3", "d")]
    assert read(path, text_column="message", label_column="kind") == expected
    assert read(path, text_column="2", label_column="3") == expected
    path.write_text("1,ham,hello\n2,spam,WIN\n")
    assert read(path, text_column="3", label_column="2") == [("ham", ":1", "hello"), ("spam", ":2", "WIN")]


def test_a_column_called_spam_holds_yes_or_no(tmp_path: Path) -> None:
    path = tmp_path / "emails.csv"
    path.write_text("text,spam\nSubject: buy,1\nSubject: tea,0\n")
    assert [(label, text) for label, _, text in read(path)] == [("spam", "Subject: buy"), ("ham", "Subject: tea")]
    path = tmp_path / "emails.jsonl"
    path.write_text('{"text": "buy", "is_spam": true}\n{"text": "tea", "is_spam": 0}\n')
    assert [label for label, _, _ in read(path)] == ["spam", "ham"]


def test_rows_without_a_message_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    deep = "[" * 100_000
    path.write_text(
        '{"text": "a", "label": "ham"}\n[1]\n{"text": 1, "label": "ham"}\n{"text": "b"}\n'
        '{"label": "ham", "text": " "}\n'
        f'{deep}\n{{"text": "c", "label": "unsure"}}\n{{"text": "d\\ud800", "label": "ham", "n": {"9" * 9999}}}\n'
        '{"text": "e\\ud800", "label": "ham"}\n'
    )
    told: list[str] = []
    assert read(path, told) == [("ham", ":1", "a"), ("ham", ":9", "e?")]
    assert [line.split()[0] for line in told] == [":2", ":3", ":4", ":5", ":6", ":7", ":8"]


@pytest.mark.parametrize(
    ("name", "raw", "what"),
    [
        ("a.jsonl", b"{\n" * 99, "no object of JSON in its first 20 lines"),
        ("a.jsonl", b"[1]\n", "no object of JSON in this line"),
        ("a.csv", "text,label\n".encode("utf-16"), "UTF-16"),
        ("a.csv", b"x" * (5 << 20), "more than 4 MiB"),
        ("a.csv", b"\x1f\x8bbroken", "broken gzip data"),
        ("a.csv", b"From: a\n\nhello\n", "no column's name"),
    ],
)
def test_what_is_no_table_is_one_line(tmp_path: Path, name: str, raw: bytes, what: str) -> None:
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(SpamnbError, match=what) as refused:
        read(tmp_path / name)
    assert str(refused.value).isprintable() and len(str(refused.value)) < 300 + len(str(tmp_path))


def test_a_quote_that_is_never_closed_takes_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_ROW", 1 << 18)
    monkeypatch.setattr(tables, "MAX_FIELD", 1 << 17)
    path = tmp_path / "a.csv"
    for opened in (b"ham," + b"x" * 50 + b"\n", b'a\n","' * 9):  # one field without end; fields without end
        path.write_bytes(b"label,text\nham,one\n" + b'"' + opened * 40_000)
        told: list[str] = []
        tracemalloc.start()
        found = read(path, told)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found[0] == ("ham", ":2", "one") and "the rest of the table" in told[-1]
        assert peak < 20 << 20


def test_an_empty_table_has_no_messages(tmp_path: Path) -> None:
    for name in ("a.csv", "a.tsv", "a.jsonl"):
        (tmp_path / name).write_bytes(b"\n")
        assert read(tmp_path / name) == []


def test_all_cells_are_kept_where_they_are_asked_for(tmp_path: Path) -> None:
    lines = [{"text": "a", "n": 1}, [], {"text": "b", "more": [True, None, "é"]}, {"n": 2, "text": "c", "x": "=1\n"}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "b.csv").write_text("id,message,,\n1,hello\n2,bye,x,y\n3,no,x,y,z\n4,,,\n")
    (tmp_path / "c.tsv").write_text("ham\thello\nspam\tWIN\t!\n")

    def cells(name: str, **columns: str) -> tuple[list[str], list[list[str]], list[str]]:
        told: list[str] = []
        path = str(tmp_path / name)
        asked = tables.Columns(**columns)
        names, rows = tables.table_with_cells(path, asked, lambda name, error: told.append(str(error)))
        return names, [cells for _, cells in rows], told

    assert cells("a.jsonl") == (
        ["text", "n"],
        [["a", "1"], ["b", ""], ["c", "2"]],
        ["no object of JSON in this line"],
    )
    told = ["5 columns where the first row has 4", "no text in this row"]
    assert cells("b.csv") == (["id", "message", "", ""], [["1", "hello", "", ""], ["2", "bye", "x", "y"]], told)
    told = ["3 columns where the first row has 2"]
    assert cells("c.tsv", text="2") == (["column_1", "column_2"], [["ham", "hello"]], told)
