"""fields.py: what of each header field is evidence."""

from __future__ import annotations

import pytest

from spamnb.tokens.header_rules import MAX_HEADER_NAMES, Field, Fields
from spamnb.tokens.words import fold


def field(name: str) -> Field:
    found = Fields(fold, (), {})[name]
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["subject", "keywords", "comments", "summary", "thread-topic"])
def test_what_people_write_is_folded_as_text(name: str) -> None:
    assert field(name).folded["stop.Now"] == (f"{name}:stop", f"{name}:now")  # type: ignore[index]
    assert field("x-mailer").folded["stop.Now"] == ("x-mailer:stop.now",)  # type: ignore[index]


@pytest.mark.parametrize(
    "name",
    ["dkim-signature", "x-google-dkim-signature", "domainkey-signature", "arc-message-signature", "arc-seal"],
)
def test_signatures_are_read_without_what_never_comes_back(name: str) -> None:
    assert field(name).shorten("d=a.example; b=AbCd; t=17") == "d=a.example; ; "  # type: ignore[misc]


@pytest.mark.parametrize(
    "name",
    [
        "list-id", "in-reply-to", "references", "x-original-date", "delivery-date", "x-originalarrivaltime",
        "content-id", "x-gm-features", "x-google-smtp-source", "x-microsoft-antispam-message-info",
        "x-ms-exchange-antispam-messagedata-0", "x-ms-exchange-crosstenant-id", "x-sg-eid", "date", "message-id",
    ],
)  # fmt: skip
def test_of_what_is_opaque_only_the_presence_counts(name: str) -> None:
    assert field(name) == Field(f"header:{name}", None, None, None)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("Return-Path", "sender"), ("Errors-To", "sender"), ("X-Sender", "sender"), ("Cc", "to"),
        ("Delivered-To", "to"), ("X-BeenThere", "to"), ("ARC-Authentication-Results", "authentication-results"),
        ("X" * 90, "x" * 40),
    ],
)  # fmt: skip
def test_fields_that_name_the_same_have_the_same_words(name: str, place: str) -> None:
    assert field(name).folded["me"] == (f"{place}:me",)  # type: ignore[index]
    assert field(name).presence == f"header:{name.lower()[:40]}"


def test_a_received_field_is_read_without_its_date() -> None:
    shorten = field("Received").shorten
    assert shorten is not None
    assert shorten("from a; by b; Fri, 23 Aug 2002 12:20:43 +0100") == "from a; by b"
    assert shorten("from a by b") == "from a by b"


def test_some_names_are_remembered_and_not_all() -> None:
    fields = Fields(fold, (), {})
    for n in range(MAX_HEADER_NAMES):
        assert fields[f"X-{n}"] is fields[f"X-{n}"]
    assert len(fields) == MAX_HEADER_NAMES
    assert fields["X-Another"] is fields["X-Another"]
    assert len(fields) <= MAX_HEADER_NAMES


def test_long_names_are_read_but_not_remembered() -> None:
    fields = Fields(fold, (), {})
    for n in range(9):
        assert fields["x" * 200 + str(n)].presence == "header:" + "x" * 40  # type: ignore[union-attr]
    assert fields["X-Short"] is fields["X-Short"]
    assert len(fields) == 1
