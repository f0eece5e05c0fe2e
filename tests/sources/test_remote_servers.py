"""remote.py against servers that a person trusts by certificate or key: https:// and sftp:// on loopback."""

import os
import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

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
