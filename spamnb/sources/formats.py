"""The format of a file: tables and mboxes by their names, and other formats than mail by their first bytes.

Documents and archives are not learned as mail, because they would teach a model words that no message contains.
"""

from __future__ import annotations

import errno
import re

#: Bytes of one message, decompressed. A longer message is not read, because mail servers accept 10 to 50 MB.
MAX_MESSAGE = 64 << 20
HEAD = 1024  # bytes from which the format of a file is determined
TABLES = (".csv", ".tsv", ".jsonl")  # ends of the names of tables
MBOXES = (".mbox", ".mbox.gz")

_UNPACK = "; unpack it, and name the folder or mailbox that was in it"
COMPRESSED = "compressed in a format other than gzip" + _UNPACK
# zstd, xz, LZ4 and bzip2, in which Dovecot can store mail.
COMPRESSIONS = (b"(\xb5/\xfd", b"\xfd7zXZ\0", b"Dovecot-LZ4", *(b"BZh%d1AY&SY" % level for level in range(1, 10)))
# The names of formats by their first bytes, with advice after a semicolon.
_MAGIC: dict[bytes, str] = {
    b"PK\x03\x04": "a ZIP archive" + _UNPACK,
    b"7z\xbc\xaf\x27\x1c": "a 7z archive" + _UNPACK,
    **dict.fromkeys(COMPRESSIONS, COMPRESSED),
    b"Rar!\x1a\x07": "a RAR archive" + _UNPACK,
    b"%PDF-": "a PDF document",
    **dict.fromkeys((b"\xff\xd8\xff", b"\x89PNG\r\n", b"GIF8"), "an image"),
    b"{\\rtf": "an RTF document",
    b"PAR1": "a Parquet table; pandas.read_parquet(FILE).to_csv(...) makes a table that is read",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an Outlook message or Office document; 'msgconvert' makes mail of .msg",
    b"\1\1\1\1\n": "a mailbox in MMDF; mutt can copy its messages to an mbox",
    b"BABYL OPTIONS:": "a mailbox of Emacs' Rmail (Babyl); Emacs 23 or later makes an mbox of it",
    b"!BDN": "an Outlook data file; 'readpst -o FOLDER FILE' makes mailboxes of it",
    b"// <!-- <mdb:mork": "an index of Thunderbird (.msf)",
    b"# POP3 State File": "Thunderbird's list of fetched messages (popstate.dat)",
    b'version="': "Thunderbird's rules (msgFilterRules.dat)",
}
_STARTS = tuple(_MAGIC)

_CONTROLS = bytes({*range(0x20)} - {*b"\t\n\v\f\r\x1b"})  # not ESC, which ISO-2022-JP uses
_BYTES_PER_CONTROL = 20  # a file with more than one control character in 20 bytes is binary; random bytes have 2 in 20
# A file that begins with a header field or an mbox's separator is mail, whatever follows.
_MAIL = re.compile(rb"[\r\n]{0,9}(?:>?From |[!-9;-~]{1,99}[ \t]{0,9}:)")


class NotMail(OSError):
    """A file is not mail; ``strerror`` names its format.

    >>> NotMail("a ZIP archive", "invoice.zip").strerror
    'a ZIP archive, not mail'
    """

    def __init__(self, format_name: str, path: str) -> None:
        format_name, semicolon, advice = format_name.partition(";")
        super().__init__(errno.EINVAL, f"{format_name}, not mail{semicolon}{advice}", path)


def is_table(path: str) -> bool:
    """Return whether a file of this name is a table.

    >>> is_table("spam.csv"), is_table("train.JSONL.gz"), is_table("SMSSpamCollection")
    (True, True, False)
    """
    return path.lower().removesuffix(".gz").endswith(TABLES)


def foreign_format(raw: bytes) -> str | None:
    r"""Return the name of a file's format, or None if the file may be mail or text without headers.

    A file with many control characters and NULs is binary data. But a file that begins with a header field is always
    mail; otherwise a sender could prevent the learning of a message with such characters.

    >>> foreign_format(b"%PDF-1.7"), foreign_format(b"Subject: tea\n\n" + bytes(99))
    ('a PDF document', None)
    """
    if raw.startswith(_STARTS):  # nearly all mail does not need the loop
        return next(name for magic, name in _MAGIC.items() if raw.startswith(magic))
    if raw.find(b"\0", 0, HEAD) < 0 or _MAIL.match(raw):
        return None
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16 text; 'iconv -f UTF-16 -t UTF-8' makes plain text of it"
    if raw[257:262] == b"ustar":
        return "a tar archive" + _UNPACK
    head = raw[:HEAD]
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return "binary data" if controls * _BYTES_PER_CONTROL > len(head) else None
