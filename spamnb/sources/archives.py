"""Messages in archives, by tar (plain or gzipped) and ZIP: read where they lie, nothing is unpacked to the disk.

Of a plain tar and of a ZIP an entry says which bytes of the archive are its message, so any process may read it; what
is behind gzip has to be read from the beginning, so such entries carry their bytes.
"""

from __future__ import annotations

import errno
import gzip
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from spamnb.errors import SpamnbError
from spamnb.naming import check_class_name, escape
from spamnb.sources.entries import MAX_MESSAGE, Entry, Report, bytes_of, open_mail, too_long
from spamnb.sources.files import ARCHIVES, TABLES
from spamnb.sources.formats import NotMail, foreign_format

_MAX_READ = 1 << 26  # bytes that tarfile and zipfile may ask for at once: the directory of some 600,000 members
_OTHER = (".mbox", ".mbox.gz", *ARCHIVES, *TABLES)  # sources by themselves
_LOCAL_HEADER = struct.Struct("<4s5H3L2H")  # of a member of a ZIP; its name and more follow


class TarMember(Entry):
    """A message in a plain tar: the bytes from ``start`` to ``stop`` of the file ``path``."""

    def read(self) -> bytes:
        """The message. OSError as for a file, also where the archive is shorter now."""
        if self.content is not None:
            return _mail(self.content, self.path)
        assert self.stop is not None
        raw = bytes_of(self.path, self.start, self.stop)
        if len(raw) < self.stop - self.start:
            raise OSError(errno.ESTALE, "the archive changed while it was being read", self.path)
        return _mail(raw, self.path)


class ZipMember(Entry):
    """A message in a ZIP: its header is at ``start``, and ``stop`` is that plus its compressed size."""

    def read(self) -> bytes:
        """The message. OSError as for a file, also where the archive is another now or compressed otherwise."""
        assert self.stop is not None
        head = bytes_of(self.path, self.start, self.start + _LOCAL_HEADER.size)
        if len(head) < _LOCAL_HEADER.size or not head.startswith(b"PK\x03\x04"):
            raise OSError(errno.ESTALE, "the archive changed while it was being read", self.path)
        _, _, flags, method, *_, name, extra = _LOCAL_HEADER.unpack(head)
        if flags & 1:
            raise OSError(errno.EINVAL, "encrypted", self.path)
        begin = _LOCAL_HEADER.size + name + extra
        raw = bytes_of(self.path, self.start + begin, self.stop + begin)
        if len(raw) < self.stop - self.start:
            raise OSError(errno.ESTALE, "the archive changed while it was being read", self.path)
        if method == zipfile.ZIP_DEFLATED:
            unpacking = zlib.decompressobj(-zlib.MAX_WBITS)
            try:
                raw = unpacking.decompress(raw, MAX_MESSAGE + 1)
            except zlib.error as error:
                raise OSError(errno.EIO, f"broken ZIP: {error}", self.path) from error
            if len(raw) > MAX_MESSAGE:
                raise too_long(self.path)
            if not unpacking.eof:
                raise OSError(errno.EIO, "broken ZIP: its data ends too early", self.path)
        elif method != zipfile.ZIP_STORED:
            raise OSError(errno.EINVAL, "compressed in another way than deflate, the only one that is read", self.path)
        return _mail(raw, self.path)


def _mail(raw: bytes, path: str) -> bytes:
    if what := foreign_format(raw):
        raise NotMail(what, path)
    return raw


def archive_entries(label: str | None, path: str, on_unreadable: Report) -> Iterator[Entry]:
    """The messages of an archive, a file each, all of one class, in the archive's order.

    Hidden files, empty ones and those called ``cmds`` are left out, as in folders (folders.py).
    """
    return (entry._replace(label=label) for _, entry in _members(path, on_unreadable))


def class_folders(path: str, on_unreadable: Report) -> Iterator[Entry]:
    """The messages of an archive with a folder per class, perhaps within one folder of the archive's own name."""
    own = path.rstrip("/").rpartition("/")[2].partition(".")[0]
    for parts, entry in _members(path, on_unreadable):
        folders = parts[1:-1] if parts[0] == own and len(parts) > 2 else parts[:-1]
        if not folders:
            on_unreadable(entry.name, ValueError("beside the class folders, so in no class"))
            continue
        try:
            label = check_class_name(folders[0])
        except ValueError as error:
            raise SpamnbError(f"{entry.name}: {error}; give the class another name, as in CLASS=PATH") from error
        yield entry._replace(label=label)


def _members(path: str, on_unreadable: Report) -> Iterator[tuple[list[str], Entry]]:
    """The names on the way to each message, and its entry, without a class."""
    try:
        with open_mail(path) as stream:
            found = _zip(path, stream) if path.lower().endswith(".zip") else _tar(path, stream)
            for name, size, entry in found:
                parts = [part for part in name.split("/") if part not in ("", ".")]
                if not size or not parts or parts[-1] == "cmds" or any(part.startswith(".") for part in parts):
                    continue
                if parts[-1].lower().endswith(_OTHER):
                    on_unreadable(entry.name, NotMail("an archive, mailbox or table within an archive", path))
                elif size > MAX_MESSAGE:
                    on_unreadable(entry.name, too_long(path))
                else:
                    yield parts, entry
    except (tarfile.TarError, zipfile.BadZipFile, NotImplementedError, EOFError, struct.error, zlib.error) as error:
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        on_unreadable(escape(path), OSError(errno.EIO, f"no archive that can be read: {escape(what)[:200]}", path))
    except OSError as error:
        on_unreadable(escape(path), error)


def _tar(path: str, stream: BinaryIO) -> Iterator[tuple[str, int, Entry]]:
    """Name, size and entry of each file of a tar."""
    keep = isinstance(stream, gzip.GzipFile)
    with tarfile.open(fileobj=_bounded(stream, path), mode="r:") as archive:
        while (member := archive.next()) is not None:
            archive.members = []  # type: ignore[attr-defined]  # it would keep them all
            if not member.isreg() or member.issparse():
                continue
            name, begin = f"{escape(path)}/{escape(member.name)}", member.offset_data
            if not keep:
                yield member.name, member.size, TarMember(None, name, path, begin, begin + member.size)
            elif member.size > MAX_MESSAGE:
                yield member.name, member.size, TarMember(None, name, path)
            else:
                stream.seek(begin)
                content = stream.read(member.size)
                if len(content) < member.size:
                    raise EOFError("it ends within a message")
                yield member.name, member.size, TarMember(None, name, path, content=content)


def _zip(path: str, stream: BinaryIO) -> Iterator[tuple[str, int, Entry]]:
    """Name, size and entry of each file of a ZIP."""
    if isinstance(stream, gzip.GzipFile):
        raise zipfile.BadZipFile("a ZIP within gzip; gunzip it first")
    with zipfile.ZipFile(_bounded(stream, path)) as archive:
        for member in archive.infolist():
            if not member.is_dir():
                end = member.header_offset + member.compress_size
                name = f"{escape(path)}/{escape(member.filename)}"
                yield member.filename, member.file_size, ZipMember(None, name, path, member.header_offset, end)


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
