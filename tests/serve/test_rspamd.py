"""rspamd's protocol: what is answered, what is refused, and rspamc as it is."""

import http.client
import json
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from mail import learned_class
from mail import message as mail
from served import Server, receive
from unpacked import command_of_unpacked

from spamnb.filter import Classifier
from spamnb.mail_result import classify_mail, format_symbols, header_fields

SPAM, HAM = mail("spam", 1001), mail("ham", 1001)


def port_of(server: Server) -> int:
    return next(int(line["address"].rpartition(":")[2]) for line in server.lines() if line["event"] == "http")


@pytest.fixture(scope="module")
def asked(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start a server for tests that teach nothing."""
    folder = tmp_path_factory.mktemp("asked")
    started = Server(folder, Path(shutil.copy(trained, folder / "model.spamnb")), "--http", "0", "--allow-tell")
    yield started
    assert started.stop() == 0


def post(server: Server, path: str, raw: bytes, method: str = "POST", chunked: bool = False, **headers: str):
    client = http.client.HTTPConnection("127.0.0.1", port_of(server), timeout=120)
    body = [raw[place : place + 700] for place in range(0, len(raw), 700)] if chunked else raw
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    client.request(method, path, body, fields, encode_chunked=chunked)
    reply = client.getresponse()
    return reply.status, reply.read()


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("raw", [SPAM, HAM])
def test_the_verdict_is_spamds(asked: Server, trained: Path, raw: bytes, chunked: bool):
    status, body = post(
        asked, "/checkv2", raw, chunked=chunked, **({"Transfer_Encoding": "chunked"} if chunked else {})
    )
    told = json.loads(body)
    with Classifier.open(trained) as classifier:
        found = classify_mail(classifier, raw)
    assert status == 200 and told["score"] == found.points and told["required_score"] == 5.0
    assert told["action"] == ("add header" if raw == SPAM else "no action") and not told["is_skipped"]
    symbol = told["symbols"]["SPAMNB"]
    assert symbol["name"] == "SPAMNB" and symbol["score"] == told["score"]
    assert ",".join(symbol["options"]) == format_symbols(found)
    assert told["milter"]["add_headers"] == dict(header_fields(found))
    assert {"X-Spam-Flag", "X-Spam-Status"} <= set(told["milter"]["remove_headers"])


def test_lessons_are_those_of_the_user_to_whom_mail_is_delivered(serve, model, tmp_path):
    folder = tmp_path / "users"
    folder.mkdir()
    server = serve(model, "--http", "0", "--allow-tell", "--models", str(folder))
    assert post(server, "/learnham", SPAM, Deliver_To="ann@example.org", User="eve") == (200, b'{"success": true}')
    assert post(server, "/learnham", SPAM, Deliver_To="ann@example.org")[0] == 208
    assert [path.name for path in folder.glob("*.spamnb")] == ["ann@example.org.spamnb"]
    assert post(server, "/learnspam", HAM)[0] == 200
    with Classifier.open(model) as shared, Classifier.open(folder / "ann@example.org.spamnb") as own:
        assert (shared.learned(SPAM), shared.learned(HAM)) == (None, "spam") and own.learned(SPAM) == "ham"
    assert post(server, "/learnham", SPAM, Deliver_To="../ann")[0] == 404


def test_teaching_is_refused_unless_allowed_and_to_web_pages(serve, model, asked):
    server = serve(model, "--port", "0", "--http", "0")
    reply = server.about("TELL", HAM, "1.5", "Message-class: spam", "Set: local")
    assert reply == b"SPAMD/1.0 69 EX_UNAVAILABLE Service Unavailable: TELL needs --allow-tell\r\n"
    status, body = post(server, "/learnspam", HAM)
    assert status == 503 and "--allow-tell" in json.loads(body)["error"]
    for path in ("/checkv2", "/learnspam"):
        assert post(asked, path, HAM, Origin="https://example.org")[0] == 400
    for path in (model, asked.model):
        assert learned_class(path, HAM) is None


def test_stat_counts_verdicts_lessons_and_the_models_messages(serve, model):
    server = serve(model, "--http", "0", "--allow-tell")
    with Classifier.open(model) as classifier:
        totals = classifier.model.totals
        before = dict(zip(totals.classes, map(int, totals.documents)))
    for raw in (SPAM, SPAM, HAM):
        assert post(server, "/checkv2", raw)[0] == 200
    assert post(server, "/learnham", SPAM)[0] == 200
    status, body = post(server, "/stat", b"", method="GET")
    told = json.loads(body)
    assert status == 200 and (told["scanned"], told["spam_count"], told["ham_count"], told["learned"]) == (3, 2, 1, 1)
    assert told["actions"] == {"add header": 2, "no action": 1} and told["connections"] == 4
    revisions = {statfile["symbol"]: statfile["revision"] for statfile in told["statfiles"]}
    assert revisions == {"BAYES_SPAM": before["spam"], "BAYES_HAM": before["ham"] + 1}
    assert told["total_learns"] == sum(before.values()) + 1


@pytest.mark.parametrize("path", ["/ping", "/stat", "/checkv2"])
def test_a_page_whose_name_leads_to_this_machine_gets_no_answer(asked: Server, path: str):
    for host, is_answered in {
        "127.0.0.1": True,
        f"localhost:{port_of(asked)}": True,
        "LOCALHOST": True,
        "": True,  # as programs of HTTP/1.0 send it
        "site.example": False,
        f"site.example:{port_of(asked)}": False,
        "127.0.0.1.site.example": False,
        "localhost.site.example:80": False,
    }.items():
        status, body = post(asked, path, HAM, "POST" if path == "/checkv2" else "GET", Host=host)
        assert (status == 200) == is_answered, host
        assert is_answered or "Host" in json.loads(body)["error"]


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET /ping HTTP/1.1\r\n\r\n", 200),
        (b"CHECK SPAMC/1.5\r\n\r\n", 400),
        (b"GET /checkv2 HTTP/1.1\r\n\r\n", 404),
        (b"POST /checkv2 HTTP/2.0\r\n\r\n", 400),
        (b"POST /other HTTP/1.1\r\nContent-Length: 1\r\n\r\na", 404),
        (b"POST /checkv2 HTTP/1.1\r\n\r\n" + SPAM, 400),
        (b"POST /checkv2 HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"POST /checkv2 HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST /checkv2 HTTP/1.1\r\nContent-Length: \xc2\xb2\r\n\r\n", 400),
        (b"POST /checkv2 HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
        (b"POST /checkv2 HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (b"POST /checkv2 HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
        (b"POST /checkv2 HTTP/1.1\r\nCompression: zstd\r\nContent-Length: 1\r\n\r\na", 400),
        (b"POST /checkv2 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n0\r\n\r\n", 400),
        (b"POST /checkv2 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n", 400),
        (b"POST /checkv2 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc", 400),
        (b"POST /checkv2 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"POST /checkv2 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n" + b"a" * 9_000_000, 503),
        (b"POST /checkv2 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\n\nb\r\n0\r\n\r\n", 200),
        (b"POST /checkv2 HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", 503),
        (b"POST /checkv2 HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc", 400),
        (b"POST /checkv2 HTTP/1.0\r\n" + b"Rcpt: a@b\r\n" * 999 + b"Content-Length: 3\r\n\r\n\nhi", 200),
        (b"POST /checkv2 HTTP/1.1\r\n" + b"X: y\r\n" * 20_000 + b"\r\n", 400),
        (b"POST /checkv2 HTTP/1.1\r\nX: " + b"y" * 5000 + b"\r\n\r\n", 400),
        (b"y" * 1_000_000, 400),
    ],
    ids=lambda value: str(value)[:90],
)
def test_each_request_gets_one_reply_whatever_it_is(asked: Server, request_: bytes, status: int):
    with socket.create_connection(("127.0.0.1", port_of(asked)), 120) as client:
        client.sendall(request_)
        client.shutdown(socket.SHUT_WR)
        head, _, body = receive(client).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert b"Content-Length: %d\r\n" % len(body) in head
    if status != 200:
        assert list(json.loads(body)) == ["error"]


def test_a_unix_socket_answers_and_is_removed(serve, model, tmp_path):
    path = tmp_path / "rspamd.sock"
    server = serve(model, "--http", str(path), "--socket-mode", "600")
    assert path.stat().st_mode & 0o777 == 0o600 and not server.addresses  # and port 783 is left alone
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        client.sendall(b"POST /checkv2 HTTP/1.0\r\nHost: any\r\nContent-Length: %d\r\n\r\n" % len(SPAM) + SPAM)
        assert json.loads(receive(client).partition(b"\r\n\r\n")[2])["action"] == "add header"
    assert server.stop() == 0 and not path.exists()


@pytest.mark.slow
def test_rspamc_checks_and_teaches(serve, model):
    asked = serve(model, "--http", "0", "--allow-tell")
    rspamc = [*command_of_unpacked("usr/bin/rspamc"), "rspamc", "-h", f"127.0.0.1:{port_of(asked)}"]

    def run(*options: str, raw: bytes) -> subprocess.CompletedProcess[str]:
        done = subprocess.run([*rspamc, *options], input=raw, capture_output=True, timeout=120)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    for raw, action, spam in ((SPAM, "add header", "true"), (HAM, "no action", "false")):
        told = run(raw=raw).stdout
        with Classifier.open(model) as classifier:
            found = classify_mail(classifier, raw)
        assert f"Action: {action}\n" in told and f"Spam: {spam}\n" in told
        assert f"Score: {found.points:.2f} / 5.00\n" in told and f"Symbol: SPAMNB ({found.points:.2f})" in told
        assert json.loads(run("--json", raw=raw).stdout)["action"] == action
    for command, label in (("learn_ham", "ham"), ("learn_spam", "spam")):
        assert "success = true;" in run(command, raw=HAM if label == "spam" else SPAM).stdout
    assert (learned_class(model, HAM), learned_class(model, SPAM)) == ("spam", "ham")
    assert "already learned as this class" in run("learn_ham", raw=SPAM).stdout
    told = run("stat", raw=b"").stdout
    assert "Messages scanned: 4\n" in told and "Messages treated as spam: 2, 50.00%\n" in told
    assert "Messages learned: 2\n" in told and "Statfile: BAYES_SPAM type: spamnb; " in told
