"""Outlook's ``.msg``: properties in a compound file, made a message again.

https://learn.microsoft.com/en-us/openspecs/exchange_server_protocols/ms-oxmsg/ The file is read by olefile, the extra
``outlook``. The header section is the one that came with the message, where it has one; text, HTML and attachments
follow as parts. A body that is there as RTF is not read: Outlook keeps the text beside it.
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

_MAX_BYTES = MAX_MESSAGE // 4 * 3  # of all properties that are read; base64 makes four bytes of three
_MAX_ATTACHMENTS = 250  # with those of the messages within; olefile seeks each by going through all of its folder
_MAX_STREAMS = 10_000  # and storages
_MAX_DEPTH = 8  # messages within messages

# Properties, as their numbers stand in the names of streams.
_SUBJECT, _HEADERS, _BODY, _HTML = "0037", "007D", "1000", "1013"
_SENDER_NAME, _SENDER_ADDRESS, _SENDER_SMTP = "0C1A", "0C1F", "5D01"
_TO, _CC, _MESSAGE_ID = "0E04", "0E03", "1035"
_DATA, _NAME, _LONG_NAME, _TYPE = "3701", "3704", "3707", "370E"
_CODEPAGES = 0x3FDE, 0x3FFD  # of the HTML and of strings

# Code pages that Python does not call cp and their number.
_CHARSETS = {20127: "ascii", 20866: "koi8-r", 21866: "koi8-u", 50220: "iso-2022-jp", 51932: "euc-jp", 51949: "euc-kr"}
_CHARSETS |= {54936: "gb18030"} | {28590 + n: f"iso-8859-{n}" for n in (*range(1, 10), 13, 15)}
# A header field, but for those that describe the bytes that came: here they are written anew.
_FIELD = re.compile(r"^(?![ \t]|content-[^:\s]*\s*:|mime-version\s*:)[^:\n]*:.*(?:\n[ \t].*)*", re.I | re.M)
_MEDIA_TYPE = re.compile(r"(?!multipart/|message/)[A-Za-z0-9][\w.+-]{0,60}/[\w.+-]{1,80}", re.ASCII)


def message_of_msg(raw: bytes, path: str) -> bytes:
    """The message in a ``.msg``: its headers, and text, HTML and attachments as parts.

    Raises NotMail where olefile is missing, or the compound file is another document, and OSError where it is broken.
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
            return _Reader(ole, raw).message((), 32, 0)
    except NotMail:
        raise
    except Exception as error:  # olefile raises whatever indexing what a hostile file says leads to
        why = str(error)[:100] if isinstance(error, (OSError, ValueError)) else type(error).__name__
        raise OSError(errno.EINVAL, f"a broken Outlook message: {why}", path) from error


Storage = tuple[str, ...]


class _Reader:
    def __init__(self, ole: Any, raw: bytes) -> None:
        self._ole = ole
        self._size = len(raw)
        self._left = _MAX_BYTES
        self._boundary = sha256(raw).hexdigest()[:32]  # the same on every run: a message is known by its bytes
        self._boundaries = count()
        self._attachments_left = _MAX_ATTACHMENTS
        self._storages = sorted(map(tuple, ole.listdir(streams=False, storages=True)))

    def message(self, at: Storage, header: int, depth: int) -> bytes:
        """The message in a storage, whose properties begin after ``header`` bytes."""
        charset = self._charset(at, header)

        def text(number: str) -> str:
            return self._text(at, number, charset)

        html = self._stream((*at, f"__substg1.0_{_HTML}0102")).decode(charset, "replace") or text(_HTML)
        texts = {"plain": text(_BODY), "html": html}
        parts = [_part(f"text/{kind}; charset=utf-8", _utf_8(said)) for kind, said in texts.items() if said]
        if len(parts) > 1:
            parts = [self._joined("alternative", parts)]
        parts += self._attachments(at, charset, depth)
        fields = _transport_fields(text(_HEADERS)) or _made_fields(text)
        content = self._joined("mixed", parts) if len(parts) != 1 else parts[0]
        return _utf_8(fields) + b"MIME-Version: 1.0\n" + content

    def _attachments(self, at: Storage, charset: str, depth: int) -> list[bytes]:
        places = [each for each in self._storages if each[:-1] == at and each[-1].startswith("__attach_version1.0_")]
        self._attachments_left -= len(places)
        if self._attachments_left < 0:
            raise ValueError(f"more than {_MAX_ATTACHMENTS:,} attachments")
        found = []
        for inside in places:
            within = (*inside, f"__substg1.0_{_DATA}000D")
            if self._ole.exists([*within, "__properties_version1.0"]):
                if depth == _MAX_DEPTH:
                    raise ValueError(f"more than {_MAX_DEPTH} messages within one another")
                found.append(b"Content-Type: message/rfc822\n\n" + self.message(within, 24, depth + 1))
                continue
            name = self._text(inside, _LONG_NAME, charset) or self._text(inside, _NAME, charset)
            media = _MEDIA_TYPE.fullmatch(self._text(inside, _TYPE, charset))
            quoted = _one_line(name).replace("\\", "_").replace('"', "'")
            kind = (media[0] if media else "application/octet-stream") + (f'; name="{quoted}"' if quoted else "")
            data = self._stream((*inside, f"__substg1.0_{_DATA}0102"))
            found.append(b"Content-Disposition: attachment\n" + _part(kind, data))
        return found

    def _joined(self, kind: str, parts: list[bytes]) -> bytes:
        boundary = f"=_{self._boundary}.{next(self._boundaries)}"  # "=_" occurs in no base64
        head = f'Content-Type: multipart/{kind}; boundary="{boundary}"\n\n'.encode()
        line = f"--{boundary}".encode()
        return head + b"".join(line + b"\n" + part + b"\n" for part in parts) + line + b"--\n"

    def _charset(self, at: Storage, header: int) -> str:
        """Python's name of the code page of the HTML, or else of the strings, behind ``header`` bytes."""
        raw = self._stream((*at, "__properties_version1.0"))[header:]
        numbers = {number: value for _, number, _, value in struct.iter_unpack("<HHIQ", raw[: len(raw) // 16 * 16])}
        for page in (numbers[number] & 0xFFFF for number in _CODEPAGES if number in numbers):
            with suppress(LookupError):
                return codecs.lookup(_CHARSETS.get(page, f"cp{page}")).name
        return "cp1252"

    def _text(self, at: Storage, number: str, charset: str) -> str:
        if wide := self._stream((*at, f"__substg1.0_{number}001F")):
            return wide.decode("utf-16-le", "replace").rstrip("\0")
        return self._stream((*at, f"__substg1.0_{number}001E")).decode(charset, "replace").rstrip("\0")

    def _stream(self, name: Storage) -> bytes:
        """A stream's bytes; none where it is not there. Looked at before it is read: a stream may claim any size, and
        several may claim the same sectors."""
        if self._ole.get_type(list(name)) != 2:  # a stream
            return b""
        size = self._ole.get_size(list(name))
        if size > self._size:
            raise ValueError("a stream larger than the file")
        self._left -= size
        if self._left < 0:
            raise ValueError(f"more than {_MAX_BYTES >> 20} MiB")
        return self._ole.openstream(list(name)).read()


def _transport_fields(text: str) -> str:
    """The header section as it came, without the fields that described its parts, and what Exchange writes above."""
    head = re.sub("\r\n?", "\n", text).strip("\n").partition("\n\n")[0]
    return "".join(field + "\n" for field in _FIELD.findall(head))


def _made_fields(text: Callable[[str], str]) -> str:
    """A header section for what never went through the Internet, as a draft."""
    address = text(_SENDER_SMTP) or text(_SENDER_ADDRESS)
    sender = " ".join(filter(None, (text(_SENDER_NAME), f"<{address}>" if "@" in address else "")))
    fields = {
        "From": sender,
        "To": text(_TO),
        "Cc": text(_CC),
        "Subject": text(_SUBJECT),
        "Message-ID": text(_MESSAGE_ID),
    }
    return "".join(f"{name}: {_one_line(value)}\n" for name, value in fields.items() if value)


def _part(kind: str, data: bytes) -> bytes:
    return _utf_8(f"Content-Type: {kind}\nContent-Transfer-Encoding: base64\n\n") + encodebytes(data)


def _one_line(value: str) -> str:
    return " ".join(value.replace("\0", " ").split())


def _utf_8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
