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
from spamnb.store.jsonl import EXPORT_VERSION
from spamnb.store.starter import EXPORT, NAME, create_beside_starter
from spamnb.store.store import Store

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "corpora"


@pytest.fixture(scope="module")
def lines() -> list[dict]:
    return [json.loads(line) for line in lzma.decompress(EXPORT.read_bytes()).splitlines()]


def test_the_starter_is_of_this_version_of_tokens(lines: list[dict]) -> None:
    versions = lines[0]["spamnb"], lines[0]["meta"]["tokens_version"]
    assert versions == (EXPORT_VERSION, TOKENS_VERSION), "stale; run scripts/build_starter.py"


def test_a_stale_starter_is_told_with_what_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spamnb.store.starter.TOKENS_VERSION", TOKENS_VERSION + 1)
    trained = run("train", "-m", tmp_path / "model", f"ham={SAMPLE / 'mail' / 'ham'}")
    assert trained.exit_code == 1 and "scripts/build_starter.py" in trained.stderr
    assert not (tmp_path / NAME).exists() and not (tmp_path / "model").exists()


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
    if not os.environ.get("SPAMNB_CORPORA"):
        pytest.skip("SPAMNB_CORPORA names no folder of the public corpora")
    from build_starter import main

    monkeypatch.setattr(sys, "argv", ["", "--output", str(tmp_path / "new")])
    main()
    made = [json.loads(line) for line in lzma.decompress((tmp_path / "new").read_bytes()).splitlines()]
    assert [line.get("token") for line in made] == [line.get("token") for line in lines]
    for new, old in zip(made, lines):
        assert new.get("counts") == old.get("counts")
        weights = [line.get("correction", {}).get("spam", 0) for line in (new, old)]
        assert abs(weights[0] - weights[1]) <= 1


def verdicts(model: Path, folder: Path) -> list[str]:
    rows = output_of("classify", "-m", model, "--format", "json", folder).splitlines()
    return [json.loads(row)["verdict"] for row in rows]


def test_good_mail_that_is_given_as_spam_is_asked_about(tmp_path: Path) -> None:
    for label, is_asked in (("ham", False), ("spam", True)):
        trained = output_of("train", "-m", tmp_path / label, f"{label}={SAMPLE / 'mail' / 'ham'}")
        assert f"  of 65 {label}: " in trained and ("; are they all spam?\n" in trained) == is_asked


def test_an_inbox_alone_is_enough_to_begin_with(tmp_path: Path) -> None:
    model = tmp_path / "model"
    made = run("train", "-m", model, f"ham={SAMPLE / 'mail' / 'ham'}")
    assert made.exit_code == 0 and "adds to the starter" in made.stdout
    assert re.search(r"of 65 ham: 6\d ham", made.stdout)  # what the starter alone says of them
    described = output_of("info", "-m", model)
    assert f"adds to: the starter, {tmp_path / NAME}" in described
    assert "  ham: 65 messages; of the other model: " in described
    assert "spam" not in verdicts(model, SAMPLE / "unseen" / "ham")
    assert verdicts(model, SAMPLE / "unseen" / "spam").count("spam") > 0
    before = (tmp_path / NAME).read_bytes()
    output_of("learn", "-m", model, "spam", SAMPLE / "mail" / "spam")
    assert verdicts(model, SAMPLE / "unseen" / "spam").count("ham") == 0
    assert (tmp_path / NAME).read_bytes() == before  # lessons are written into the model alone


def test_mail_of_training_can_be_forgotten_and_is_no_lesson(tmp_path: Path) -> None:
    model, empty = tmp_path / "model", tmp_path / "empty"
    output_of("train", "-m", model, f"ham={SAMPLE / 'mail' / 'ham'}")
    described = json.loads(output_of("info", "-m", model, "--format", "json"))
    assert not any(described["lessons"][key] for key in ("learned", "kept", "not_kept"))
    output_of("forget", "-m", model, "ham", SAMPLE / "mail" / "ham")
    create_beside_starter(empty)
    counts = [
        [line for line in output_of("export", "-m", path).splitlines() if '"token"' in line] for path in (model, empty)
    ]
    assert counts == [[], []]


def test_the_default_model_begins_with_the_starter_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("SPAMNB_MODEL", raising=False)
    message = sorted((SAMPLE / "unseen" / "spam").iterdir())[0].read_bytes()
    refused = run("filter", "--no-starter", stdin=message)
    assert b"X-Spam-Warning: not classified" in refused.stdout_bytes and not (tmp_path / "spamnb").exists()
    first, second = (run("filter", stdin=message) for _ in range(2))
    assert "that adds to public mail" in first.stderr and not second.stderr
    assert b"X-Spam-Starter: public mail, and 0 messages of your own" in second.stdout_bytes
    assert "exists already" not in run("train", f"ham={SAMPLE / 'mail' / 'ham'}").stderr  # nothing would be lost
    assert "exists already" in run("train", f"ham={SAMPLE / 'mail' / 'ham'}").stderr
    assert b"and 65 messages of your own" in run("filter", stdin=message).stdout_bytes


def test_a_home_that_cannot_be_written_gets_its_mail_and_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spamnb").write_text("no folder")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("SPAMNB_MODEL", raising=False)
    filtered = run("filter", stdin=b"Subject: tea\n\nAt four?\n")
    assert filtered.exit_code == 0 and filtered.stdout_bytes.endswith(b"Subject: tea\n\nAt four?\n")
    assert b"its folder is a file" in filtered.stdout_bytes


def test_only_a_model_that_is_named_nowhere_begins_with_the_starter(tmp_path: Path) -> None:
    missing = run("classify", "-m", tmp_path / "typo", SAMPLE / "unseen")
    assert missing.exit_code == 1 and "no model there" in missing.stderr


def test_mail_of_both_classes_and_texts_and_other_classes_have_a_model_of_their_own(tmp_path: Path) -> None:
    sms = tmp_path / "sms"
    sms.write_text("ham\tsee you at four\nspam\twin a prize\nham\tok\nspam\tfree offer\n")
    mail = SAMPLE / "mail"
    for sources in ([str(mail)], [str(sms)], [f"spam={mail / 'spam'}", f"news={mail / 'ham'}"]):
        output_of("train", "--force", "-m", tmp_path / "model", *sources)
        assert "adds to" not in output_of("info", "-m", tmp_path / "model")
    few = run("train", "--force", "--no-starter", "-m", tmp_path / "model", f"ham={mail / 'ham'}")
    assert few.exit_code == 1 and "only class 'ham'" in few.stderr
    output_of("learn", "--no-starter", "-m", tmp_path / "own", "ham", mail / "ham")
    assert not (tmp_path / NAME).exists()


def test_a_model_and_its_copies_find_or_make_their_starter(tmp_path: Path) -> None:
    model, mail = tmp_path / "model", SAMPLE / "mail"
    output_of("train", "-m", model, f"ham={mail / 'ham'}")
    results = verdicts(model, SAMPLE / "unseen")
    for folder in ("backup", "export", "sum", "moved"):
        (tmp_path / folder).mkdir()
    output_of("backup", "-m", model, tmp_path / "backup" / "model")
    exported = output_of("export", "-m", model)
    (tmp_path / "lines").write_text(exported)
    output_of("import", "-m", tmp_path / "export" / "model", tmp_path / "lines")
    output_of("merge", "-m", tmp_path / "sum" / "model", model)
    model.rename(tmp_path / "moved" / "model")
    for folder in ("backup", "export", "sum", "moved"):
        assert verdicts(tmp_path / folder / "model", SAMPLE / "unseen") == results
        assert (tmp_path / folder / NAME).is_file()
        assert output_of("export", "-m", tmp_path / folder / "model") == exported


@pytest.mark.parametrize("name", ["model", "other"])
def test_a_training_replaces_an_older_starter(tmp_path: Path, name: str) -> None:
    train = ("train", "--force", "-m", tmp_path / "model", f"ham={SAMPLE / 'mail' / 'ham'}")
    output_of(*train)
    results = verdicts(tmp_path / "model", SAMPLE / "unseen")
    for path in (tmp_path / NAME, tmp_path / "model"):
        with Store.open(path, writable=True) as store:
            store.put_meta({"tokens_version": TOKENS_VERSION - 1})
    output_of(*train[:3], tmp_path / name, train[-1])
    assert verdicts(tmp_path / name, SAMPLE / "unseen") == results
    if name == "other":
        assert "'spamnb upgrade' trains it again" in run("classify", "-m", tmp_path / "model", SAMPLE / "unseen").stderr
        output_of("upgrade", "-m", tmp_path / "model")
        assert verdicts(tmp_path / "model", SAMPLE / "unseen") == results


def test_upgrade_replaces_an_older_starter_and_learns_the_messages_again(tmp_path: Path) -> None:
    lessons, trained, mail = tmp_path / "lessons", tmp_path / "trained", SAMPLE / "mail" / "ham"
    for model, again in ((lessons, "trained again on 65"), (trained, "training .* again from ham=")):
        command = ("learn", "-m", model, "ham", mail) if model == lessons else ("train", "-m", model, f"ham={mail}")
        output_of(*command)
        results = verdicts(model, SAMPLE / "unseen")
        for path in (tmp_path / NAME, model):
            with Store.open(path, writable=True) as store:
                store.put_meta({"tokens_version": TOKENS_VERSION - 1})
        assert run("classify", "-m", model, SAMPLE / "unseen").exit_code != 0
        upgraded = run("upgrade", "-m", model)
        assert re.search(again, upgraded.stdout + upgraded.stderr)
        assert verdicts(model, SAMPLE / "unseen") == results
        assert "  ham: 65 messages; " in output_of("info", "-m", model)
        assert "nothing to do" in output_of("upgrade", "-m", model)
