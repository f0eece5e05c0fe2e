"""Mail by URL, against the same files on the disk: in memory, in files, and on a web server of this process."""

import gzip
import os
import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import run
from mail import folders, mail, message, write
from reading import read
from web_server import web_server

from spamnb.api.train import train
from spamnb.errors import SpamnbError
from spamnb.sources import entries
from spamnb.sources.spec import absolute
from spamnb.sources.spec import entries as labelled
from spamnb.store.store import Store

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = folders(tmp_path / "mail", mail(12))
    mbox = b"\n".join(b"From x Mon Jan  1 00:00:00 2024\n" + message("ham", 100 + each) for each in range(5))
    for name in ("ham/.hidden", "ham/cmds", "spam/more/deep", "spam/Maildir/cur/1:2,S", "spam/Maildir/tmp/2"):
        write(root / name, message("spam", len(name)))
    (root / "spam/Maildir/new").mkdir()
    write(root / "ham/nothing", b"")
    write(root / "ham/old.mbox", mbox)
    write(root / "ham/older.mbox.gz", gzip.compress(mbox))
    return root


@pytest.fixture
def memory(root: Path) -> Iterator[str]:
    storage = fsspec.filesystem("memory")
    storage.put(str(root), "/mail", recursive=True)
    yield "memory://mail"
    storage.rm("/mail", recursive=True)


def test_a_folder_per_class_is_that_of_the_disk(root: Path, memory: str) -> None:
    for url in (memory, f"file://{root}"):
        found = read(url)
        assert found == read(root) and len(found[0]) == 24 + 5 + 5 + 2 and not found[1]
        assert read(f"ham={url}/ham", f"spam={url}/spam/") == read(f"ham={root}/ham", f"spam={root}/spam")


def test_files_of_a_web_server_are_those_of_the_disk(root: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table({"label": ["ham", "spam"], "text": ["lunch at two", "cheap pills"]})
    parquet.write_table(table, root / "table.parquet")
    write(root / "table.csv", b"label,text\nspam,cheap pills\n")
    write(root / "one.eml", message("ham", 3))
    for format in ("gztar", "tar", "zip"):
        shutil.make_archive(str(root / "all"), format, root / "spam")
    names = [f"ham={{}}/{name}" for name in "ham/old.mbox ham/older.mbox.gz one.eml all.tar all.tar.gz all.zip".split()]
    with web_server(root.parent) as web:
        for name in (*names, "{}/table.csv", "{}/table.parquet"):
            found = read(name.format(f"{web}/mail"))
            assert found == read(name.format(root)) and found[0], name
        with pytest.raises(SpamnbError, match=r"none\.eml: No such file or folder"):
            read(f"ham={web}/mail/none.eml")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("ham=s3://ann:secret@example.org/mail", "^s3://example.org/mail: a password in a URL is seen by others"),
        ("http://example.org/mail.tar", "in the clear on its way here; use https://"),
        ("ham=memory://a::file:///b", "URLs of fsspec are not chained"),
        ("ham=memory://nowhere", "memory://nowhere: no such file or folder$"),
        ("memory://nowhere/mail.csv", "^memory://nowhere/mail.csv: no such file or folder; a SOURCE is"),
    ],
)
def test_what_is_no_source_is_said_in_one_line(spec: str, said: str) -> None:
    with pytest.raises(SpamnbError, match=said) as raised:
        read(spec)
    assert "secret" not in str(raised.value)


def test_what_is_missing_is_named(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SpamnbError, match="one source for two classes"):
        read(f"ham={memory}/ham", f"spam={memory}/ham/")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "fsspec", None)
        with pytest.raises(SpamnbError, match=r"pip install 'fsspec\[http\]'"):
            read(memory)

    def missing(url: str) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(fsspec.core, "url_to_fs", missing)
    with pytest.raises(SpamnbError, match=r"^s3://mail/ham: Install s3fs to access S3$"):
        read("ham=s3://mail/ham")


def test_a_message_that_cannot_be_read_is_named_and_left_out(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "MAX_MESSAGE", 3000)
    storage = fsspec.filesystem("memory")
    storage.pipe("/mail/ham/long", b"x" * 4000)
    found, told = read(memory)
    assert len(found) == 36 and len(told) == 1 and told[0].endswith(": longer than 0 MiB, the bound on one message")
    (entry, *_) = labelled([f"ham={memory}/ham"], print)
    storage.rm("/mail/ham", recursive=True)
    with pytest.raises(FileNotFoundError):
        entry.read()

    def broken(path: str, *arguments: Any) -> bytes:
        raise RuntimeError("the storage says no\nat length")

    monkeypatch.setattr(storage, "open", broken)
    with pytest.raises(OSError, match="RuntimeError: the storage says no"):
        entry.read()


def test_a_url_means_the_same_from_any_folder_and_upgrade_does_not_fetch_it(memory: str, tmp_path: Path) -> None:
    assert absolute(memory) == memory and absolute(f"ham={memory}") == f"ham={memory}"
    train(memory, tmp_path / "model", workers=1)
    with Store.open(tmp_path / "model", writable=True) as store, store.writing():
        assert store.meta()["trained_from"] == [memory]
        store.put_meta({"tokens_version": 1})
    result = run("upgrade", "-m", tmp_path / "model")
    assert result.exit_code == 1 and "a URL, which is read only when it is named" in result.output


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("openssl"), reason="no openssl: it makes the certificate")
def test_a_web_server_is_read_with_its_certificate_and_the_password_of_netrc(root: Path, tmp_path: Path) -> None:
    """A server with a certificate of its own, cert.pem beside the mail; ``/secret/`` asks for a password."""
    shutil.make_archive(str(root / "ham"), "tar", root / "ham")
    made = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost".split()
    key, certificate = root / "key.pem", root / "cert.pem"
    out = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(["openssl", *made, *out], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    trust = {"SSL_CERT_FILE": str(certificate)}

    def said(source: str, **environment: str) -> str:
        """What spamnb says when it trains in an environment of its own; its figures alone where that went well."""
        home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / ".config")}
        command = [sys.executable, "-m", "spamnb", "train", "--one-class", "--force", "-m", str(tmp_path / "m"), source]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **home, **environment})
        return done.stderr if done.returncode else done.stdout.partition("\n")[2]

    here = said(f"ham={root}/ham.tar")
    with web_server(root, context) as web:
        assert said(f"ham={web}/ham.tar", **trust) == here
        assert "certificate verify failed" in said(f"ham={web}/ham.tar")
        assert "Permission denied, or no credentials" in said(f"ham={web}/secret/ham.tar", **trust)
        configuration = b'{"https": {"client_kwargs": {"trust_env": true}}}'
        write(tmp_path / ".config/fsspec/web.json", configuration)
        write(tmp_path / ".netrc", b"machine 127.0.0.1 login ann password pw\n").chmod(0o600)
        assert said(f"ham={web}/secret/ham.tar", **trust) == here
