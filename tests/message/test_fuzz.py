"""Any bytes are a message: arbitrary ones, spoilt real ones, and real ones with other line ends."""

import binascii
import importlib.util
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spamnb.message.charsets import decode
from spamnb.message.encodings import base64, decode_words, take_uuencoded, transfer_decode
from spamnb.message.headers import parameters
from spamnb.message.html import read_html
from spamnb.message.mime import children
from spamnb.message.parse import digest, header_of, parse

SCRIPT = Path(__file__).parents[2] / "scripts" / "fuzz_message.py"
spec = importlib.util.spec_from_file_location("fuzz_message", SCRIPT)
assert spec is not None and spec.loader is not None
fuzz = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fuzz)

OWN = [
    b"From a@b.example Thu Jan  1 00:00:00 2004\nReceived: from x\n\tby y\nSubject: =?utf-8?q?caf=C3=A9?=\nStatus: RO\n"
    b"MIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=\"b\"\n\npreamble\n--b\n"
    b"Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\ncaf=E9 =\nau lait\n"
    b"--b\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64\n\nPGI+Y2Fmw6k8L2I+PGEgaHJlZj14\n"
    b"PjxpIHN0eWxlPWRpc3BsYXk6bm9uZT56PC9pPg==\n--b--\nepilogue\n",
    b"Subject: files\n\nsee\nbegin 644 a.txt\n%:&5L;&\\\n`\nend\nbye\n",
    b"Content-Type: message/rfc822\n\nSubject: inner\n\ntext\n",
]  # fmt: skip

pieces = st.one_of(st.binary(max_size=60), st.sampled_from(fuzz.HURTFUL))


@settings(max_examples=150, deadline=None)
@given(st.lists(pieces, max_size=60).map(b"".join))
def test_any_bytes_are_a_message(raw):
    assert fuzz.broken_promise(parse(raw)) is None


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_spoilt_messages(seed):
    raw = fuzz.mutated(random.Random(seed), OWN)
    assert fuzz.broken_promise(parse(raw)) is None


@settings(max_examples=150, deadline=None)
@given(st.lists(pieces, max_size=60).map(b"".join), st.integers(0, 2**32))
def test_a_digest_is_that_of_the_message(raw, seed):
    for each in (raw, fuzz.mutated(random.Random(seed), OWN)):
        assert digest(each) == parse(each).digest


@given(st.integers(0, 2**32))
def test_a_header_is_read_without_its_message(seed):
    raw = fuzz.mutated(random.Random(seed), OWN)
    assert [header_of(raw, name) for name in ("subject", "received", "x")] == [
        parse(raw).header(name) for name in ("subject", "received", "x")
    ]


@settings(max_examples=150, deadline=None)
@given(st.lists(pieces, max_size=60).map(b"".join))
def test_line_ends_do_not_matter(raw):
    raw = raw.replace(b"\r", b"")
    message = parse(raw)
    assert parse(raw.replace(b"\n", b"\r\n")) == message
    assert parse(raw.replace(b"\n", b"\r")) == message


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), st.text(max_size=30))
def test_no_step_raises(octets, text):
    for name in (text, "utf-7", "iso-2022-jp", "hz", "utf-16", "big5", "utf-8"):
        decode(octets, name).encode()
    for encoding in ("base64", "quoted-printable", "x-uuencode", text):
        transfer_decode(b"begin 644 x\n" + octets, encoding)
        transfer_decode(octets, encoding)
    base64(octets)
    decode_words(f"=?{text}?Q?{text}?= =?utf-8?B?{text}?=")
    parameters(f'{text}; {text}="{text}; x*0*={text}')
    take_uuencoded("begin 644 a\n" + octets.decode("latin-1"), 9)
    read_html(octets, [])
    read_html(text.encode("utf-8", "replace"), [])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([b"--b\n", b"--b--\n", b"--bb\n", b"x\n", b"\n", b"--b"]), max_size=30).map(b"".join))
def test_parts_lie_in_order_and_apart(body):
    spans = children(body, 0, len(body), "b", 100)
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges) and all(0 <= edge <= len(body) for edge in edges)


@given(st.binary(max_size=500))
def test_base64_and_quoted_printable_come_back(octets):
    assert base64(binascii.b2a_base64(octets)) == octets
    if b"\r" not in octets:
        assert transfer_decode(binascii.b2a_qp(octets), "quoted-printable") == octets


@pytest.mark.slow
def test_forty_thousand_spoilt_messages_stay_within_a_quarter_of_a_second_and_200_mb(corpora):
    folders = [corpora / "mime", corpora / "modern", corpora / "spamassassin/spam", corpora / "spamassassin/hard_ham"]
    command = [sys.executable, str(SCRIPT), *map(str, folders), "--count", "40000"]
    environment = os.environ | {"PYTHONPATH": str(SCRIPT.parents[1])}
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    print(run.stdout)
    assert run.returncode == 0, run.stderr[-2000:]
    assert "0 failures" in run.stdout
