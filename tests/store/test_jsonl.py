"""jsonl.py: out and in again is the same model."""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from mail import count_messages, import_store, mail, make_model, message, train_file

from spamnb.errors import SpamnbError
from spamnb.filter import Classifier
from spamnb.settings import Settings
from spamnb.store.jsonl import MAX_TOKEN_BYTES, export, parse_export


def test_export_and_import_round_trip() -> None:
    store = make_model([*mail(5), ("日本", message("ham", 77))]).store
    store.put_arrays({"w": np.eye(2)})
    lines = list(export(store))
    assert all(line == json.dumps(json.loads(line), ensure_ascii=False, sort_keys=True) for line in lines)
    with Classifier(import_store(lines)) as again:
        assert list(export(again.store)) == lines
        assert again.store.frequencies() == store.frequencies()
        assert again.model.totals.vocabulary_size == store.model.totals.vocabulary_size
        again.learn("spam", message("spam", 88))
        again.forget("spam", message("spam", 88))
        assert list(export(again.store)) == lines


def test_arrays_and_vectors_survive_the_round_trip(tmp_path: Path) -> None:
    train_file(tmp_path / "m", count_messages(mail(20)), Settings("lda", embedding="lsa:4"))
    with Classifier.open(tmp_path / "m") as first:
        lines = list(export(first.store))
        told = [first.classify(raw).probabilities for _, raw in mail(24)]
    with Classifier(import_store(lines)) as again:
        assert list(export(again.store)) == lines
        assert told == [again.classify(raw).probabilities for _, raw in mail(24)]
    at = next(i for i, line in enumerate(lines) if "vector" in line)
    lines[at] = json.dumps({key: value for key, value in json.loads(lines[at]).items() if key != "vector"})
    with pytest.raises(SpamnbError, match="figures or vectors"):
        parse_export(lines, "-")


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([], "empty"),
        (["{"], "not an exported model; name a file"),
        (['{"spamnb": 99, "meta": {}}'], "made by a newer spamnb .*; upgrade"),
        (['{"spamnb": 1, "meta": {}}'], "made by an older spamnb .*; train again"),
        (['{"spamnb": 8, "meta": {}}', '{"token": "a", "counts": {"ham": [1, 1]}}'], "line 2 .*unknown class"),
        (['{"spamnb": 8, "meta": {}}', '{"class": "ham", "documents": "many"}'], "line 2"),
        (['{"spamnb": 8, "meta": {}}', '{"what": 1}'], "line 2 .*unknown record"),
        (
            [
                '{"spamnb": 8, "meta": {}}',
                '{"class": "ham", "documents": 1, "calibration": [], "typicality": []}',
                '{"message": "%s", "class": "ham", "bins": {"ham": 999}}' % ("0" * 32),
            ],
            "line 3 .*bins",
        ),
        (
            [
                '{"spamnb": 8, "meta": {}}',
                '{"class": "ham", "documents": 1, "calibration": [], "typicality": [[257, 1]]}',
            ],
            "line 2 .*bounds",
        ),
        (
            [
                '{"spamnb": 8, "meta": {}}',
                *(f'{{"class": "c{n}", "documents": 1, "calibration": [], "typicality": []}}' for n in range(1000)),
            ],
            "line 902 .*more than 900 classes",
        ),
    ],
)
def test_what_is_no_export_is_told_by_line(lines: list[str], says: str) -> None:
    with pytest.raises(SpamnbError, match=says):
        parse_export(lines, "file")


@pytest.fixture(scope="module")
def exported() -> list[str]:
    """Return the lines of an export that can be imported."""
    lines = list(export(make_model(mail(20)).store))
    import_store(lines)
    return lines


def set_unscored(text: str, lines: list[str]) -> list[str]:
    return [re.sub(r'"unscored": \d+', f'"unscored": {text}', line) for line in lines]


ARRAY = '{"array": "w", "dtype": "<f8", "shape": [1], "base64": "AAAAAAAA8D8="}'


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda lines: lines[:-1], "cut short"),
        (lambda lines: [*lines, lines[3]], "follows the last line"),
        (lambda lines: [line.replace('"token": "m', '"token": "\\ud800m') for line in lines], "line .*surrogates"),
        (
            lambda lines: [
                line.replace('"token": "meeting"', f'"token": "{"é" * (MAX_TOKEN_BYTES // 2 + 1)}"') for line in lines
            ],
            "token that is too long",
        ),
        (lambda lines: [line.replace('"documents": ', '"documents": 99999999999999999') for line in lines], "bounds"),
        (lambda lines: [re.sub(r"{(.*): \[\d+,", r"{\1: [99999999999999999999,", line) for line in lines], "bounds"),
        *(
            (partial(set_unscored, text), "line .*a number that is not whole")
            for text in ('"9"', "1.5", "true", "1e999", "-5000000000")
        ),
        *((partial(set_unscored, text), "messages with a score and without one") for text in ("-3", "7")),
        (lambda lines: [line.replace('"class": "ham"', '"class": "\\ud800"') for line in lines], "cannot name a class"),
        (lambda lines: [line.replace('"calibration": [[0, ', '"calibration": [[0, 9') for line in lines], "bounds"),
        (lambda lines: [re.sub(r"\[(\d+), \d+\]}", r"[\1, 0]}", line) for line in lines], "impossible figures"),
        (lambda lines: [re.sub(r'"message": "..', '"message": "', line) for line in lines], "digest in table messages"),
        (lambda lines: ["[" * 100_000, *lines[1:]], "not an exported model"),
        (lambda lines: [*lines[:-1], ARRAY.replace("<f8", "f8,("), lines[-1]], "array w"),
        (lambda lines: [*lines[:-1], ARRAY.replace("w", "\\u001b[2J").replace("f8", "x"), lines[-1]], r"array \\x1b"),
        (lambda lines: [*lines[:-1], ARRAY.replace("8D8", "8H8"), lines[-1]], "array w"),  # not a number
        (lambda lines: [line.replace('"token"', '"vector": {"a": 1}, "token"') for line in lines], "vectors"),
        (lambda lines: [line.replace('"token"', f'"vector": [{10**400}], "token"') for line in lines], "vectors"),
    ],
)
def test_a_damaged_export_is_refused(exported: list[str], change: Callable[[list[str]], list[str]], says: str) -> None:
    damaged = change(exported)
    assert damaged != exported
    with pytest.raises(SpamnbError, match=says):
        import_store(damaged)


def numbers_of(value: object, place: tuple = ()) -> Iterator[tuple]:
    """Yield the keys that lead to each whole number of a record."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers_of(inner, (*place, key))
    elif type(value) is int:
        yield place


def test_each_number_of_a_line_is_whole_and_within_bounds() -> None:
    lines, checked = list(export(make_model(mail(20)).store, with_lessons=True)), set[tuple[str, ...]]()
    for number, line in enumerate(lines[1:], 1):
        for place in numbers_of(json.loads(line)):
            kind = tuple(str(key) for key in place)
            if kind in checked:
                continue
            checked.add(kind)
            for wrong in (1.5, True, None, "1", 1 << 62, float("nan")):
                record = inner = json.loads(line)
                for key in place[:-1]:
                    inner = inner[key]
                inner[place[-1]] = wrong
                with pytest.raises(SpamnbError, match=f"line {number + 1} is not of an exported model"):
                    parse_export([*lines[:number], json.dumps(record), *lines[number + 1 :]], "-")
    assert {kind[0] for kind in checked} >= {"documents", "unscored", "calibration", "typicality", "counts", "bins"}
    assert {kind[0] for kind in checked} >= {"correction", "contribution", "taught_at"}
