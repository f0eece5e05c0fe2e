"""Outlook's ``.msg``, a compound file of properties, as a message.

https://learn.microsoft.com/en-us/openspecs/exchange_server_protocols/ms-oxmsg/ olefile reads the file (the extra
``outlook``). The message gets the header section of the received message, if the file contains it, and text, HTML and
attachments as parts. A body in RTF is not read, because Outlook stores the same text without format, too.
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
_MAX_ATTACHMENTS = 250  # of all messages together; olefile searches a whole folder for each one
_MAX_STREAMS = 10_000  # streams and storages
_MAX_DEPTH = 8  # messages within messages

# Numbers of properties, as in the names of streams.
_SUBJECT, _HEADERS, _BODY, _HTML = "0037", "007D", "1000", "1013"
_SENDER_NAME, _SENDER_ADDRESS, _SENDER_SMTP = "0C1A", "0C1F", "5D01"
_TO, _CC, _MESSAGE_ID = "0E04", "0E03", "1035"
_DATA, _NAME, _LONG_NAME, _TYPE = "3701", "3704", "3707", "370E"
_CODEPAGES = 0x3FDE, 0x3FFD  # of the HTML and of strings

# Code pages that are not called cp and their number in Python.
_CHARSETS = {20127: "ascii", 20866: "koi8-r", 21866: "koi8-u", 50220: "iso-2022-jp", 51932: "euc-jp", 51949: "euc-kr"}
_CHARSETS |= {54936: "gb18030"} | {28590 + n: f"iso-8859-{n}" for n in (*range(1, 10), 13, 15)}
# A header field, except the fields that describe parts: the parts are written with fields of their own.
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
            return _Reader(ole, raw).read_message((), 32, 0)
    except NotMail:
        raise
    except Exception as error:  # a hostile file makes olefile raise exceptions of any type
        why = str(error)[:100] if isinstance(error, (OSError, ValueError)) else type(error).__name__
        raise OSError(errno.EINVAL, f"a broken Outlook message: {why}", path) from error


Storage = tuple[str, ...]


class _Reader:
    def __init__(self, ole: Any, raw: bytes) -> None:
        self._ole = ole
        self._size = len(raw)
        self._bytes_left = _MAX_BYTES
        self._boundary = sha256(raw).hexdigest()[
            :32
        ]  # made from the file's digest, because the message must have the same bytes on every run
        self._boundary_numbers = count()
        self._attachments_left = _MAX_ATTACHMENTS
        self._storages = sorted(map(tuple, ole.listdir(streams=False, storages=True)))

    def read_message(self, storage: Storage, header: int, depth: int) -> bytes:
        """Return the message in a storage whose properties begin after ``header`` bytes."""
        charset = self._find_charset(storage, header)

        def text(number: str) -> str:
            return self._read_text(storage, number, charset)

        html = self._read_stream((*storage, f"__substg1.0_{_HTML}0102")).decode(charset, "replace") or text(_HTML)
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
            inner_message = (*storage, f"__substg1.0_{_DATA}000D")
            if self._ole.exists([*inner_message, "__properties_version1.0"]):
                if depth == _MAX_DEPTH:
                    raise ValueError(f"messages nested more than {_MAX_DEPTH} deep")
                parts.append(b"Content-Type: message/rfc822\n\n" + self.read_message(inner_message, 24, depth + 1))
                continue
            name = self._read_text(storage, _LONG_NAME, charset) or self._read_text(storage, _NAME, charset)
            media = _MEDIA_TYPE.fullmatch(self._read_text(storage, _TYPE, charset))
            quoted = _fold_lines(name).replace("\\", "_").replace('"', "'")
            kind = (media[0] if media else "application/octet-stream") + (f'; name="{quoted}"' if quoted else "")
            data = self._read_stream((*storage, f"__substg1.0_{_DATA}0102"))
            parts.append(b"Content-Disposition: attachment\n" + _format_part(kind, data))
        return parts

    def _join(self, kind: str, parts: list[bytes]) -> bytes:
        boundary = f"=_{self._boundary}.{next(self._boundary_numbers)}"  # "=_" occurs in no base64
        head = f'Content-Type: multipart/{kind}; boundary="{boundary}"\n\n'.encode()
        line = f"--{boundary}".encode()
        return head + b"".join(line + b"\n" + part + b"\n" for part in parts) + line + b"--\n"

    def _find_charset(self, storage: Storage, header: int) -> str:
        """Return Python's name of the code page of the HTML, or else of the strings."""
        raw = self._read_stream((*storage, "__properties_version1.0"))[header:]
        numbers = {number: value for _, number, _, value in struct.iter_unpack("<HHIQ", raw[: len(raw) // 16 * 16])}
        for page in (numbers[number] & 0xFFFF for number in _CODEPAGES if number in numbers):
            with suppress(LookupError):
                return codecs.lookup(_CHARSETS.get(page, f"cp{page}")).name
        return "cp1252"

    def _read_text(self, storage: Storage, number: str, charset: str) -> str:
        if wide := self._read_stream((*storage, f"__substg1.0_{number}001F")):
            return wide.decode("utf-16-le", "replace").rstrip("\0")
        return self._read_stream((*storage, f"__substg1.0_{number}001E")).decode(charset, "replace").rstrip("\0")

    def _read_stream(self, name: Storage) -> bytes:
        """Return a stream's bytes, or none if it does not exist.

        The size is checked first: a stream may declare any size, and several streams may share sectors.
        """
        if self._ole.get_type(list(name)) != 2:  # a stream
            return b""
        size = self._ole.get_size(list(name))
        if size > self._size:
            raise ValueError("a stream larger than the file")
        self._bytes_left -= size
        if self._bytes_left < 0:
            raise ValueError(f"more than {_MAX_BYTES >> 20} MiB")
        return self._ole.openstream(list(name)).read()


def _transport_fields(text: str) -> str:
    """Return the received header section without the fields of its parts, and without Exchange's first line."""
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
    return "".join(f"{name}: {_fold_lines(value)}\n" for name, value in fields.items() if value)


def _format_part(kind: str, data: bytes) -> bytes:
    return _utf_8(f"Content-Type: {kind}\nContent-Transfer-Encoding: base64\n\n") + encodebytes(data)


def _fold_lines(value: str) -> str:
    return " ".join(value.replace("\0", " ").split())


def _utf_8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
