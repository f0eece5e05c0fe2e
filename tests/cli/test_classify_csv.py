"""``classify --format csv``: what goes in as a table comes out as one, with verdicts, whatever its rows hold."""

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import Result
from commands import run

from spamnb.cli.classify_csv import as_text

NASTY = [
    "tea at four",
    'win a "prize", now',
    "win\nmoney\r\nnow",
    "win\rmoney,spam,1,1",
    '=cmd|"/C calc"!A0',
    "naïve ☕, tea",
    " +1 win",
]


def table_of(result: Result) -> list[list[str]]:
    return list(csv.reader(io.StringIO(result.stdout_bytes.decode(), newline="")))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    rows = [f"ham,tea at {n}" for n in range(40)] + [f"spam,win {n} pounds now" for n in range(40)]
    (folder / "train.csv").write_text("\n".join(["label,text", *rows]))
    assert run("train", "-m", folder / "m", folder / "train.csv").exit_code == 0
    return folder / "m"


def written(path: Path, rows: list[dict[str, object]]) -> Path:
    names = list(rows[0])
    if path.suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    elif path.suffix == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pyarrow.table({name: [row[name] for row in rows] for name in names}), path)
    else:
        with path.open("w", newline="") as file:
            out = csv.DictWriter(file, names, dialect="excel-tab" if path.suffix == ".tsv" else "excel")
            out.writeheader()
            out.writerows(rows)
    return path


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_each_row_comes_back_whole_with_its_verdict(model: Path, tmp_path: Path, suffix: str) -> None:
    texts = [text for text in NASTY if suffix != "tsv" or not {"\n", "\r"} & {*text}]  # a row of tabs is a line
    rows: list[dict[str, object]] = [{"id": str(n), "text": text, "who": f"a{n}"} for n, text in enumerate(texts)]
    path = written(tmp_path / f"a.{suffix}", rows)
    out = run("classify", "-m", model, "--format", "csv", path)
    assert out.exit_code == 0
    names, *found = table_of(out)
    assert names == ["id", "text", "who", "verdict", "score", "ham", "spam"]
    assert [dict(zip(names, row[:3])) for row in found] == rows
    as_json = run("classify", "-m", model, "--format", "json", path).stdout.splitlines()
    assert [row[3] for row in found] == [json.loads(line)["verdict"] for line in as_json]
    assert found[0][3] == "ham"
    assert all(abs(float(row[5]) + float(row[6]) - 1) < 1e-4 for row in found)


def test_verdicts_are_those_of_json_in_order_also_by_several_processes(model: Path, tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"text": f"win {n}" if n % 3 else f"tea {n}", "n": n} for n in range(1500)]
    path = written(tmp_path / "a.csv", rows)
    path.write_bytes(path.read_bytes().replace(b"tea 900,", b","))  # a row without text
    for workers in (1, 2):
        out = run("classify", "-m", model, "--format", "csv", "--workers", workers, path)
        assert out.exit_code == 1 and "a.csv:902: no text in this row; left out" in out.stderr
        as_json = run("classify", "-m", model, "--format", "json", path).stdout.splitlines()
        found = list(csv.DictReader(io.StringIO(out.stdout, newline="")))
        assert [row["verdict"] for row in found] == [json.loads(line)["verdict"] for line in as_json]
        assert [int(row["n"]) for row in found] == [n for n in range(1500) if n != 900]


def test_columns_of_the_same_name_stay_what_they_are(model: Path, tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", [{"text": "tea", "Verdict": "mine", "spam": "0", "spamnb_spam": "x"}])
    names, row = table_of(run("classify", "-m", model, "--format", "csv", path))
    added = ["spamnb_verdict", "score", "ham", "spamnb_spam_2"]
    assert names == ["text", "Verdict", "spam", "spamnb_spam", *added]
    assert row[:5] == ["tea", "mine", "0", "x", "ham"]


def test_a_table_without_a_header_gets_one(model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,tea\n2,win\n")
    out = run("classify", "-m", model, "--format", "csv", "--text-column", "2", tmp_path / "a.csv")
    assert [row[:2] for row in table_of(out)] == [["column_1", "column_2"], ["1", "tea"], ["2", "win"]]


def test_several_tables_have_the_names_of_their_messages(model: Path, tmp_path: Path) -> None:
    paths = [written(tmp_path / name, [{"text": "tea"}]) for name in ("a.csv", "b.jsonl")]
    out = table_of(run("classify", "-m", model, "--format", "csv", *paths))
    assert [row[0] for row in out] == ["source", f"{paths[0]}:2", f"{paths[1]}:1"]


def test_formulas_are_kept_unless_they_are_not_wanted(model: Path, tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", [{"text": text, "n": "-4.5"} for text in NASTY])
    rows = table_of(run("classify", "-m", model, "--format", "csv", "--no-formulas", path))[1:]
    expected = [("'" if text.lstrip()[0] in "=+-@" else "") + text for text in NASTY]
    assert [row[0] for row in rows] == expected and {row[1] for row in rows} == {"-4.5"}
    assert as_text("\t=1") == "'\t=1" and as_text("@SUM(A1)") == "'@SUM(A1)" and as_text("-") == "'-"
    assert run("classify", "--no-formulas", "-m", model, path).exit_code == 2


def test_what_is_no_table_is_refused_in_one_line(model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("who,what\na,b\n")
    refused = run("classify", "-m", model, "--format", "csv", tmp_path / "a.csv")
    assert refused.exit_code == 1 and "--text-column NAME or NUMBER tells" in refused.stderr and not refused.stdout
    missing = run("classify", "-m", model, "--format", "csv", tmp_path / "b.csv")
    assert missing.exit_code == 1 and missing.stderr.count("\n") == 1
