"""Mail by URL, against the same files on the disk: in memory, in files, and on a web server of this process."""

import gzip
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import run
from mail import folders, mail, message
from reading import read
from web_server import web_server

from spamnb.api.train import train
from spamnb.errors import SpamnbError
from spamnb.settings import ORIGIN
from spamnb.sources import entries
from spamnb.sources.spec import absolute
from spamnb.sources.spec import entries as labelled
from spamnb.store.jsonl import export
from spamnb.store.store import Store

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = folders(tmp_path / "mail", mail(12))
    for name in ("ham/.hidden", "ham/cmds", "spam/more/deep", "spam/Maildir/cur/1:2,S", "spam/Maildir/tmp/2"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(message("spam", len(name)))
    for name in ("spam/Maildir/new", "ham/empty"):
        (root / name).mkdir()
    (root / "ham" / "nothing").touch()
    (root / "ham" / "old.mbox").write_bytes(mbox("ham", 5))
    (root / "ham" / "older.mbox.gz").write_bytes(gzip.compress(mbox("ham", 9)))
    return root


def mbox(label: str, n: int) -> bytes:
    return b"\n".join(b"From x Mon Jan  1 00:00:00 2024\n" + message(label, 100 + each) for each in range(n))


@pytest.fixture
def memory(root: Path) -> Iterator[str]:
    storage = fsspec.filesystem("memory")
    storage.put(str(root), "/mail", recursive=True)
    yield "memory://mail"
    storage.rm("/mail", recursive=True)


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    with web_server(tmp_path) as url:
        yield url


@pytest.mark.parametrize("where", ["memory", "file"])
def test_a_folder_per_class_is_that_of_the_disk(root: Path, memory: str, where: str) -> None:
    url = memory if where == "memory" else f"file://{root}"
    found = read(url)
    assert found == read(root) and len(found[0]) == 24 + 5 + 9 + 2 and not found[1]
    assert read(f"ham={url}/ham", f"spam={url}/spam/") == read(f"ham={root}/ham", f"spam={root}/spam")


def test_files_of_a_web_server_are_those_of_the_disk(root: Path, web: str) -> None:
    (root / "table.csv").write_text("label,text\n" + "".join(f"spam,cheap pills {n}\n" for n in range(9)))
    (root / "one.eml").write_bytes(message("ham", 3))
    for format in ("gztar", "tar", "zip"):
        shutil.make_archive(str(root / "all"), format, root / "spam")
    for name in ("ham/old.mbox", "ham/older.mbox.gz", "one.eml", "all.tar", "all.tar.gz", "all.zip"):
        found = read(f"ham={web}/mail/{name}")
        assert found == read(f"ham={root}/{name}") and found[0], name
    assert read(f"{web}/mail/table.csv") == read(root / "table.csv")


def test_parquet_elsewhere_is_that_of_the_disk(root: Path, web: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table({"label": ["ham", "spam"], "text": ["lunch at two", "cheap pills"]})
    parquet.write_table(table, root / "table.parquet")
    assert read(f"{web}/mail/table.parquet") == read(root / "table.parquet")


def test_a_model_of_a_url_is_that_of_the_disk(root: Path, memory: str, tmp_path: Path) -> None:
    train(root, tmp_path / "disk", workers=1)
    train(memory, tmp_path / "elsewhere", workers=1)
    exports = []
    for name in ("disk", "elsewhere"):
        with Store.open(tmp_path / name) as store:
            meta = store.meta()
            assert meta["trained_from"] == [str(root) if name == "disk" else memory]
            exports.append([list(export(store))[1:], {key: value for key, value in meta.items() if key not in ORIGIN}])
    assert exports[0] == exports[1]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("ham=s3://ann:secret@example.org/mail", "^s3://example.org/mail: a password in a URL is seen by others"),
        ("http://example.org/mail.tar", "in the clear on its way here; use https://"),
        ("ham=file::s3://mail", "No such file|no such file"),
        ("ham=memory://a::file:///b", "URLs of fsspec are not chained"),
        ("ham=memory://nowhere", "memory://nowhere: no such file or folder$"),
        ("memory://nowhere/mail.csv", "^memory://nowhere/mail.csv: no such file or folder; a SOURCE is"),
    ],
)
def test_what_is_no_source_is_said_in_one_line(spec: str, said: str) -> None:
    with pytest.raises(SpamnbError, match=said) as raised:
        read(spec)
    assert "secret" not in str(raised.value)


def test_one_url_for_two_classes_is_refused(memory: str) -> None:
    with pytest.raises(SpamnbError, match="one source for two classes"):
        read(f"ham={memory}/ham", f"spam={memory}/ham/")


def test_what_is_missing_is_named(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "fsspec", None)
        with pytest.raises(SpamnbError, match=r"pip install 'fsspec\[http\]'"):
            read(memory)

    def missing(url: str) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(fsspec.core, "url_to_fs", missing)
    with pytest.raises(SpamnbError, match=r"^s3://mail/ham: Install s3fs to access S3$"):
        read("ham=s3://mail/ham")


def test_a_message_that_cannot_be_read_is_named_and_left_out(
    root: Path, memory: str, web: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entries, "MAX_MESSAGE", 3000)
    storage = fsspec.filesystem("memory")
    storage.pipe("/mail/ham/long", b"x" * 4000)
    found, told = read(memory)
    assert len(found) == 40 and [line.partition(": ")[2] for line in told] == [
        "longer than 0 MiB, the bound on one message"
    ]
    with pytest.raises(SpamnbError, match=r"none\.eml: No such file or folder"):
        read(f"ham={web}/mail/none.eml")
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
        store.put_meta({"tokens_version": 1})
    result = run("upgrade", "-m", tmp_path / "model")
    assert result.exit_code == 1 and "a URL, which is read only when it is named" in result.output
