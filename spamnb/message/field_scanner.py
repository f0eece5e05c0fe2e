# cython: language_level=3, annotation_typing=False, boundscheck=True, wraparound=False, initializedcheck=False
"""The fields of a header section, found where they stand in its bytes, and which of them mailboxes add.

Compiled or not, this file is the same (``field_scanner.pxd`` has its C types).
"""

from __future__ import annotations

from array import array

MAX_KEPT = 2000  # names of fields that are kept; 391 messages of today's phishing have 439 different ones
MAX_NAME = 100  # bytes of a name that is kept
DESCRIBE_BODY = frozenset(["content-type", "content-transfer-encoding", "content-disposition"])

# Fields that mailboxes, readers and filters add to a message they hold: tomorrow the same message has other ones.
VOLATILE = frozenset([
    "status", "content-length", "lines", "x-status", "x-uid", "x-uidl", "x-keywords", "x-imap", "x-imapbase",
    "x-bogosity", "x-label", "x-spam", "x-account-key", "x-spamprobe", "x-tuid", "x-offlineimap",
    "x-gm-thrid", "x-gm-msgid", "x-gm-labels", "x-forefront-antispam-report", "x-microsoft-antispam",
    "x-universally-unique-identifier",
])  # fmt: skip
VOLATILE_PREFIXES = (
    "x-spam-", "x-mozilla-", "x-envelope-", "x-evolution", "x-gnus-", "x-dspam-", "x-rspamd-", "x-crm114-",
    "x-spambayes-", "x-gmail-", "x-spamd-", "x-ms-exchange-organization-", "x-apple-",
)  # fmt: skip


def is_volatile(name: str) -> bool:
    """Whether a header field of this name (lower case) is in neither the digest nor the tokens.

    >>> is_volatile("x-spam-status"), is_volatile("lines"), is_volatile("subject")
    (True, True, False)
    """
    return name in VOLATILE or name.startswith(VOLATILE_PREFIXES)


class FieldName:
    """A header field's name."""

    def __init__(self, name: bytes) -> None:
        self.text = name.decode()
        self.low = self.text.lower()
        self.volatile = is_volatile(self.low)  # is no part of the digest
        self.describes = self.low in DESCRIBE_BODY


NAMES: dict[bytes, FieldName] = {}


class FieldScanner:
    """Fields of a header section: names, and where each value begins and ends.

    One pass over the bytes of a header section stands for three patterns: its end, its fields, and those that mailboxes
    add (docs/experiments.md#one-scan-of-a-header-section).
    """

    def __init__(self) -> None:
        self.data = b""
        self.start = 0
        self.names: list[FieldName] = []
        self.spans = array("i", bytes(12 * 64))  # where each value begins, ends, and whether on a later line

    def scan(self, section: bytes, start: int, limit: int) -> int:
        """Where the fields end that begin at ``start``, at ``limit`` at the latest.

        >>> scanner = FieldScanner()
        >>> scanner.scan(b"A: b\\nSubject:c\\n d\\n\\nbody", 0, 24), scanner.values(9)
        (18, [('A', 'b'), ('Subject', 'c d')])
        """
        data = section
        self.data = section
        self.start = at = start
        self.names = names = []
        room = len(self.spans)
        n = 0
        while at < limit:
            begin = at
            while begin < limit and 33 <= data[begin] <= 126 and data[begin] != 58:  # "!" to "~", and ":"
                begin += 1
            if not at < begin < limit or data[begin] != 58:
                break
            names.append(self.field_name(data[at:begin]))
            begin += 1
            while begin < limit and (data[begin] == 32 or data[begin] == 9):
                begin += 1
            is_folded = False
            end = begin
            while end < limit:
                if data[end] == 10:
                    if end + 1 == limit or (data[end + 1] != 32 and data[end + 1] != 9):
                        break
                    is_folded = True
                end += 1
            if n == room:
                self.make_room()
                room = 2 * room
            self.spans[n] = begin
            self.spans[n + 1] = end
            self.spans[n + 2] = is_folded
            n += 3
            at = min(end + 1, limit)
        return at

    def make_room(self) -> None:
        """Room for twice as many fields."""
        before = self.spans
        size = len(before)
        self.spans = array("i", bytes(8 * size))
        for i in range(size):
            self.spans[i] = before[i]

    def field_name(self, name: bytes) -> FieldName:
        """What is known of a name."""
        found = NAMES.get(name)
        if found is None:
            found = FieldName(name)
            if len(name) <= MAX_NAME:
                if len(NAMES) >= MAX_KEPT:
                    NAMES.clear()
                NAMES[name] = found
        return found

    def value(self, field: int) -> str:
        """The value of a field, unfolded, each byte as a character."""
        data = self.data
        value = data[self.spans[3 * field] : self.spans[3 * field + 1]].decode("latin-1")
        return value.replace("\n", "") if self.spans[3 * field + 2] else value

    def values(self, most: int) -> list[tuple[str, str]]:
        """Names and values of the first fields."""
        found: list[tuple[str, str]] = []
        for i in range(min(most, len(self.names))):
            name = self.names[i]
            found.append((name.text, self.value(i)))
        return found

    def lasting(self) -> bytes:
        """The section without the fields that mailboxes add, and without the line end behind it.

        >>> scanner = FieldScanner()
        >>> scanner.scan(b"A: b\\nLines: 2\\nTo:\\n d\\n\\n", 0, 22), scanner.lasting()
        (21, b'A: b\\nTo:\\n d')
        """
        names = self.names
        size = len(names)
        for i in range(size):
            name = names[i]
            if name.volatile:
                break
        else:
            return self.data[self.start : self.spans[3 * size - 2]] if size else b""
        kept: list[bytes] = []
        begin = self.start
        for i in range(size):
            end = self.spans[3 * i + 1]
            name = names[i]
            if not name.volatile:
                kept.append(self.data[begin:end])
            begin = end + 1
        return b"\n".join(kept)
