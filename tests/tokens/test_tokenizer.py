"""tokenizer.py and header_rules.py: which tokens a message has."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spamnb.errors import SpamnbError
from spamnb.message.headers import MAX_HEADER_BYTES
from spamnb.message.mime import MAX_PARTS
from spamnb.message.parse import Part, parse
from spamnb.reader.options import TokenOptions
from spamnb.tokens.header_rules import MAX_HEADER_NAMES, HeaderRule, HeaderRules
from spamnb.tokens.token_sink import BIGRAM_WORDS, MAX_WORDS
from spamnb.tokens.tokenizer import MAX_URLS, Tokenizer, id_shape, part_tokens
from spamnb.tokens.vectorizer import Vectorizer
from spamnb.tokens.words import normalize_word

MAIL = b"""Return-Path: <list-owner@lists.example.net>
Received: from mx.example.net (mx.example.net [192.0.2.7]) by home.example.org
 with ESMTP id Q1A2B3; Fri, 23 Aug 2002 12:20:43 +0100
From: "Win Now" <offers@promo.example.com>
To: you@example.org
Subject: FREE offer, 50% off!
Date: Fri, 23 Aug 2002 12:20:40 +0100
Message-ID: <20020823.A1B2@promo.example.com>
References: <abc@example.org>
List-Unsubscribe: <mailto:leave@lists.example.net>
X-Mailer: Mass Mailer 5.0
X-Spam-Status: Yes
X-Folder-Colour: green
Newsgroups: misc.test
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=xyz

--xyz
Content-Type: text/html; charset=us-ascii

<p>Click HERE</p><a href="http://shop.example.com/a?b=c">shop</a><i style="display:none">poetry</i>
--xyz
Content-Type: application/pdf; name=Offer.PDF
Content-Transfer-Encoding: base64

AAAA
--xyz--
"""


def tokens(raw: bytes, **options: object) -> list[str]:
    return Tokenizer(TokenOptions(**options))(parse(raw))  # type: ignore[arg-type]


def test_every_place_has_its_tokens() -> None:
    found = set(tokens(MAIL))
    assert {
        "click", "here", "click here", "caps:1", "subject:free", "subject:50%", "subject:#00%", "subject:caps:1",
        "from:offers", "from:promo.example.com", "to:example.org", "header:from", "header:references",
        "header:list-unsubscribe", "received:mx.example.net", "received:example.net", "received:192.0.2",
        "sender:lists.example.net", "date:+0100", "date:#aaa,_00_aaa_0000_00:00:00_+0000", "from:#a",
        "message-id:example.com", "message-id:#0.a0a0",
        "x-mailer:mass", "x-mailer:5.0", "x-mailer:#0.0", "x-folder-colour:green", "url:shop.example.com",
        "url:example.com", "html:tag:a", "html:hidden", "hidden:poetry", "part:application/pdf", "attachment:pdf",
        "charset:us-ascii",
    } <= found  # fmt: skip


def test_what_is_no_evidence_leaves_no_token() -> None:
    found = tokens(MAIL)
    assert not [token for token in found if "spam-status" in token or "newsgroups" in token or "misc" in token]
    assert not [token for token in found if token.startswith(("references:", "list-unsubscribe:", "date:2"))]
    assert "poetry" not in found  # hidden words are not the reader's
    assert not [token for token in found if token.startswith("received:") and "aug" in token]


def test_of_a_signature_its_signer_counts_and_of_what_is_opaque_that_it_is_there() -> None:
    signature = "".join(chr(65 + i * 7 % 26) + chr(97 + i * 5 % 26) + str(i % 10) + "/+"[i % 2] for i in range(80))
    found = tokens(
        f"DKIM-Signature: v=1; a=rsa-sha256; d=example.org; s=mail; t=1700000000;\n bh={signature[:40]}=;"
        f" h=From:To;\n b={signature}\n {signature}==\nX-Gm-Message-State: {signature}\n\nx".encode()
    )
    assert [token for token in found if "dkim-signature" in token or "x-gm" in token] == [
        "header:dkim-signature", "dkim-signature:v", "dkim-signature:1", "dkim-signature:#0", "dkim-signature:a",
        "dkim-signature:rsa-sha256", "dkim-signature:#rsa-sha000", "dkim-signature:d", "dkim-signature:example.org",
        "dkim-signature:s", "dkim-signature:mail", "dkim-signature:h", "dkim-signature:from", "dkim-signature:to",
        "header:x-gm-message-state",
    ]  # fmt: skip


def test_ignored_headers_are_an_option() -> None:
    assert "header:newsgroups" in tokens(MAIL, ignore_headers=())
    assert not [token for token in tokens(MAIL, ignore_headers=("X-Mailer",)) if "x-mailer" in token]


def test_body_only_is_the_text_alone() -> None:
    words = tokens(MAIL, body_only=True)
    assert {"click", "here", "shop"} <= set(words)
    assert not [token for token in words if token.partition(":")[0] in ("subject", "header", "html", "url", "part")]


@pytest.mark.parametrize("end", [b"\r\n", b"\r"])
def test_line_ends_make_no_other_tokens(end: bytes) -> None:
    assert tokens(MAIL.replace(b"\n", end)) == tokens(MAIL)


def test_delivery_adds_few_tokens() -> None:
    """What a mail server puts on top must not turn a verdict."""
    top = (
        b"Return-Path: <x@other.example>\nDelivered-To: me@home.example\n"
        b"Received: from relay.other.example (relay.other.example [198.51.100.3]) by home.example;\n"
        b" Sat, 1 Jan 2022 00:00:00 +0000\n"
    )
    before, after = set(tokens(MAIL)), set(tokens(top + MAIL))
    assert before <= after
    assert len(after - before) <= 20


def test_mailbox_fields_add_none() -> None:
    assert tokens(b"Status: RO\nX-Mozilla-Status: 0001\nX-Bogosity: Spam\nX-UIDL: 17\n" + MAIL) == tokens(MAIL)


def test_ngrams_join_the_first_words() -> None:
    text = b"\n" + " ".join(f"w{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(BIGRAM_WORDS + 50)).encode()
    pairs = [token for token in tokens(text, body_only=True) if " " in token]
    assert len(pairs) == BIGRAM_WORDS - 1
    assert pairs[:2] == ["waa wab", "wab wac"]
    assert not [token for token in tokens(text, body_only=True, ngrams=1) if " " in token]
    assert "waa wab wac" in tokens(text, body_only=True, ngrams=3)


def test_only_the_first_words_are_read() -> None:
    found = Counter(tokens(b"\n" + b"early " * MAX_WORDS + b"late", body_only=True, ngrams=1))
    assert found["early"] == MAX_WORDS
    assert "late" not in found
    assert found["length:10"] == 1  # of all 1,001


def test_words_of_the_subject_are_words_of_the_text_too() -> None:
    found = tokens(b"Subject: Free lunch at noon !!\n\nNo lunch")
    assert {"free", "lunch", "free lunch", "lunch at", "at noon", "subject:lunch", "subject:p:!!"} <= set(found)
    assert {"subject:length:3", "length:2"} <= set(found)
    assert found.count("lunch") == 2
    assert "noon no" not in found  # neighbours are of one place
    for other in ({"body_only": True}, {"ignore_headers": ("Subject",)}):
        assert "free" not in tokens(b"Subject: Free lunch\n\nNo lunch", **other)


def test_fields_that_name_the_same_people_tell_it_once() -> None:
    head = b"Return-Path: <a@list.example>\nErrors-To: a@list.example\nSender: a@list.example\nTo: you@x.example\n"
    found = tokens(head + b"Cc: you@x.example\nDelivered-To: you@x.example\n\n")
    places = {token.partition(":")[0] for token in found if token.endswith((":list.example", ":x.example"))}
    assert places == {"sender", "to"}
    assert {"header:return-path", "header:errors-to", "header:cc"} <= set(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", {"line:0", "capitals:0"}),
        (b"ABCD", {"line:3", "capitals:7"}),
        (b"ab\n\n\ncd\n", {"line:1", "capitals:0"}),
        (b"ABCDEFGH", {"line:4", "capitals:7"}),
        (b"ABCDEFGH\n", {"line:4", "capitals:7"}),
        (b"ABCDEFGH\r\n\r\n\r\n", {"line:4", "capitals:7"}),
        (b"\n\n\n", {"line:0", "capitals:0"}),
        ("ЯЯ Ab".encode(), {"line:3", "capitals:5"}),
    ],
)
def test_layout_is_told_by_two_tokens(text: bytes, expected: set[str]) -> None:
    found = tokens(b"Content-Type: text/plain; charset=utf-8\n\n" + text, body_only=True)
    assert {token for token in found if token.startswith(("line:", "capitals:"))} == expected


def test_stemming_joins_forms_of_a_word() -> None:
    found = tokens(b"\nconnected connections connecting 25th", stem="english", body_only=True, ngrams=1)
    assert found[:3] == ["connect"] * 3
    assert "25th" in found


@pytest.mark.parametrize("tokenizer", ["tweet", "treebank"])
def test_endless_digits_do_not_stop_nltk_s_tokenizers(tokenizer: str) -> None:
    assert "hello" in tokens(b"Subject: x\n\nhello " + b"7" * 200_000, tokenizer=tokenizer)


@pytest.mark.parametrize("tokenizer", ["tweet", "treebank"])
def test_tokenizers_of_nltk(tokenizer: str) -> None:
    found = tokens(b"Subject: Hi\n\nHe isn't here, @you! Cheers", tokenizer=tokenizer)
    assert {"cheers", "here", "subject:hi"} <= set(found)
    assert ("isn't" in found) == (tokenizer == "tweet")


@pytest.mark.parametrize(
    ("options", "named"),
    [({"tokenizer": "regex"}, "own, tweet or"), ({"ngrams": 0}, "at least 1"), ({"stem": "klingon"}, "english")],
)
def test_options_that_do_not_exist_are_named(options: dict, named: str) -> None:
    with pytest.raises(SpamnbError, match=named):
        Tokenizer(TokenOptions(**options))


def test_urls_that_are_shown_are_told_as_those_of_links_are() -> None:
    shown = b"\nSee https://Shop.example.net/a?b=c, HTTP://192.0.2.7:80/ (http://one.example) or ftp://two.example/\n"
    assert {token for token in tokens(shown) if token.startswith("url:")} == {
        "url:shop.example.net", "url:example.net", "url:192", "url:192.0", "url:192.0.2", "url:192.0.2.7",
        "url:one.example",
    }  # fmt: skip


@pytest.mark.parametrize("form", ["%s", "<a href='%s'>x</a>"])
def test_of_too_many_links_the_first_and_the_last_are_read(form: str) -> None:
    many = [f"http://h{n}.example/" for n in range(MAX_URLS + 100)]
    kind = b"text/plain" if form == "%s" else b"text/html"
    message = b"Content-Type: " + kind + b"\n\n" + " ".join([form % url for url in many]).encode()
    found = {token for token in tokens(message) if token.startswith("url:h")}
    half = MAX_URLS // 2
    assert found == {f"url:h{n}.example" for n in [*range(half), *range(half + 100, MAX_URLS + 100)]}
    assert "cut:links" in tokens(message) and "cut:links" not in tokens(b"\n" + " ".join(many[:MAX_URLS]).encode())


def multipart(kind: str, *parts: tuple[str, str]) -> bytes:
    body = "".join(f"--b\n{fields}\n\n{text}\n" for fields, text in parts)
    return f"Content-Type: multipart/{kind}; boundary=b\n\n{body}--b--\n".encode()


HTML, PLAIN = "Content-Type: text/html", "Content-Type: text/plain"
ATTACHED = PLAIN + "\nContent-Disposition: attachment; filename=notes.txt"


@pytest.mark.parametrize(
    "message",
    [
        multipart("alternative", (PLAIN, "good " * 2000), (HTML, "<p>" + "bad " * 700)),
        multipart("mixed", (ATTACHED, "good " * 2000), (HTML, "<p>" + "bad " * 700)),
        multipart("mixed", *[(ATTACHED, "good " * 2000)] * 200, (HTML, "<p>" + "bad " * 700)),
    ],
    ids=["text alternative", "attached text", "many attached texts"],
)
def test_good_text_that_nobody_sees_leaves_half_of_the_words_to_what_is_seen(message: bytes) -> None:
    counts = counted(message)
    assert counts["bad"] >= MAX_WORDS // 2 and counts["good"] >= MAX_WORDS // 4
    assert counts["good"] + counts["bad"] == MAX_WORDS and counts["bad bad"] > counts["good good"]


def test_a_later_text_is_heard_however_long_the_first_one_is() -> None:
    counts = counted(multipart("mixed", (PLAIN, "good " * 3000), (PLAIN, "bad " * 3000)))
    assert counts["good"] == 750 and counts["bad"] == 250 and counts["good bad"] == 1


def counted(message: bytes) -> dict[str, int]:
    vectorizer = Vectorizer(Tokenizer())
    vectorizer.add(parse(message))
    rows = vectorizer.take_rows()
    return Counter(dict(zip(vectorizer.vocabulary.take(rows.ids), rows.counts.tolist())))


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (b"X: " + b"x" * (MAX_HEADER_BYTES + 1), "headers"),
        (b"X: y\n" * 1001 + b"\n", "headers"),
        (multipart("mixed", *[(PLAIN, "x")] * (MAX_PARTS + 1)), "parts"),
        (b"\n" + b"word " * 300_000, "text"),
    ],
    ids=["header section", "header fields", "parts", "text"],
)
def test_every_cut_is_a_token(message: bytes, kind: str) -> None:
    assert [token for token in tokens(message) if token.startswith("cut:")] == ["cut:" + kind]
    assert not [token for token in tokens(message, body_only=True) if token.startswith("cut:")]


def test_what_a_part_says_of_itself_is_bounded() -> None:
    long = "x" * 300
    part = Part(f"text/{long}", long, long, "", f"a.b.{long}", 0)
    assert part_tokens(part) == [
        f"part:text/{long[:35]}", f"charset:{long[:20]}", f"encoding:{long[:20]}", f"attachment:{long[:12]}"
    ]  # fmt: skip


def test_hostile_headers_and_links_are_bounded() -> None:
    header = b"".join(b"X-%d: %s\n" % (i, b"w%d " % i) for i in range(900))
    links = b"".join(b'<a href="http://h%d.example/">x</a>' % i for i in range(900))
    tokenizer = Tokenizer()
    found = tokenizer(parse(header + b"Content-Type: text/html\n\n" + links))
    assert len(found) < 6000
    for k in range(3):
        tokenizer(parse(b"".join(b"X-%d-%d: w\n" % (k, i) for i in range(900))))
    assert len(tokenizer._header_rules) <= MAX_HEADER_NAMES
    assert max(map(len, found)) < 130


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=600))
def test_any_bytes_have_tokens_that_can_be_stored(raw: bytes) -> None:
    for token in tokens(raw):
        assert token
        token.encode()
        assert "\n" not in token


def test_the_order_in_which_messages_come_makes_no_other_tokens(corpora: Path) -> None:
    """What a tokenizer remembers must not show."""
    paths = sorted((corpora / "spamassassin" / "hard_ham").iterdir())[:80]
    messages = [parse(path.read_bytes()) for path in paths]
    one = Tokenizer()
    forwards = [one(message) for message in messages]
    assert [one(message) for message in reversed(messages)] == forwards[::-1]
    assert [Tokenizer()(message) for message in messages[:10]] == forwards[:10]



def test_an_id_keeps_its_signs_and_no_more_than_sixty_characters() -> None:
    assert id_shape("20020821.g7LBx45-Ab") == "0.a0a0-a"
    assert id_shape("a-" * 40) == "a-" * 30
    assert id_shape("é٣") == "a0"


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
