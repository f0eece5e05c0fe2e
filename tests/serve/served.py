"""A real server process on loopback to send mail to."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path


class Server:
    """A ``spamnb serve`` process; ``ask`` sends bytes and returns all that comes back."""

    def __init__(self, folder: Path, model: Path, *options: str) -> None:
        self.log, self.model = folder / f"log-{time.monotonic_ns()}", model
        command = [sys.executable, "-m", "spamnb", "serve", "--model", str(model), *options]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, stderr=log)
        self.addresses: list[str] = []
        deadline = time.monotonic() + 120
        while "ready" not in self.events():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(self.log.read_text())
            time.sleep(0.02)
        self.addresses = [line["address"] for line in self.lines() if line["event"] == "listening"]

    def lines(self) -> list[dict]:
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]

    def requests(self) -> list[dict]:
        return [line for line in self.lines() if line["event"] == "request"]

    def events(self) -> set[str]:
        return {line["event"] for line in self.lines()}

    def memory(self) -> int:
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    @property
    def port(self) -> int:
        return int(self.addresses[0].rpartition(":")[2])

    def connect(self, timeout: float = 120) -> socket.socket:
        address = self.addresses[0]
        if address.startswith("/"):
            client = socket.socket(socket.AF_UNIX)
            client.settimeout(timeout)
            client.connect(address)
            return client
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def ask(self, request: bytes, *, half_close: bool = False) -> bytes:
        with self.connect() as client:
            client.sendall(request)
            if half_close:
                client.shutdown(socket.SHUT_WR)
            return receive(client)

    def about(self, method: str, raw: bytes, version: str = "1.5", *headers: str) -> bytes:
        lines = [f"{method} SPAMC/{version}", *headers, f"Content-length: {len(raw)}", "", ""]
        return self.ask("\r\n".join(lines).encode() + raw)

    def verdict(self, raw: bytes, *headers: str) -> str:
        reply = self.about("CHECK", raw, "1.5", *headers)
        return reply.decode("ascii").split("\r\n")[1]

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(120)


def receive(client: socket.socket) -> bytes:
    parts = []
    while part := client.recv(65536):
        parts.append(part)
    return b"".join(parts)
