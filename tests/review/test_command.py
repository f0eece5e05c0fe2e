"""``spamnb review`` as a process: it answers on this machine, and says what is missing in one line."""

import http.client
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from spamnb.ledger.ledger import Ledger

pytestmark = pytest.mark.usefixtures("model")


def command(tmp_path: Path, *more: str, code: str = "from spamnb.__main__ import main; main()") -> list[str]:
    files = ["-m", f"{tmp_path}/model.spamnb", "--ledger", f"{tmp_path}/ledger"]
    return [sys.executable, "-c", code, "review", *files, *more]


@contextmanager
def running(tmp_path: Path, *more: str) -> Iterator[str]:
    """Run the command, and return the line that it prints when it is ready."""
    process = subprocess.Popen(command(tmp_path, *more), stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        yield next(line for line in process.stderr if "Ctrl-C ends it" in line)
    finally:
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=120)
    assert "Traceback" not in told and process.returncode == 0


def test_it_answers_whom_it_told_the_key_and_ends_when_told_to(tmp_path):
    Ledger.open(tmp_path / "ledger").close()
    with running(tmp_path, "--port", "0") as told:
        found = re.search(r"http://(127.0.0.1:\d+)(/(\S+)/) shows", told)
        assert found is not None and len(found[3]) > 40
        for path, status in (("/", 403), (found[2], 200)):
            client = http.client.HTTPConnection(found[1], timeout=120)
            client.request("GET", path)
            reply = client.getresponse()
            assert reply.status == status and reply.headers.get("server") is None
            client.close()


def test_a_port_that_is_taken_and_a_ledger_that_is_not_there_are_told(tmp_path):
    ran = subprocess.run(command(tmp_path), capture_output=True, text=True, timeout=120)
    assert ran.returncode == 1 and ran.stderr.startswith(f"Error: {tmp_path}/ledger: no such ledger")
    assert ran.stderr.count("\n") == 1 and not (tmp_path / "ledger").exists()
    Ledger.open(tmp_path / "ledger").close()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ran = subprocess.run(command(tmp_path, "--port", port), capture_output=True, text=True, timeout=120)
    (refused,) = ran.stderr.splitlines()
    assert ran.returncode == 1
    assert f"cannot listen on 127.0.0.1 port {port}" in refused and refused.endswith("; choose another with --port")


@pytest.mark.parametrize("lacking", ["starlette", "uvicorn"])
def test_without_its_packages_one_line_says_how_to_get_them(tmp_path, lacking):
    code = f"import sys; sys.modules['{lacking}'] = None; from spamnb.__main__ import main; main()"
    ran = subprocess.run(command(tmp_path, code=code), capture_output=True, text=True, timeout=120)
    assert ran.returncode == 1 and ran.stderr.count("\n") == 1 and "pip install starlette uvicorn" in ran.stderr
