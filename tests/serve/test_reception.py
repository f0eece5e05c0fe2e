"""reception.py: what counts as held while a message is being judged, and that nothing stays held after it."""

from __future__ import annotations

import asyncio
import zlib

import pytest

from spamnb.serve.protocol import Refusal, Request, parse_request
from spamnb.serve.reception import Limits, Reception

RAW = b"Subject: x\r\n\r\n" + b"hello " * 1000
PACKED = zlib.compress(RAW)


def asked(body: bytes, *lines: bytes) -> Request:
    return parse_request("CHECK", (1, 5), [b"Content-length: %d" % len(body), *lines])


def held(reception: Reception, asked: Request, sent: bytes) -> int:
    """The bytes that count as held inside the batch; after it there are none."""

    async def receive() -> int:
        reader = asyncio.StreamReader()
        reader.feed_data(sent)
        reader.feed_eof()
        async with reception.message(reader, asked) as raw:
            assert raw == RAW
            return reception._held

    try:
        return asyncio.run(receive())
    finally:
        assert reception._held == 0


def test_what_came_and_what_it_became_are_held_inside_the_block_alone():
    reception = Reception(Limits())
    assert held(reception, asked(RAW), RAW) == len(RAW)
    assert held(reception, asked(PACKED, b"Compress: zlib"), PACKED) == len(PACKED) + len(RAW)
    assert held(reception, parse_request("CHECK", (1, 5), []), RAW) == len(RAW)


@pytest.mark.parametrize(
    ("limits", "request_", "sent", "says"),
    [
        (Limits(message_size=len(RAW) - 1), asked(RAW), RAW, "over"),
        (Limits(message_size=len(RAW) - 1), parse_request("CHECK", (1, 5), []), RAW, "over"),
        (Limits(message_size=len(RAW) - 1), asked(PACKED, b"Compress: zlib"), PACKED, "over"),
        (Limits(held=len(RAW) - 1), asked(RAW), RAW, "too many large messages at once"),
        (Limits(), asked(RAW), RAW[:-1], "Content-Length mismatch: Expected 6014 bytes, got 6013 bytes"),
        (Limits(), asked(RAW, b"Compress: zlib"), RAW, "not a zlib"),
    ],
)
def test_nothing_is_held_of_what_was_refused(limits: Limits, request_: Request, sent: bytes, says: str):
    with pytest.raises(Refusal, match=says):
        held(Reception(limits), request_, sent)


@pytest.mark.parametrize("limits", [Limits(message_size=len(RAW)), Limits(held=len(RAW))])
def test_the_bounds_themselves_are_allowed(limits: Limits):
    assert held(Reception(limits), asked(RAW), RAW) == len(RAW)
