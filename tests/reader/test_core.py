"""The compiled module: what it tells of a message without its body, and of tokens in one buffer."""

from __future__ import annotations

import numpy as np
import pytest

from spamnb.reader import _core
from spamnb.reader.attachments import Program
from spamnb.reader.evidence import GROUPS, header_rules
from spamnb.reader.message import Vocabulary

RAW = b"""Received: from a.example
 by b.example; Mon, 1 Jan 2001 00:00:00 +0000
Return-Path: <a@a.example>
X-Spam-Status: No,
\tscore=1
Subject: =?utf-8?q?caf=C3=A9?=
 today
To: b@b.example

Text
"""


def reader() -> _core.Reader:
    return _core.Reader(header_rules([]), Program(), 2, False, False, False)


def test_header_fields_are_decoded_without_the_body() -> None:
    fields = reader().header(RAW + b"x" * 100)
    assert [name for name, _ in fields] == ["Received", "Return-Path", "X-Spam-Status", "Subject", "To"]
    assert dict(fields)["Subject"] == "café today"
    assert reader().header(b"no fields here") == []


def test_digests_leave_out_what_mailboxes_and_delivery_add() -> None:
    digest, identity = reader().digests(RAW)
    assert len(digest) == len(identity) == 16 and digest == reader().parse(RAW)[-1]
    without_status = RAW.replace(b"X-Spam-Status: No,\n\tscore=1\n", b"")
    assert reader().digests(without_status.replace(b"\n", b"\r\n") + b"\r\n") == (digest, identity)
    bare = without_status[without_status.index(b"Subject") :]
    assert reader().digests(bare) == (identity, identity) != (digest, identity)
    assert reader().digests(RAW.replace(b"Text", b"Other"))[1] != identity


def test_tokens_in_one_text_are_described_as_a_vocabulary_describes_them() -> None:
    tokens = ["offer", "buy now", "subject:offer", "x-mailer:eudora", "html:hidden", "", "день"]
    vocabulary = Vocabulary()
    ids = vocabulary.ids(tokens)
    encoded = [token.encode() for token in tokens]
    lengths = np.array([len(token) for token in encoded], np.int32)
    offsets = np.cumsum(lengths, dtype=np.int64) - lengths
    hashes, groups = _core.describe_tokens(b"".join(encoded), offsets, lengths)
    assert np.array_equal(np.frombuffer(hashes, np.int64), vocabulary.hashes(ids))
    assert np.array_equal(np.frombuffer(groups, np.int8), vocabulary.groups(ids))
    named = [GROUPS[group] for group in groups]
    assert named == ["text", "pairs", "subject", "headers", "structure", "text", "text"]


@pytest.mark.parametrize(("offset", "length"), [(-1, 1), (0, -1), (0, 4), (3, 1), (4, 0), (2**62, 2**31 - 1)])
def test_tokens_outside_of_the_text_are_refused(offset: int, length: int) -> None:
    with pytest.raises(ValueError):
        _core.describe_tokens(b"abc", np.array([offset]), np.array([length], np.int32))


def test_arrays_of_another_form_are_refused() -> None:
    for offsets, lengths in (([0], [1]), (np.zeros(2, np.int64), np.zeros(1, np.int32)), (np.zeros(1), np.zeros(1))):
        with pytest.raises((TypeError, ValueError)):
            _core.describe_tokens(b"abc", offsets, lengths)
