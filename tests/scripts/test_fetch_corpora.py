"""scripts/fetch_corpora.py against a server of our own on the loopback, with good archives and evil ones."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import http.server
import importlib.util
import io
import os
import stat
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "fetch_corpora.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fetch_corpora", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fetch_corpora"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


class Server:
    """Answers ``/name`` with ``files[name]``; a name in ``broken`` stops half way."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.broken: set[str] = set()
        self.asked: list[str] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path[1:]
                outer.asked.append(name)
                content = outer.files.get(name)
                if content is None:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                if name.endswith(".gz"):  # some servers call an archive's own compression one of the transfer
                    self.send_header("Content-Encoding", "gzip")
                self.end_headers()
                with contextlib.suppress(ConnectionError):  # hung up on: it was too long
                    self.wfile.write(content[: len(content) // 2] if name in outer.broken else content)

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.http.serve_forever, args=(0.02,))
    thread.start()
    yield server
    server.http.shutdown()
    thread.join()
    server.http.server_close()


def tar(*members: tuple[str, bytes] | tarfile.TarInfo) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                archive.addfile(info, io.BytesIO(member[1]))
    return out.getvalue()


def special(name: str, kind: bytes, linkname: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, linkname
    return info


def zipped(*members: tuple[str, bytes], mode: int = stat.S_IFREG | 0o644) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def corpus(script: ModuleType, server: Server, name: str, sha256: str | None = None, tree: str | None = None):  # type: ignore[no-untyped-def]
    """A corpus ``c`` of what lies under ``top/`` in the archive."""
    layout = ((r"top/(?!cmds$)([^/]+)", r"in/\1"), (r"top/sub/([^/]+)", r"sub/\1"))
    return script.Corpus("c", "a test", 2, (script.Archive(f"{server.url}/{name}", layout, sha256),), tree)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


GOOD = (("./top/a", b"1"), ("top/cmds", b"mv"), ("top/sub/b", b"2" * 3_000_000), ("else/c", b"3"))


@pytest.mark.parametrize("name", ["x.tar", "x.tar.gz", "x.tar.bz2", "x.zip"])
def test_good_archives_come_out_as_the_layout_says(
    tmp_path: Path, script: ModuleType, server: Server, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    plain = tar(special("top", tarfile.DIRTYPE), *GOOD)
    server.files = {"x.tar": plain, "x.tar.gz": gzip.compress(plain), "x.tar.bz2": bz2.compress(plain)}
    server.files["x.zip"] = zipped(("top/", b""), *GOOD)
    script.fetch(corpus(script, server, name), tmp_path / "into")
    assert files(tmp_path / "into/c") == {"in/a": b"1", "sub/b": b"2" * 3_000_000}
    assert sorted(os.listdir(tmp_path / "into")) == ["c", "checksums.txt"]  # nothing temporary is left
    total = hashlib.sha256(server.files[name]).hexdigest()
    assert (tmp_path / "into/checksums.txt").read_text() == f"{total}  {name}\n"
    assert f"SHA-256 {total}: none is published" in capsys.readouterr().out

    script.fetch(corpus(script, server, name), tmp_path / "into")  # resumable by folder
    assert server.asked == [name]
    assert "left alone" in capsys.readouterr().out


EVIL = {
    "parent": tar(("top/a", b"1"), ("../outside", b"x")),
    "inner parent": tar(("top/sub/../../../outside", b"x")),
    "absolute": tar(("/tmp/outside", b"x")),
    "symbolic link": tar(special("top/a", tarfile.SYMTYPE, "/etc"), ("top/a/passwd", b"x")),
    "inside link": tar(("top/a", b"1"), special("top/b", tarfile.SYMTYPE, "a")),
    "hard link": tar(special("top/a", tarfile.LNKTYPE, "../../outside")),
    "device": tar(special("top/a", tarfile.CHRTYPE)),
    "fifo": tar(special("top/a", tarfile.FIFOTYPE)),
    "escape": tar(("top/\x1b[2J", b"x")),
    "zip parent": zipped(("top/a", b"1"), ("top/../../outside", b"x")),
    "zip absolute": zipped(("/tmp/outside", b"x")),
    "zip backslash": zipped(("top\\..\\outside", b"x")),
    "zip drive": zipped(("C:outside", b"x")),
    "zip link": zipped(("top/a", b"/etc"), mode=stat.S_IFLNK | 0o777),
}


@pytest.mark.parametrize("kind", EVIL)
def test_evil_members_are_refused_and_nothing_is_kept(
    tmp_path: Path, script: ModuleType, server: Server, kind: str
) -> None:
    server.files["evil"] = EVIL[kind]
    with pytest.raises(script.FetchError, match=r"; refused$") as caught:
        script.fetch(corpus(script, server, "evil"), tmp_path / "a/into")
    assert "\n" not in str(caught.value) and server.url in str(caught.value)
    assert os.listdir(tmp_path) == ["a"] and os.listdir(tmp_path / "a/into") == []


def test_bounds(tmp_path: Path, script: ModuleType, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "MAX_MEMBERS", 50)
    monkeypatch.setattr(script, "MAX_UNPACKED", 5 << 20)
    monkeypatch.setattr(script, "MAX_DOWNLOAD", 1 << 20)
    long_name = tarfile.TarInfo("x")
    long_name.type, long_name.size = tarfile.GNUTYPE_LONGNAME, 3 << 20
    header = long_name.tobuf(tarfile.GNU_FORMAT)
    server.files = {
        "members": gzip.compress(tar(*((f"top/{number}", b"") for number in range(51)))),
        "kept": gzip.compress(tar(("top/a", bytes(6 << 20)))),
        "left-out": gzip.compress(tar(("a", bytes(6 << 20)), ("top/b", b""))),
        "zipped": zipped(("top/a", bytes(6 << 20))),
        "name": gzip.compress(header + b"a" * (3 << 20)),
        "download": os.urandom(2 << 20),
    }
    reasons = ("more than 50 members", *["more than 5 MiB unpacked"] * 3, "a header of", "longer than 1 MiB")
    for name, why in zip(server.files, reasons, strict=True):
        one = script.Corpus("c", "", 1, (script.Archive(f"{server.url}/{name}", ((r"top/(.*)", r"\1"),)),))
        with pytest.raises(script.FetchError, match=rf"{why}.*refused"):
            script.fetch(one, tmp_path)
        assert not (tmp_path / "c").exists(), name


def test_sums(tmp_path: Path, script: ModuleType, server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    server.files["x.tar"] = tar(("top/a", b"1"), ("top/sub/b", b"2"))
    published = hashlib.sha256(server.files["x.tar"]).hexdigest()
    with pytest.raises(script.FetchError, match="does not match the known hash: expected 00 but got"):
        script.fetch(corpus(script, server, "x.tar", "00"), tmp_path / "1")
    script.fetch(corpus(script, server, "x.tar", published), tmp_path / "1")
    assert "as published" in capsys.readouterr().out
    assert not (tmp_path / "1/checksums.txt").exists()

    script.fetch(corpus(script, server, "x.tar"), tmp_path / "2")  # trusted on first use
    (tmp_path / "2/c").rename(tmp_path / "2/old")
    script.fetch(corpus(script, server, "x.tar"), tmp_path / "2")
    assert "as the first time" in capsys.readouterr().out
    (tmp_path / "2/c").rename(tmp_path / "2/older")
    server.files["x.tar"] = tar(("top/a", b"other"))
    with pytest.raises(
        script.FetchError, match=r"does not match the known hash: .* take its line out of .*checksums\.txt"
    ):
        script.fetch(corpus(script, server, "x.tar"), tmp_path / "2")
    assert not (tmp_path / "2/c").exists()


def test_unpacked_files_are_compared_with_those_measured_on(
    tmp_path: Path, script: ModuleType, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    server.files["x.tar"] = tar(("top/a", b"1"), ("top/z Z", b"3"), ("top/sub/b", b"2"))
    script.fetch(corpus(script, server, "x.tar"), tmp_path / "1")
    shell = r"find . -type f -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum | sha256sum"
    told = subprocess.run(["sh", "-c", shell], cwd=tmp_path / "1/c", capture_output=True, text=True, check=True)
    tree = told.stdout.split()[0]
    assert script.tree_sum(tmp_path / "1/c") == (3, tree)
    script.fetch(corpus(script, server, "x.tar", tree=tree), tmp_path / "2")
    assert "3 files, the very ones" in capsys.readouterr().out
    script.fetch(corpus(script, server, "x.tar", tree="0"), tmp_path / "3")
    assert "NOT the 2 that" in capsys.readouterr().out


def test_trouble_is_one_line_and_the_other_corpora_still_come(
    tmp_path: Path,
    script: ModuleType,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    good = tar(("top/a", b"1"))
    server.files = {"half": good, "junk": b"no archive at all", "other": tar(("bottom/a", b"")), "good": good}
    server.files["cut"] = gzip.compress(tar(("top/a", os.urandom(5000))))[:-3000]
    server.broken = {"half"}
    layout = ((r"top/(.*)", r"\1"),)
    names = ("missing", "half", "junk", "cut", "other", "good")
    made = [script.Corpus(name, "", 1, (script.Archive(f"{server.url}/{name}", layout),)) for name in names]
    made.append(script.Corpus("nobody", "", 1, (script.Archive("http://127.0.0.1:1/x", layout),)))
    monkeypatch.setattr(script, "CORPORA", tuple(made))
    assert script.main([str(tmp_path / "into")]) == 1
    complaints = capsys.readouterr().err.splitlines()
    assert len(complaints) == 6 and all(line.startswith("fetch_corpora: http") for line in complaints[:4])
    assert "404" in complaints[0] or "Not Found" in complaints[0]
    assert "IncompleteRead" in complaints[1]
    assert sorted(os.listdir(tmp_path / "into")) == ["checksums.txt", "good"]
    assert "good" in (tmp_path / "into/checksums.txt").read_text().split()[1:]
    server.broken = set()
    assert script.main([str(tmp_path / "into"), "half", "good"]) == 0
    assert (tmp_path / "into/half/a").read_bytes() == b"1"


def test_without_pooch_one_line_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "pooch.py").write_text("raise ImportError('not installed')")
    ran = subprocess.run(
        [sys.executable, SCRIPT, "--list"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert (ran.returncode, ran.stderr) == (1, "fetch_corpora: needs pooch: pip install 'spamnb[corpora]'\n")


def test_command_line() -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True)

    listed = run("--list")
    assert listed.returncode == 0
    for folder in (
        "spamassassin",
        "enron-spam",
        "lingspam",
        "sms_spam_collection",
        "20news-bydate",
        "xwindows",
        "glove",
    ):
        assert f"{folder}: " in listed.stdout
    assert run().returncode == 2
    wrong = run("/nowhere", "spamassasin")
    assert wrong.returncode == 2 and "unknown: spamassasin; there are" in wrong.stderr


@pytest.mark.parametrize(
    ("folder", "members"),
    [
        ("spamassassin", {"easy_ham/00001.7c5": "easy_ham/00001.7c5", "easy_ham/cmds": None}),
        ("enron-spam", {"enron2/ham/0001.1999.ham.txt": "enron2/ham/0001.1999.ham.txt", "enron2/x/y": None}),
        (
            "lingspam",
            {
                "lingspam_public/bare/part3/spmsga1.txt": "spam/part3_spmsga1.txt",
                "lingspam_public/bare/part10/9-157msg1.txt": "ham/part10_9-157msg1.txt",
                "lingspam_public/lemm/part3/3-1msg1.txt": None,
                "lingspam_public/readme.txt": "readme.txt",
            },
        ),
        ("sms_spam_collection", {"SMSSpamCollection": "SMSSpamCollection", "readme": None}),
        ("20news-bydate", {"20news-bydate-test/sci.med/59225": "test/sci.med/59225"}),
        ("xwindows", {"XwindowsDocData.mat": "XwindowsDocData.mat", "XwindowsDocData/meta.txt": None}),
        ("glove", {"glove.6B.50d.txt": "glove.6B.50d.txt", "glove.6B.300d.txt": None}),
    ],
)
def test_layouts(script: ModuleType, folder: str, members: dict[str, str | None]) -> None:
    [found] = [corpus for corpus in script.CORPORA if corpus.folder == folder]
    assert {name: script.placed(found.archives[0], name) for name in members} == members


def test_sums_of_the_corpora_at_hand(script: ModuleType, corpora: Path) -> None:
    """The recorded sums are those of the folders that our figures come from."""
    for found in script.CORPORA:
        if found.tree is not None and (corpora / found.folder).is_dir():
            assert script.tree_sum(corpora / found.folder) == (found.files, found.tree), found.folder
