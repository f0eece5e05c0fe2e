"""The process: told to end, killed, started by systemd, its model replaced; its sockets, log and metrics."""

import contextlib
import os
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import urllib.request

import pytest
from commands import output_of
from mail import learned_class
from mail import message as mail
from prometheus_client.parser import text_string_to_metric_families
from served import Server, receive
from unpacked import wait_until

from spamnb.filter import Classifier
from spamnb.store.snapshot import read_snapshot

pytestmark = pytest.mark.slow

SPAM, HAM = mail("spam", 1001), mail("ham", 1001)


def test_sigterm_answers_what_is_open_and_ends(serve, model):
    server = serve(model, "--metrics-port", "0")
    clients = [server.connect() for _ in range(6)]
    for client in clients:
        client.sendall(b"CHECK SPAMC/1.5\r\nContent-length: %d\r\n\r\n" % len(SPAM))
    wait_until(lambda: metrics_of(server)["spamnb_connections"] == 7)  # this one too
    server.process.send_signal(signal.SIGTERM)

    def is_closed() -> bool:
        # A connection that came in the moment of closing may be reset only when the process ends.
        try:
            with server.connect(timeout=1) as client:
                client.sendall(b"PING SPAMC/1.5\r\n\r\n")
                receive(client)
        except ConnectionError:
            return True
        except TimeoutError:
            pass
        return False

    wait_until(is_closed)
    assert server.process.poll() is None
    for client in clients:
        client.sendall(SPAM)
        assert receive(client).startswith(b"SPAMD/1.1 0 EX_OK\r\nSpam: True")
        client.close()
    assert server.process.wait(120) == 0


def test_a_model_that_is_replaced_is_used_from_then_on(serve, model, tmp_path):
    server = serve(model, "--workers", "2", "--allow-tell")
    assert server.verdict(SPAM).startswith("Spam: True")
    swapped, taught = tmp_path / "swapped.spamnb", mail("spam", 30_000)
    with Classifier.create(swapped) as classifier, classifier.store.writing():
        for seed in range(60):
            classifier.learn("ham", mail("spam", seed))
            classifier.learn("spam", mail("ham", seed))
    os.replace(swapped, model)
    server.process.send_signal(signal.SIGHUP)  # as units of earlier versions do
    assert {server.verdict(SPAM)[:11] for _ in range(10)} == {"Spam: False"}
    assert b"DidSet: local" in server.about("TELL", taught, "1.5", "Message-class: spam", "Set: local")
    assert learned_class(model, taught) == "spam"
    swapped.write_bytes(b"not a model")
    os.replace(swapped, model)
    assert server.verdict(HAM).startswith("Spam: True")  # the one that was open stays


def test_no_lesson_is_lost_when_the_server_is_killed(serve, model):
    server = serve(model, "--workers", "2", "--allow-tell")
    taught: list[bytes] = []
    wrong: list[bytes | str] = []

    def teach(start: int) -> None:
        with contextlib.suppress(ConnectionError):
            for seed in range(start, start + 1000):
                raw = mail("spam", seed) + " ".join(f"rare{seed}x{n}" for n in range(40)).encode() + b"\n"
                reply = server.about("TELL", raw, "1.5", "Message-class: spam", "Set: local")
                if b"DidSet: local" in reply:
                    taught.append(raw)
                elif reply:  # none of a server that was killed
                    wrong.append(reply)

    teachers = [threading.Thread(target=teach, args=(10_000 * number,)) for number in (1, 2, 3)]
    for teacher in teachers:
        teacher.start()
    for enough in (10, 20, 30):
        wait_until(lambda enough=enough: len(taught) > enough)
        if "True" not in (said := server.verdict(SPAM)):
            wrong.append(said)
    server.process.kill()
    for teacher in teachers:
        teacher.join()
    assert not wrong
    with Classifier.open(model) as classifier:
        assert all(classifier.learned(raw) == "spam" for raw in taught)
        content = read_snapshot(classifier.store)  # which checks that all sums add up
        assert content.model.sums[:, 0].sum() == len(content.messages) >= 240 + len(taught)
    with contextlib.closing(sqlite3.connect(model)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def metrics_url(server: Server) -> str:
    return next(f"http://{line['address']}" for line in server.lines() if line["event"] == "metrics")


def metrics_of(server: Server) -> dict[str, float]:
    """Every total by its name and the value of its label, read by the grammar of Prometheus' own client."""
    with urllib.request.urlopen(metrics_url(server) + "/metrics", timeout=120) as reply:
        assert reply.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        families = list(text_string_to_metric_families(reply.read().decode("ascii")))
    assert all(family.type in ("counter", "gauge", "histogram") for family in families)
    samples = [sample for family in families for sample in family.samples]
    return {" ".join([sample.name, *sample.labels.values()]): sample.value for sample in samples}


def test_metrics_are_totals(serve, model):
    server = serve(model, "--workers", "2", "--allow-tell", "--metrics-port", "0")
    for number in range(25):
        server.verdict(SPAM if number % 5 else HAM)
    server.ask(b"NONSENSE\r\n")
    server.about("TELL", SPAM, "1.5", "Message-class: spam", "Set: local")
    wait_until(lambda: metrics_of(server)["spamnb_connections"] == 1)  # this one; others end a little after their reply
    counts = metrics_of(server)
    assert counts["spamnb_requests_total CHECK"] == 25
    assert counts["spamnb_verdicts_total spam"] == 20 and counts["spamnb_verdicts_total ham"] == 5
    assert counts["spamnb_refusals_total EX_PROTOCOL"] == counts["spamnb_model_changes_total"] == 1
    assert counts["spamnb_message_bytes_total"] == 21 * len(SPAM) + 5 * len(HAM)
    assert counts["spamnb_request_seconds_count"] == counts["spamnb_request_seconds_bucket +Inf"] == 26
    assert 0 < counts["spamnb_request_seconds_sum"] < 26 * 10
    buckets = [counts[name] for name in counts if name.startswith("spamnb_request_seconds_bucket")]
    assert buckets == sorted(buckets) and len(buckets) < 20
    assert counts["process_resident_memory_bytes"] == pytest.approx(server.memory(), rel=0.2)
    files = [path for path in (model, model.with_name(model.name + "-wal")) if path.exists()]
    assert counts["spamnb_model_bytes"] == sum(path.stat().st_size for path in files)
    assert counts["spamnb_model_changed_timestamp_seconds"] == max(path.stat().st_mtime for path in files)
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(metrics_url(server) + "/", timeout=120)


def test_the_metric_of_the_training_is_of_the_file_itself(serve, model, tmp_path):
    with Classifier.open(model, writable=True) as classifier:
        classifier.store.put_meta({"trained_at": "2026-11-22T05:48:07+00:00"})
    output_of("learn", "ham", "--shared", model, "-m", tmp_path / "user", stdin=HAM)
    for path, times in ((model, [1_795_326_487]), (tmp_path / "user", [])):
        metrics = metrics_of(serve(path, "--metrics-port", "0"))
        assert [value for name, value in metrics.items() if "_trained_" in name] == times


@pytest.mark.parametrize("log", ["2>/dev/full", "2>&-", "2>&1 >/dev/null | :", "0<&- 1>&- 2>&-"])
def test_mail_is_classified_whatever_becomes_of_the_log(model, tmp_path, log):
    path = tmp_path / "s"
    command = f"{shlex.join([sys.executable, '-m', 'spamnb', 'serve', '-m', str(model), '--socket', str(path)])} {log}"
    process = subprocess.Popen(["sh", "-c", command], start_new_session=True)
    try:
        for _ in range(2):
            with socket.socket(socket.AF_UNIX) as client:
                wait_until(lambda client=client: not client.connect_ex(str(path)))
                client.sendall(b"CHECK SPAMC/1.5\r\n\r\n" + SPAM)
                client.shutdown(socket.SHUT_WR)
                assert client.recv(99).startswith(b"SPAMD/1.1 0 EX_OK\r\nSpam: True")
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def test_a_unix_socket(serve, model, tmp_path):
    path = tmp_path / "s"
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(path))
    stale.close()  # a server that was killed leaves its socket behind
    server = serve(model, "--socket", str(path), "--socket-mode", "600")
    assert path.stat().st_mode & 0o777 == 0o600
    assert server.verdict(SPAM).startswith("Spam: True")
    with pytest.raises(RuntimeError, match="another server uses this socket"):
        serve(model, "--socket", str(path))
    assert server.verdict(SPAM).startswith("Spam: True")
    server.stop()
    assert not path.exists()


def test_what_cannot_start_says_so_in_one_line(serve, model, tmp_path):
    server = serve(model)
    for options, message in [
        (("--port", str(server.port)), "cannot listen on 127.0.0.1 port .*; choose another with --port"),
        (
            ("--metrics-port", str(server.port)),
            "cannot listen on 127.0.0.1 port .*; choose another with --metrics-port",
        ),
        (("--port", "0", "--socket-mode", "600"), "--socket-mode needs --socket"),
        (("--socket", str(tmp_path / "no" / "s")), "cannot listen on"),
        (("--port", "0", "--socket-mode", "999"), "not an octal mode"),
        (("--host", "x" * 300), "cannot listen on x.*; choose another with --host"),
    ]:
        with pytest.raises(RuntimeError, match=message) as error:
            serve(model, *options)
        assert "Traceback" not in str(error.value)
    with pytest.raises(RuntimeError, match="no model there"):
        serve(tmp_path / "none.spamnb")


def test_systemd_passes_sockets_and_hears_when_it_is_ready(model, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.bind(str(tmp_path / "notify"))
        told.settimeout(120)
        # The shell puts its own process number where sd_listen_fds(3) wants it, and becomes the server.
        script = 'exec 3<&"$0"; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
        command = [sys.executable, "-m", "spamnb", "serve", "-m", str(model)]
        process = subprocess.Popen(
            ["bash", "-c", script, str(listening.fileno()), *command],
            pass_fds=[listening.fileno()],
            env={**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify")},
            stderr=subprocess.PIPE,
        )
        try:
            assert told.recv(100) == b"READY=1"
            with socket.create_connection(listening.getsockname()) as client:
                client.sendall(b"PING SPAMC/1.5\r\n\r\n")
                assert receive(client) == b"SPAMD/1.5 0 PONG\r\n"
            process.terminate()
            assert told.recv(100) == b"STOPPING=1" and process.wait(120) == 0
        finally:
            process.kill()
            process.communicate()
