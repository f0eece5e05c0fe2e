"""Fetch the public corpora into one folder, laid out as spamnb's tests and scripts want it.

    python scripts/fetch_corpora.py FOLDER [NAME...]      NAMEs and what they are: --list
    export SPAMNB_CORPORA=FOLDER

Needs nothing but Python. A corpus whose folder is there already is left alone, so a run that was broken off is simply
started again; a folder appears only when it is complete.

What is checked:

- An archive with a published SHA-256 (scikit-learn's loader for 20news-bydate, MLDatasets.jl for the SMS collection,
  Embeddings.jl for glove, several unrelated projects for four of the SpamAssassin archives) must have it.
- The homes of the others publish none. What such an archive had when first fetched is printed and kept in
  FOLDER/checksums.txt; when it is fetched again it must be the same.
- Afterwards the unpacked files are compared with those that this project's figures were measured on, and the outcome
  is said. (Not for glove, of which we measured with a part.)
- Archives are hostile until unpacked: members with absolute paths or "..", links, devices and sparse files are refused,
  and only members that fit the layout are written, to names the layout gives them.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import hashlib
import http.client
import re
import stat
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

CHUNK = 1 << 20
MAX_DOWNLOAD = 1 << 30
MAX_UNPACKED = 4 << 30  # bytes out of one archive, left out members included
MAX_MEMBERS = 200_000
TIMEOUT = 60  # seconds without a byte

#: A member's name, and what opens it unless it is a folder.
Member = tuple[str, Callable[[], Any] | None]


class FetchError(Exception):
    """What went wrong, where, and what to do, in one line."""


@dataclass(frozen=True)
class Archive:
    """One download; ``layout`` maps patterns of member names to names in the corpus; what fits none stays out."""

    url: str
    layout: tuple[tuple[str, str], ...]
    sha256: str | None = None

    @property
    def name(self) -> str:
        return self.url.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Corpus:
    """A folder. ``tree`` is the SHA-256 of its files' sums, as `tree_sum` makes it, where our figures were measured."""

    folder: str
    what: str
    files: int
    archives: tuple[Archive, ...]
    tree: str | None = None


APACHE = "https://spamassassin.apache.org/old/publiccorpus"
AUEB = "https://www2.aueb.gr/users/ion/data"


def spamassassin(archive: str, folder: str, sha256: str | None = None) -> Archive:
    return Archive(f"{APACHE}/{archive}", ((rf"({folder})/(?!cmds$)([^/]+)", r"\1/\2"),), sha256)


CORPORA = (
    Corpus(
        "spamassassin",
        "SpamAssassin public corpus; authors keep their copyright",
        6047,
        (
            spamassassin(
                "20030228_easy_ham.tar.bz2",
                "easy_ham",
                "2b7b65904bcfcc31d2b5f51946f2d261370b257402cbbd62930b46ab83367438",
            ),
            spamassassin(
                "20030228_easy_ham_2.tar.bz2",
                "easy_ham_2",
                "b4bd3dc5ae5b40f38e99a0e41ad7d16b428b56e818e3a6ffa07330d62004dd38",
            ),
            spamassassin(
                "20030228_hard_ham.tar.bz2",
                "hard_ham",
                "ce2ce67880643dbde65ea7f85bffbfe4417349c4bd80b6b0de56262ae6b0a9c9",
            ),
            spamassassin(
                "20030228_spam.tar.bz2",
                "spam",
                "c08debc32413804949a866be45ef78195cec2cbafd1da744ed76cdb860589743",
            ),
            # Not the later 20050311_spam_2, from which 00529.0c8a07bb… was taken out: published results have it.
            spamassassin("20030228_spam_2.tar.bz2", "spam_2"),
        ),
        "0031fbc76fe90da1bde4434edfd50bb6eb9485c48cf69dd66ab801d788245720",
    ),
    Corpus(
        "enron-spam",
        "Enron-Spam 1 to 3, preprocessed; no terms stated",
        16544,
        tuple(
            Archive(
                f"{AUEB}/enron-spam/preprocessed/enron{number}.tar.gz",
                ((r"(enron\d)/(ham|spam)/([^/]+)", r"\1/\2/\3"), (r"(enron\d)/(Summary\.txt)", r"\1/\2")),
            )
            for number in (1, 2, 3)
        ),
        "0dfddb9f2b389365d2000627a8a1c48b49c37a420400a37a283e52f842bdf5a2",
    ),
    Corpus(
        "lingspam",
        "Ling-Spam, bare; acknowledge its use",
        2894,
        (
            Archive(
                f"{AUEB}/lingspam_public.tar.gz",
                (
                    (r"lingspam_public/bare/(part\d+)/(spmsg[^/]*)", r"spam/\1_\2"),
                    (r"lingspam_public/bare/(part\d+)/([^/]+)", r"ham/\1_\2"),
                    (r"lingspam_public/(readme\.txt)", r"\1"),
                ),
            ),
        ),
        "865592164d482f7948be3d7c9a86f12ad25fd2cb59380580575e82461e892fee",
    ),
    Corpus(
        "sms_spam_collection",
        "SMS Spam Collection, label TAB text; acknowledge its use",
        1,
        (
            Archive(
                "https://archive.ics.uci.edu/static/public/228/sms+spam+collection.zip",
                ((r"(SMSSpamCollection)", r"\1"),),
                "1587ea43e58e82b14ff1f5425c88e17f8496bfcdb67a583dbff9eefaf9963ce3",
            ),
        ),
        "4ffe90abfa8b9188d42a63f82a7cb54d406690e4ba568fe8c03d09ebe64feed5",
    ),
    Corpus(
        "20news-bydate",
        "20 Newsgroups by date; no terms stated",
        18846,
        (
            Archive(
                "http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz",
                ((r"20news-bydate-(train|test)/([^/]+)/([^/]+)", r"\1/\2/\3"),),
                "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
            ),
        ),
        "f3cc56ba67695526cc77ec63cc82f205a712140c0bc4157a3ef6243f7ccd0f01",
    ),
    Corpus(
        "xwindows",
        "900 + 900 posts on X and MS Windows as 600 binary columns; no terms stated",
        1,
        (
            Archive(
                "https://raw.githubusercontent.com/probml/pmtkdata/master/XwindowsDocData/XwindowsDocData.zip",
                ((r"(?:[^/]+/)?(XwindowsDocData\.mat)", r"\1"),),
            ),
        ),
        "48c8959faf944e4348b868f51bb8d2fc6ce078e0f6d87e937fa16ade0de859a2",
    ),
    Corpus(
        "glove",
        "GloVe word vectors, 50 dimensions; PDDL; 862 MB to fetch, 171 MB to keep",
        1,
        (
            Archive(
                "https://nlp.stanford.edu/data/glove.6B.zip",
                ((r"(glove\.6B\.50d\.txt)", r"\1"),),
                "617afb2fe6cbd085c235baf7a465b96f4112bd7f7ccb2b2cbd649fed9cbcf2fb",
            ),
        ),
    ),
)


# Fetching


def fetch(corpus: Corpus, into: Path) -> None:
    """The corpus as a folder of ``into``, complete or not at all. Raises FetchError."""
    target = into / corpus.folder
    if target.exists():
        print(f"{corpus.folder}: there already, left alone")
        return
    try:
        into.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{corpus.folder}-", dir=into) as scratch:
            unpacked = Path(scratch, "corpus")
            unpacked.mkdir()
            path, record, first = Path(scratch, "archive"), into / "checksums.txt", ""
            for archive in corpus.archives:
                first += check(archive, download(archive, path), record)
                unpack(archive, path, unpacked)
            print(f"{corpus.folder}: {compare(corpus, unpacked)}")
            unpacked.rename(target)
            if first:  # only now: an archive that was refused is not what to expect the next time
                with record.open("a", encoding="utf-8") as out:
                    out.write(first)
    except OSError as error:
        raise FetchError(f"{target}: {error.strerror or error}; nothing was kept") from error


def download(archive: Archive, path: Path) -> str:
    """The archive's SHA-256, once it is in ``path``."""
    print(f"{archive.url} ...", flush=True)
    digest, size = hashlib.sha256(), 0
    try:
        with urllib.request.urlopen(archive.url, timeout=TIMEOUT) as answer, path.open("wb") as out:
            stated = answer.headers.get("Content-Length")
            while chunk := answer.read(CHUNK):
                size += len(chunk)
                if size > MAX_DOWNLOAD:
                    raise FetchError(f"{archive.url}: longer than {MAX_DOWNLOAD >> 20} MiB, refused")
                digest.update(chunk)
                out.write(chunk)
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise FetchError(f"{archive.url}: {reason}; try again later, or look for its new home") from error
    if stated is not None and size != int(stated):
        raise FetchError(f"{archive.url}: broken off after {size} of {stated} bytes; start again")
    return digest.hexdigest()


def check(archive: Archive, found: str, record: Path) -> str:
    """Compare the sum with the published one, or with the recorded one of the first time; a line to record if none."""
    if archive.sha256 is not None:
        if found != archive.sha256:
            raise FetchError(f"{archive.url}: SHA-256 is {found}, published is {archive.sha256}; not unpacked")
        print("  SHA-256 as published")
        return ""
    known = {}
    if record.exists():
        lines = record.read_text(encoding="utf-8").splitlines()
        known = {name: total for total, name in (line.split(maxsplit=1) for line in lines if line.strip())}
    before = known.get(archive.name)
    if before is None:
        print(f"  SHA-256 {found}: none is published; kept in {record.name}")
        return f"{found}  {archive.name}\n"
    if before != found:
        raise FetchError(
            f"{archive.url}: SHA-256 is {found}, last time it was {before}; "
            f"if that is as it should be, take its line out of {record}"
        )
    print("  SHA-256 as the first time")
    return ""


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
    written = 0
    try:
        members = zip_members(path) if zipfile.is_zipfile(path) else tar_members(path, into)
        for count, (name, opened) in enumerate(members, 1):
            if count > MAX_MEMBERS:
                raise FetchError(f"more than {MAX_MEMBERS} members")
            place = placed(archive, name)
            if opened is None or place is None:
                continue
            target = into / place
            target.parent.mkdir(parents=True, exist_ok=True)
            with opened() as stream, target.open("wb") as out:
                while chunk := stream.read(CHUNK):
                    written += len(chunk)
                    if written > MAX_UNPACKED:
                        raise FetchError(f"more than {MAX_UNPACKED >> 20} MiB unpacked")
                    out.write(chunk)
    except FetchError as error:
        raise FetchError(f"{archive.url}: {error}; refused") from error
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, OSError, RuntimeError, ValueError) as error:
        raise FetchError(f"{archive.url}: cannot be unpacked: {error}") from error


def placed(archive: Archive, name: str) -> str | None:
    """The member's name in the corpus, None where it has no place there."""
    for pattern, place in archive.layout:
        if match := re.fullmatch(pattern, name.removeprefix("./")):
            return match.expand(place)
    return None


def safe(name: str) -> str:
    """The name back, unless it could lead out of a folder."""
    if name.startswith("/") or ".." in name.split("/") or re.search(r"[\\\x00-\x1f]|^[A-Za-z]:", name):
        raise FetchError(f"a member called {name[:200]!r}")
    return name


def tar_members(path: Path, into: Path) -> Iterator[Member]:
    with path.open("rb") as plain:
        start = plain.read(3)
        plain.seek(0)
        stream: Any = plain
        if start[:2] == b"\x1f\x8b":
            stream = gzip.GzipFile(fileobj=plain)
        elif start == b"BZh":
            stream = bz2.BZ2File(plain)
        with tarfile.open(fileobj=Limited(stream), mode="r:") as tar:  # type: ignore[call-overload]
            while (member := tar.next()) is not None:
                safe(member.name)
                if not (member.isdir() or member.isreg()) or member.issparse():
                    raise FetchError(f"{member.name[:200]!r} is a link, a device or a sparse file")
                if hasattr(tarfile, "data_filter"):  # Python 3.11.4; the checks above are the stricter ones
                    tarfile.data_filter(member, str(into))
                yield member.name, partial(tar.extractfile, member) if member.isreg() else None
                tar.members = []  # the list of all members would grow, and nobody asks for it


class Limited:
    """A decompressed stream that ends in an error rather than in a full memory or a full disk."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= CHUNK:  # tarfile takes the length of a header's extension from the archive
            raise FetchError(f"a header of {size} bytes")
        return self.stream.read(size)

    def seek(self, position: int, whence: int = 0) -> int:
        if position > MAX_UNPACKED:
            raise FetchError(f"more than {MAX_UNPACKED >> 20} MiB unpacked")
        return self.stream.seek(position, whence)

    def tell(self) -> int:
        return self.stream.tell()


def zip_members(path: Path) -> Iterator[Member]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            safe(member.filename)
            if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise FetchError(f"{member.filename[:200]!r} is a link or a device")
            yield member.filename, None if member.is_dir() else partial(archive.open, member)


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
