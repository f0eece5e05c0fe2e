"""One message at which spamnb fails, whatever is raised: every command names it and goes on with the others."""

import asyncio
import builtins
import re
import socket
import struct
from collections.abc import Iterator, Sequence
from email.errors import HeaderParseError
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from commands import output_of, run
from mail import export_lines, learned_class, message, open_teacher, write_file, write_ledger

from spamnb.filter import Classifier
from spamnb.ledger.ledger import Ledger
from spamnb.mailbox import maildir
from spamnb.reader.binding import ReaderCore
from spamnb.reader.rows import Rows
from spamnb.serve.connections import Limits
from spamnb.serve.conversations import Conversations
from spamnb.serve.spamd_wire import SpamdWire
from spamnb.serve.workers import Workers
from spamnb.store.store import Store
from spamnb.user_models import Models


def made(kind: type[Exception]) -> Exception:
    if issubclass(kind, UnicodeDecodeError):
        return kind("ascii", b"\xe9", 0, 1, "odd")
    if issubclass(kind, UnicodeEncodeError):
        return kind("ascii", "\xe9", 0, 1, "odd")
    if issubclass(kind, UnicodeTranslateError):
        return kind("\xe9", 0, 1, "odd")
    return kind("odd", [ValueError("within")]) if issubclass(kind, BaseExceptionGroup) else kind()


# Of Warning and SyntaxError the children are left out: nothing treats them apart.
KINDS: dict[str, type[Exception]] = {
    kind.__name__.lower(): kind
    for kind in [*vars(builtins).values(), HeaderParseError, struct.error]
    if isinstance(kind, type) and issubclass(kind, Exception) and {Warning, SyntaxError}.isdisjoint(kind.__mro__[1:])
}
NAMES = list(KINDS)
POISON = re.compile("poisoned([a-z])([a-z])")  # a short word, which is one token


def poison(kind: str, label: str = "spam") -> bytes:
    number = NAMES.index(kind)
    return message(label, 7000) + f"poisoned{chr(97 + number // 26)}{chr(97 + number % 26)}\n".encode()


def fail_at(texts: Iterator[str]) -> None:
    for text in texts:
        if found := POISON.search(text):
            raise made(KINDS[NAMES[26 * (ord(found[1]) - 97) + ord(found[2]) - 97]])


@pytest.fixture(params=["read", "classify", "learn"])
def stage(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where a message fails that holds such a word: it is read, classified, or half learned."""
    read, classify, add = ReaderCore._read, Classifier._classify, Store.add

    def fail_to_read(self: ReaderCore, messages: list[bytes], *more: object) -> object:
        fail_at(raw.decode("latin-1") for raw in messages)
        return read(self, messages, *more)

    def fail_to_classify(self: Classifier, rows: Rows, *more: object) -> object:
        fail_at(iter(rows.tokens))
        return classify(self, rows, *more)

    def fail_to_learn(self: Store, messages: Sequence[Rows], *more: Any) -> None:
        add(self, messages, *more)
        fail_at(token for each in messages for token in each.tokens)

    where, what, fails = {
        "read": (ReaderCore, "_read", fail_to_read),
        "classify": (Classifier, "_classify", fail_to_classify),
        "learn": (Store, "add", fail_to_learn),
    }[request.param]
    monkeypatch.setattr(where, what, fails)
    return request.param


only = pytest.mark.parametrize


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two good messages, and between them one for each kind of exception."""
    names = ["aaa", *KINDS, "zzz"]
    for name in names:
        raw = message("spam", 8000 + ord(name[0])) if name in ("aaa", "zzz") else poison(name)
        write_file(tmp_path / "mail" / f"{name}.eml", raw)
    return tmp_path / "mail"


def check_named(told: str, folder: Path) -> None:
    """One line of its own for each bad message."""
    lines = [line for line in told.splitlines() if "left out" in line]
    for name, kind in KINDS.items():
        own = [line for line in lines if line.startswith(f"spamnb: {folder}/{name}.eml: ")]
        assert len(own) == 1 and "Traceback" not in own[0], name
        assert kind.__name__ in own[0] or issubclass(kind, OSError) or own[0].count(": ") >= 2
    assert len(lines) == len(KINDS)


@only("stage", ["read", "classify"], indirect=True)
@only("workers", [1, 2])
def test_classify_says_what_the_others_are(stage: str, model: Path, folder: Path, workers: int):
    result = run("classify", "--workers", workers, "-m", model, folder)
    assert result.exit_code == 1 and [line.split("\t")[0] for line in result.stdout.splitlines()] == ["spam", "spam"]
    check_named(result.stderr, folder)


@only("stage", ["read", "classify"], indirect=True)
@only("name", KINDS)
def test_alone_it_is_told_and_filter_passes_it_on(stage: str, model: Path, name: str):
    raw = poison(name)
    assert run("classify", "-m", model, stdin=raw).exit_code == 1
    assert run("classify", "--exit-code", "-m", model, stdin=raw).exit_code == 75
    passed = run("filter", "-m", model, stdin=raw)
    assert passed.exit_code == 0 and passed.stdout.startswith("X-Spam-Warning: not classified: ")
    assert passed.stdout.encode().endswith(raw) and passed.stderr.count("\n") == 1


@only("stage", ["read", "classify"], indirect=True)
def test_explain_says_why_it_cannot(stage: str, model: Path, folder: Path):
    for name in KINDS:
        result = run("explain", "-m", model, folder / f"{name}.eml")
        assert result.exit_code == 1 and result.output.startswith("Error: ") and result.output.count("\n") == 1, name


@only("stage", ["read"], indirect=True)
@only("workers", [1, 2])
def test_train_learns_the_others_as_if_it_were_not_there(stage: str, tmp_path: Path, folder: Path, workers: int):
    mail = [(label, message(label, number)) for number in range(20) for label in ("ham", "spam")]
    for number, (label, raw) in enumerate(mail):
        write_file(tmp_path / label / f"{number}.eml", raw)
    sources = f"ham={tmp_path / 'ham'}", f"spam={tmp_path / 'spam'}"
    told = run("train", "--workers", workers, "-m", tmp_path / "m", *sources, f"spam={folder}")
    assert told.exit_code == 0 and f"{len(KINDS)} left out (see above)" in told.output
    check_named(told.stderr, folder)
    good = tmp_path / "good"
    good.mkdir()
    for name in ("aaa", "zzz"):
        (folder / f"{name}.eml").rename(good / f"{name}.eml")
    output_of("train", "-m", tmp_path / "other", *sources, f"spam={good}")
    assert export_lines(tmp_path / "m") == export_lines(tmp_path / "other")


HOW = [["--folds", "2"], ["--online"], ["--online", "--by-date"], ["-m", "model.spamnb"]]


@only(
    ("stage", "how"),
    [*(("read", how) for how in HOW), *(("classify", how) for how in HOW[1:])],  # folds classify rows, and no messages
    indirect=["stage"],
)
def test_evaluate_classifies_the_others(
    stage: str, model: Path, tmp_path: Path, folder: Path, how: list[str], monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for number in range(20):
        write_file(tmp_path / "ham" / f"{number}.eml", message("ham", 500 + number))
    result = run("evaluate", "--format", "json", *how, f"ham={tmp_path / 'ham'}", f"spam={folder}")
    assert result.exit_code == 0 and '"messages": 22' in result.stdout, result.output
    check_named(result.stderr, folder)


@only("stage", ["read", "learn"], indirect=True)
def test_learn_and_forget_take_the_others_and_leave_nothing_of_it(stage: str, model: Path, folder: Path, tmp_path):
    before = export_lines(model)
    result = run("learn", "spam", "-m", model, folder)
    assert result.exit_code == 1 and result.stdout == "learned 2 of 2 as spam\n"
    check_named(result.stderr, folder)
    for name in ("aaa", "zzz"):
        assert learned_class(model, (folder / f"{name}.eml").read_bytes()) == "spam"
    result = run("forget", "spam", "-m", model, folder)
    assert result.stdout == (
        "forgot 2 of 2 from spam\n"
        if stage == "read"
        else f"forgot 2 of {len(KINDS) + 2} from spam; {len(KINDS)} not learned as spam\n"
    )
    assert export_lines(model) == before


@only("stage", ["read", "classify"], indirect=True)
def test_sort_moves_the_others_and_leaves_it_where_it_is(stage: str, model: Path, folder: Path, tmp_path: Path):
    box = maildir.make_folder(tmp_path / "Mail")
    for path in folder.iterdir():
        path.rename(box / "new" / path.name)
    result = run("sort", "-m", model, box)
    assert result.exit_code == 1 and result.stderr.endswith("spamnb: 2 messages: 2 to Junk\n")
    check_named(result.stderr, box / "new")
    assert {path.stem for path in maildir.files(box / "new")} == set(KINDS)
    assert len(maildir.files(box / ".Junk" / "new")) == 2
    again = run("sort", "-m", model, box)
    assert "left out" not in again.stderr and len(maildir.files(box / "new")) == len(KINDS), "each is classified once"


@only("stage", ["classify", "learn"], indirect=True)
def test_watch_learns_the_others(stage: str, model: Path, folder: Path, tmp_path: Path):
    box = maildir.make_folder(tmp_path / "Mail")
    junk = maildir.make_folder(box / ".Junk")
    for path in folder.iterdir():
        path.rename(box / "cur" / path.name)
    output_of("watch", "--once", "-m", model, box)
    for path in maildir.files(box / "cur"):
        path.rename(junk / "cur" / path.name)
    result = run("watch", "--once", "--sort", "-m", model, box)
    assert result.exit_code == 1 and result.stdout.count("learned\tspam") == 2
    check_named(result.stderr, junk / "cur")


@only("stage", ["read"], indirect=True)
def test_watch_notes_where_the_others_are(stage: str, model: Path, folder: Path, tmp_path: Path):
    box = maildir.make_folder(tmp_path / "Mail")
    for path in folder.iterdir():
        path.rename(box / "cur" / path.name)
    result = run("watch", "--once", "-m", model, box)
    assert result.exit_code == 1 and "recorded 2 messages" in result.stderr
    check_named(result.stderr, box / "cur")


@pytest.fixture
def taught(tmp_path: Path) -> Path:
    """Teach a model messages, all but the first of which are bad ones from then on."""
    for number in range(20):
        for label in ("ham", "spam"):
            write_file(tmp_path / "labelled" / label / f"{number}.eml", message(label, number))
    output_of("train", "-m", tmp_path / "m", tmp_path / "labelled")
    with Classifier.open(tmp_path / "m", writable=True) as classifier:
        raws = [message("ham", 600), *map(poison, KINDS)]
        classifier.learn_all(["ham"] * len(raws), raws)
    return tmp_path / "m"


@only("stage", ["read"], indirect=True)
def test_a_model_made_anew_leaves_out_the_lesson(taught: Path, stage: str, tmp_path: Path):
    result = run("train", "--force", "-m", taught, tmp_path / "labelled")
    assert result.exit_code == 0 and "learned again: 1 lesson" in result.output, result.output
    assert result.output.count("; left out") == len(KINDS) and learned_class(taught, message("ham", 600)) == "ham"


@pytest.fixture
def noted(model: Path, tmp_path: Path) -> list[bytes]:
    """Messages that stand in the ledger; all but the first and the last are bad ones from then on."""
    raws = [message("spam", 900), *map(poison, KINDS), message("spam", 901)]
    write_ledger(tmp_path, model, *raws)
    return raws


@only("stage", ["classify", "learn"], indirect=True)
def test_review_teaches_the_others(noted: list[bytes], stage: str, model: Path, tmp_path: Path):
    with Ledger.open(tmp_path / "ledger") as ledger:
        positions = [entry.position for entry in ledger.list_verdicts(limit=200)]
        with open_teacher(model, ledger) as taught:
            taught.teach(positions, spam=False)
    assert len(positions) == len(noted) and taught.n_changed == 2
    assert taught.problems and all("\n" not in line for line in taught.problems)
    assert learned_class(model, noted[0]) == learned_class(model, noted[-1]) == "ham"
    assert not any(learned_class(model, raw) for raw in noted[1:-1])


@only("stage", ["read"], indirect=True)
def test_review_shows_what_it_has_of_a_message_that_it_cannot_read(stage: str, tmp_path: Path, model: Path):
    app = pytest.importorskip("spamnb.review.app")
    client = pytest.importorskip("starlette.testclient").TestClient
    box = maildir.make_folder(tmp_path / "Mail")
    raw = message("spam", 900)
    write_ledger(tmp_path, model, raw, place=str(write_file(box / "cur" / "1", raw)))
    review = app.Review(tmp_path / "ledger", Models(model, None, writable=True), "secret")
    with client(review.app(), base_url="http://127.0.0.1") as browser:
        assert "cheap" in browser.get("/secret/message/0").text or raw
        (box / "cur" / "1").write_bytes(poison("runtimeerror"))
        page = browser.get("/secret/message/0")
    assert page.status_code == 200 and "This message cannot be shown" in page.text


@only("stage", ["read", "classify", "learn"], indirect=True)
def test_serve_answers_the_others(stage: str, model: Path):
    logged: list[dict] = []

    async def replies(*requests: bytes) -> list[bytes]:
        workers = Workers(partial(Models, model, None), 1, allow_tell=True, ledger=None)
        conversations = Conversations(workers, lambda **facts: logged.append(facts), Limits())
        found = []
        for request in requests:
            ours, theirs = socket.socketpair()
            streams = await asyncio.open_connection(sock=ours)
            served = asyncio.create_task(conversations.converse(SpamdWire(), *streams))
            reader, writer = await asyncio.open_connection(sock=theirs)
            writer.write(request)
            writer.write_eof()
            found.append(await reader.read())
            writer.close()
            await served
        await conversations.close()
        return found

    asks = b"TELL" if stage == "learn" else b"CHECK"
    asks += b" SPAMC/1.5\r\nMessage-class: spam\r\nSet: local\r\n\r\n"
    raws = [message("spam", 900), *(poison(name) for name in KINDS), message("spam", 901)]
    first, *bad, last = asyncio.run(replies(*(asks + raw for raw in raws)))
    assert first.startswith(b"SPAMD/1.1 0 EX_OK") and last.startswith(b"SPAMD/1.1 0 EX_OK")
    assert {reply.split()[2] for reply in bad} == {b"EX_SOFTWARE"} and all(reply.count(b"\n") == 1 for reply in bad)
    requests = [line for line in logged if line["event"] == "request"]
    assert requests[0]["id"] == "<spam.900@spam.example>" and len(requests) == len(raws)
