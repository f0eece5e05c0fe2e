"""Which tokens a message has: words of every script, header fields, structure, bounds and options."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nltk.tokenize import TreebankWordTokenizer, TweetTokenizer

from spamnb.reader.evidence import KINDS
from spamnb.reader.message import Reader
from spamnb.settings import Settings

BODY = Reader(Settings(body_only=True, ngrams=1))
STRUCTURE = ("p", "length", "caps", "line", "capitals")


def tokens(raw: bytes, **options: object) -> dict[str, int]:
    return Reader(Settings(**options)).tokens(raw)  # type: ignore[arg-type]


def words(text: str) -> list[str]:
    """Return the words of a text with their counts."""
    raw = b"Content-Type: text/plain; charset=utf-8\n\n" + text.encode()
    return [token for token in Counter(BODY.tokens(raw)).elements() if token.partition(":")[0] not in STRUCTURE]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Buy now, pay LATER", "buy now pay later"), ("don't stop.Now!", "don't stop now"),
        ("Call 0800-555-0199!!", "call 0800-555-0199!! #0000-000-0000!!"), ("-- ... ' $ % _", ""),
        ("straße STRASSE", "strasse strasse"),
        ("Ｆｒｅｅ　ｏｆｆｅｒ", "free offer"),  # full-width letters
        ("𝗙𝗿𝗲𝗲 ℌello", "free hello"),  # letters of mathematics
        ("🄵🅁🄴🄴 🅵🆁🅴🅴 🅕🅡🅔🅔 ⓕⓡⓔⓔ", "free free free free"),  # in squares and on discs
        ("vıagra KAPI kapı", "vıagra viagra kapi kapı kapi"),
        ("buy\u2800now", "buy now"),  # a blank, which is no letter of Braille
        ("V.i.a-g_r,a! U.S.A. a-b c-d-ef", "v i a g r a viagra u s a usa a b c d ef"),
        ("\u202esllip\u202c \u2067now\u2069", "pills now"),  # controls of direction
        ("naïve Übung", "naïve naive übung ubung"),
        ("pаypаl сredit", "paypal look-alike credit look-alike"), ("免费领取", "免费 费领 领取"),
        ("iPhone手机buy", "iphone 手机 buy"), ("สวัสดี", "สว วั ัส สด ดี"), ("無料です。今すぐ", "無料 料で です 今す すぐ"),
        ("무료 상품", "무료 상품"),  # Korean puts spaces between words
        ("मुफ़्त", "मुफ़्त"),  # marks belong to their letters
        ("V i a g r a", "viagra v i a g r a"), ("x" * 31, ""),
        ("your-account-is-suspended-for-24-hours", "your account is suspended for 24 hours"), ("é" * 100_000, ""),
        ("x" * 30, "x" * 30), ("é" * 30, "é" * 30 + " " + "e" * 30),
    ],
)  # fmt: skip
def test_words_of_every_script(text: str, expected: str) -> None:
    assert set(words(text)) == {unicodedata.normalize("NFC", word) for word in expected.split()}


@pytest.mark.parametrize("letter", "กໟကၕកឳぁヺ㐀鿿𠀀")  # the first and the last of each batch of Unicode
def test_scripts_without_spaces_are_cut_from_those_with_them_and_into_pairs(letter: str) -> None:
    assert words(f"ab{letter * 3}") == ["ab", letter * 2, letter * 2]


# Of Unicode's Default_Ignorable_Code_Point those that count as letters or as marks.
@pytest.mark.parametrize(
    "filler", "\u034f\u1160\u17b4\u17b5\u180b\u180d\u180f\u2065\ufe00\ufe0f\ufff8\U000e0020\U000e0100\x81\u2060"
)
def test_what_has_no_width_parts_no_word(filler: str) -> None:
    assert words(f"via{filler}gra") == ["viagra"]


@pytest.mark.parametrize("blank", "\u115f\u3164\uffa0\u2800\u00a0\u3000")
def test_what_shows_as_a_blank_parts_words(blank: str) -> None:
    assert words(f"via{blank}gra") == ["via", "gra"]


def test_what_controls_part_is_one_word_and_its_parts() -> None:
    assert words("f\x02r\x02e\x02e new\x01\x7fest gift") == ["free", "newest", "new", "est", "gift"]


@pytest.mark.parametrize("text", ["D e a r friend", "D\ne\na\nr friend", "say D*e*a*r", "d|e|a|r f|r"])
def test_letters_apart_are_one_word_and_letters(text: str) -> None:
    assert {"dear", "d", "e", "a", "r"} <= set(words(text))


@pytest.mark.parametrize("text", ["a b", "a b-c", "is it to be", "ab c d", "a bc d"])
def test_two_letters_are_two_words(text: str) -> None:
    assert set(re.split("[ -]", text)) <= set(words(text))


def test_letters_that_pose_as_latin_are_latin_where_the_text_is() -> None:
    assert words("bօnսs") == ["bonus", "look-alike"] and words("free сосоа") == ["free", "cocoa"]
    assert words("он сам нас ждёт у дома в пять часов") == "он сам нас ждёт у дома в пять часов".split()
    assert words("ꓝꓣꓰꓰ ꓐꓳꓠꓴꓢ") == ["free", "bonus"] and words("øre đak ıslak") == ["øre", "đak", "ıslak", "islak"]
    assert "pease" not in words("ᏢᏞᎬᎪᏚᎬ") and "please" in words("ᏢᏞᎬᎪᏚᎬ") and "password" in words("pa\u1dc4ssword")


def test_of_unspaced_scripts_pairs_count_as_words_and_no_message_has_many_tokens() -> None:
    letters = "".join(map(chr, range(0x4E00, 0x9F00)))
    assert 900 <= len(set(words(letters))) <= 3000
    fields = b"".join(b"X-%d: " % i + b" ".join(b"%xz%x" % (i, n) for n in range(300)) + b"\n" for i in range(1000))
    many = tokens(fields + b"From: someone@last.example\n\n" + letters.encode())
    assert len(many) <= 50_000 and {"truncated:tokens", "from:last.example"} <= set(many)


@given(st.text(max_size=300))
def test_words_are_short_without_space_or_control(text: str) -> None:
    for token in words(text):
        assert token and len(token) <= 250
        assert not any(char.isspace() or unicodedata.category(char) in ("Cc", "Cf", "Cs") for char in token)


@given(st.text(alphabet=st.characters(max_codepoint=127, exclude_characters="\r\0\x1b"), max_size=200))
@example("\x1b$")  # it begins no escape of ISO 2022
def test_both_paths_agree_on_ascii(text: str) -> None:
    """A character beyond ASCII elsewhere in the text sends all of it the other way: the words stay the same."""
    assert Counter(words(text + " beside \u8bed")) == Counter([*words(text), "beside", "\u8bed"])


@given(st.text(st.characters(categories=["L", "M", "Zs"], max_codepoint=0x590), max_size=100))
def test_composition_makes_no_other_words(text: str) -> None:
    assert Counter(words(unicodedata.normalize("NFD", text))) == Counter(words(unicodedata.normalize("NFC", text)))


def test_punctuation_of_text() -> None:
    text = "Content-Type: text/plain; charset=utf-8\n\nWow!!! 100% free; £5 → now…… a" + "=" * 70 + "b"
    signs = {token for token in tokens(text.encode()) if token.startswith("p:")}
    assert signs == {"p:!!!", "p:%", "p:;", "p:£", "p:→", "p:……", "p:===="}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {"line:0", "capitals:0"}), ("ABCD", {"line:3", "capitals:7"}),
        ("ABCDEFGH\r\n\r\n\r\n", {"line:4", "capitals:7"}), ("ЯЯ Ab", {"line:3", "capitals:4"}),
    ],
)  # fmt: skip
def test_layout_is_told_by_two_tokens(text: str, expected: set[str]) -> None:
    found = tokens(b"Content-Type: text/plain; charset=utf-8\n\n" + text.encode(), body_only=True)
    assert {token for token in found if token.startswith(("line:", "capitals:"))} == expected


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
Content-Type: application/pdf; name="Offer.PDF"
Content-Transfer-Encoding: base64

AAAA
--xyz--
"""


def test_every_place_has_its_tokens() -> None:
    found = tokens(MAIL)
    assert {
        "click", "here", "click here", "caps:1", "free", "free offer", "subject:free", "subject:50%", "subject:#00%",
        "subject:caps:1", "from:offers", "from:promo.example.com", "to:example.org", "header:from",
        "header:references", "header:list-unsubscribe", "received:mx.example.net", "received:example.net",
        "received:192.0.2", "sender:lists.example.net",
        "x-mailer:mass", "x-mailer:5.0", "x-mailer:#0.0", "x-folder-colour:green", "url:shop.example.com",
        "url:example.com", "html:tag:a", "html:hidden", "part:application/pdf", "attachment:pdf",
        "charset:us-ascii",
    } <= set(found)  # fmt: skip
    places = {token.partition(":")[0] for token in found}
    assert not places & {"x-spam-status", "newsgroups", "references", "list-unsubscribe"} and "poetry" not in found
    assert not [token for token in found if token.startswith("received:") and "aug" in token]
    assert "poetry" in Reader().tokens(MAIL, doubtful=True)


def test_of_a_signature_its_signer_counts_and_of_what_is_opaque_that_it_is_there() -> None:
    signature = "".join(chr(65 + i * 7 % 26) + chr(97 + i * 5 % 26) + str(i % 10) + "/+"[i % 2] for i in range(80))
    found = tokens(
        f"DKIM-Signature: v=1; a=rsa-sha256; d=example.org; s=mail; t=1700000000;\n bh={signature[:40]}=;"
        f" h=From:To;\n b={signature}\n {signature}==\nX-Gm-Message-State: {signature}\n\nx".encode()
    )
    signed = {token.removeprefix("dkim-signature:") for token in found if token.startswith("dkim-")}
    assert {"rsa-sha256", "example.org", "mail", "from", "to"} <= signed and len(signed) < 16
    assert [token for token in found if "x-gm" in token] == ["header:x-gm-message-state"]


def test_fields_that_name_the_same_people_tell_it_once() -> None:
    head = b"Return-Path: <a@list.example>\nErrors-To: a@list.example\nSender: a@list.example\nTo: you@x.example\n"
    found = tokens(head + b"Cc: you@x.example\nDelivered-To: you@x.example\n\n")
    places = {token.partition(":")[0] for token in found if token.endswith((":list.example", ":x.example"))}
    assert places == {"sender", "to"} and {"header:return-path", "header:errors-to", "header:cc"} <= set(found)


def test_no_header_field_makes_a_token_of_the_structure() -> None:
    plain = tokens(b"Subject: tea\n\nAt four?")
    for prefix in [prefix for prefix, group in KINDS.items() if group == "structure"] + ["header"]:
        forged = tokens(f"Subject: tea\n{prefix}: 0 1 tag:form hidden\n\nAt four?".encode())
        assert forged == {**plain, f"header:{prefix}": 1}


def test_options() -> None:
    assert "header:newsgroups" in tokens(MAIL, ignore_headers=())
    assert not [token for token in tokens(MAIL, ignore_headers=("X-Mailer", "Subject")) if "x-mailer" in token]
    body = tokens(MAIL, body_only=True)
    assert {"click", "here", "shop"} <= set(body) and "free" not in body
    assert not {token.partition(":")[0] for token in body} & {"subject", "header", "html", "url", "part"}
    stemmed = tokens(b"\nconnected connections connecting 25th", stem="english", body_only=True, ngrams=1)
    assert stemmed["connect"] == 3 and "25th" in stemmed


@pytest.mark.parametrize("tokenizer", ["tweet", "treebank"])
def test_tokenizers_of_nltk(tokenizer: str) -> None:
    raw = b"Subject: Hi\n\nHe isn't here, @you! Cheers " + b"7" * 200_000
    found = tokens(raw, tokenizer=tokenizer)
    assert {"cheers", "here", "subject:hi"} <= set(found) and ("isn't" in found) == (tokenizer == "tweet")


@pytest.mark.parametrize("tokenizer", [TweetTokenizer(), TreebankWordTokenizer()])
def test_tokens_of_a_tokenizer_of_nltk_are_tokens(tokenizer: TweetTokenizer | TreebankWordTokenizer) -> None:
    text = "@Anna_b thanks for #NewYear :-) see http://a.example/x?y=1 or e-mail isn't 3:30 $5.00 Größe #öl"
    words = [word.casefold() for word in tokenizer.tokenize(text)]
    name = "tweet" if isinstance(tokenizer, TweetTokenizer) else "treebank"
    found = tokens(f"\n{text}".encode(), tokenizer=name, ngrams=1, body_only=True)
    shapes = {token for token in found if token.partition(":")[0] in ("p", "length", "caps", "line", "capitals")}
    assert set(found) - shapes == {word.replace(":", "", 1) if word[0].isalpha() else word for word in words}
    assert not [
        token for token in tokens(b"\nfrom:evil url:x", tokenizer="tweet") if token.startswith(("from:", "url:"))
    ]


def test_pairs_are_of_the_first_words_and_of_one_place() -> None:
    text = b"Subject: at noon\n\n" + " ".join(f"w{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(600)).encode()
    pairs = [token for token in tokens(text) if " " in token and token.startswith("w")]
    assert pairs[:2] == ["waa wab", "wab wac"] and 50 < len(pairs) < 599
    found = tokens(text, ngrams=3)
    assert {"at noon", "waa wab wac"} <= set(found) and "noon waa" not in found
    assert not [token for token in tokens(text, ngrams=1) if " " in token]


HTML, PLAIN = "Content-Type: text/html", "Content-Type: text/plain"
ATTACHED = PLAIN + "\nContent-Disposition: attachment; filename=notes.txt"


def multipart(kind: str, *parts: tuple[str, str]) -> bytes:
    body = "".join(f"--b\n{fields}\n\n{text}\n" for fields, text in parts)
    return f"Content-Type: multipart/{kind}; boundary=b\n\n{body}--b--\n".encode()


def test_words_that_only_a_text_alternative_has_are_doubtful() -> None:
    seen, other = (HTML, "<p>" + "bad " * 700), (PLAIN, "good bad " * 1000)
    for parts in ([other, seen], [seen, other]):
        raw = multipart("alternative", *parts)
        alone = Reader().tokens(multipart("alternative", seen))
        assert {token: n for token, n in Reader().tokens(raw).items() if ":" not in token or token[1] == ":"} == {
            token: n for token, n in alone.items() if ":" not in token or token[1] == ":"
        }
        assert Reader().tokens(raw, doubtful=True)["good"] >= 400
    assert {"good", "last"} & set(Reader().tokens(multipart("alternative", other, (PLAIN, "last")))) == {"last"}
    assert not {"good words", "seen good"} & set(Reader().tokens(raw, doubtful=True))


def test_text_that_may_be_hidden_has_its_own_words_and_no_length() -> None:
    seen = "bad " * 700
    alone = Reader().tokens(multipart("mixed", (HTML, f"<p>{seen}")))
    hidden = "<p style='display:none'>" + "good " * 2000
    for other in ([(HTML, f"<p>{seen}</p>{hidden}")], [(HTML, f"<p>{seen}"), *[(ATTACHED, "good " * 2000)] * 200]):
        raw = multipart("mixed", *other)
        counts, plain = Reader().tokens(raw, doubtful=True), Reader().tokens(raw)
        assert {token: n for token, n in counts.items() if token in plain} == plain
        assert counts["good"] > 900 and "good" not in plain and plain["bad"] == alone["bad"]
        kinds = ("length:", "caps:", "line:", "capitals:")
        lengths = [{token for token in each if token.startswith(kinds)} for each in (plain, alone)]
        assert lengths[0] == lengths[1]


def test_the_words_of_a_long_text_are_chosen_from_all_of_it() -> None:
    found = tokens(b"\n" + b"early " * 1500 + b"late " * 500, body_only=True, ngrams=1)
    assert 700 <= found["early"] <= 800 and 200 <= found["late"] <= 300 and found["length:11"] == 1  # of all 2,000
    found = tokens(b"\n" + b"good " * 100_000 + " ".join(f"bad{n:03}" for n in range(1000)).encode(), ngrams=1)
    assert len([token for token in found if token.startswith("bad")]) >= 8


@settings(max_examples=150)
@given(st.binary(max_size=600))
def test_any_bytes_have_tokens_that_can_be_stored(raw: bytes) -> None:
    for message in (raw, b"Subject: x\n\n" + raw, b"Content-Type: text/html\n\n" + raw):
        for token in Reader().tokens(message, doubtful=True):
            assert token and len(token.encode()) < 1000 and "\n" not in token


def test_what_was_read_before_does_not_show(corpora: Path) -> None:
    raws = [path.read_bytes() for path in sorted((corpora / "spamassassin" / "hard_ham").iterdir())[:80]]
    reader = Reader()
    forwards = [reader.tokens(raw) for raw in raws]
    assert [reader.tokens(raw) for raw in reversed(raws)] == forwards[::-1]
    assert [Reader().tokens(raw) for raw in raws[:10]] == forwards[:10]
