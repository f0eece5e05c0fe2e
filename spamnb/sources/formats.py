"""What a file is that is no mail, told by its first bytes: archives, documents, images, databases, indexes of readers.

Judged or learned as mail, such a file teaches a model words that no message holds.
"""

from __future__ import annotations

import errno
import re

HEAD = 1024  # bytes that tell what a file is

COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # which sources/outlook.py looks into
OUTLOOK = (
    "an Outlook message or an older Office document; 'pip install olefile' lets spamnb read .msg files,"
    " or 'msgconvert' makes mail of them"
)
_PST = "an Outlook data file; 'readpst -o FOLDER FILE' makes mailboxes of it"
_AUDIO_OR_VIDEO = "sound or video"
_UNPACK = "; unpack it, and name the folder or mailbox that was in it"
_EXECUTABLE = "a program"
_IMAGE = "an image"

_MAGIC: dict[bytes, str] = {
    b"PK\x03\x04": "a ZIP archive" + _UNPACK,
    b"PK\x05\x06": "an empty ZIP archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive" + _UNPACK,
    b"Rar!\x1a\x07": "a RAR archive" + _UNPACK,
    b"BZh91AY&SY": "a file compressed by bzip2" + _UNPACK,
    b"\xfd7zXZ\0": "a file compressed by xz" + _UNPACK,
    b"(\xb5/\xfd": "a file compressed by zstd" + _UNPACK,
    b"MSCF\0\0\0\0": "a cabinet archive" + _UNPACK,
    b"!<arch>\n": "an ar archive",
    b"%PDF-": "a PDF document",
    b"%!PS": "a PostScript document",
    b"{\\rtf": "an RTF document",
    COMPOUND_FILE: OUTLOOK,
    b"!BDN": _PST,
    b"\x78\x9f\x3e\x22": "the attachment winmail.dat (TNEF)",
    b"\x89PNG\r\n\x1a\n": _IMAGE,
    b"\xff\xd8\xff": _IMAGE,
    b"GIF87a": _IMAGE,
    b"GIF89a": _IMAGE,
    b"II*\0": _IMAGE,
    b"MM\0*": _IMAGE,
    b"RIFF": _AUDIO_OR_VIDEO,
    b"OggS": _AUDIO_OR_VIDEO,
    b"fLaC": _AUDIO_OR_VIDEO,
    b"ID3\x02": _AUDIO_OR_VIDEO,
    b"ID3\x03": _AUDIO_OR_VIDEO,
    b"ID3\x04": _AUDIO_OR_VIDEO,
    b"\x7fELF": _EXECUTABLE,
    b"MZ\x90\0": _EXECUTABLE,
    b"\xca\xfe\xba\xbe": _EXECUTABLE,
    b"SQLite format 3\0": "an SQLite database",
    b"PAR1": "a Parquet table",
    b"bplist00": "a property list",
    b"// <!-- <mdb:mork": "an index of Thunderbird (.msf)",
    b"# POP3 State File": "Thunderbird's list of what it fetched (popstate.dat)",
    b'version="': "Thunderbird's rules (msgFilterRules.dat)",
    b"BEGIN:VCARD": "an address card",
    b"BEGIN:VCALENDAR": "a calendar",
}
_STARTS = tuple(_MAGIC)

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_CONTROLS = bytes({*range(0x20)} - {*b"\t\n\v\f\r\x1b"})  # ESC: ISO-2022-JP is full of it
_MAX_CONTROLS = 20  # one in so many bytes; noise has one in ten
# Whatever else stands in it, what begins with a header field or an mbox's separator is mail.
_MAIL = re.compile(rb"[\r\n]{0,9}(?:>?From |[!-9;-~]{1,99}[ \t]{0,9}:)")


class NotMail(OSError):
    """A file that is something else than mail; ``strerror`` says what.

    >>> NotMail("a ZIP archive", "invoice.zip").strerror
    'a ZIP archive, not mail'
    """

    def __init__(self, what: str, path: str) -> None:
        what, semicolon, advice = what.partition(";")
        super().__init__(errno.EINVAL, f"{what}, not mail{semicolon}{advice}", path)


def foreign_format(raw: bytes) -> str | None:
    """What a file of these first bytes is, in words; None where it may be mail, or text without headers.

    A file in which control characters and NULs abound is binary data, unless it begins with a header field: a server
    delivers what it was sent, and nobody must be able to keep his message from being learned.

    >>> foreign_format(b"GIF89a" + bytes(26)), foreign_format(b"Subject: tea\\n\\n" + bytes(99))
    ('an image', None)
    """
    if raw.startswith(_STARTS):  # asked first: nearly all mail is spared the loop
        return _inside(raw, next(name for magic, name in _MAGIC.items() if raw.startswith(magic)))
    if raw.find(b"\0", 0, HEAD) < 0 or _MAIL.match(raw):
        return None
    if raw.startswith(_UTF_16):
        return "UTF-16 text; 'iconv -f UTF-16 -t UTF-8' makes plain text of it"
    if raw[257:262] == b"ustar":
        return "a tar archive" + _UNPACK
    if raw[4:8] == b"ftyp":
        return _AUDIO_OR_VIDEO
    if raw[:2] == b"BM" and raw[6:10] == b"\0\0\0\0":
        return _IMAGE
    head = raw[:HEAD]
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return "binary data" if controls * _MAX_CONTROLS > len(head) else None


def _inside(raw: bytes, name: str) -> str:
    """The name of a format, told apart from others that begin alike."""
    if raw.startswith(b"PK\x03\x04"):
        first = raw[30:HEAD]
        if first.startswith((b"[Content_Types].xml", b"_rels/", b"docProps/", b"word/", b"xl/", b"ppt/")):
            return "an Office document"
        if first.startswith(b"mimetypeapplication/vnd.oasis."):
            return "an OpenDocument file"
    if raw.startswith(b"RIFF") and raw[8:12] == b"WEBP":
        return _IMAGE
    return name
