"""Every command as a person runs it: help with an example, what it prints, exit codes, and bad input in one line."""

import csv
import gzip
import io
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import click
import pytest
from commands import output_of, run
from mail import export_lines, mail, message, write_folders

import spamnb
from spamnb.cli import COMMANDS, cli
from spamnb.errors import SpamnbError
from spamnb.filter import Classifier
from spamnb.mailbox import maildir
from spamnb.reader.message import Reader
from spamnb.settings import SETTINGS
from spamnb.store.store import Store

SPAMNB = shlex.join([sys.executable, "-m", "spamnb"])  # for a shell


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folders(tmp_path_factory.mktemp("mail"), mail(60))


@pytest.fixture(scope="module")
def trained(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trained") / "model.spamnb"
    assert run("train", "-m", path, folder).exit_code == 0
    return path


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_it_does_with_an_example(name: str) -> None:
    result = run(name, "--help")
    assert result.exit_code == 0
    assert f"spamnb {name}" in result.output.split("Example", 1)[1], "no worked example"
    command = cli.get_command(None, name)  # type: ignore[arg-type]
    assert command is not None and command.get_short_help_str().strip()
    assert all(option.help for option in command.params if isinstance(option, click.Option))


def test_help_names_every_command_and_every_setting() -> None:
    output = run("--help").output
    assert all(f"\n  {name} " in output for name in COMMANDS)
    assert "..." not in output.split("Commands:")[1], "cut short on a terminal of 80 columns"
    result = run("train", "--set", "help")
    assert result.exit_code == 0 and result.output == run("evaluate", "--set", "help").output
    assert all(f"{each.name}={each.shown_default}" in result.output for each in SETTINGS.values())


def test_tables_columns_and_folders_are_options(tmp_path: Path) -> None:
    table, model = tmp_path / "spam.csv", tmp_path / "m"
    rows = [f"ham,tea at {n},x" for n in range(20)] + [f"spam,win {n} pounds now,x" for n in range(20)]
    table.write_text("\n".join(["kind,said,more", *rows]))
    assert "or choose one with --text-column NAME" in run("train", "-m", model, table).stderr
    chosen = ["--text-column", "said", "--label-column", "kind", table]
    assert "40 messages" in output_of("train", "-m", model, *chosen)
    output_of("evaluate", "--folds", "2", *chosen)
    verdicts = output_of("classify", "-m", model, "--text-column", "said", "--format", "csv", table)
    assert [line.split(",")[:2] for line in verdicts.splitlines()[1:]] == [
        [f"{table}:{n + 2}", "spam" if n >= 20 else "ham"] for n in range(40)
    ]
    assert "learned 20 of 40 as spam" in output_of(
        "learn", "--yes", "spam", "-m", model, "--text-column", "said", table
    )


def test_classify_text_json_csv(model: Path, folder: Path) -> None:
    explained = output_of("classify", "-m", model, "--explain", "3", stdin=message("spam", 700))
    assert explained.startswith("spam\tP(spam) 9") and len(explained.splitlines()) == 4
    lines = output_of("classify", "-m", model, "--format", "json", "--explain", "2", folder / "ham").splitlines()
    record = json.loads(lines[0])
    assert len(lines) == 60
    assert set(record) == {"source", "verdict", "probabilities", "log_odds", "doubt", "uncalibrated", "evidence"}
    assert (record["verdict"], len(record["evidence"])) == ("ham", 2)
    for workers in (1, 2):
        asked = output_of("classify", "-m", model, "--format", "csv", "--workers", workers, folder / "ham")
        rows = list(csv.DictReader(io.StringIO(asked)))
        assert [row["source"] for row in rows] == [json.loads(line)["source"] for line in lines]
        assert all(row["verdict"] == "ham" and float(row["ham"]) > 0.5 > float(row["spam"]) for row in rows)


def test_classify_exit_codes(model: Path, folder: Path, tmp_path: Path) -> None:
    def code(*arguments: object, stdin: bytes = message("spam", 1)) -> int:
        return run("classify", "--exit-code", *arguments, stdin=stdin).exit_code

    assert code("-m", model) == 1
    assert code("-m", model, stdin=b"") == 75
    assert code("-m", model, stdin=message("ham", 1)) == 0
    assert code("-m", tmp_path / "none") == code("-m", tmp_path) == 75
    (tmp_path / "empty").mkdir()
    assert code("-m", model, tmp_path / "empty") == 75
    assert run("train", "--force", "-m", model, "--set", "unsure_cost=0.000001", folder).exit_code == 0
    assert code("-m", model) == 75
    assert run("classify", "-m", tmp_path / "none", stdin=b"").exit_code == 1
    assert run("classify", "--no-such-option").exit_code == 2


def test_words_are_those_of_the_text_unless_all_are_asked_for(model: Path) -> None:
    def tokens(*options: str) -> set[str]:
        told = json.loads(run("words", "-m", model, "--format", "json", "--top", "9999", *options).output)
        return {word["token"] for words in told["likeliest"].values() for word in words}

    text, every = tokens(), tokens("--all")
    assert text == {token for token in every if ":" not in token and not token.startswith("#")}
    assert {"from:spam.example", "header:from", "subject:pills"} <= every - text and {"pills", "meeting"} <= text


def test_a_word_is_looked_up_wherever_it_stands(model: Path, folder: Path) -> None:
    held = json.loads(run("words", "Pills", "-m", model, "--format", "json").output)
    raws = [path.read_bytes() for path in (folder / "spam").iterdir()]
    count = sum("subject:pills" in Reader().tokens(raw) for raw in raws)
    assert held["shares"]["subject:pills"]["spam"] == pytest.approx(count / held["messages"]["spam"])
    assert "subject:pills  (Subject: pills)" in run("words", "pills", "-m", model).output
    assert run("words", "zyzzyva", "-m", model).output == "no message that the model learned has 'zyzzyva'\n"


def test_train_refuses_what_it_should_not_replace_or_learn_alone(folder: Path, model: Path, tmp_path: Path) -> None:
    before = model.read_bytes()
    (tmp_path / "copies" / "a").mkdir(parents=True)
    (tmp_path / "unmounted").mkdir()
    shutil.copytree(folder / "ham", tmp_path / "copies" / "b")
    shutil.copytree(folder / "ham", tmp_path / "copies" / "a" / "ham")
    one_class = "in the sources: telling classes apart takes two; --one-class trains on one"
    for arguments, said in [
        ([folder], "exists already; --force replaces it"),
        (["--force", "--no-starter", f"ham={folder / 'ham'}"], one_class),
        (["--force", f"ham={folder / 'ham'}", f"spam={tmp_path / 'unmounted'}"], "spam; name the folder of this mail"),
        (["--force", tmp_path / "copies"], "all messages of the other classes are in class 'b' too"),
        (["--force", "--set", "spam=spma", folder], "spam is 'spma': no class has this name"),
        (["--force", f"hma={folder}/ham", f"spam={folder}/spam"], "are ham, spam, and not 'hma'; did you mean ham?"),
    ]:
        refused = run("train", "-m", model, *arguments)
        assert refused.exit_code == 1 and said in refused.output and model.read_bytes() == before
    alone = run("train", "-m", model, "--force", "--one-class", f"spam={folder / 'spam'}")
    assert alone.output.count("The only class is 'spam'") == 1


def test_learn_and_forget_are_inverse_and_say_what_they_did(model: Path) -> None:
    before, raw = export_lines(model), message("spam", 800)
    for command, label, said in [
        ("learn", "spam", "learned 1 of 1 as spam"),
        ("learn", "spam", "learned 0 of 1 as spam; 1 already learned"),
        ("learn", "ham", "learned 1 of 1 as ham; 1 moved from spam"),
        ("forget", "spam", "forgot 0 of 1 from spam; 1 not learned as spam (1 as ham)"),
        ("forget", "ham", "forgot 1 of 1 from ham"),
        ("forget", "ham", "forgot 0 of 1 from ham; 1 not learned as ham"),
    ]:
        assert run(command, label, "-m", model, stdin=raw).output.startswith(said)
    assert export_lines(model) == before


@pytest.mark.parametrize(
    ("name", "value", "place"),
    [
        ("SPAMNB_MODEL", None, ".local/share/spamnb/model.spamnb"),
        ("XDG_DATA_HOME", "{home}/data", "data/spamnb/model.spamnb"),
        ("SPAMNB_MODEL", "~/new.spamnb", "new.spamnb"),
    ],
)
def test_a_new_model_lies_in_the_data_directory_or_where_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str | None, place: str
) -> None:
    for each in ("SPAMNB_MODEL", "XDG_DATA_HOME"):
        monkeypatch.delenv(each, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    if value:
        monkeypatch.setenv(name, value.format(home=tmp_path))
    output_of("learn", "spam", stdin=message("spam", 1))
    assert (tmp_path / place).is_file()
    output_of("info", f"--model=~/{place}")


def test_filter_adds_headers_and_keeps_every_other_byte(model: Path) -> None:
    raw = b"X-Spam-Flag: NO\r\n" + message("spam", 901).replace(b"\n", b"\r\n") + b"\x00\xff\r\nno end of line"
    out = run("filter", "-m", model, stdin=raw).stdout_bytes
    assert b"X-Spam-Flag: YES\r\n" in out
    assert b"X-Spam-Flag: NO" not in out
    assert out.endswith(raw.split(b"\r\n", 1)[1])


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SpamnbError("out of\n order"), "out of order"),
        (RuntimeError("out of\n order"), "failed (RuntimeError: out of order)"),
        (MemoryError(), "failed (MemoryError)"),
    ],
)
def test_filter_says_in_one_line_why_it_did_not_classify(
    model: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    monkeypatch.setattr("spamnb.filter.Classifier.open", Mock(side_effect=error))
    result = run("filter", "-m", model, stdin=message("spam", 1))
    assert (result.exit_code, result.stderr) == (0, f"spamnb: {said}\n")
    assert result.stdout_bytes == f"X-Spam-Warning: not classified: {said}\n".encode() + message("spam", 1)


def test_what_cannot_be_read_is_named_and_the_status_says_so(model: Path, tmp_path: Path) -> None:
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "1").write_bytes(gzip.compress(message("spam", 901))[:-9])
    (tmp_path / "some" / "2").write_bytes(message("spam", 902))
    for command, told in (("classify", "spam\t"), ("learn spam", "learned 1 of 1"), ("forget spam", "forgot 1 of 1")):
        result = run(*command.split(), "-m", model, tmp_path / "some")
        assert result.exit_code == 1 and told in result.stdout
        assert f"{tmp_path / 'some' / '1'}: broken gzip data" in result.stderr


def test_info_export_import_merge(model: Path, tmp_path: Path) -> None:
    copy, lines = tmp_path / "copy", run("export", "-m", model).stdout_bytes
    for more in ([], ["--force"]):
        assert output_of("import", "-m", copy, *more, stdin=lines).startswith(f"{copy}: 120 messages, ")
        assert run("export", "-m", copy).stdout_bytes == lines
    assert "exists already; --force replaces it" in run("import", "-m", copy, stdin=lines).stderr
    merged = output_of("merge", model, copy, "-m", tmp_path / "both")
    assert "240 messages" in merged and "learned by several models" in merged


def test_info_shows_the_settings_that_are_not_the_defaults(model: Path, folder: Path, tmp_path: Path) -> None:
    assert output_of("info", "-m", model).splitlines()[-2:] == ["  ham: 60 messages", "  spam: 60 messages"]
    with Classifier.open(model, writable=True) as classifier:
        for number in range(900, 903):
            classifier.learn("spam", message("spam", number))
    lines = output_of("info", "-m", model).splitlines()
    assert "  spam: 63 messages; lessons: 3" in lines
    chosen = ["alpha=0.5", "unsure_cost=0.2", "ignore_headers=xref", "model_type=boolean"]
    output_of("train", "-m", tmp_path / "m", *(word for each in chosen for word in ("--set", each)), folder)
    shown = output_of("info", "-m", tmp_path / "m").partition("spam: 60 messages\n")[2].splitlines()
    assert {line.strip() for line in shown} == {each.replace("=", ": ") for each in chosen}


def test_info_says_when_and_from_what_a_model_was_trained(model: Path) -> None:
    made = json.loads(run("info", "--format", "json", "-m", model).output)["origin"]
    assert made.keys() == {"trained_at", "trained_from", "command", "pdf_read"}
    origin = {"trained_at": "2026-11-22T05:48:07+01:00", "command": "spamnb train " + "x" * 999}
    with Store.open(model, writable=True) as store:
        store.put_meta({**origin, "trained_from": [f"c{n}=/mail/\x1b[2J{n}" for n in range(9)]})
    lines = run("info", "-m", model).output.splitlines()
    assert lines[1] == "  trained: 2026-11-22 05:48:07+01:00" and lines[2].startswith("  by: spamnb train xxx")
    assert lines[3:11] == [f"  from: c{n}=/mail/\\x1b[2J{n}" for n in range(8)] and lines[11] == "  … and from 1 more"
    assert max(map(len, lines)) <= 400
    for odd in (None, 7, {"a": [1]}, [["x"]]):  # a file of somebody else may hold anything
        with Store.open(model, writable=True) as store:
            store.put_meta({**dict.fromkeys(made, odd)})
        assert run("info", "-m", model).exit_code == 0


def test_info_of_a_users_model_does_not_tell_the_origin_of_the_shared_model_as_its_own(
    model: Path, tmp_path: Path
) -> None:
    output_of("learn", "ham", "--shared", model, "-m", tmp_path / "user", stdin=message("ham", 900))
    assert " adds to: " in (text := output_of("info", "-m", tmp_path / "user")) and "trained:" not in text
    facts = json.loads(output_of("info", "--format", "json", "-m", tmp_path / "user"))
    assert facts["origin"] == {} and not {"trained_at", "trained_from", "command"} & {*facts["settings"]}


def test_no_terminal_escape_comes_out_of_a_model(model: Path, tmp_path: Path) -> None:
    """U+009B begins one, too, and JSON leaves it as it is."""
    other, escape = tmp_path / "other", '"\\u001b]0;x\\u0007\\u009b2J"'
    head, *lines = run("export", "-m", model).output.splitlines()
    head = head.replace('"meta": {', f'"meta": {{{escape}: {escape}, "command": {escape}, ')
    token = f'{{"token": {escape}, "counts": {{"spam": [60, 60]}}}}'
    other.write_text("\n".join([head, *lines[:-1], token, lines[-1]]))
    assert run("import", "-m", tmp_path / "copy", other).exit_code == 0
    for command in ("info", "info --format json", "words --all", "words --all --format json"):
        output = run(*command.split(), "-m", tmp_path / "copy").output
        assert "x9b2J" in output or "u009b2J" in output
        assert output.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["train", "/no/such/folder"], "/no/such/folder"),
        (["train", "spam="], "spam="),
        (["train", "--set", "model_type=lda", "--set", "embedding=lsa:0", "/no/such/folder"], "lsa:0"),
        (["classify", "/no/such/file"], "no"),
        (["explain", "/dev/zero"], "neither file nor folder"),
        (["merge", "/no/such/model"], "no model there"),
        (["import", "/dev/null"], "/dev/null: empty"),
        (["import"], "standard input: empty; export a model with 'spamnb export'"),
        (["import", "/no/such/export"], "/no/such/export: No such file or directory"),
        *(
            (["import", file], "not an exported model; name a file that 'spamnb export' wrote")
            for file in (sys.executable, __file__)  # bytes that are no text, and text that is no JSON
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_1(tmp_path: Path, arguments: list[str], says: str) -> None:
    result = run(*arguments, "-m", tmp_path / "m")
    assert result.exit_code == 1, result.output
    assert says in result.output
    assert len(result.output.strip().splitlines()) == 1
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert not any(tmp_path.iterdir()), "something was left behind"


@pytest.mark.parametrize("command", ["serve --port 0", "review --ledger ledger"])
def test_a_folder_of_models_that_is_missing_is_to_be_made_first(model: Path, tmp_path: Path, command: str) -> None:
    for folder, problem in ((tmp_path / "users", "no such folder; make it first, with mkdir"), (model, "not a folder")):
        result = run(*command.split(), "-m", model, "--models", folder)
        assert result.exit_code == 2 and result.stderr.endswith(f"'--models': {folder}: {problem}\n")
    assert not (tmp_path / "users").exists()


def test_learn_without_a_class_takes_no_file_for_one(model: Path, folder: Path, tmp_path: Path) -> None:
    before = run("export", "-m", model).output
    for label in (next((folder / "spam").iterdir()), "mail/1"):
        result = run("learn", "-m", model, label, stdin=message("spam", 1))
        assert result.exit_code == 1
        assert result.output == f"Error: {label} looks like a path, not a class; write 'spamnb learn CLASS {label}'\n"
    assert run("export", "-m", model).output == before


def test_where_no_class_is_spam_mail_is_not_passed_as_good(folder: Path, tmp_path: Path) -> None:
    model, box = tmp_path / "m", tmp_path / "box"
    sources = f"good={folder / 'ham'}", f"junk={folder / 'spam'}"
    assert "no class is 'spam', so all errors cost the same" in run("train", "-m", model, *sources).output
    maildir.make_folder(box)
    raw, said = message("spam", 990), "it has no class 'spam'"
    for command, code in (("classify --exit-code", 75), ("filter", 0), (f"sort {box}", 1), ("serve --port 0", 1)):
        (box / "new" / "1").write_bytes(raw)
        result = run(*command.split(" ", 2), "-m", model, stdin=raw)
        assert result.exit_code == code and said in result.stderr and "X-Spam-Status" not in result.output
    assert run("train", "--force", "--set", "spam=junk", "-m", model, *sources).exit_code == 0
    assert run("classify", "--exit-code", "-m", model, stdin=raw).exit_code == 1


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [(SpamnbError("no order"), 75, "Error: no order\n"), (KeyboardInterrupt(), 130, "\nspamnb: interrupted\n")],
)
def test_what_ends_classify_is_no_verdict(
    model: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, said: str
) -> None:
    monkeypatch.setattr("spamnb.filter.Classifier.classify_all", Mock(side_effect=error))
    result = run("classify", "-m", model, "--exit-code", stdin=b"Subject: x\n")
    assert (result.exit_code, result.output) == (code, said)


@pytest.mark.parametrize("command", ["train {mail}", "learn spam", "import", "merge {model}"])
def test_no_folder_is_made_for_a_model_that_is_named(command: str, model: Path, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "nope" / "dir" / "x"
    result = run(*command.format(mail=folder, model=model).split(), "-m", path, stdin=message("spam", 1))
    assert (result.exit_code, result.output) == (1, f"Error: {path}: there is no folder {path.parent}\n")
    assert not (tmp_path / "nope").exists()


def test_a_user_without_home_loses_no_mail(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "SPAMNB_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", Mock(side_effect=KeyError))  # as in a container
    passed = run("filter", stdin=message("spam", 1))
    assert passed.exit_code == 0 and passed.stdout_bytes.endswith(message("spam", 1))
    assert run("classify", "--exit-code", stdin=message("spam", 1)).exit_code == 75
    learned = run("learn", "spam", stdin=message("spam", 1))
    assert learned.exit_code == 1 and "cannot be written (its folder is a file)" in learned.output


def test_filter_passes_mail_on_whatever_is_in_the_place_of_the_model(tmp_path: Path) -> None:
    raw = message("ham", 902)
    (tmp_path / "m").write_bytes(b"")
    (tmp_path / "m").chmod(0)
    for path in (tmp_path, tmp_path / "m", tmp_path / "m" / "below", tmp_path / "none"):
        result = run("filter", "-m", path, stdin=raw)
        assert result.exit_code == 0
        assert result.stdout_bytes.startswith(b"X-Spam-Warning: not classified:")
        assert result.stdout_bytes.endswith(raw)


@pytest.mark.parametrize("command", ["export", "classify .", "--help"])
def test_a_full_disk_is_one_line(model: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPAMNB_MODEL", str(model))
    ran = subprocess.run(["sh", "-c", f"{SPAMNB} {command} >/dev/full"], stderr=subprocess.PIPE)
    assert ran.returncode not in (0, 75)
    assert b"No space left on device" in ran.stderr and b"Traceback" not in ran.stderr


@pytest.mark.parametrize("workers", [1, 2])
def test_no_room_on_the_disk_is_one_line(folder: Path, tmp_path: Path, workers: int) -> None:
    train = f"{SPAMNB} train --workers {workers} -m '{tmp_path / 'm'}' '{folder}'"
    # Python would leave compiled modules that end at the bound.
    variables = f"PYTHONDONTWRITEBYTECODE=1 TMPDIR='{tmp_path}'"
    ran = subprocess.run(["bash", "-c", f"ulimit -f 4; {variables} {train}"], stderr=subprocess.PIPE)
    said = f"Error: {tmp_path / 'm'}: cannot be written (the disk is full); --model names another place\n"
    assert (ran.returncode, ran.stderr.decode()) == (1, said)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("evaluate '{folder}' 2>&-", 0, ""),
        ("filter >&-", 1, "standard output is closed"),
        ("export >&-", 1, "standard output is closed"),
        ("classify --exit-code >&-", 75, "standard output is closed"),
        ("classify --exit-code <&-", 75, "standard input is closed"),
        ("import --force <&-", 1, "standard input is closed"),
    ],
)
def test_what_is_closed_is_told_in_one_line_or_stops_nobody(
    model: Path, folder: Path, command: str, code: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPAMNB_MODEL", str(model))
    whole = f"{SPAMNB} {command.format(folder=folder)}"
    ran = subprocess.run(["sh", "-c", whole], input=b"\nhello", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert (ran.returncode, ran.stderr.count(b"\n")) == (code, int(bool(said))) and said in ran.stderr.decode()


@pytest.mark.parametrize("raw", [b"", b"\r\n \n", random.Random(1).randbytes(500)])
def test_an_empty_message_is_not_spam(model: Path, tmp_path: Path, raw: bytes) -> None:
    for options in ([], ["--ledger", tmp_path / "ledger"]):
        passed = run("filter", *options, "-m", model, stdin=raw)
        status = "No, score=0.0 required=5.0 verdict=ham" if raw.strip() else "not classified: the message is empty"
        assert status in passed.output and "X-Spam-Flag" not in passed.output
    with Classifier.open(model) as classifier:
        told = classifier.classify_all([raw, message("spam", 1)])
    assert [(one.verdict, one.log_odds == 0) for one in told] == [("ham", True), ("spam", False)]


def test_gzip_on_standard_input_is_undone_as_in_a_file(model: Path) -> None:
    raw = message("spam", 806)
    plain = run("classify", "-m", model, stdin=raw).output
    assert run("classify", "-m", model, stdin=gzip.compress(raw)).output == plain
    for broken, why in ((gzip.compress(raw)[:-9], "broken gzip data"), (b"BZh91AY&SY", "compressed in a format other")):
        result = run("learn", "spam", "-m", model, stdin=broken)
        assert result.exit_code == 1 and result.output.startswith(f"Error: standard input: {why}")


def test_standard_input_is_bounded(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("entries", "formats"):
        monkeypatch.setattr(f"spamnb.sources.{module}.MAX_MESSAGE", 1 << 20)
    for arguments in (["classify"], ["explain"], ["learn", "spam"]):
        result = run(*arguments, "-m", model, stdin=b"x" * (1 << 21))
        assert (result.exit_code, result.output) == (
            1,
            "Error: standard input: longer than 1 MiB, the bound on one message\n",
        )


def test_explain_takes_one_message_of_any_source(model: Path, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "message.gz").write_bytes(gzip.compress(message("spam", 804)))
    assert run("explain", "-m", model, tmp_path / "message.gz").output.startswith("verdict: spam")
    assert "more than one message" in run("explain", "-m", model, folder / "spam").output


def test_output_is_utf_8_whatever_the_locale(model: Path, tmp_path: Path) -> None:
    raw = "Content-Type: text/plain; charset=utf-8\n\nжурнал журнал".encode()
    run("learn", "spam", "-m", model, stdin=raw)
    for encoding, command in (("ascii", "export"), ("latin-1", "words --top 9999")):
        environment = {**os.environ, "PYTHONIOENCODING": encoding}
        arguments = [sys.executable, "-m", "spamnb", *command.split(), "-m", str(model)]
        out = subprocess.run(arguments, env=environment, capture_output=True, check=True).stdout
        assert "журнал" in out.decode()


def test_a_model_that_cannot_tell_spam_yet_says_why(tmp_path: Path) -> None:
    model = tmp_path / "m"
    output_of("learn", "--no-starter", "ham", "-m", model, stdin=message("ham", 1))
    told = run("classify", "--explain", "3", "-m", model, stdin=message("ham", 2))
    assert told.stdout == "unsure\tprobability unknown\t-\n"
    assert told.stderr.startswith(f"spamnb: {model}: 'unsure' because the model has learned only class 'ham'")


def test_train_names_the_class_that_may_be_spam_and_set_makes_it_so(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "m"
    for name in ("junk", "SPAM"):
        model.unlink(missing_ok=True)
        told = output_of("train", "-m", model, f"good={folder / 'ham'}", f"{name}={folder / 'spam'}")
        assert f"no class is 'spam', so all errors cost the same; 'spamnb set spam={name}' says" in told
    spam = message("spam", 500)
    assert b"X-Spam-Flag: YES" not in run("filter", "-m", model, stdin=spam).stdout_bytes
    assert "spam: spam -> SPAM\n" in output_of("set", "spam=SPAM", "-m", model)
    assert b"X-Spam-Flag: YES" in run("filter", "-m", model, stdin=spam).stdout_bytes
    refused = run("set", "spam=spam", "-m", model)
    assert refused.exit_code == 1 and "no class is called 'spam'; the classes are SPAM, good" in refused.stderr


def test_help_version_and_misspelt_options_are_what_people_type() -> None:
    assert output_of("version") == output_of("-v") == output_of("--version")
    assert output_of("help") == output_of("--help") and output_of("help", "sort") == output_of("sort", "--help")
    refused = run("train", "--forse", "x")
    told = refused.stderr.splitlines()[-1]  # in click's words, which differ from version to version
    assert refused.exit_code == 2
    assert all(words in told for words in ("No such option", "--forse", "Did you mean", "--force"))


def test_explain_prints_json_and_words_takes_a_pair_without_quotes(model: Path, tmp_path: Path) -> None:
    (tmp_path / "m.eml").write_bytes(message("spam", 3))
    told = json.loads(output_of("explain", "--format", "json", "-m", model, tmp_path / "m.eml"))
    assert told == spamnb.explain(tmp_path / "m.eml", model).to_dict() and told["verdict"] == "spam"
    assert output_of("words", "-m", model, "click", "here") == output_of("words", "-m", model, "click here")


def test_a_backup_has_the_last_lessons_of_a_model_that_is_in_use(model: Path, tmp_path: Path) -> None:
    with Classifier.open(model, writable=True) as classifier:
        classifier.learn("spam", message("spam", 4000))
        assert Path(f"{model}-wal").stat().st_size, "the lesson is in the log"
        shutil.copy(model, tmp_path / "cp")
        output_of("backup", "-m", model, tmp_path / "copy")
        assert output_of("export", "-m", tmp_path / "copy") == output_of("export", "-m", model)
    assert output_of("export", "-m", tmp_path / "cp") != output_of("export", "-m", model)
    refused = run("backup", "-m", model, tmp_path / "copy")
    assert refused.exit_code == 1 and "copy: is a model: name another file" in refused.stderr
    (tmp_path / "copy").write_text("a letter")
    assert run("backup", "-m", model, tmp_path / "copy").stderr.endswith("copy: exists already; name a new file\n")
    assert sorted(path.name for path in tmp_path.glob("*copy*")) == ["copy"]


def test_upgrade_of_a_model_without_sources_and_lessons_asks_for_its_mail(folder: Path, tmp_path: Path) -> None:
    trained, merged = tmp_path / "trained", tmp_path / "merged"
    output_of("train", "-m", trained, folder)
    output_of("merge", trained, "-m", merged)
    with Classifier.open(merged, writable=True) as classifier:
        classifier.store.put_meta({"tokens_version": 1})
    refused = run("upgrade", "-m", merged)
    assert refused.exit_code == 1 and refused.stderr.count("\n") == 1
    assert "there is no mail that it learned" in refused.stderr and "run 'spamnb upgrade SOURCE...'" in refused.stderr


def test_a_source_without_mail_replaces_no_model_though_it_has_lessons(model: Path, tmp_path: Path) -> None:
    """The folder of mail may be unmounted."""
    before = output_of("export", "-m", model)
    (tmp_path / "unmounted").mkdir()
    refused = run("train", "--force", "-m", model, f"ham={tmp_path / 'unmounted'}")
    assert refused.exit_code == 1 and refused.stderr.splitlines()[-1].startswith("Error: ")
    assert output_of("export", "-m", model) == before


def test_set_calls_the_class_of_spam_by_its_name(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "m"
    output_of("train", "--set", "spam=junk", "-m", model, f"ham={folder / 'ham'}", f"junk={folder / 'spam'}")
    told = output_of("set", "strictness=strict", "-m", model)
    assert told.endswith(": mail is called junk if its probability of junk is above 50 %\n")


def test_set_changes_decisions_and_nothing_that_was_learned(model: Path) -> None:
    raw = b"Subject: cheap\n\nthe offer\n"
    with Classifier.open(model) as classifier:  # as a filter has it open
        p = classifier.classify(raw).probabilities["spam"]
        assert 0.5 < p < 0.9, "it is spam to a strict model alone"
        before = [line for line in output_of("export", "-m", model).splitlines() if '"meta"' not in line]
        for strictness, verdict in (("strict", "spam"), ("cautious", "ham"), ("normal", "ham")):
            told = output_of("set", f"strictness={strictness}", "-m", model)
            bound = {"strict": "50", "cautious": "99", "normal": "90"}[strictness]
            assert told.endswith(f": mail is called spam if its probability of spam is above {bound} %\n")
            assert classifier.classify(raw).verdict == verdict and classifier.classify(raw).probabilities["spam"] == p
    assert "unsure_cost: none -> 0.1" in output_of("set", "unsure_cost=0.1", "-m", model)
    assert "  unsure_cost: 0.1" in output_of("info", "-m", model)
    assert [line for line in output_of("export", "-m", model).splitlines() if '"meta"' not in line] == before
    for wrong, said in (
        ("strictness=lax", "strictness is 'lax': it must be normal, cautious or strict"),
        ("alpha=1", "no setting is called 'alpha'; the settings are strictness, unsure_cost, spam; for all others"),
        ("strictness", "write NAME=VALUE"),
    ):
        result = run("set", wrong, "-m", model)
        assert result.exit_code == 2 and said in result.stderr
    assert "  strictness" not in output_of("info", "-m", model)
