"""Turns Outlook's ``.msg``, a compound file of properties, into a message. olefile (the extra ``outlook``) reads it.

The message has the header section that was received, if the file contains it, and text, HTML and attachments as parts.
A body in RTF is not read, because Outlook also stores the body as plain text.
https://learn.microsoft.com/en-us/openspecs/exchange_server_protocols/ms-oxmsg/
"""

from __future__ import annotations

import codecs
import errno
import re
import struct
from base64 import encodebytes
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from itertools import count
from typing import Any

from spamnb.sources.formats import MAX_MESSAGE, OUTLOOK, NotMail

_MAX_BYTES = MAX_MESSAGE // 4 * 3  # of all properties together; base64 makes four bytes of three
_MAX_ATTACHMENTS = 250  # of all nested messages together: 250 take 0.3 s, and olefile's time grows with their square
_MAX_STREAMS = 10_000  # streams and storages, because olefile makes an object of each
_MAX_DEPTH = 8  # messages within messages, because each is read by a recursive call

# Numbers of properties, as in the names of streams.
_SUBJECT, _HEADERS, _BODY, _HTML = "0037", "007D", "1000", "1013"
_SENDER_NAME, _SENDER_ADDRESS, _SENDER_SMTP = "0C1A", "0C1F", "5D01"
_TO, _CC, _MESSAGE_ID = "0E04", "0E03", "1035"
_DATA, _NAME, _LONG_NAME, _TYPE = "3701", "3704", "3707", "370E"
_CODEPAGES = 0x3FDE, 0x3FFD  # the code page of the HTML, and of strings
_UTF_16, _STRING, _BINARY, _MESSAGE = "001F", "001E", "0102", "000D"  # types of properties
# Bytes before the properties of the outermost message, and of an attached message.
_HEADER_BYTES, _ATTACHED_HEADER_BYTES = 32, 24

# Python's names of code pages; the name of any other code page is "cp" and its number.
_CHARSETS = {20127: "ascii", 20866: "koi8-r", 21866: "koi8-u", 50220: "iso-2022-jp", 51932: "euc-jp", 51949: "euc-kr"}
_CHARSETS |= {54936: "gb18030"} | {28590 + n: f"iso-8859-{n}" for n in (*range(1, 10), 13, 15)}
# A header field, except fields that describe parts, because this module writes new ones.
_FIELD = re.compile(r"^(?![ \t]|content-[^:\s]*\s*:|mime-version\s*:)[^:\n]*:.*(?:\n[ \t].*)*", re.I | re.M)
_MEDIA_TYPE = re.compile(r"(?!multipart/|message/)[A-Za-z0-9][\w.+-]{0,60}/[\w.+-]{1,80}", re.ASCII)


def message_from_msg(raw: bytes, path: str) -> bytes:
    """Return the message in a ``.msg``: its headers, and text, HTML and attachments as parts.

    Raise NotMail if olefile is missing or the compound file is another document, and OSError if it is broken.
    """
    try:
        import olefile
    except ImportError:
        raise NotMail(OUTLOOK, path) from None
    try:
        with olefile.OleFileIO(raw) as ole:
            if not ole.exists("__properties_version1.0"):
                raise NotMail("an older Office document", path)
            if len(ole.direntries) > _MAX_STREAMS:
                raise ValueError(f"more than {_MAX_STREAMS:,} streams")
            return _Reader(ole, raw).read_message((), _HEADER_BYTES, 0)
    except NotMail:
        raise
    except Exception as error:  # a hostile file makes olefile raise exceptions of any type
        problem = str(error)[:100] if isinstance(error, (OSError, ValueError)) else type(error).__name__
        raise OSError(errno.EINVAL, f"a broken Outlook message: {problem}", path) from error


Storage = tuple[str, ...]  # the path of a storage in the compound file


class _Reader:
    """Reads the messages of one compound file, within the bounds of this module."""

    def __init__(self, ole: Any, raw: bytes) -> None:
        self._ole = ole
        self._size = len(raw)
        self._bytes_left = _MAX_BYTES
        # From a digest and not random, because the message must have the same bytes on every run.
        self._boundary = sha256(raw).hexdigest()[:32]
        self._boundary_numbers = count()
        self._attachments_left = _MAX_ATTACHMENTS
        self._storages = sorted(map(tuple, ole.listdir(streams=False, storages=True)))

    def read_message(self, storage: Storage, header_bytes: int, depth: int) -> bytes:
        """Return the message in a storage whose properties begin after ``header_bytes``."""
        charset = self._find_charset(storage, header_bytes)

        def text(number: str) -> str:
            return self._read_text(storage, number, charset)

        html = self._read_stream((*storage, f"__substg1.0_{_HTML}{_BINARY}")).decode(charset, "replace") or text(_HTML)
        bodies = {"plain": text(_BODY), "html": html}
        parts = [_format_part(f"text/{kind}; charset=utf-8", _utf_8(body)) for kind, body in bodies.items() if body]
        if len(parts) > 1:
            parts = [self._join("alternative", parts)]
        parts += self._read_attachments(storage, charset, depth)
        fields = _transport_fields(text(_HEADERS)) or _format_fields(text)
        content = self._join("mixed", parts) if len(parts) != 1 else parts[0]
        return _utf_8(fields) + b"MIME-Version: 1.0\n" + content

    def _read_attachments(self, message: Storage, charset: str, depth: int) -> list[bytes]:
        prefix = "__attach_version1.0_"
        storages = [storage for storage in self._storages if storage[:-1] == message and storage[-1].startswith(prefix)]
        self._attachments_left -= len(storages)
        if self._attachments_left < 0:
            raise ValueError(f"more than {_MAX_ATTACHMENTS:,} attachments")
        parts = []
        for storage in storages:
            attached = (*storage, f"__substg1.0_{_DATA}{_MESSAGE}")
            if self._ole.exists([*attached, "__properties_version1.0"]):
                if depth == _MAX_DEPTH:
                    raise ValueError(f"messages nested more than {_MAX_DEPTH} deep")
                content = self.read_message(attached, _ATTACHED_HEADER_BYTES, depth + 1)
                parts.append(b"Content-Type: message/rfc822\n\n" + content)
                continue
            name = self._read_text(storage, _LONG_NAME, charset) or self._read_text(storage, _NAME, charset)
            media = _MEDIA_TYPE.fullmatch(self._read_text(storage, _TYPE, charset))
            file_name = _join_lines(name).replace("\\", "_").replace('"', "'")
            kind = (media[0] if media else "application/octet-stream") + (f'; name="{file_name}"' if file_name else "")
            data = self._read_stream((*storage, f"__substg1.0_{_DATA}{_BINARY}"))
            parts.append(b"Content-Disposition: attachment\n" + _format_part(kind, data))
        return parts

    def _join(self, kind: str, parts: list[bytes]) -> bytes:
        boundary = f"=_{self._boundary}.{next(self._boundary_numbers)}"  # "=_" occurs in no base64
        head = f'Content-Type: multipart/{kind}; boundary="{boundary}"\n\n'.encode()
        line = f"--{boundary}".encode()
        return head + b"".join(line + b"\n" + part + b"\n" for part in parts) + line + b"--\n"

    def _find_charset(self, storage: Storage, header_bytes: int) -> str:
        """Return Python's name of the code page of the HTML, or else of the strings."""
        raw = self._read_stream((*storage, "__properties_version1.0"))[header_bytes:]
        properties = {number: value for _, number, _, value in struct.iter_unpack("<HHIQ", raw[: len(raw) // 16 * 16])}
        for page in (properties[number] & 0xFFFF for number in _CODEPAGES if number in properties):
            with suppress(LookupError):
                return codecs.lookup(_CHARSETS.get(page, f"cp{page}")).name
        return "cp1252"

    def _read_text(self, storage: Storage, number: str, charset: str) -> str:
        if raw := self._read_stream((*storage, f"__substg1.0_{number}{_UTF_16}")):
            return raw.decode("utf-16-le", "replace").rstrip("\0")
        return self._read_stream((*storage, f"__substg1.0_{number}{_STRING}")).decode(charset, "replace").rstrip("\0")

    def _read_stream(self, name: Storage) -> bytes:
        """Return the bytes of a stream; none if it does not exist.

        The size is checked first, because a stream may declare any size, and several streams may share sectors.
        """
        if self._ole.get_type(list(name)) != 2:  # 2 is a stream
            return b""
        size = self._ole.get_size(list(name))
        if size > self._size:
            raise ValueError("a stream larger than the file")
        self._bytes_left -= size
        if self._bytes_left < 0:
            raise ValueError(f"more than {_MAX_BYTES >> 20} MiB")
        return self._ole.openstream(list(name)).read()


def _transport_fields(text: str) -> str:
    """Return the fields of a received header section that do not describe parts. Exchange's first line is no field."""
    head = re.sub("\r\n?", "\n", text).strip("\n").partition("\n\n")[0]
    return "".join(field + "\n" for field in _FIELD.findall(head))


def _format_fields(text: Callable[[str], str]) -> str:
    """Return a header section for a message that was never transported, such as a draft."""
    address = text(_SENDER_SMTP) or text(_SENDER_ADDRESS)
    sender = " ".join(filter(None, (text(_SENDER_NAME), f"<{address}>" if "@" in address else "")))
    fields = {
        "From": sender,
        "To": text(_TO),
        "Cc": text(_CC),
        "Subject": text(_SUBJECT),
        "Message-ID": text(_MESSAGE_ID),
    }
    return "".join(f"{name}: {_join_lines(value)}\n" for name, value in fields.items() if value)


def _format_part(kind: str, data: bytes) -> bytes:
    return _utf_8(f"Content-Type: {kind}\nContent-Transfer-Encoding: base64\n\n") + encodebytes(data)


def _join_lines(value: str) -> str:
    return " ".join(value.replace("\0", " ").split())


def _utf_8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
