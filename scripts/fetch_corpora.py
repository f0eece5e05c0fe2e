"""Fetch the public corpora into one folder, laid out as spamnb's tests and scripts want it.

    pip install ".[corpora]"
    python scripts/fetch_corpora.py FOLDER [NAME...]      NAMEs and what they are: --list
    export SPAMNB_CORPORA=FOLDER

A corpus whose folder is there already is left alone, so a run that was broken off is simply started again; a folder
appears only when it is complete. pooch fetches the archives and checks their SHA-256: the published one (scikit-learn's
loader for 20news-bydate, MLDatasets.jl for the SMS collection, Embeddings.jl for glove, several unrelated projects for
four of the SpamAssassin archives), else the one that the archive had the first time, kept in FOLDER/checksums.txt.
Afterwards the files are compared with those that this project's figures were measured on (not for glove, of which we
measured with a part).

Archives are hostile. pooch's own unpacking is not used: it bounds no size, and before Python 3.12 a member of a tar
archive can leave the folder. Here members with absolute paths or "..", links, devices and sparse files are refused, and
only those that fit the layout are written, to names that the layout gives them.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import hashlib
import io
import re
import shutil
import stat
import sys
import tarfile
import tempfile
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

try:
    import pooch
except ImportError:
    sys.exit("fetch_corpora: needs pooch: pip install pooch")

CHUNK = 1 << 16  # bytes read at once
MAX_DOWNLOAD = 1 << 30
MAX_UNPACKED = 1 << 30  # bytes out of one archive; of a tar archive also with the members that are left out
MAX_MEMBERS = 200_000
TIMEOUT = 60  # seconds without a byte

#: A member's name, and what opens it unless it is a folder.
Member = tuple[str, Callable[[], Any] | None]

pooch.get_logger().setLevel("WARNING")  # what is fetched we say ourselves


class FetchError(Exception):
    """What went wrong, where, and what to do, in one line."""


@dataclass(frozen=True)
class Archive:
    """One download; ``layout`` maps patterns of member names to names in the corpus; what fits none stays out."""

    url: str
    layout: Sequence[Sequence[str]]
    sha256: str | None = None


@dataclass(frozen=True)
class Corpus:
    """A folder. ``tree`` is the SHA-256 of its files' sums, as `tree_sum` makes it, where our figures were measured."""

    folder: str
    what: str
    files: int
    archives: tuple[Archive, ...]
    tree: str | None = None


def read_corpora() -> Iterator[Corpus]:
    """The corpora of corpora.toml, which says what its fields are."""
    table = tomllib.loads(Path(__file__).with_name("corpora.toml").read_text(encoding="utf-8"))
    for each in table["corpus"]:
        archives = tuple(Archive(one["url"], each["layout"], one.get("sha256")) for one in each["archive"])
        yield Corpus(each["folder"], each["what"], each["files"], archives, each.get("tree"))


CORPORA = tuple(read_corpora())


# Fetching


def fetch(corpus: Corpus, into: Path) -> None:
    """The corpus as a folder of ``into``, complete or not at all. Raises FetchError."""
    target, record, first = into / corpus.folder, into / "checksums.txt", ""
    if target.exists():
        print(f"{corpus.folder}: there already, left alone")
        return
    try:
        into.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{corpus.folder}-", dir=into) as scratch:
            unpacked = Path(scratch, "corpus")
            unpacked.mkdir()
            for archive in corpus.archives:
                path, line = download(archive, Path(scratch), record)
                first += line
                unpack(archive, path, unpacked)
                path.unlink()
            print(f"{corpus.folder}: {compare(corpus, unpacked)}")
            unpacked.rename(target)
            if first:  # only now: an archive that was refused is not what to expect the next time
                with record.open("a", encoding="utf-8") as out:
                    out.write(first)
    except OSError as error:
        raise FetchError(f"{target}: {error.strerror or error}; nothing was kept") from error


def download(archive: Archive, folder: Path, record: Path) -> tuple[Path, str]:
    """The archive as a file of the folder, with the published sum or the recorded one; a line to record if neither."""
    name = archive.url.rpartition("/")[2]
    print(f"{archive.url} ...", flush=True)
    lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
    known = {of: total for total, of in (line.split(maxsplit=1) for line in lines if line.strip())}
    expected = archive.sha256 or known.get(name)
    try:
        path = Path(pooch.retrieve(archive.url, expected, name, folder, downloader=bounded))
    except FetchError as error:
        raise FetchError(f"{archive.url}: {error}; refused") from error
    except OSError as error:  # requests' errors are OSErrors
        raise FetchError(f"{archive.url}: {error}; try again later, or look for its new home") from error
    except ValueError as error:  # pooch's, where the sum is another
        kept = "" if archive.sha256 else f" Should it be another now, take its line out of {record}."
        raise FetchError(f"{archive.url}: {error}{kept}") from error
    if expected:
        print("  SHA-256 as published" if archive.sha256 else "  SHA-256 as the first time")
        return path, ""
    total = pooch.file_hash(str(path))
    print(f"  SHA-256 {total}: none is published; kept in {record.name}")
    return path, f"{total}  {name}\n"


def bounded(url: str, path: str, _: object) -> None:
    """What pooch downloads with: its own downloader, into a file that takes only so much."""

    def as_sent(response: Any, **_: object) -> None:  # or requests would unpack what a server calls "gzip"
        response.raw.headers.pop("Content-Encoding", None)

    get = pooch.HTTPDownloader(chunk_size=CHUNK, timeout=TIMEOUT, hooks={"response": as_sent})
    with Bounded(path, MAX_DOWNLOAD, f"longer than {MAX_DOWNLOAD >> 20} MiB") as out:
        get(url, out, None)


class Bounded(io.BufferedWriter):
    """A new file that takes so many bytes and no more; ``left`` is how many it would still take."""

    def __init__(self, path: str | Path, most: int, complaint: str) -> None:
        super().__init__(io.FileIO(path, "w"))
        self.left, self.complaint = most, complaint

    def write(self, data: Any) -> int:
        self.left -= len(data)
        if self.left < 0:
            raise FetchError(self.complaint)
        return super().write(data)


def tree_sum(folder: Path) -> tuple[int, str]:
    """Number of files and SHA-256 of their sums, as of ``find -type f -printf '%P\\n' | LC_ALL=C sort | xargs -d '\\n'
    sha256sum | sha256sum`` in the folder."""
    names = sorted(str(path.relative_to(folder)).encode() for path in folder.rglob("*") if path.is_file())
    digest = hashlib.sha256()
    for name in names:
        content = (folder / name.decode()).read_bytes()
        digest.update(hashlib.sha256(content).hexdigest().encode() + b"  " + name + b"\n")
    return len(names), digest.hexdigest()


def compare(corpus: Corpus, unpacked: Path) -> str:
    """In words: how many files, and whether they are the ones that our figures were measured on."""
    count, total = tree_sum(unpacked)
    if count == 0:
        raise FetchError(f"{corpus.folder}: the archives hold none of its files; their layout must have changed")
    if corpus.tree is None:
        return f"{count} files"
    if total == corpus.tree:
        return f"{count} files, the very ones that this project's figures were measured on"
    return f"{count} files, NOT the {corpus.files} that this project's figures were measured on: expect differences"


# Unpacking


def unpack(archive: Archive, path: Path, into: Path) -> None:
    """Write the members that fit the layout. Raises FetchError for an archive that has one member it should not."""
    left = MAX_UNPACKED
    try:
        for count, (name, opened) in enumerate(zip_members(path) if zipfile.is_zipfile(path) else tar_members(path), 1):
            if count > MAX_MEMBERS:
                raise FetchError(f"more than {MAX_MEMBERS} members")
            if opened is not None and (place := placed(archive, name)) is not None:
                (into / place).parent.mkdir(parents=True, exist_ok=True)
                with opened() as stream:
                    left = copy(stream, into / place, left)
    except FetchError as error:
        raise FetchError(f"{archive.url}: {error}; refused") from error
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, OSError, RuntimeError, ValueError) as error:
        raise FetchError(f"{archive.url}: cannot be unpacked: {error}") from error


def copy(stream: IO[bytes], path: Path, most: int) -> int:
    """Write what is in the stream; how many of the *most* bytes are left."""
    with Bounded(path, most, f"more than {MAX_UNPACKED >> 20} MiB unpacked") as out:
        shutil.copyfileobj(stream, out, CHUNK)
        return out.left


def placed(archive: Archive, name: str) -> str | None:
    """The member's name in the corpus, None where it has no place there."""
    for pattern, place in archive.layout:
        if match := re.fullmatch(pattern, name.removeprefix("./")):
            return match.expand(place)
    return None


def check_name(name: str) -> None:
    """Raises FetchError where the name could lead out of a folder."""
    if name.startswith("/") or ".." in name.split("/") or re.search(r"[\\\x00-\x1f]|^[A-Za-z]:", name):
        raise FetchError(f"a member called {name[:200]!r}")


def zip_members(path: Path) -> Iterator[Member]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            check_name(member.filename)
            if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise FetchError(f"{member.filename[:200]!r} is a link or a device")
            yield member.filename, None if member.is_dir() else partial(archive.open, member)


def tar_members(path: Path) -> Iterator[Member]:
    with path.open("rb") as packed:
        opener: Any = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open}.get(packed.read(2), open)
    plain = path.with_name("decompressed")  # a file first: its size bounds all that tarfile can be told
    with opener(path, "rb") as stream:
        copy(stream, plain, MAX_UNPACKED)
    with Headers(plain) as file, tarfile.open(fileobj=file, mode="r:") as tar:
        while (member := tar.next()) is not None:
            check_name(member.name)
            if not (member.isdir() or member.isreg()) or member.issparse():
                raise FetchError(f"{member.name[:200]!r} is a link, a device or a sparse file")
            yield member.name, partial(tar.extractfile, member) if member.isreg() else None
            tar.members = []  # the list of all members would grow, and nobody asks for it


class Headers(io.FileIO):
    """A file that is not read into memory whole where a header says that it is that long."""

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= CHUNK:
            raise FetchError(f"a header of {size} bytes")
        return super().read(size) or b""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Fetch the public corpora that spamnb's tests and scripts read.")
    parser.add_argument("folder", nargs="?", type=Path, help="where SPAMNB_CORPORA shall point")
    parser.add_argument("names", nargs="*", metavar="NAME", help="the corpora wanted; all when none is named")
    parser.add_argument("--list", action="store_true", help="say what there is, and where it comes from")
    options = parser.parse_args(arguments)
    known = {corpus.folder: corpus for corpus in CORPORA}
    if options.list:
        for corpus in CORPORA:
            print(f"{corpus.folder}: {corpus.what}", *(archive.url for archive in corpus.archives), sep="\n    ")
        return 0
    if options.folder is None:
        parser.error("name the folder to fetch into")
    if unknown := set(options.names) - set(known):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    failed = 0
    for name in options.names or known:
        try:
            fetch(known[name], options.folder)
        except FetchError as error:
            print(f"fetch_corpora: {error}", file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("fetch_corpora: broken off; what was complete is kept, start again for the rest")
