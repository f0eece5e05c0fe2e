"""remote.py against servers that a person trusts by certificate or key: https:// and sftp:// on loopback."""

import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from mail import folders, mail
from web_server import web_server

pytestmark = pytest.mark.slow

pytest.importorskip("fsspec")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder a class, and an archive of each."""
    root = folders(tmp_path / "mail", mail(12))
    shutil.make_archive(str(root / "ham"), "tar", root / "ham")
    shutil.make_archive(str(root / "spam"), "zip", root / "spam")
    return root


def trained(model: Path, *sources: str, **environment: str) -> str:
    """What spamnb says when it trains in an environment of its own; its figures alone where that went well."""
    home = {"HOME": str(model.parent), "XDG_CONFIG_HOME": str(model.parent / ".config")}
    command = [sys.executable, "-m", "spamnb", "train", "--force", "-m", str(model), "--workers", "1", *sources]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **home, **environment})
    if done.returncode == 0:
        return done.stdout.partition("\n")[2]
    assert done.returncode == 1
    return done.stderr


@pytest.fixture
def web(root: Path) -> Iterator[str]:
    """A web server with a certificate of its own, cert.pem beside the mail; ``/secret/`` asks for a password."""
    if not shutil.which("openssl"):
        pytest.skip("no openssl: it makes the certificate")

    made = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost".split()
    key, certificate = root / "key.pem", root / "cert.pem"
    files = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(["openssl", *made, *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with web_server(root, context) as url:
        yield url


def test_a_web_server_is_read_with_its_certificate_and_the_password_of_netrc(
    root: Path, web: str, tmp_path: Path
) -> None:
    here = trained(tmp_path / "here", f"ham={root}/ham.tar", f"spam={root}/spam.zip")
    trust = {"SSL_CERT_FILE": str(root / "cert.pem")}
    assert trained(tmp_path / "there", f"ham={web}/ham.tar", f"spam={web}/spam.zip", **trust) == here
    assert "certificate verify failed" in trained(tmp_path / "no", f"ham={web}/ham.tar", f"spam={web}/spam.zip")
    secret = [f"ham={web}/secret/ham.tar", f"spam={web}/secret/spam.zip"]
    assert "Permission denied, or no credentials" in trained(tmp_path / "no", *secret, **trust)
    configuration = tmp_path / ".config" / "fsspec"
    configuration.mkdir(parents=True)
    (configuration / "web.json").write_text('{"https": {"client_kwargs": {"trust_env": true}}}')
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login ann password pw\n")
    (tmp_path / ".netrc").chmod(0o600)
    assert trained(tmp_path / "there", *secret, **trust) == here


@pytest.fixture
def ssh(tmp_path: Path) -> Iterator[int]:
    """The port of an ssh server that hands out this machine's files for the key in ``key``; its own is known."""
    paramiko = pytest.importorskip("paramiko")

    class Login(paramiko.ServerInterface):
        def get_allowed_auths(self, username: str) -> str:
            return "publickey"

        def check_auth_publickey(self, username: str, key: Any) -> int:
            return paramiko.AUTH_SUCCESSFUL if key == own else paramiko.AUTH_FAILED

        def check_channel_request(self, kind: str, chanid: int) -> int:
            return paramiko.OPEN_SUCCEEDED

    class Handle(paramiko.SFTPHandle):
        def stat(self) -> Any:
            return paramiko.SFTPAttributes.from_stat(os.fstat(self.readfile.fileno()))

    class Files(paramiko.SFTPServerInterface):
        def list_folder(self, path: str) -> Any:
            found = list(Path(path).iterdir())
            return [paramiko.SFTPAttributes.from_stat(each.stat(), each.name) for each in found]

        def stat(self, path: str) -> Any:
            if not Path(path).exists():
                return paramiko.SFTP_NO_SUCH_FILE
            return paramiko.SFTPAttributes.from_stat(os.stat(path))

        lstat = stat

        def open(self, path: str, flags: int, attributes: Any) -> Any:
            handle = Handle(flags)
            handle.readfile = open(path, "rb")  # noqa: SIM115 (closed with the handle)
            return handle

    own, of_host = paramiko.ECDSAKey.generate(), paramiko.ECDSAKey.generate()
    own.write_private_key_file(str(tmp_path / "key"))
    listening = socket.create_server(("127.0.0.1", 0))
    port, connections = listening.getsockname()[1], []

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            transport = paramiko.Transport(connection)
            transport.add_server_key(of_host)
            transport.set_subsystem_handler("sftp", paramiko.SFTPServer, Files)
            transport.start_server(Event(), Login())
            connections.append(transport)

    Thread(target=serve, daemon=True).start()
    (tmp_path / ".ssh").mkdir()
    known = f"[127.0.0.1]:{port} {of_host.get_name()} {of_host.get_base64()}\n"
    (tmp_path / ".ssh" / "known_hosts").write_text(known)
    configuration = tmp_path / ".config" / "fsspec"
    configuration.mkdir(parents=True)
    options = {"key_filename": str(tmp_path / "key"), "look_for_keys": False, "allow_agent": False}
    (configuration / "ssh.json").write_text(json.dumps({"sftp": options}))
    yield port
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    for transport in connections:
        transport.close()


def test_an_ssh_server_is_read_where_its_key_is_known(root: Path, ssh: int, tmp_path: Path) -> None:
    there = f"sftp://ann@127.0.0.1:{ssh}{root}"
    here = trained(tmp_path / "here", f"ham={root}/ham.tar", f"spam={root}/spam.zip")
    assert trained(tmp_path / "there", f"ham={there}/ham.tar", f"spam={there}/spam.zip") == here
    in_folders = trained(tmp_path / "here", f"ham={root}/ham", f"spam={root}/spam")
    assert trained(tmp_path / "there", f"ham={there}/ham", f"spam={there}/spam") == in_folders
    (tmp_path / ".ssh" / "known_hosts").write_text("")
    refused = trained(tmp_path / "there", f"ham={there}/ham", f"spam={there}/spam")
    assert "is not in ~/.ssh/known_hosts" in refused and len(refused.splitlines()) == 1
