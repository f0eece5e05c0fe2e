"""The server's conversations through real sockets: what is asked, what is refused, and what a slow client can do."""

import random
import shutil
import socket

import pytest
from commands import run
from mail import learned_class
from mail import message as mail
from served import Server, receive
from unpacked import wait_until

from spamnb.filter import Classifier
from spamnb.ledger.ledger import Ledger
from spamnb.mail_result import classify_mail
from spamnb.reader.message import digest
from spamnb.reader.spam_fields import section_length
from spamnb.serve.spamd_wire import SpamdWire
from spamnb.serve.wire import Request

SPAM, HAM = mail("spam", 1001), mail("ham", 1001)


def parsed(reply: bytes) -> tuple[str, dict[str, str], bytes]:
    head, _, body = reply.partition(b"\r\n\r\n")
    status, *lines = head.decode("ascii").split("\r\n")
    return status, dict(line.split(": ", 1) for line in lines), body


@pytest.mark.parametrize("method", ["CHECK", "SYMBOLS", "REPORT", "REPORT_IFSPAM", "HEADERS", "PROCESS"])
@pytest.mark.parametrize("raw", [SPAM, HAM])
def test_replies_are_exact(server: Server, method: str, raw: bytes):
    status, headers, body = parsed(server.about(method, raw))
    assert status == "SPAMD/1.1 0 EX_OK"
    verdict, _, figures = headers["Spam"].partition(" ; ")
    points, _, threshold = figures.partition(" / ")
    assert verdict == str(raw == SPAM) == str(float(points) >= 5.0) and threshold == "5.0" and "." in points
    if method == "CHECK":
        assert set(headers) == {"Spam"} and not body
        return
    assert int(headers["Content-length"]) == len(body)
    if method in ("HEADERS", "PROCESS"):  # older versions are in test_protocol.py
        assert body.endswith(raw if method == "PROCESS" else raw[: section_length(raw)])
    if method == "REPORT_IFSPAM":
        assert bool(body) == (raw == SPAM)


def test_ping_and_skip(server: Server):
    assert server.ask(b"PING SPAMC/1.5\r\n\r\n") == b"SPAMD/1.5 0 PONG\r\n"
    assert server.ask(b"PING SPAMC/1.2\r\n") == b"SPAMD/1.5 0 PONG\r\n"  # and waits for no blank line
    assert server.ask(b"SKIP SPAMC/1.5\r\n\r\n") == b""
    assert server.ask(b"", half_close=True) == b""


def test_without_content_length_the_half_close_ends_the_message(server: Server):
    with_length = server.about("PROCESS", SPAM)
    assert server.ask(b"PROCESS SPAMC/1.5\r\nUser: x\r\n\r\n" + SPAM, half_close=True) == with_length


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_process_keeps_every_byte_but_forged_fields(server: Server, newline: str):
    raw = mail("spam", 7).replace(b"\n", newline.encode()) + b"caf\xe9 \x00\r bytes\n\r\n"
    forged = b"X-Spam-Flag: NO" + newline.encode() + b"X-Spam-Status: No," + newline.encode() + b"\tscore=-9"
    _, _, body = parsed(server.about("PROCESS", forged + newline.encode() + raw))
    assert body.endswith(raw) and body.count(b"X-Spam-Flag") == 1 and b"score=-9" not in body
    ours = body[: -len(raw)]
    assert ours.count(b"\n") == ours.count(newline.encode())
    assert b"X-Spam-Flag: YES" + newline.encode() in ours and b"X-Spam-Checker-Version: spamnb " in ours


def test_the_score_is_the_classifiers(server: Server, trained):
    with Classifier.open(trained) as classifier:
        for seed in range(20):
            raw = mail("spam" if seed % 2 else "ham", 2000 + seed)
            found = classify_mail(classifier, raw)
            assert server.verdict(raw) == f"Spam: {found.is_spam} ; {found.points:.1f} / 5.0"
            assert found.is_spam == (classifier.classify(raw).verdict == "spam")


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", 76),
        (b"check SPAMC/1.5\r\n\r\n", 76),
        (b"CHECK SPAMC/99999.1\r\n\r\n", 76),
        (b"CHECK SPAMC/1.5\r\nno colon\r\n\r\n", 76),
        (b"CHECK SPAMC/1.5\r\nCompress: zlib\r\n\r\n", 76),
        (b"CHECK SPAMC/1.5\r\nContent-length: \xc2\xb2\r\n\r\n", 76),
        (b"CHECK SPAMC/1.5\r\nContent-length: twelve\r\n\r\n", 76),
        (b"CHECK SPAMC/1.5\r\n" + b"X: y\r\n" * 20_000 + b"\r\n", 76),
        (b"CHECK SPAMC/1.5\r\nX: " + b"y" * 5000 + b"\r\n\r\n", 76),
        (b"y" * 1_000_000, 76),
        (b"CHECK SPAMC/1.5\r\nContent-length: 99999999999\r\n\r\n", 69),
        (b"CHECK SPAMC/1.5\r\n\r\n" + b"a" * 9_000_000, 69),
        (b"CHECK SPAMC/1.5\r\nContent-length: 9\r\n\r\nabc", 76),
        (b"TELL SPAMC/1.5\r\nSet: local\r\nContent-length: 3\r\n\r\nabc", 76),
    ],
    ids=str,
)
def test_bad_requests_get_one_line(server: Server, request_: bytes, code: int):
    reply = server.ask(request_, half_close=request_.endswith(b"abc"))
    assert reply.startswith(b"SPAMD/1.0 %d EX_" % code) and reply.count(b"\n") == 1 and reply.endswith(b"\r\n")


def test_telling(serve, model):
    server = serve(model, "--workers", "2", "--allow-tell")
    odd = mail("spam", 5)[: section_length(mail("spam", 5))] + b"\nzyzzyva quixotry zymurgy syzygy\n"
    learn = ("1.5", "Message-class: ham", "Set: local")
    before = server.verdict(odd)
    assert parsed(server.about("TELL", odd, *learn))[1] == {"DidSet": "local"}
    after = {server.verdict(odd) for _ in range(30)}  # from both threads
    assert len(after) == 1 and after != {before}
    assert parsed(server.about("TELL", odd, *learn)) == ("SPAMD/1.1 0 EX_OK", {}, b"")
    assert learned_class(model, odd) == "ham"
    assert parsed(server.about("TELL", odd, "1.5", "Remove: local"))[1] == {"DidRemove": "local"}
    assert parsed(server.about("TELL", odd, "1.5", "Remove: local"))[1] == {}
    assert {server.verdict(odd) for _ in range(10)} == {before}
    spam = ("1.5", "Message-class: spam", "Set: local,remote")  # spamc -C report: the other class, at once
    assert parsed(server.about("TELL", HAM, *learn))[1] == {"DidSet": "local"}
    assert parsed(server.about("TELL", HAM, *spam))[1] == {"DidSet": "local"}
    assert learned_class(model, HAM) == "spam"


def test_each_user_learns_for_themselves(serve, model, tmp_path):
    users = tmp_path / "users"
    users.mkdir()
    server = serve(model, "--workers", "2", "--allow-tell", "--models", str(users))
    shared = server.verdict(SPAM)
    for seed in range(100):  # ann likes what others do not
        raw = mail("spam", 3000 + seed)
        server.about("TELL", raw, "1.5", "User: ann", "Message-class: ham", "Set: local")
        assert seed or server.verdict(SPAM, "User: ann") != shared  # from the first message on
    assert server.verdict(SPAM, "User: ann").startswith("Spam: False")
    assert server.verdict(SPAM, "User: bob") == server.verdict(SPAM) == shared
    unknown = server.about("TELL", SPAM, "1.5", "User: bob", "Remove: local")  # makes no model either
    assert unknown == SpamdWire().change_reply(Request("TELL", forgets=True), False)
    assert [path.name for path in users.iterdir() if not path.name.startswith("ann.spamnb-")] == ["ann.spamnb"]
    assert server.verdict(SPAM, "User: ../ann") == shared
    reply = server.about("TELL", SPAM, "1.5", "User: ../ann", "Message-class: ham", "Set: local")
    assert reply.startswith(b"SPAMD/1.0 67 EX_NOUSER ")
    answered = {line.get("user", ""): line["model"] for line in server.requests() if line["method"] == "CHECK"}
    assert answered == {"": str(model), "ann": str(users / "ann.spamnb"), "bob": str(model), "../ann": str(model)}


def test_slow_clients_hinder_nobody(server: Server):
    slow = [server.connect() for _ in range(50)]
    for number, client in enumerate(slow):
        client.sendall([b"CHECK SPAMC/1.5\r\nX", b"CHECK SPAMC/1.5\r\nContent-length: 999\r\n\r\nX", b""][number % 3])
    assert server.verdict(SPAM).startswith("Spam: True")
    for client in slow:
        client.close()


def test_one_line_of_json_a_message(serve, model):
    server = serve(model)
    hostile = b'Message-ID: <"}\n\t\x1b[31m{"event": "ready\xff>\nSubject: prize\n\nfree pills'
    server.verdict(hostile, "User: ann")
    server.ask(b"NONSENSE\r\n")
    wait_until(lambda: len(server.requests()) == 2)
    message, nonsense = server.requests()
    assert message["method"] == "CHECK" and message["size"] == len(hostile) and message["user"] == "ann"
    assert message["verdict"] in ("spam", "ham") and isinstance(message["score"], float) and message["ms"] > 0
    assert message["id"].startswith('<"}') and nonsense["code"] == 76


def mutated(chance: random.Random) -> bytes:
    raw = mail(chance.choice(["spam", "ham"]), chance.randrange(100))
    method = chance.choice(["CHECK", "PROCESS", "HEADERS", "SYMBOLS", "REPORT", "TELL", "PING", "SKIP", "FOO"])
    version = chance.choice(["1.5", "1.3", "1.2", "1.1", "9.9", "1", "x"])
    length = chance.choice([len(raw), len(raw) + 7, len(raw) // 2, 0, -5, "a"])
    extra = chance.choice(["", "Compress: zlib\r\n", "User: ../x\r\n", "Set: local\r\n", "\x00\r\n", ": \r\n"])
    request = bytearray(f"{method} SPAMC/{version}\r\n{extra}Content-length: {length}\r\n\r\n".encode() + raw)
    for _ in range(chance.choice([0, 0, 1, 5, 50])):
        request[chance.randrange(len(request))] = chance.randrange(256)
    return bytes(request[: chance.choice([len(request), chance.randrange(len(request))])])


def batter(server: Server, count: int, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(count):
        with server.connect() as client:
            try:
                client.sendall(mutated(chance))
                client.shutdown(socket.SHUT_WR)
                reply = receive(client)
            except ConnectionError:
                continue  # refused while it was still sending
        assert not reply or reply.startswith(b"SPAMD/1.")


@pytest.mark.slow
def test_mutated_requests_leave_the_server_up_and_its_memory_flat(serve, model):
    server = serve(model, "--allow-tell", "--workers", "2")
    batter(server, 500, seed=1)
    before = server.memory()
    batter(server, 1000, seed=2)
    assert server.memory() < before + 8_000_000
    assert server.verdict(SPAM).startswith("Spam: True")
    assert not [line for line in server.lines() if line["event"] == "fault"]


def test_verdicts_and_lessons_of_clients_are_noted(serve, model, tmp_path):
    ledger = tmp_path / "ledger"
    server = serve(model, "--allow-tell", "--workers", "2", "--ledger", str(ledger))
    for seed in range(20):
        server.about("CHECK", mail("spam", 700 + seed), "1.5", "User: ann")
    server.about("TELL", mail("spam", 700), "1.5", "User: ann", "Message-class: ham", "Set: local")
    assert server.stop() == 0
    with Ledger.open(ledger) as kept:
        entries = kept.list_verdicts("spam")
        assert len(entries) == 19, "what was corrected is no spam any more"
        assert {entry.user for entry in entries} == {"ann"}
        (made,) = kept.corrections()
        assert (made.label, made.source) == ("ham", "client")
        assert made.user == "", "all users share the model"


@pytest.mark.parametrize("has_models", [False, True])
def test_what_a_client_forgets_is_not_learned_again_from_the_ledger(serve, model, trained, tmp_path, has_models):
    users, ledger, options = tmp_path / "users", tmp_path / "ledger", []
    if has_models:
        users.mkdir()
        options = ["--models", str(users)]
    server = serve(model, "--allow-tell", "--workers", "2", "--ledger", str(ledger), *options)
    for number in (700, 701):
        server.about("TELL", mail("spam", number), "1.5", "User: ann", "Message-class: ham", "Set: local")
        server.about("CHECK", mail("spam", number), "1.5", "User: ann")
    server.about("TELL", mail("spam", 700), "1.5", "User: ann", "Remove: local")
    assert server.stop() == 0
    with Ledger.open(ledger) as kept:
        corrections = [(each.digest, each.user) for each in kept.corrections()]
        assert corrections == [(digest(mail("spam", 701)), "ann" if has_models else "")]
    relearn = "relearn", "--ledger", ledger, *options
    if has_models:
        assert "--models names the folder" in run("relearn", "--ledger", ledger, "-m", model).stderr
        (users / "ann.spamnb").unlink()
    else:
        model = shutil.copy(trained, tmp_path / "new.spamnb")
    assert run(*relearn, "-m", model).stdout == "learned 1 of 1 correction\n"
    assert run(*relearn, "-m", model).stdout == "learned 0 of 1 correction\n"
    assert "1 message forgotten" in run("undo", "--ledger", ledger, "-m", model, *options).stdout
