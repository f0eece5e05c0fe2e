# cython: language_level=3, annotation_typing=False, boundscheck=True, wraparound=False, initializedcheck=False
"""A message that is one text of ASCII, and where in its bytes the pieces stand: message/parse.py for plain messages.

Compiled or not, this file is the same (``plain_message.pxd`` has its C types).
"""

from __future__ import annotations

from array import array

from spamnb.message.charsets import resolve
from spamnb.message.encodings import UU_NAMES
from spamnb.message.headers import MAX_HEADER_BYTES, is_volatile, normalise, skip_envelope
from spamnb.message.mime import MAX_TEXT, Part, describe, read_as
from spamnb.message.parse import digest_of
from spamnb.tokens.header_rules import HeaderRules
from spamnb.tokens.token_sink import MAX_LAYOUT, TokenSink
from spamnb.tokens.tokenizer import link_tokens, may_show_urls, part_tokens, visible_urls
from spamnb.tokens.word_scanner import Normalization

MAX_FIELDS = 250  # of a header section that is read here
MAX_NAME = 100  # bytes: what is remembered is bounded in size and number
MAX_DESCRIPTION = 500  # of the body, by all fields together
MAX_PLAIN_MESSAGE = 2 * (MAX_HEADER_BYTES + MAX_TEXT)  # with CRLF line ends
DECODED = UU_NAMES | {"base64", "quoted-printable"}
UNDESCRIBED = part_tokens(Part("text/plain", "", "", "", "", 0))


class FieldName:
    """A header field's name."""

    def __init__(self, name: bytes) -> None:
        self.text = name.decode()
        low = self.text.lower()
        self.volatile = is_volatile(low)  # is no part of the digest
        self.describes = low in ("content-type", "content-transfer-encoding", "content-disposition")  # the body


class PlainMessage:
    """A message that is one text of ASCII, as nine of ten of SpamAssassin and 20news are.

    Its words never become Python objects. All others parse.parse takes apart. ``max_kept`` bounds the names of fields
    that are kept, and the descriptions of bodies.
    """

    def __init__(self, max_kept: int = 2000) -> None:
        self.max_kept = max_kept
        self.names: dict[bytes, FieldName] = {}
        self.parts: dict[tuple[tuple[str, str], ...], list[str] | None] = {}
        self.data = b""
        self.start = self.body = self.end = 0  # of the section, of the body; from where on only line ends follow
        self.fields: list[FieldName] = []
        self.spans = array("i", bytes(12 * MAX_FIELDS))  # where each value begins, ends, and whether on a later line
        self.part_tokens: list[str] | None = None  # of what the body is said to be

    def read(self, raw: bytes, identify: bool) -> bytes | None:
        """Read a message: its digest, empty without ``identify``; None where it is no plain message."""
        if len(raw) > MAX_PLAIN_MESSAGE:  # is neither copied nor kept
            return None
        data = normalise(raw)
        size = len(data)
        if not data.isascii() or data.find(b"\0") >= 0:
            return None
        self.data = data
        self.start = skip_envelope(data, 0, size) if data.startswith((b"F", b">")) else 0
        stop = self.scan_section(min(size, self.start + MAX_HEADER_BYTES))
        if stop < 0 or size - stop > MAX_TEXT or data.find(b"=?", self.start, stop) >= 0:
            return None
        if data.find(b"\nbegin", stop) >= 0:  # perhaps a uuencoded file
            return None
        self.body = stop + 1
        while size > stop and data[size - 1] == 10:
            size -= 1
        self.end = size
        self.part_tokens = self.describe_body()
        if self.part_tokens is None:
            return None
        return self.digest(stop) if identify else b""

    def scan_section(self, limit: int) -> int:
        """Where the empty line behind a section of nothing but fields begins, −1 where there is none."""
        message = self.data
        data = message
        i = self.start
        n = 0
        self.fields = []
        if len(self.names) > self.max_kept:
            self.names = {}
        while i < limit and data[i] != 10:
            begin = i
            while i < limit and 33 <= data[i] <= 126 and data[i] != 58:  # "!" to "~", and ":"
                i += 1
            if i == limit or data[i] != 58 or not 0 < i - begin <= MAX_NAME or n == MAX_FIELDS:
                return -1
            self.fields.append(self.field_name(message[begin:i]))
            i += 1
            while i < limit and (data[i] == 32 or data[i] == 9):
                i += 1
            begin = i
            later = False
            while i < limit:
                if data[i] == 10:
                    if i + 1 == limit or (data[i + 1] != 32 and data[i + 1] != 9):
                        break
                    later = True
                i += 1
            self.spans[3 * n] = begin
            self.spans[3 * n + 1] = i
            self.spans[3 * n + 2] = later
            n += 1
            i += 1
        return i if i < limit and n > 0 else -1

    def field_name(self, name: bytes) -> FieldName:
        """What is known of a name."""
        found = self.names.get(name)
        if found is None:
            found = self.names[name] = FieldName(name)
        return found

    def value(self, field: int) -> str:
        """The value of a field, unfolded."""
        value = self.data[self.spans[3 * field] : self.spans[3 * field + 1]]
        return (value.replace(b"\n", b"") if self.spans[3 * field + 2] else value).decode()

    def describe_body(self) -> list[str] | None:
        """The tokens of the one part there is, None where its text is not the body as it stands."""
        length = 0
        description = []
        for i in range(len(self.fields)):
            name = self.fields[i]
            if name.describes:
                length += len(name.text) + self.spans[3 * i + 1] - self.spans[3 * i]
                if length > MAX_DESCRIPTION:
                    return None
                description.append((name.text, self.value(i)))
        if not description:
            return UNDESCRIBED
        key = tuple(description)
        if key not in self.parts:
            if len(self.parts) > self.max_kept:
                self.parts = {}
            part, _ = describe(description, "text/plain", 0)
            plain = read_as(part.content_type, "") == "text/plain"
            plain = plain and part.encoding not in DECODED and (not part.charset or resolve(part.charset)[1])
            self.parts[key] = part_tokens(part) if plain else None
        return self.parts[key]

    def digest(self, stop: int) -> bytes:
        """parse.Message.digest, of the section that ends at ``stop``."""
        kept = []
        begin = self.start
        for i in range(len(self.fields)):
            name = self.fields[i]
            if name.volatile:
                break
        else:
            if self.end > stop:
                return digest_of(self.data[begin : self.end])
        for i in range(len(self.fields)):
            name = self.fields[i]
            if not name.volatile:
                kept.append(self.data[begin : self.spans[3 * i + 1]])
            begin = self.spans[3 * i + 1] + 1
        return digest_of(b"\n".join(kept) + b"\n\n" + self.data[self.body : self.end])

    def put(self, sink: TokenSink, text: Normalization, rules: HeaderRules, ngrams: int, body_only: bool) -> None:
        """Put the tokens of the message at hand into the sink, as ``tokenizer.Tokenizer`` does with a parsed one."""
        sink.add_raw_text(text, self.data, self.body, ngrams)
        sink.add_raw_layout(self.data[self.body : min(max(self.end, self.body), self.body + MAX_LAYOUT)])
        if body_only:
            return
        for i in range(len(self.fields)):
            name = self.fields[i]
            rule = rules[name.text]
            if rule is None:
                continue
            sink.add_presence(rule)
            if rule.shorten is not None or rule.extra_tokens is not None or self.spans[3 * i + 2]:
                sink.add_value(rule, self.value(i))
            elif rule.normalization is not None:
                sink.add_bytes(rule.normalization, self.data, self.spans[3 * i], self.spans[3 * i + 1])
        if may_show_urls(self.data, self.body):
            sink.add(link_tokens([visible_urls(self.data[self.body :].decode())]))
        sink.add(self.part_tokens or ())
