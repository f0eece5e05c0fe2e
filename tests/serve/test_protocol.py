"""The protocol of spamd: how requests are read, bounded and answered."""

import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.model.classification import Classification
from spamnb.serve.spamd_wire import SpamdWire, parse_request, parse_request_line
from spamnb.serve.wire import Client, Refusal, Request


@given(st.binary(max_size=400))
def test_an_error_is_one_printable_line_whatever_was_sent(line):
    try:
        parse_request_line(line)
    except Refusal as refusal:
        reply = SpamdWire().refusal_reply(refusal)
        assert reply.endswith(b"\r\n") and reply.count(b"\n") == reply.count(b"\r") == 1
        assert all(32 <= byte < 127 for byte in reply[:-2]) and len(reply) < 300


def read(request: bytes) -> Request | None:
    """Return the request that a client sends before it ends."""

    async def talk() -> Request | None:
        reader = asyncio.StreamReader()
        reader.feed_data(request)
        reader.feed_eof()
        return await SpamdWire().read_request(Client(reader, 100, 1000))

    return asyncio.run(talk())


def test_headers_in_any_case_and_unknown_ones():
    request = read(b"PROCESS SPAMC/1.5\r\ncontent-length:12\r\nUSER: ann\r\nX-Whatever: y\r\nEmpty:\n\n")
    assert request == Request("PROCESS", (1, 5), user="ann", content_length=12)


def test_headers_are_bounded_and_whole():
    head = b"CHECK SPAMC/1.5\r\n"
    assert read(head + b"".join(b"X%d: y\r\n" % n for n in range(99)) + b"\r\n") == Request("CHECK")
    for wrong in (
        b"X: y\r\n",
        b"X: y" * 99 + b"\n\n",
        b"X%d: y\r\n" * 400 + b"\n",
        b"Content-length: 1\r\n" * 2 + b"\n",
    ):
        with pytest.raises(Refusal):
            read(head + wrong)


def test_tell_says_what_to_learn():
    def tell(**headers: str) -> Request:
        return parse_request("TELL", (1, 5), {name.replace("_", "-"): value for name, value in headers.items()})

    assert tell(message_class="spam", set="local,remote").label == "spam"  # spamc -C report
    revoked = tell(message_class="ham", set="local", remove="remote")  # spamc -C revoke
    assert revoked.label == "ham" and not revoked.forgets
    assert tell(remove="local").forgets and not tell(message_class="spam", set="remote").label
    for more in ({}, {"message_class": "eggs"}, {"message_class": "ham", "remove": "local"}):
        with pytest.raises(Refusal):
            tell(set="local", **more)


# What SpamAssassin 4.0.1's spamd replied to each method and version.
SPAM = b"Spam: True ; 10.0 / 5.0\r\n"
SPAM_FOUND = Classification("spam", {}, {}, 4.4, [], np.zeros(2), "", (), threshold=2.2)
OK = b"SPAMD/1.1 0 EX_OK\r\n"


@pytest.mark.parametrize("method", ["PROCESS", "HEADERS", "SYMBOLS", "REPORT", "REPORT_IFSPAM"])
def test_replies_to_each_version(method):
    def reply(version):
        return SpamdWire().verdict_reply(Request(method, version), SPAM_FOUND, b"To: x\n\nbody")

    def head(version):
        return reply(version).partition(b"\r\n\r\n")[0] + b"\r\n"

    body = reply((1, 5)).partition(b"\r\n\r\n")[2]
    length = b"Content-length: %d\r\n" % len(body)
    assert reply((1, 3)) == reply((1, 5)) and head((1, 5)) == OK + length + SPAM
    assert head((1, 2)) == OK + (length if method in ("PROCESS", "HEADERS") else SPAM)
