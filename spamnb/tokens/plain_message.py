# cython: language_level=3, annotation_typing=False, boundscheck=True, wraparound=False, initializedcheck=False
"""A message that is one text of ASCII, and where in its bytes the pieces stand: message/parse.py for plain messages.

Compiled or not, this file is the same (``plain_message.pxd`` has its C types).
"""

from __future__ import annotations

from spamnb.message.charsets import resolve
from spamnb.message.encodings import UU_NAMES
from spamnb.message.field_scanner import FieldScanner
from spamnb.message.headers import MAX_HEADER_BYTES, normalise, skip_envelope
from spamnb.message.mime import MAX_TEXT, Part, describe, read_as
from spamnb.message.parse import digest_of
from spamnb.tokens.header_rules import HeaderRules
from spamnb.tokens.token_sink import MAX_LAYOUT, TokenSink
from spamnb.tokens.tokenizer import link_tokens, may_show_urls, part_tokens, visible_urls
from spamnb.tokens.word_scanner import Normalization

MAX_FIELDS = 250  # of a header section that is read here
MAX_KEPT = 2000  # descriptions of bodies
MAX_DESCRIPTION = 500  # of the body, by all fields together
MAX_PLAIN_MESSAGE = 2 * (MAX_HEADER_BYTES + MAX_TEXT)  # with CRLF line ends
DECODED = UU_NAMES | {"base64", "quoted-printable"}
UNDESCRIBED = part_tokens(Part("text/plain", "", "", "", "", 0))


class PlainMessage:
    """A message that is one text of ASCII, as nine of ten of SpamAssassin and 20news are.

    Its words never become Python objects. All others parse.parse takes apart. ``max_kept`` bounds the descriptions of
    bodies that are kept.
    """

    def __init__(self, max_kept: int = MAX_KEPT) -> None:
        self.max_kept = max_kept
        self.parts: dict[tuple[tuple[str, str], ...], list[str] | None] = {}
        self.data = b""
        self.start = self.body = self.end = 0  # of the section, of the body; from where on only line ends follow
        self.fields = FieldScanner()
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
        if not identify:
            return b""
        return digest_of(self.fields.lasting(), b"\n\n", memoryview(data)[self.body : max(self.body, size)])

    def scan_section(self, limit: int) -> int:
        """Where the empty line behind a section of nothing but fields begins, −1 where there is none."""
        data = self.data
        stop = self.fields.scan(self.data, self.start, limit)
        return stop if stop < limit and data[stop] == 10 and 0 < len(self.fields.names) <= MAX_FIELDS else -1

    def describe_body(self) -> list[str] | None:
        """The tokens of the one part there is, None where its text is not the body as it stands."""
        length = 0
        description = []
        fields = self.fields
        for i in range(len(fields.names)):
            name = fields.names[i]
            if name.describes:
                length += len(name.text) + fields.spans[3 * i + 1] - fields.spans[3 * i]
                if length > MAX_DESCRIPTION:
                    return None
                description.append((name.text, fields.value(i)))
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

    def put(self, sink: TokenSink, text: Normalization, rules: HeaderRules, ngrams: int, body_only: bool) -> None:
        """Put the tokens of the message at hand into the sink, as ``tokenizer.Tokenizer`` does with a parsed one."""
        sink.add_raw_text(text, self.data, self.body, ngrams)
        sink.add_raw_layout(self.data[self.body : min(max(self.end, self.body), self.body + MAX_LAYOUT)])
        if body_only:
            return
        fields = self.fields
        for i in range(len(fields.names)):
            name = fields.names[i]
            rule = rules[name.text]
            if rule is None:
                continue
            sink.add_presence(rule)
            if rule.shorten is not None or rule.extra_tokens is not None or fields.spans[3 * i + 2]:
                sink.add_value(rule, fields.value(i))
            elif rule.normalization is not None:
                sink.add_bytes(rule.normalization, self.data, fields.spans[3 * i], fields.spans[3 * i + 1])
        if may_show_urls(self.data, self.body):
            sink.add(link_tokens([visible_urls(self.data[self.body :].decode())]))
        sink.add(self.part_tokens or ())
