"""header_rules.py: what of each header field is evidence."""

from __future__ import annotations

import pytest

from spamnb.tokens.header_rules import MAX_HEADER_NAMES, HeaderRule, HeaderRules
from spamnb.tokens.words import normalize_word


def rule(name: str) -> HeaderRule:
    found = HeaderRules(normalize_word, (), {})[name]
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["subject", "keywords", "comments", "summary", "thread-topic"])
def test_what_people_write_is_normalized_as_text(name: str) -> None:
    assert rule(name).normalization.compute("stop.Now")[0] == (f"{name}:stop", f"{name}:now")  # type: ignore[index]
    assert rule("x-mailer").normalization.compute("stop.Now")[0] == ("x-mailer:stop.now",)  # type: ignore[index]


@pytest.mark.parametrize(
    "name",
    ["dkim-signature", "x-google-dkim-signature", "domainkey-signature", "arc-message-signature", "arc-seal"],
)
def test_signatures_are_read_without_what_never_comes_back(name: str) -> None:
    assert rule(name).shorten("d=a.example; b=AbCd; t=17") == "d=a.example; ; "  # type: ignore[misc]


@pytest.mark.parametrize(
    "name",
    [
        "list-id", "in-reply-to", "references", "x-original-date", "delivery-date", "x-originalarrivaltime",
        "content-id", "x-gm-features", "x-google-smtp-source", "x-microsoft-antispam-message-info",
        "x-ms-exchange-antispam-messagedata-0", "x-ms-exchange-crosstenant-id", "x-sg-eid", "date", "message-id",
    ],
)  # fmt: skip
def test_of_what_is_opaque_only_the_presence_counts(name: str) -> None:
    found = rule(name)
    assert found.said == f"header:{name}"
    assert found.shorten is found.normalization is found.extra_tokens is None


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("Return-Path", "sender"), ("Errors-To", "sender"), ("X-Sender", "sender"), ("Cc", "to"),
        ("Delivered-To", "to"), ("X-BeenThere", "to"), ("ARC-Authentication-Results", "authentication-results"),
        ("X" * 90, "x" * 40),
    ],
)  # fmt: skip
def test_fields_that_name_the_same_have_the_same_words(name: str, prefix: str) -> None:
    assert rule(name).normalization.compute("me")[0] == (f"{prefix}:me",)  # type: ignore[union-attr]
    assert rule(name).said == f"header:{name.lower()[:40]}"


def test_a_received_field_is_read_without_its_date() -> None:
    shorten = rule("Received").shorten
    assert shorten is not None
    assert shorten("from a; by b; Fri, 23 Aug 2002 12:20:43 +0100") == "from a; by b"
    assert shorten("from a by b") == "from a by b"


def test_some_names_are_remembered_and_not_all() -> None:
    rules = HeaderRules(normalize_word, (), {})
    for n in range(MAX_HEADER_NAMES):
        assert rules[f"X-{n}"] is rules[f"X-{n}"]
    assert len(rules) == MAX_HEADER_NAMES
    assert rules["X-Another"] is rules["X-Another"]
    assert len(rules) <= MAX_HEADER_NAMES


def test_long_names_are_read_but_not_remembered() -> None:
    rules = HeaderRules(normalize_word, (), {})
    for n in range(9):
        assert rules["x" * 200 + str(n)].said == "header:" + "x" * 40  # type: ignore[union-attr]
    assert rules["X-Short"] is rules["X-Short"]
    assert len(rules) == 1
