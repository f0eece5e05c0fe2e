"""The sender of a message as a number: its mailing list, or else the domain of From."""

import pytest

from spamnb.reader.message import Reader
from spamnb.reader.rows import NO_SENDER
from spamnb.reader.tokens import Vocabulary


def sender(raw: bytes) -> int:
    return int(Reader().read([raw], Vocabulary(), with_origin=True).senders[0])


@pytest.mark.parametrize(
    "raw",
    [
        b"From: Ann <ann@lists.example.org>\n\n",
        b"From: bob@LISTS.example.org (Bob)\n\n",
        b'From: "x@y.z" <c@lists.example.org>\n\nFrom: d@example.com\n',
        b"From: =?utf-8?q?J=C3=BCrg?=\n <j@Lists.Example.Org>\n\n",
        b"From: ann@example.com\nList-Id: Talk <lists.example.org>\n\n",
        b"list-id: <LISTS.example.org>\nFrom: bob@example.net\n\n",
        b"List-Id: lists.example.org\n\n",
        b"From: Ann <ann@lists.example.org>\nList-Id: \n\n",
    ],
)
def test_a_mailing_list_or_else_the_domain_of_from_is_the_sender(raw: bytes) -> None:
    assert sender(raw) == sender(b"From: a@lists.example.org\n\nx") != NO_SENDER
    assert sender(raw) != sender(b"From: a@example.com\n\n")


@pytest.mark.parametrize(
    "raw", [b"", b"URGENT: call now", b"From: Ann\n\n", b"From: ann@\n\n", b"List-Id: <>\n\n", b"From: <@>\n\n"]
)
def test_a_message_that_names_nobody_has_no_sender(raw: bytes) -> None:
    assert sender(raw) == NO_SENDER


def test_senders_are_read_on_demand_and_stay_with_their_messages() -> None:
    raws = [b"From: a@x.org\n\none", b"two", b"From: a@y.org\n\nthree"]
    reader, vocabulary = Reader(), Vocabulary()
    rows = reader.read(raws, vocabulary, with_origin=True)
    assert reader.read(raws, vocabulary).senders.tolist() == [NO_SENDER] * 3
    assert rows.take([2, 0]).senders.tolist() == [sender(raws[2]), sender(raws[0])]
    assert rows.join([rows, rows]).senders.tolist() == [*map(sender, raws)] * 2
