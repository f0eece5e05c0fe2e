"""Fetch the public corpora into one folder, laid out as spamnb's tests and scripts want it.

    python scripts/fetch_corpora.py FOLDER [NAME...]      NAMEs and what they are: --list
    export SPAMNB_CORPORA=FOLDER

A corpus whose folder is there already is left alone, so a run that was broken off is simply started again; a folder
appears only when it is complete. An archive must have the SHA-256 that was published, where one was (scikit-learn's
loader for 20news-bydate, MLDatasets.jl for the SMS collection, Embeddings.jl for glove, several unrelated projects for
four of the SpamAssassin archives). Then the files are compared with those that this project's figures were measured on
(not for glove, of which we measured with a part).

Archives are hostile. Sizes are bounded, and only regular files that fit the layout are written, to names that the
layout gives them.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import hashlib
import io
import re
import sys
import tarfile
import tempfile
import tomllib
import zipfile
import zlib
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any
from urllib.request import Request, urlopen

CHUNK = 1 << 16  # bytes read at once
MAX_DOWNLOAD = 1 << 30
MAX_UNPACKED = 1 << 30  # bytes out of one archive; of a tar archive also with the members that are left out
MAX_MEMBERS = 200_000
TIMEOUT = 60  # seconds without a byte

Corpus = dict[str, Any]  # a table of corpora.toml, which says what its fields are
CORPORA: list[Corpus] = tomllib.loads(Path(__file__).with_name("corpora.toml").read_text(encoding="utf-8"))["corpus"]


class FetchError(Exception):
    """What went wrong, where, and what to do, in one line."""


def fetch(corpus: Corpus, into: Path) -> None:
    """Fetch a corpus into a folder of ``into``, completely or not at all. Raise FetchError."""
    target = into / corpus["folder"]
    if target.exists():
        print(f"{corpus['folder']}: there already, left alone")
        return
    try:
        into.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{corpus['folder']}-", dir=into) as scratch:
            archive, unpacked = Path(scratch, "archive"), Path(scratch, "corpus")
            unpacked.mkdir()
            for each in corpus["archive"]:
                download(each["url"], each.get("sha256"), archive)
                unpack(each["url"], archive, corpus["layout"], unpacked)
            print(f"{corpus['folder']}: {compare(corpus, unpacked)}")
            unpacked.rename(target)
    except OSError as error:
        raise FetchError(f"{target}: {error.strerror or error}; nothing was kept") from error


def download(url: str, published: str | None, path: Path) -> None:
    """Download the archive as this file. Raise FetchError if its SHA-256 is not the published one."""
    print(f"{url} ...", flush=True)
    try:
        with urlopen(Request(url, headers={"User-Agent": "spamnb"}), timeout=TIMEOUT) as sent, path.open("wb") as out:
            copy(sent, out, MAX_DOWNLOAD)
    except (OSError, HTTPException) as error:
        raise FetchError(f"{url}: {error}; try again later, or look for its new home") from error
    with path.open("rb") as archive:
        found = hashlib.file_digest(archive, "sha256").hexdigest()
    if found != (published or found):
        raise FetchError(f"{url}: its SHA-256 is {found} and not {published}; refused")
    print("  SHA-256 as published" if published else f"  SHA-256 {found}: none is published")


def copy(stream: IO[bytes], out: IO[bytes], most: int) -> int:
    """Write what is in the stream; how many of the ``most`` bytes are left."""
    while data := stream.read(CHUNK):
        most -= len(data)
        if most < 0:
            raise FetchError("larger than the bound of scripts/fetch_corpora.py")
        out.write(data)
    return most


def compare(corpus: Corpus, unpacked: Path) -> str:
    """In words: how many files, and whether they are the ones that our figures were measured on."""
    count, total = tree_sum(unpacked)
    if count == 0:
        raise FetchError(f"{corpus['folder']}: the archives hold none of its files; their layout must have changed")
    if "tree" not in corpus:
        return f"{count} files"
    if total == corpus["tree"]:
        return f"{count} files, the very ones that this project's figures were measured on"
    return f"{count} files, NOT the {corpus['files']} that this project's figures were measured on: expect differences"


def tree_sum(folder: Path) -> tuple[int, str]:
    r"""Return the number of files in a folder, and the SHA-256 of their sums.

    The sum is that of ``find -type f -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum | sha256sum``.
    """
    names = sorted(str(path.relative_to(folder)).encode() for path in folder.rglob("*") if path.is_file())
    digest = hashlib.sha256()
    for name in names:
        content = (folder / name.decode()).read_bytes()
        digest.update(hashlib.sha256(content).hexdigest().encode() + b"  " + name + b"\n")
    return len(names), digest.hexdigest()


def unpack(url: str, path: Path, layout: list[list[str]], into: Path) -> None:
    """Write the files that fit the layout: a pattern of names in the archive, and the name in the corpus."""
    left = MAX_UNPACKED
    try:
        for count, (name, stream) in enumerate(zip_files(path) if zipfile.is_zipfile(path) else tar_files(path), 1):
            if count > MAX_MEMBERS or ".." in name.split("/"):
                raise FetchError("too many members, or one that leads out of the folder")
            fits = (re.fullmatch(pattern, name.removeprefix("./")) for pattern, _ in layout)
            place = next((match.expand(where) for match, (_, where) in zip(fits, layout) if match), None)
            if place is not None:
                (into / place).parent.mkdir(parents=True, exist_ok=True)
                with (into / place).open("wb") as out:
                    left = copy(stream, out, left)
    except FetchError as error:
        raise FetchError(f"{url}: {error}; refused") from error
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, OSError, RuntimeError, ValueError) as error:
        raise FetchError(f"{url}: cannot be unpacked: {error}") from error


def zip_files(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Name and content of each file."""
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if not member.is_dir():
                with archive.open(member) as stream:
                    yield member.filename, stream


def tar_files(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Name and content of each regular file."""
    with path.open("rb") as packed:
        opener: Any = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open}.get(packed.read(2), open)
    plain = path.with_name("decompressed")  # a file first: its size bounds all that tarfile can be told
    with opener(path, "rb") as stream, plain.open("wb") as out:
        copy(stream, out, MAX_UNPACKED)
    with Headers(plain) as file, tarfile.open(fileobj=file, mode="r:") as tar:
        while (member := tar.next()) is not None:
            content = tar.extractfile(member) if member.isreg() and not member.issparse() else None
            if content is not None:
                yield member.name, content
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
    known = {corpus["folder"]: corpus for corpus in CORPORA}
    if options.list:
        for corpus in CORPORA:
            urls = (archive["url"] for archive in corpus["archive"])
            print(f"{corpus['folder']}: {corpus['what']}", *urls, sep="\n    ")
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
