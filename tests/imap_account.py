"""An account on a real Dovecot with TLS, and a person who uses it with another client."""

from __future__ import annotations

import contextlib
import imaplib
import os
import shutil
import signal
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from person import FoldersOfMail, Person, key_of
from unpacked import PATIENCE, answers, command_of_unpacked, free_port, wait_until

from spamnb.mailbox.imap import ImapMailbox
from spamnb.sources.mailbox import decode_name, encode_name

WITHOUT_MOVE = "protocol imap {\n  imap_capability = IMAP4rev1 SASL-IR UIDPLUS IDLE NAMESPACE SPECIAL-USE LITERAL+\n}\n"
PASSWORD = "täglich secret"
FLAGS = {"D": r"\Draft", "F": r"\Flagged", "R": r"\Answered", "S": r"\Seen", "T": r"\Deleted"}  # in Maildirs' order
_CONF = """
protocols = imap
listen = 127.0.0.1, 127.0.0.2
base_dir = {place}/run
state_dir = {place}/state
log_path = {place}/log
ssl = yes
ssl_cert = <{place}/cert.pem
ssl_key = <{place}/key.pem
disable_plaintext_auth = yes
default_internal_user = games
default_internal_group = games
default_login_user = news
mail_location = maildir:{place}/mail/%u
mail_max_userip_connections = 100
mail_fsync = never
auth_failure_delay = 0
service anvil {{
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service imap-login {{
  inet_listener imap {{
    port = {plain}
  }}
  inet_listener imaps {{
    port = {port}
  }}
}}
passdb {{
  driver = passwd-file
  args = scheme=plain {place}/users
}}
userdb {{
  driver = static
  args = uid=65534 gid=65534 home={place}/mail/%u
}}
namespace inbox {{
  inbox = yes
  separator = /
  mailbox {junk} {{
    auto = subscribe
    special_use = \\Junk
  }}
  mailbox Work {{
    auto = subscribe
  }}
  mailbox Trash {{
    auto = subscribe
    special_use = \\Trash
  }}
}}
"""


class Server:
    def __init__(self, place: Path, junk: str = "Junk", more: str = "") -> None:
        if not shutil.which("openssl"):
            pytest.skip("no openssl: it makes the certificate")
        self.place, self.junk, self.password = place, junk, PASSWORD
        self.port, self.plain = free_port(), free_port()
        self._process: subprocess.Popen | None = None
        certificate = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split()
        names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
        files = ["-keyout", f"{place}/key.pem", "-out", f"{place}/cert.pem"]
        subprocess.run(["openssl", *certificate, *names, *files], check=True, capture_output=True)
        self._make(more)

    def _make(self, more: str) -> None:
        dovecot = ["/usr/sbin/dovecot", "-F", "-c", f"{self.place}/dovecot.conf"]
        self._command = [*command_of_unpacked("usr/sbin/dovecot"), *dovecot]
        for folder in ("run", "state", "mail"):
            (self.place / folder).mkdir()
        shutil.chown(self.place / "mail", "nobody")
        self.set_password(PASSWORD)
        self.configure(more)

    def configure(self, more: str) -> None:
        values = {"place": self.place, "port": self.port, "plain": self.plain, "junk": self.junk}
        (self.place / "dovecot.conf").write_text(_CONF.format(**values) + more)

    def set_password(self, password: str) -> None:
        self.password = password
        (self.place / "users").write_text(f"ann:{{PLAIN}}{password}\n")

    @property
    def url(self) -> str:
        return f"imaps://ann@localhost:{self.port}"

    @property
    def login(self) -> dict[str, str]:
        """The environment in which spamnb trusts this server and knows its password."""
        return {"SSL_CERT_FILE": str(self.place / "cert.pem"), "SPAMNB_IMAP_PASSWORD": PASSWORD}

    def start(self) -> None:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(self._command, start_new_session=True, **quiet)  # type: ignore[call-overload]
        wait_until(lambda: answers(self.plain), self._process)

    def pause(self) -> None:
        """Stop every process of the server until ``go_on``."""
        for pid in self.processes():
            os.kill(pid, signal.SIGSTOP)

    def go_on(self) -> None:
        for pid in self.processes():
            os.kill(pid, signal.SIGCONT)

    def kill(self) -> None:
        """Kill every process of the server at once."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):  # first, because listing the processes takes some 20 ms
            os.killpg(self._process.pid, signal.SIGKILL)
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        wait_until(lambda: not self.processes())
        (self.place / "run" / "master.pid").unlink(missing_ok=True)
        for path in (self.place / "mail").rglob("*.lock"):  # Dovecot waits two minutes for a lock of a killed process
            path.unlink()

    def processes(self) -> list[int]:
        assert self._process is not None
        pids = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdecimal():
                with contextlib.suppress(OSError):
                    fields = (folder / "stat").read_text().rpartition(")")[2].split()
                    if fields[3] == str(self._process.pid) and fields[0] != "Z":
                        pids.append(int(folder.name))
        return pids

    def renumber(self) -> None:
        """Give all folders another UIDVALIDITY, as a server that was restored from a copy does."""
        self.stop()
        for path in (self.place / "mail" / "ann").rglob("dovecot*"):
            path.unlink()
        number = int(time.time()) + 1000
        (self.place / "mail" / "ann" / "dovecot-uidvalidity").write_text(f"{number:08x}")
        (self.place / "mail" / "ann" / f"dovecot-uidvalidity.{number:08x}").touch()
        self.start()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(10)
            self.kill()

    @contextlib.contextmanager
    def person(self, model: Path = Path()) -> Iterator[ImapPerson]:
        context = ssl.create_default_context(cafile=self.place / "cert.pem")
        client = imaplib.IMAP4_SSL("localhost", self.port, ssl_context=context, timeout=PATIENCE)
        try:
            client.authenticate("PLAIN", lambda _: f"\0ann\0{self.password}".encode())  # type: ignore[arg-type, return-value]
            yield ImapPerson(client, self, model)
        finally:
            with contextlib.suppress(imaplib.IMAP4.error, OSError):
                client.logout()
            with contextlib.suppress(OSError):
                client.shutdown()


class ImapPerson(Person):
    """Another client of the account, with a connection of its own."""

    def __init__(self, client: imaplib.IMAP4, server: Server, model: Path) -> None:
        self.client, self.model = client, model
        self.name, self.junk = server.url, server.junk

    def _name(self, folder: str) -> str:
        return f'"{encode_name(folder)}"'

    def deliver(self, raw: bytes, folder: str = "INBOX", flags: str = "") -> None:
        shown = "(" + " ".join(FLAGS[letter] for letter in flags) + ")"
        assert self.client.append(self._name(folder), shown, "", raw.replace(b"\n", b"\r\n"))[0] == "OK"

    def _ask(self, folder: str, key: str, *command: str) -> None:
        self.client.select(self._name(folder))
        uids = self.client.uid("SEARCH", "HEADER", "Message-ID", key)[1][0].split()
        assert len(uids) == 1 and self.client.uid(command[0], uids[0].decode(), *command[1:])[0] == "OK"

    def move(self, key: str, source: str, target: str) -> None:
        self._ask(source, key, "MOVE", self._name(target))
        self.client.unselect()

    def copy(self, key: str, source: str, target: str) -> None:
        self._ask(source, key, "COPY", self._name(target))
        self.client.unselect()

    def remove(self, key: str, folder: str) -> None:
        self._ask(folder, key, "STORE", "+FLAGS", r"(\Deleted)")
        self.client.expunge()
        self.client.unselect()

    def half_move(self, key: str) -> None:
        self.copy(key, "INBOX", self.junk)

    def mail(self) -> FoldersOfMail:
        mail: FoldersOfMail = {}
        for line in self.client.list()[1]:
            assert isinstance(line, bytes)
            name = line.decode().rpartition(' "/" ')[2]
            if b"\\Noselect" in line:
                continue
            count = int(self.client.select(name, readonly=True)[1][0])  # type: ignore[arg-type]
            if count:
                answers = self.client.fetch(f"1:{count}", "(FLAGS BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)])")[1]
                for part in answers:
                    if isinstance(part, tuple) and b"<" in part[1]:
                        imap_flags = part[0].decode().partition("FLAGS (")[2].partition(")")[0].split()
                        flags = "".join(letter for letter, flag in FLAGS.items() if flag in imap_flags)
                        mail.setdefault(key_of(part[1]), []).append((decode_name(name.strip('"')), flags))
            self.client.unselect()
        return mail

    def box(self) -> ImapMailbox:
        return ImapMailbox(self.name)


@contextlib.contextmanager
def account(place: Path, junk: str = "Junk", more: str = "", kind: type[Server] = Server) -> Iterator[Server]:
    server = kind(place, junk, more)
    server.start()
    try:
        yield server
    finally:
        server.kill()  # terminating it takes a second
