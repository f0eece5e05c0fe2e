"""Messages in rows: CSV, TSV and JSON lines as the standard library writes them, label TAB text, TREC indexes."""

import csv
import gzip
import io
import json
import os
import tracemalloc
from pathlib import Path

import pytest
from mail import write_file

from spamnb.errors import SpamnbError
from spamnb.sources import tables
from spamnb.sources.entries import ReadOptions
from spamnb.sources.spec import find_entries, find_labelled_entries

Found = list[tuple[str | None, str, str]]
ROWS = [("ham", "tea, at\nfour"), ("spam", 'a "prize"'), ("ham", "naïve ☕"), ("spam", ";,\t")]


def read(path: Path, told: list[str] | None = None, **options: str) -> Found:
    def report(name: str, error: Exception) -> None:
        assert told is not None, f"{name}: {error}"
        told.append(f"{name.removeprefix(str(path))} {error}")

    found = find_labelled_entries([str(path)], report, ReadOptions(**options))  # type: ignore[arg-type]
    return [(e.label, e.name.removeprefix(str(path)), e.read().decode(errors="replace")[1:-1]) for e in found]


def rows(path: Path, **options: str) -> list[tuple[str | None, str]]:
    return [(label, text) for label, _, text in read(path, **options)]


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
    assert [entry.label for entry in find_entries([str(path)], pytest.fail)] == [None] * 4
    with pytest.raises(SpamnbError, match="a table has a class in each row; write"):
        find_labelled_entries([f"spam={path}"], pytest.fail)


def test_what_the_standard_library_writes_is_read(tmp_path: Path) -> None:
    for delimiter, name in ((",", "a.csv"), (";", "b.csv"), ("\t", "c.CSV.gz")):
        out = io.StringIO()
        writer = csv.writer(out, delimiter=delimiter)
        writer.writerows([("id", "Message", "Category"), *((n, text, label) for n, (label, text) in enumerate(ROWS))])
        raw = out.getvalue().encode("utf-8-sig")
        write_file(tmp_path / name, gzip.compress(raw) if name.endswith("gz") else raw)
        assert rows(tmp_path / name) == ROWS
    lines = (json.dumps({"n": n, "text": text, "label": label}) for n, (label, text) in enumerate(ROWS))
    assert rows(write_file(tmp_path / "d.jsonl", "\n".join(lines).encode())) == ROWS


def test_tabs_have_no_quotes_that_swallow_rows(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.tsv", b'label\ttext\nham\t"Hi, she said\nspam\t"all ""yours"""\nham\ta\tb\nham\n')
    told: list[str] = []
    assert read(path, told) == [("ham", ":2", "Hi, she said"), ("spam", ":3", 'all "yours"')]
    assert told == [":4 3 columns where the first row has 2", ":5 no text in this row"]


def test_label_tab_text(tmp_path: Path) -> None:
    path = write_file(
        tmp_path / "sms.txt",
        b"\n\xef\xbb\xbfham\tSubject: tea?\r\n\nspam\tWIN a \xc2\xa3 prize\tnow\nno label here\n"
        b"ham\t" + b"x" * (1 << 21) + b'\nham\t"last',
    )
    told: list[str] = []
    expected = [("ham", ":2", "Subject: tea?"), ("spam", ":4", "WIN a £ prize\tnow"), ("ham", ":7", '"last')]
    assert read(path, told) == expected
    assert told == [":5 no label TAB text in this line", ":6 the text is too long"]
    write_file(path, b"label\ttext\nham\thello\nlabel\ttext\n")  # a header is no message
    assert read(path) == [("ham", ":2", "hello"), ("label", ":3", "text")]
    with pytest.raises(SpamnbError, match="no label TAB text in this line; for a mailbox or a message write CLASS="):
        find_labelled_entries([str(write_file(path, b"It was a dark and stormy night.\n"))], pytest.fail)


def test_an_index_names_files_relative_to_itself(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        write_file(tmp_path / f"data/inmail.{number}", b"%d" % number)
    write_file(tmp_path / "data/empty", b"")
    path = write_file(
        tmp_path / "full/index",
        b"spam ../data/inmail.3\r\nham ../data/inmail.1\n\nham ../data/empty\nspam ../data/missing\nodd\n"
        b"ham ../data\nunsure ../data/inmail.1\nspam ../data/inmail.2",
    )
    told: list[str] = []
    found = find_labelled_entries([f"index:{path}"], lambda name, error: told.append(os.path.basename(name)))
    assert [(entry.label, entry.read()) for entry in found] == [("spam", b"3"), ("ham", b"1"), ("spam", b"2")]
    assert told == ["index:4", "index:5", "index:6", "index:7", "index:8"]
    words = write_file(tmp_path / "essay", b"It was a dark and stormy night.\n" * 500)
    with pytest.raises(SpamnbError, match=r"none of its 500 files or lines can be read.*; .*essay:1: .*no such file"):
        list(find_labelled_entries([f"index:{words}"], pytest.fail))
    with pytest.raises(SpamnbError, match=r"not a file|(?i:is a directory)"):
        list(find_labelled_entries([f"index:{tmp_path}"], pytest.fail))


def test_columns_are_asked_for_where_there_is_doubt(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.csv", b"text,message,kind\na,b,ham\nc,d,spam\n")
    with pytest.raises(SpamnbError, match=r"several columns may be the text \(columns: text, message, kind\)"):
        read(path)
    with pytest.raises(SpamnbError, match="no column has a usual name of the label"):
        read(path, text_column="text")
    with pytest.raises(SpamnbError, match="no column 'subject'; the columns are text, message, kind"):
        read(path, text_column="subject", label_column="kind")
    expected = [("ham", ":2", "b"), ("spam", ":3", "d")]
    assert read(path, text_column="message", label_column="kind") == expected


def test_a_column_called_spam_holds_yes_or_no(tmp_path: Path) -> None:
    path = write_file(tmp_path / "emails.csv", b"text,spam\nSubject: buy,1\nSubject: tea,0\n")
    assert rows(path) == [("spam", "Subject: buy"), ("ham", "Subject: tea")]
    path = write_file(tmp_path / "emails.jsonl", b'{"text": "buy", "is_spam": true}\n{"text": "tea", "is_spam": 0}\n')
    assert rows(path) == [("spam", "buy"), ("ham", "tea")]


def test_rows_without_a_message_are_told(tmp_path: Path) -> None:
    deep = "[" * 100_000
    text = (
        '{"text": "a", "label": "ham"}\n[1]\n{"text": 1, "label": "ham"}\n{"text": "b"}\n'
        '{"label": "ham", "text": " "}\n'
        f'{deep}\n{{"text": "c", "label": "unsure"}}\n{{"text": "d\\ud800", "label": "ham", "n": {"9" * 9999}}}\n'
        '{"text": "e\\ud800", "label": "ham"}\n'
    )
    told: list[str] = []
    path = write_file(tmp_path / "a.jsonl", text.encode())
    assert read(path, told) == [("ham", ":1", "a"), ("ham", ":9", "e?")]
    assert [line.split()[0] for line in told] == [":2", ":3", ":4", ":5", ":6", ":7", ":8"]
    assert told[1].endswith("no text under 'text'") and told[2].endswith("no class under 'label'")


@pytest.mark.parametrize(
    ("name", "raw", "what"),
    [
        ("a.jsonl", b"[1]\n", "no JSON object in this line"),
        ("a.csv", "text,label\n".encode("utf-16"), "UTF-16"),
        ("a.csv", b"x" * (5 << 20), "more than 4 MiB"),
        ("a.csv", b"\x1f\x8bbroken", "broken gzip data"),
        ("a.parquet", b"PAR1\x15\0\x15", "a Parquet table, not mail; pandas.read_parquet"),
        ("a.csv", b"From: a\n\nhello\n", "no column has a usual name"),
        ("a.tsv", b"ham\thello\nspam\tWIN\n", "name the columns label and text in the first line"),
    ],
)
def test_what_is_no_table_is_one_line(tmp_path: Path, name: str, raw: bytes, what: str) -> None:
    with pytest.raises(SpamnbError, match=what) as refused:
        read(write_file(tmp_path / name, raw))
    assert str(refused.value).isprintable() and len(str(refused.value)) < 300 + len(str(tmp_path))


def test_a_quote_that_is_never_closed_takes_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_ROW", 1 << 18)
    monkeypatch.setattr(tables, "MAX_TEXT", 1 << 17)
    for opened in (b"ham," + b"x" * 50 + b"\n", b'a\n","' * 9):  # one field without end; fields without end
        path = write_file(tmp_path / "a.csv", b"label,text\nham,one\n" + b'"' + opened * 40_000)
        told: list[str] = []
        tracemalloc.start()
        found = read(path, told)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found[0] == ("ham", ":2", "one") and "no later row is read" in told[-1]
        assert peak < 20 << 20


def test_a_column_of_raw_messages_holds_mail_with_its_headers(tmp_path: Path) -> None:
    raw = "Subject: tea\r\n\r\nAt four, naïve?\r\n"
    lines = [{"label": "ham", "raw": raw}, {"label": "spam", "raw": None}]
    path = write_file(tmp_path / "a.jsonl", "\n".join(map(json.dumps, lines)).encode())
    told: list[str] = []
    [entry] = find_labelled_entries([str(path)], lambda name, error: told.append(f"{name} {error}"))
    assert entry.read() == raw.encode() and told == [f"{path}:2 no text under 'raw'"]
    both = write_file(tmp_path / "b.csv", b"raw,text,label\na,b,ham\n")
    with pytest.raises(SpamnbError, match="several columns may be the text"):
        list(find_labelled_entries([str(both)], pytest.fail))
