"""``spamnb review`` as a process: it answers on this machine, and says what is missing in one line."""

import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from spamnb.classifier import Classifier
from spamnb.review.passwords import set_password


def command(tmp_path: Path, *more: str, code: str = "from spamnb.__main__ import main; main()") -> list[str]:
    with Classifier.create(tmp_path / "model.spamnb") as classifier:
        classifier.learn("spam", b"Subject: offer")
    set_password(tmp_path / "passwords", "admin", "correct horse")
    files = {"-m": "model.spamnb", "--journal": "journal", "--passwords": "passwords"}
    named = [word for option, name in files.items() for word in (option, str(tmp_path / name))]
    return [sys.executable, "-c", code, "review", *named, *more]


def test_it_answers_and_ends_when_told_to(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(command(tmp_path, "--port", str(port)), stderr=subprocess.PIPE, text=True)
    try:
        until = time.monotonic() + 120
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=120) as reply:
                    page, server = reply.read().decode(), reply.headers.get("server")
                break
            except (urllib.error.URLError, ConnectionError):
                assert process.poll() is None and time.monotonic() < until
                time.sleep(0.1)
        assert "<h1>Log in</h1>" in page and server is None
    finally:
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=120)
    assert f"http://127.0.0.1:{port}/" in told and "Traceback" not in told


def test_a_port_that_is_taken_and_a_journal_that_is_not_there_are_told(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ran = subprocess.run(command(tmp_path, "--port", port), capture_output=True, text=True, timeout=120)
    absent, refused = ran.stderr.splitlines()
    assert ran.returncode == 1 and f"{tmp_path}/journal: no journal there yet" in absent
    assert f"cannot listen on 127.0.0.1 port {port}" in refused and refused.endswith("; --port takes another")


def test_behind_a_proxy_it_answers_on_a_unix_socket(tmp_path):
    path = tmp_path / "socket"
    more = ("--socket", str(path), "--proxy-user", "X-Remote-User")
    process = subprocess.Popen(command(tmp_path, *more), stderr=subprocess.PIPE, text=True)
    try:
        until = time.monotonic() + 120
        while True:
            with socket.socket(socket.AF_UNIX) as client:
                if path.exists() and client.connect_ex(str(path)) == 0:
                    client.settimeout(60)
                    client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-Remote-User: ann\r\nConnection: close\r\n\r\n")
                    reply = b""
                    while part := client.recv(65536):
                        reply += part
                    break
            assert process.poll() is None and time.monotonic() < until
            time.sleep(0.1)
        assert reply.startswith(b"HTTP/1.1 200") and b"Doubtful mail" in reply and b">ann<" in reply
        assert stat.S_IMODE(path.stat().st_mode) == 0o660
    finally:
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=120)
    assert "Traceback" not in told


@pytest.mark.parametrize(
    "wrong",
    [
        ["--proxy-user", "X-User", "--host", "0.0.0.0", "--certificate", "c", "--key", "k"],
        ["--proxy-user", "X User"],
        ["--socket", "s", "--port", "1"],
    ],
)
def test_a_proxys_word_is_not_taken_from_elsewhere(tmp_path, wrong):
    ran = subprocess.run(command(tmp_path, *wrong), capture_output=True, text=True, timeout=120)
    assert ran.returncode == 2 and "Traceback" not in ran.stderr


@pytest.mark.parametrize("lacking", ["starlette", "uvicorn"])
def test_without_the_extra_one_line_says_how_to_get_it(tmp_path, lacking):
    code = f"import sys; sys.modules['{lacking}'] = None; from spamnb.__main__ import main; main()"
    ran = subprocess.run(command(tmp_path, code=code), capture_output=True, text=True, timeout=120)
    assert ran.returncode == 1 and ran.stderr.count("\n") == 1 and "pip install starlette uvicorn" in ran.stderr
