"""A plain message, whose bytes are read, gives the row of the parsed message."""

from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from spamnb.message.parse import parse
from spamnb.reader.options import TokenOptions
from spamnb.tokens.plain_message import PlainMessage
from spamnb.tokens.token_counter import TokenCounter
from spamnb.tokens.token_sink import TokenSink
from spamnb.tokens.tokenizer import Tokenizer
from spamnb.tokens.vectorizer import Vectorizer
from spamnb.tokens.vocabulary import Vocabulary


def read_as_parsed(raws: list[bytes], options: TokenOptions | None = None) -> int:
    """Bytes give the rows that their parsed messages give, in the same order; returns how many were plain messages."""
    tokenizer = Tokenizer(options)
    plain_messages = 0
    whole, parted = Vectorizer(tokenizer), Vectorizer(tokenizer)
    for raw in raws:
        message = parse(raw)
        assert whole.read(raw)[:3] == (parted.add(message), message.digest, message.truncations)
        plain_messages += PlainMessage().read(raw, False) == b""
    assert all(map(np.array_equal, whole.take_rows(), parted.take_rows()))
    assert list(whole.vocabulary.tokens()) == list(parted.vocabulary.tokens())
    return plain_messages


NAMES = st.sampled_from(
    b"Subject|SUBJECT|From|To|Received|Date|Message-ID|List-Id|X-Spam-Status|Lines|Status|x-status|Newsgroups|X-Odd|\"#"
    b"|Content-Type|content-type|Content-Transfer-Encoding|Content-Disposition|Bad Name|Odd\x7f|Path".split(b"|")
)  # fmt: skip
VALUES = st.sampled_from(
    b"text/plain|text/html|text/x; charset=utf-7|text/plain; charset=us-ascii; name=a.txt|multipart/mixed; boundary=b"
    b"|message/rfc822|base64|quoted-printable|7bit|x-uue|8BIT|attachment; filename=b.exe|=?utf-8?q?x?=| |a\tb|\x00"
    b"|Free OFFER now!!|a@b.example|<i1@c.example>|Tue, 20 Aug 2002 10:00:00 +0200|from a.b.c (1.2.3.4) by d; x"
    .split(b"|")
) | st.text(st.characters(max_codepoint=127), max_size=12).map(str.encode)  # fmt: skip
FOLDS = st.sampled_from([b"", b"\n ", b"\n\t", b" \n \n  ", b"\n"])
EMPTY = st.sampled_from([b"\n", b"", b"\n\n"])
COLONS = st.sampled_from([b":", b": ", b":\t", b" : ", b""])
FIELDS = st.lists(st.tuples(NAMES, COLONS, VALUES, FOLDS, VALUES), max_size=6)
BODIES = st.sampled_from([
    b"", b"\n", b"\n\n", b"Hello", b"begin 644 a.txt\n#86)C\n`\nend\n", b"x\nbegin again\n", b"--b\n\none\n--b--\n",
    b"see http://a.example/b HTTPS://B.example\n", b"caf\xc3\xa9", b"a\r\nb", b"Buy NOW!! $5, $5!!\n\n\n", b"\x00 a",
])  # fmt: skip
STARTS = st.sampled_from([
    b"", b"From a Mon Jan  1 00:00:00 2001\n", b">From x\n", b"\xef\xbb\xbf", b"\n", b"stray\n", b"F: g\n",
])  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(STARTS, FIELDS, EMPTY, BODIES, BODIES), min_size=1, max_size=4), st.booleans())
def test_bytes_are_read_as_their_message(mail: list[Any], crlf: bool) -> None:
    raws = [
        start + b"".join(b"".join(field) + b"\n" for field in fields) + empty + body + more
        for start, fields, empty, body, more in mail
    ]
    raws = [raw.replace(b"\n", b"\r\n") for raw in raws] if crlf else raws
    for body_only in (False, True):
        read_as_parsed(raws, TokenOptions(body_only=body_only))


@given(st.binary(max_size=200))
def test_any_bytes_are_read_as_their_message(raw: bytes) -> None:
    read_as_parsed([raw, b"Subject: x\n\n" + raw, b"Subject:" + raw])


PLAIN = b"From: a@b.example\nSubject: Lunch\n  today\nX-Spam-Flag: no\nLines: 2\n\nNoon? http://b.example\n\n"


def test_what_is_a_plain_message() -> None:
    fields = [b"A: b\n"] * 250
    plain_messages = [
        PLAIN,
        b"From a Mon Jan  1 00:00:00 2001\n" + PLAIN,
        b"Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: 8bit\n" + PLAIN,
        b"".join(fields) + b"\nx",
        b"Lines: 2\n\n",
        PLAIN.replace(b"\n", b"\r\n"),
        PLAIN + b"a\rb",
        PLAIN.replace(b"\n", b"\r\n") + b"\r\n" * (1 << 19),
        b"Subject: " + b"long words " * 400 + b"\n\n" + b"word " * 2000,
        b"a" * 101 + b": b\n\nx",
        b"Subject:\n " + b"long\n words" * 400 + b"\n\n" + b"A\n\n" * 9000,
    ]
    assert read_as_parsed(plain_messages) == len(plain_messages)
    others = [
        b"", b"\n", b"Subject: x", b"Subject: x\n", b"no field\n\nx", b"\n" + PLAIN, PLAIN + b"\x80",
        b"A: b\n" + b"".join(fields) + b"\nx", b"Subject: =?utf-8?q?x?=\n\nx", PLAIN + b"begin 644 a\n#86)C\n`\nend\n",
        b"Content-Type: text/html\n" + PLAIN, b"Content-Type: multipart/mixed\n" + PLAIN,
        b"Content-Type: text/plain; charset=utf-7\n" + PLAIN, b"Content-Transfer-Encoding: base64\n" + PLAIN,
        b"X: " + b"a" * (1 << 18) + b"\n\nx", b"X: a\n\n" + b"a " * (1 << 19),
        b"Content-Type: text/plain; name=" + b"a" * 500 + b"\n\nx",
        (b"Content-Type: text/plain; name=" + b"a" * 90 + b"\n") * 5 + b"\nx", b"Content-Type:\n" * 42 + b"\nx",
        b"From " + b"a" * (3 << 20) + b"\n" + PLAIN, PLAIN + b"V\0iagra", b"X: a\0b\n" + PLAIN,
        b"Content-Type: text/plain; charset=iso-2022-jp\n" + PLAIN + b"\x1b$B0!\x1b(B",
    ]  # fmt: skip
    assert read_as_parsed(others) == 0


def test_real_mail_is_read_as_its_message(corpora: Path) -> None:
    folders = ["spamassassin/easy_ham_2", "spamassassin/hard_ham", "20news-bydate/test/sci.med", "mime", "lingspam"]
    paths = [p for folder in folders for p in sorted((corpora / folder).rglob("*")) if p.is_file()]
    plain_messages = read_as_parsed([path.read_bytes() for path in paths[::9]])
    assert plain_messages > len(paths) // 18


def test_names_and_parts_are_forgotten() -> None:
    tokenizer, found = Tokenizer(), []
    for most in (3, 2000):
        message, counter = PlainMessage(most), TokenCounter(Vocabulary())
        for n in range(30):
            counter.begin()
            raw = b"X-%d: y\nContent-Type: text/plain; name=a.%d\nLines: 2\n\nz" % (n, n % 7)
            assert message.read(raw, True) == parse(raw).digest
            tokenizer.read_plain_message(message, TokenSink(counter))
            counter.end()
        found.append(counter.take_cells().tolist())
    assert found[0] == found[1]
