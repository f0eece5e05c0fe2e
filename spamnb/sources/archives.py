"""Messages in archives, by tar (plain or gzipped) and ZIP. Entries carry their bytes, and nothing goes to the disk."""

from __future__ import annotations

import errno
import gzip
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, Any, BinaryIO, cast

from spamnb.errors import SpamnbError
from spamnb.naming import check_class_name, escape
from spamnb.sources.entries import Entry, Report, bounded, decompress, message_of_file, open_mail, too_long
from spamnb.sources.formats import ARCHIVES, MAX_MESSAGE, MBOXES, TABLES, NotMail

_MAX_READ = 1 << 26  # bytes that tarfile and zipfile may ask for at once: the directory of some 600,000 members
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, NotImplementedError, EOFError, struct.error, zlib.error)

Member = tuple[str, int, Callable[[], IO[bytes]]]  # a file's name and size, and what opens it


def archive_entries(label: str | None, path: str, on_unreadable: Report) -> Iterator[Entry]:
    """The messages of an archive, a file each, in the archive's order. Where no class is given there is a folder per
    class, perhaps within one folder of the archive's own name.

    Hidden files, empty ones and those called ``cmds`` are left out, as in folders (folders.py).
    """
    own = path.rpartition("/")[2].partition(".")[0]
    for parts, entry in _members(path, on_unreadable):
        if label is not None:
            yield entry._replace(label=label)
            continue
        folders = parts[1:-1] if parts[0] == own and len(parts) > 2 else parts[:-1]
        if not folders:
            on_unreadable(entry.name, ValueError("beside the class folders, so in no class"))
            continue
        try:
            own_class = check_class_name(folders[0])
        except ValueError as error:
            raise SpamnbError(f"{entry.name}: {error}; give the class another name, as in CLASS=PATH") from error
        yield entry._replace(label=own_class)


def _members(path: str, on_unreadable: Report) -> Iterator[tuple[list[str], Entry]]:
    """The names on the way to each message, and its entry, without a class."""
    try:
        with open_mail(path) as stream:
            if isinstance(stream, gzip.GzipFile) and path.lower().endswith(".zip"):
                raise zipfile.BadZipFile("a ZIP within gzip; gunzip it first")
            members = _zip if path.lower().endswith(".zip") else _tar
            for member, size, open_member in members(_bounded(stream, path)):
                parts = [part for part in member.split("/") if part not in ("", ".")]
                if not size or not parts or parts[-1] == "cmds" or any(part.startswith(".") for part in parts):
                    continue
                name = f"{escape(path)}/{escape(member)}"
                try:
                    if parts[-1].lower().endswith((*MBOXES, *ARCHIVES, *TABLES)):
                        raise NotMail("an archive, mailbox or table within an archive", path)
                    if size > MAX_MESSAGE:
                        raise too_long(path)
                    with open_member() as file:
                        content = message_of_file(decompress(bounded(file, path), path), member)
                except (RuntimeError, *_BROKEN) as error:  # RuntimeError: encrypted
                    on_unreadable(name, OSError(errno.EIO, f"broken or encrypted: {error}", path))
                except OSError as error:
                    on_unreadable(name, error)
                else:
                    yield parts, Entry(None, name, path, content=content)
    except _BROKEN as error:
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        on_unreadable(escape(path), OSError(errno.EIO, f"no archive that can be read: {escape(what)[:200]}", path))
    except OSError as error:
        on_unreadable(escape(path), error)


def _tar(stream: BinaryIO) -> Iterator[Member]:
    with tarfile.open(fileobj=stream, mode="r:") as archive:
        while (member := archive.next()) is not None:
            archive.members = []  # type: ignore[attr-defined]  # it would keep them all
            if member.isreg() and not member.issparse():
                yield member.name, member.size, cast(Callable[[], IO[bytes]], partial(archive.extractfile, member))


def _zip(stream: BinaryIO) -> Iterator[Member]:
    with zipfile.ZipFile(stream) as archive:
        for member in archive.infolist():
            if not member.is_dir():
                yield member.filename, member.file_size, partial(_inflating, archive, member)


def _inflating(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # the others take memory as they like
        raise NotImplementedError("compressed in another way than deflate, the only one that is read")
    return archive.open(member)


def _bounded(stream: BinaryIO, path: str) -> BinaryIO:
    """The stream, of which not too much is read at once: a header may claim to be of any size."""

    class Bounded:
        def __getattr__(self, name: str) -> Any:
            return getattr(stream, name)

        def read(self, size: int = -1) -> bytes:
            if size is None or size < 0 or size > _MAX_READ:
                size = _MAX_READ + 1
            found = stream.read(size)
            if len(found) > _MAX_READ:
                raise OSError(errno.EFBIG, f"a header or directory of more than {_MAX_READ >> 20} MiB", path)
            return found

    return cast(BinaryIO, Bounded())
