"""Messages of random structure, each text with a word of its own, and other readers of mail that look for these words.

The structures are a little wrong, as mail is: comments, blanks, lines that are no fields, boundaries written wrongly.
"""

from __future__ import annotations

import base64
import email
import quopri
import random
import re
import shutil
import subprocess
from collections.abc import Sequence

_STRAY = ["garbage", "two words: x", "X y", ">From a b", ": x", "From a Mon", "X\xe9: y", "X-Ok: y", "nocolon\\", "--"]
_DAMAGED = re.compile(rb"--|(?i:content-|\s+boundary|\s+charset)|$")
_BOUNDARIES = ["b", "=_x1", "----=_Part.1", "bnd", "a b", "x(1)", "000__=AB", "b" * 20]
_ENCODINGS = {
    "base64": ["base64", "BASE64", "base64 (c)", "(c) base64", "base64;", "base64 x", '"base64"'],
    "quoted-printable": ["quoted-printable", "Quoted-Printable", "quoted-printable (x)", "quoted-printable;"],
    "7bit": ["7bit", "8bit", "binary", ""],
}
_PERL = """
use MIME::Base64; use Email::MIME; $| = 1;
sub texts { my $part = shift; my @parts = $part->subparts;
            return @parts ? join("\\n", map { texts($_) } @parts) : (eval { $part->body } // '') }
while (<STDIN>) { local $SIG{__WARN__} = sub {}; my $text = eval { texts(Email::MIME->new(decode_base64($_))) } // '';
                  utf8::encode($text) if utf8::is_utf8($text); print encode_base64($text, ''), "\\n" }
"""
_GMIME = """
import base64, gi, sys
gi.require_version("GMime", "3.0")
from gi.repository import GMime
GMime.init()
def texts(part):
    if isinstance(part, GMime.MessagePart):
        message = part.get_message()
        return texts(message.get_mime_part()) if message else b""
    if isinstance(part, GMime.Multipart):
        return b"\\n".join([texts(part.get_part(i)) for i in range(part.get_count())])
    content, stream = part.get_content() if isinstance(part, GMime.Part) else None, GMime.StreamMem.new()
    if content:
        content.write_to_stream(stream)
    return bytes(stream.get_byte_array() or b"")
for line in sys.stdin:
    stream = GMime.StreamMem.new_with_buffer(base64.b64decode(line))
    message = GMime.Parser.new_with_stream(stream).construct_message(None)
    print(base64.b64encode(texts(message.get_mime_part()) if message else b"").decode(), flush=True)
"""


class Structures:
    """Makes messages from a seed. ``words`` are those of the last message."""

    def __init__(self, seed: int) -> None:
        self._random, self._n_words, self.words = random.Random(seed), 0, list[str]()

    def message(self) -> bytes:
        """Return a message, and set ``words``."""
        self.words = []
        raw = self._message(0).encode("latin-1")
        return raw.replace(b"\n", b"\r\n") if self._happens(0.3) else raw

    def damage(self, raw: bytes) -> bytes:
        """Return a message with one or two damaged lines: of delimiters, of fields about parts, or blank ones."""
        line_end = b"\r\n" if b"\r\n" in raw else b"\n"
        lines = raw.split(line_end)
        for _ in range(self._random.choice([1, 1, 1, 2])):
            numbers = [number for number, line in enumerate(lines) if _DAMAGED.match(line)]
            number = self._random.choice(numbers)
            lines[number : number + 1] = self._damage_line(lines[number])
        return line_end.join(lines)

    def _damage_line(self, line: bytes) -> list[bytes]:
        """Return the lines in place of a line."""
        at = self._random.randrange(len(line) + 1)
        before, after = line[:at], line[at:]
        return self._random.choice([
            [], [line, line], [b" " + line], [line.swapcase()], [before + after[1:]], [before, after],
            [before + self._random.choice([b" ", b"-", b"=", b";", b"x", b"\t", b"/", b'"', b"\xe9", b"("]) + after],
            [line + self._random.choice([b" ", b"-", b"--", b" x", b"\t", b";", b"="])],
            [self._random.choice([b"", b"garbage", b"x: y", b"--", b">" + line, b"--other--"]), line],
            [before + after[1:2] + after[:1] + after[2:]],
        ])  # fmt: skip

    def _one_of(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _happens(self, probability: float) -> bool:
        return self._random.random() < probability

    def _comment(self) -> str:
        return self._one_of("(c)", "(a(b)c)", "(x\\)y)", " (z) ") if self._happens(0.08) else ""

    def _type(self, kind: str, **parameters: str) -> str:
        slash = self._one_of("/", " / ", "/ ") if self._happens(0.04) else "/"
        kind = kind[:3] + self._one_of("?", "=", "[") + kind[3:] if self._happens(0.01) else kind
        value = self._comment() + kind.replace("/", slash) + self._comment()
        for name, text in parameters.items():
            is_special = any(character in " ()=" for character in text)
            text = f'"{text}"' if (self._happens(0.9) if is_special else self._happens(0.6)) else text
            value += self._one_of(";", "; ", ";\n\t", ";;", " ; ") if self._happens(0.95) else self._one_of(" ", ",")
            equals = self._comment() + self._one_of("=", "=", "=", " = ") + self._comment()
            value += (name.upper() if self._happens(0.1) else name) + equals + text + self._comment()
        return value + (self._one_of(";", " x", "; foo=bar", "; =") if self._happens(0.08) else "")

    def _fields(self, fields: list[tuple[str, str]]) -> str:
        lines = []
        if self._happens(0.3):
            self._random.shuffle(fields)
        for name, value in fields:
            name = self._one_of(name, name.lower(), name.upper()) if self._happens(0.2) else name
            colon = self._one_of(" :", "\t:") if self._happens(0.04) else ":"
            lines.append(name + colon + self._one_of(" ", " ", "", "\t", "  ") + value)
            if self._happens(0.03):
                lines.append(self._one_of(*_STRAY))
        return "\n".join(lines) + "\n"

    def _leaf(self) -> tuple[list[tuple[str, str]], str]:
        self._n_words += 1
        self.words.append(f"marker{self._n_words:06d}x")
        text, is_html = f"hello {self.words[-1]} world\nline two\n", self._happens(0.4)
        text = f"<html><body><p>{text}</p></body></html>\n" if is_html else text
        encoding = self._one_of("base64", "base64", "quoted-printable", "7bit")
        if encoding == "base64":
            body = base64.encodebytes(text.encode()).decode()
            body = self._one_of(":\n", ">", "\xe9\xff\n", "--\n") + body if self._happens(0.03) else body
        else:
            body = quopri.encodestring(text.encode()).decode() if encoding == "quoted-printable" else text
        fields = []
        if self._happens(0.95):
            kind = "text/html" if is_html else "text/plain"
            fields.append(("Content-Type", self._type(kind, charset="utf-8") if self._happens(0.8) else kind))
        if name := self._one_of(*_ENCODINGS[encoding]) if self._happens(0.3) else encoding:
            fields.append(("Content-Transfer-Encoding", name))
        if self._happens(0.2):
            fields.append(("Content-Disposition", self._type(self._one_of("inline", "attachment"), filename="a.txt")))
        return fields, body

    def _node(self, depth: int) -> tuple[list[tuple[str, str]], str]:
        if depth > 3 or self._happens(0.45):
            return self._leaf()
        if self._happens(0.1):
            return [("Content-Type", "message/rfc822")], self._message(depth + 1)
        # No multipart has the boundary of one around it, because readers differ over these.
        boundary = f"{self._one_of(*_BOUNDARIES)}{depth}{self._random.randrange(10)}"
        body = self._one_of("", "preamble\n", "\n")
        for _ in range(self._random.randint(1, 3)):
            fields, text = self._node(depth + 1)
            body += f"--{boundary}\n{self._fields(fields)}\n{text}\n"
        if self._happens(0.9):
            body += f"--{boundary}--" + self._one_of("\n", "", "\nepilogue\n", " \n") + "\n"
        kind = "multipart/" + self._one_of("mixed", "alternative", "related", "weird")
        return [("Content-Type", self._type(kind, boundary=boundary))], body

    def _message(self, depth: int) -> str:
        fields, body = self._node(depth)
        head = [("From", "a@b.example"), ("To", "c@d.example"), ("Subject", "hi there"), ("MIME-Version", "1.0")]
        separator = "From a@b Mon Jan  1 00:00:00 2001\n" if not depth and self._happens(0.05) else ""
        return separator + self._fields(head + fields) + "\n" + body


def read_by_python(raw: bytes) -> bytes:
    parts = [part for part in email.message_from_bytes(raw).walk() if not part.is_multipart()]
    return b"\n".join([content for part in parts if isinstance(content := part.get_payload(decode=True), bytes)])


def read_by_others(messages: Sequence[bytes]) -> list[list[bytes]]:
    """Return the texts of the messages as Python, Email::MIME and GMime read them; of those that are installed."""
    readings = [[read_by_python(raw) for raw in messages]]
    lines = b"".join([base64.b64encode(raw) + b"\n" for raw in messages])
    for program, code in (("perl", ["-e", _PERL]), ("/usr/bin/python3", ["-c", _GMIME])):
        if shutil.which(program):
            result = subprocess.run([program, *code], input=lines, capture_output=True)
            if result.returncode == 0:
                readings.append([base64.b64decode(line) for line in result.stdout.splitlines()])
    return readings
