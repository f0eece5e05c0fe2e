"""The starter: what is in it, and a model that begins with an inbox alone."""

from __future__ import annotations

import json
import lzma
import os
import re
import sys
from pathlib import Path

import pytest
from commands import output_of, run

from spamnb.settings import TOKENS_VERSION
from spamnb.starter import EXPORT, NAME
from spamnb.store.jsonl import EXPORT_VERSION
from spamnb.store.store import Store

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "corpora"


@pytest.fixture(scope="module")
def lines() -> list[dict]:
    return [json.loads(line) for line in lzma.decompress(EXPORT.read_bytes()).splitlines()]


def test_the_starter_is_of_this_version_of_tokens(lines: list[dict]) -> None:
    versions = lines[0]["spamnb"], lines[0]["meta"]["tokens_version"]
    assert versions == (EXPORT_VERSION, TOKENS_VERSION), "stale; run scripts/build_starter.py"


def test_the_starter_has_no_message_and_no_address_host_or_number(lines: list[dict]) -> None:
    assert not [line for line in lines if "message" in line or "kept" in line]
    tokens = [line["token"] for line in lines if "token" in line]
    assert 15_000 < len(tokens) < 25_000 and EXPORT.stat().st_size < 300_000
    private = r"(from|to|sender|reply-to|url):|.*\d{4}|.*\w@\w|.*\w\.(com|net|org)\b"
    assert not [token for token in tokens if re.match(private, token)]
    few = [line["token"] for line in lines if "token" in line and sum(n for n, _ in line["counts"].values()) < 4]
    assert not few  # two messages of each of two collections


@pytest.mark.slow
def test_the_starter_is_what_its_script_makes(
    lines: list[dict], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    if not (corpora := os.environ.get("SPAMNB_CORPORA")):
        pytest.skip("SPAMNB_CORPORA names no folder of the public corpora")
    from build_starter import main

    monkeypatch.setattr(sys, "argv", ["", "--corpora", corpora, "--output", str(tmp_path / "new")])
    main()
    made = [json.loads(line) for line in lzma.decompress((tmp_path / "new").read_bytes()).splitlines()]
    assert [line.get("token") for line in made] == [line.get("token") for line in lines]
    n_different = sum(new.get("counts") != old.get("counts") for new, old in zip(made, lines))
    assert n_different <= len(lines) / 100  # a busy machine may give up on a PDF that others read
    for new, old in zip(made, lines) if not n_different else ():
        weights = [line.get("correction", {}).get("spam", 0) for line in (new, old)]
        assert abs(weights[0] - weights[1]) <= 1


def verdicts(model: Path, folder: Path) -> list[str]:
    rows = output_of("classify", "-m", model, "--format", "json", folder).splitlines()
    return [json.loads(row)["verdict"] for row in rows]


def test_an_inbox_alone_is_enough_to_begin_with(tmp_path: Path) -> None:
    model = tmp_path / "model"
    made = run("learn", "-m", model, "--starter", "ham", SAMPLE / "mail" / "ham")
    assert made.exit_code == 0 and f"adds to {tmp_path / NAME}" in made.stderr
    assert f"adds to: {tmp_path / NAME}" in output_of("info", "-m", model)
    assert "spam" not in verdicts(model, SAMPLE / "unseen" / "ham")
    assert verdicts(model, SAMPLE / "unseen" / "spam").count("spam") > 0
    before = (tmp_path / NAME).read_bytes()
    output_of("learn", "-m", model, "spam", SAMPLE / "mail" / "spam")
    assert verdicts(model, SAMPLE / "unseen" / "spam").count("ham") == 0
    assert (tmp_path / NAME).read_bytes() == before  # lessons are written into the model alone


def test_the_starter_is_for_a_new_model_and_no_second_shared_one(tmp_path: Path) -> None:
    mail, model = SAMPLE / "mail" / "ham", tmp_path / "model"
    both = run("learn", "-m", model, "--starter", "--shared", tmp_path / "x", "ham", mail)
    assert both.exit_code == 2 and "give one of them" in both.stderr and not model.exists()
    output_of("learn", "-m", model, "--starter", "ham", mail)
    assert "--starter is for a new model" in run("learn", "-m", model, "--starter", "ham", mail).stderr


def test_upgrade_replaces_an_older_starter_and_learns_the_lessons_again(tmp_path: Path) -> None:
    model, mail = tmp_path / "model", SAMPLE / "mail" / "ham"
    output_of("learn", "-m", model, "--starter", "ham", mail)
    results = verdicts(model, SAMPLE / "unseen")
    for path in (tmp_path / NAME, model):
        with Store.open(path, writable=True) as store:
            store.put_meta({"tokens_version": TOKENS_VERSION - 1})
    assert run("classify", "-m", model, SAMPLE / "unseen").exit_code != 0
    assert "trained again on" in output_of("upgrade", "-m", model)
    assert verdicts(model, SAMPLE / "unseen") == results
    assert "lessons: 65" in output_of("info", "-m", model)
    assert "nothing to do" in output_of("upgrade", "-m", model)
