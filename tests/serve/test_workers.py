"""The processes: killed, told to end, told to reopen, started by systemd."""

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest
from served import Server, mail, receive
from unpacked import wait_until

from spamnb.classifier import Classifier
from spamnb.serve import workers

pytestmark = pytest.mark.slow

SPAM, HAM = mail("spam", 1001), mail("ham", 1001)


def test_sigterm_answers_what_is_open_and_ends(serve, model):
    server = serve(model, "--workers", "2", "--drain", "120", "--metrics-port", "0")
    clients = [server.connect() for _ in range(6)]
    for client in clients:
        client.sendall(b"CHECK SPAMC/1.5\r\nContent-length: %d\r\n\r\n" % len(SPAM))
    wait_until(lambda: metrics_of(server)["spamnb_connections"] == 6)
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


def test_an_idle_connection_does_not_hold_the_end_up(serve, model):
    server = serve(model, "--drain", "0.5")
    with server.connect():
        time.sleep(0.1)
        assert server.stop() == 0


def test_sighup_reopens_the_model(serve, model, tmp_path):
    server = serve(model, "--workers", "2")
    assert server.verdict(SPAM).startswith("Spam: True")
    swapped = tmp_path / "swapped.spamnb"
    with Classifier.create(swapped) as classifier, classifier.store.writing():
        for seed in range(60):
            classifier.learn("ham", mail("spam", seed))
            classifier.learn("spam", mail("ham", seed))
    os.replace(swapped, model)
    server.process.send_signal(signal.SIGHUP)
    events_are(server, "reopened", 2)
    assert {server.verdict(SPAM)[:11] for _ in range(10)} == {"Spam: False"}
    swapped.write_bytes(b"not a model")
    os.replace(swapped, model)
    server.process.send_signal(signal.SIGHUP)
    events_are(server, "not reopened", 2)
    assert server.verdict(HAM).startswith("Spam: True")  # the one that was open stays


def test_sighup_reopens_the_model_that_learns_too(serve, model, tmp_path):
    swapped, raw = tmp_path / "swapped.spamnb", mail("spam", 30_000)
    shutil.copy(model, swapped)
    server = serve(model, "--allow-tell")
    os.replace(swapped, model)
    server.process.send_signal(signal.SIGHUP)
    events_are(server, "reopened", 2)
    assert b"DidSet: local" in server.about("TELL", raw, "1.5", "Message-class: spam", "Set: local")
    with Classifier.open(model) as classifier:
        assert classifier.learned(raw) == "spam"


def events_are(server: Server, event: str, count: int) -> None:
    wait_until(lambda: sum(line["event"] == event for line in server.lines()) >= count)


def metrics_url(server: Server) -> str:
    return next(f"http://{line['address']}" for line in server.lines() if line["event"] == "metrics")


def metrics_of(server: Server) -> dict[str, float]:
    with urllib.request.urlopen(metrics_url(server) + "/metrics", timeout=120) as reply:
        assert reply.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        lines = reply.read().decode("ascii").splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}


def test_a_killed_worker_is_replaced_and_nothing_learned_is_lost(serve, model):
    server = serve(model, "--workers", "2", "--allow-tell")
    told: list[bytes] = []
    failures: list[bytes] = []
    done = threading.Event()

    def teach(seed: int) -> None:
        while not done.is_set():
            seed += 1
            raw = mail("spam", seed)
            try:
                reply = server.about("TELL", raw, "1.5", "Message-class: spam", "Set: local")
            except ConnectionError:
                continue
            if b"DidSet: local" in reply:
                told.append(raw)
            elif reply:
                failures.append(reply)

    teachers = [threading.Thread(target=teach, args=(10_000 * number,)) for number in (1, 2, 3)]
    for teacher in teachers:
        teacher.start()
    for kills in range(5):
        before = len(told)
        wait_until(lambda before=before: len(told) > before + 10)
        if kills < 4:
            os.kill(server.workers()[0], signal.SIGKILL)
    done.set()
    for teacher in teachers:
        teacher.join()
    assert not failures
    assert server.verdict(SPAM).startswith("Spam: True")
    wait_until(lambda: len(server.workers()) == 2)
    assert server.stop() == 0
    with Classifier.open(model) as classifier:
        assert all(classifier.learned(raw) == "spam" for raw in told)
        documents = int(classifier.store.totals().documents.sum())
    with contextlib.closing(sqlite3.connect(model)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("SELECT count(*) FROM messages").fetchone() == (documents,)


def test_workers_end_with_their_parent(serve, model):
    server = serve(model, "--workers", "2")
    workers = server.workers()
    assert len(workers) == 2 and all(map(alive, workers))
    server.process.kill()
    server.process.wait()
    wait_until(lambda: not any(map(alive, workers)))


def alive(process: int) -> bool:
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("log", ["2>/dev/full", "2>&-", "2>&1 >/dev/null | :", "0<&- 1>&- 2>&-"])
def test_mail_is_judged_whatever_becomes_of_the_log(model, tmp_path, log):
    path = tmp_path / "s"
    command = f"{shlex.join([sys.executable, '-m', 'spamnb', 'serve', '-m', str(model), '--socket', str(path)])} {log}"
    process = subprocess.Popen(["sh", "-c", command], start_new_session=True)
    try:
        deadline = time.monotonic() + 120
        for _ in range(2):
            with socket.socket(socket.AF_UNIX) as client:
                while client.connect_ex(str(path)):
                    assert time.monotonic() < deadline
                    time.sleep(0.02)
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
    with pytest.raises(RuntimeError, match="another server answers there"):
        serve(model, "--socket", str(path))
    assert server.verdict(SPAM).startswith("Spam: True")
    server.stop()
    assert not path.exists()


def test_what_cannot_start_says_so_in_one_line(serve, model, tmp_path):
    server = serve(model)
    for options, message in [
        (("--port", str(server.port)), "cannot listen on 127.0.0.1 port .*; --port takes another"),
        (("--metrics-port", str(server.port)), "cannot listen on 127.0.0.1 port .*; --metrics-port takes another"),
        (("--autolearn-spam", "15"), "--autolearn-spam goes with --autolearn"),
        (("--own-after", "5"), "--own-after goes with --models"),
        (("--port", "0", "--socket-mode", "600"), "--socket-mode goes with --socket"),
        (("--socket", str(tmp_path / "no" / "s")), "cannot listen on"),
        (("--port", "0", "--socket-mode", "999"), "no octal mode"),
        (("--host", "x" * 300), "cannot listen on x.*; --host takes another"),
        (("--drain", "inf"), "inf is not in the range"),  # no timer takes it
        (("--drain", "nan"), "'nan' is no time"),
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
            process.send_signal(signal.SIGTERM)
            assert told.recv(100) == b"STOPPING=1"
        finally:
            process.terminate()
            assert process.communicate(timeout=120) and process.returncode == 0


def test_metrics_are_summed_over_the_workers(serve, model):
    server = serve(model, "--workers", "2", "--allow-tell", "--metrics-port", "0")
    for number in range(25):
        server.verdict(SPAM if number % 5 else HAM)
    server.ask(b"NONSENSE\r\n")
    server.about("TELL", SPAM, "1.5", "Message-class: spam", "Set: local")
    os.kill(server.workers()[0], signal.SIGKILL)  # its counts stay
    events_are(server, "worker ended", 1)
    wait_until(lambda: metrics_of(server)["spamnb_connections"] == 0)  # counted a little after a client has its reply
    counts = metrics_of(server)
    assert counts['spamnb_requests_total{method="CHECK"}'] == 25
    assert counts['spamnb_verdicts_total{verdict="spam"}'] == 20
    assert counts['spamnb_verdicts_total{verdict="ham"}'] == 5
    assert counts['spamnb_refusals_total{code="EX_PROTOCOL"}'] == 1
    assert counts['spamnb_lessons_total{by="person"}'] == 1
    assert counts["spamnb_request_seconds_total"] > 0
    assert counts["spamnb_connections"] == 0
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(metrics_url(server) + "/", timeout=120)


def test_a_connection_that_comes_in_the_moment_of_the_end_is_not_lost():
    async def reached(turns: int) -> int:
        begun: list[bool] = []

        async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            begun.append(True)
            writer.close()

        with socket.create_server(("127.0.0.1", 0)) as listening:
            listening.setblocking(False)
            conversations: set[asyncio.Task] = set()
            accepting = asyncio.create_task(workers.accept(listening, converse, conversations))
            await asyncio.sleep(0.01)
            with socket.create_connection(listening.getsockname()):
                for _ in range(turns):
                    await asyncio.sleep(0)
                accepting.cancel()
                await asyncio.gather(accepting, return_exceptions=True)
                waits = workers._next(listening)
                if conversations:
                    await asyncio.wait(conversations)
                if waits is not None:
                    waits.close()
                return len(begun) + (waits is not None)

    assert [asyncio.run(reached(turns)) for turns in range(10)] == [1] * 10
