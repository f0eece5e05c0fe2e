"""words.py, hosts.py, groups.py: what the words of a text, the hosts of its links and their groups become."""

import unicodedata
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from uncompiled import uncompiled

from spamnb.message.links import read_link
from spamnb.message.parse import parse
from spamnb.reader.token_array import TokenArray
from spamnb.sources.spec import entries
from spamnb.tokens import hosts
from spamnb.tokens.ascii_bytes import MAX_WORD
from spamnb.tokens.groups import HEADERS, PAIRS, PREFIX_GROUPS, STRUCTURE, SUBJECT, TEXT
from spamnb.tokens.hosts import MAX_HOST, normalize_host, normalize_received, url_tokens
from spamnb.tokens.token_counter import TokenCounter
from spamnb.tokens.token_sink import TokenSink
from spamnb.tokens.tokenizer import Tokenizer
from spamnb.tokens.vocabulary import Vocabulary
from spamnb.tokens.word_scanner import MAX_SPACED_WORDS, Normalization
from spamnb.tokens.words import normalize_whole_word, punctuation, spelt_words, word_text


def found(text: str) -> list[str]:
    counter = TokenCounter(Vocabulary())
    TokenSink(counter).add_text(Normalization(), [text], None, 1)
    return tokens_of(counter)


def tokens_of(counter: TokenCounter) -> list[str]:
    counter.end()
    ids, counts = counter.take_cells().T
    return [token for token, n in zip(counter.vocabulary.take(ids), counts.tolist()) for _ in range(n)]


def words(text: str) -> list[str]:
    counter = TokenCounter(Vocabulary())
    TokenSink(counter).add_words(Normalization(), text)
    return tokens_of(counter)


def spaced(text: str) -> list[str]:
    """What is joined of letters that stand apart: the words that a text has beyond its words."""
    more = Counter(found(text)) - Counter(words(text))
    return [token for token in more.elements() if token.isalpha()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Buy now, pay LATER", ["buy", "now", "pay", "later"]),
        ("don't stop.Now!", ["don't", "stop", "now"]),
        ("only $19.95 (50% off)", ["only", "$19.95", "#$00.00", "50%", "#00%", "off"]),
        ("Call 0800-555-0199!!", ["call", "0800-555-0199!!", "#0000-000-0000!!"]),
        ("-- ... ' $ % _", []),
        ("straße STRASSE", ["strasse", "strasse"]),
        ("Ｆｒｅｅ　ｏｆｆｅｒ", ["free", "offer"]),  # full-width letters
        ("𝗙𝗿𝗲𝗲 ℌello", ["free", "hello"]),  # letters of mathematics
        ("🄵🅁🄴🄴 🅵🆁🅴🅴 🅕🅡🅔🅔 ⓕⓡⓔⓔ", ["free"] * 4),  # in squares and on discs
        ("ᴄʜᴇᴀᴘ ᴘɪʟʟꜱ ʙᴜʏ ɴᴏᴡ", ["cheap", "pills", "buy", "now"]),  # small capitals
        ("vıagra KAPI kapı", ["vıagra", "viagra", "kapi", "kapı", "kapi"]),
        ("buy\u2800now", ["buy", "now"]),  # a blank, which is no letter of Braille
        ("V.i.a-g_r,a! U.S.A.", ["v", "i", "a", "g", "r", "a", "viagra", "spaced-letters", "u", "s", "a"]),
        ("в.и.а.г-р.а V.1.a.g.r.a", [*"виагра", "виагра", "spaced-letters", "v.1.a.g.r.a", "#v.0.a.g.r.a"]),
        ("fi\u00adnance v\u200bi\u200dag\u2060ra\ufeff", ["finance", "viagra"]),
        ("naïve Übung", ["naïve", "naive", "übung", "ubung"]),
        ("Привет мир", ["привет", "мир"]),  # no disguise: one script
        ("pаypаl сredit", ["paypal", "look-alike", "credit", "look-alike"]),
        ("免费领取", ["免费", "费领", "领取"]),
        ("iPhone手机buy", ["iphone", "手机", "buy"]),
        ("สวัสดี", ["สว", "วั", "ัส", "สด", "ดี"]),
        ("無料です。今すぐ", ["無料", "料で", "です", "今す", "すぐ"]),
        ("무료 상품", ["무료", "상품"]),  # Korean puts spaces between words
        ("هدية مجانية", ["هدية", "مجانية"]),
        ("मुफ़्त", ["मुफ़्त"]),  # marks belong to their letters
    ],
)
def test_words_of_every_script(text: str, expected: list[str]) -> None:
    assert sorted(words(text)) == sorted(unicodedata.normalize("NFC", word) for word in expected)


@pytest.mark.parametrize("letter", "กໟကၕកឳぁヺ㐀鿿𠀀")  # the first and the last of each batch of Unicode
def test_scripts_without_spaces_are_cut_from_those_with_them_and_into_pairs(letter: str) -> None:
    assert words(f"ab{letter * 3}") == ["ab", letter * 2, letter * 2]


# Of Unicode's Default_Ignorable_Code_Point those that count as letters or as marks.
@pytest.mark.parametrize("filler", "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180d\u180f\u3164\ufe00\ufe0f\uffa0")
def test_what_has_no_width_parts_no_word(filler: str) -> None:
    assert words(f"via{filler}gra") == ["viagra"]


def test_marks_beyond_counting_are_cut_whatever_they_are_made_of() -> None:
    """Normalising takes quadratic time in what is a mark once it is taken apart, letters of katakana among them."""
    marks = [chr(i) for i in range(0x110000) if unicodedata.combining(unicodedata.normalize("NFKD", chr(i))[0])]
    assert {"\u0301", "\uff9e", "\uff9f"} < set(marks)
    for mark in marks:
        assert len(word_text("a" + ("\u0301" + mark) * 100)) < 100


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("V i a g r a", ["Viagra"]),
        ("buy V*i*a*g*r*a\nF R E E  G I F T", ["Viagra", "FREE", "GIFT"]),
        ("C H E A P\nP I L L S", ["CHEAP", "PILLS"]),
        ("в и а г р а", ["виагра"]),
        ("f\u2800r\u2800e\u2800e \u200b f\u200b r\u200b e\u200b e", ["free", "free"]),
        ("1 2 3 4 a b c 5 w o r d 6", ["word"]),
        ("a b c", []),
        ("a b  c d", []),
        ("I am a b c", []),
        ("V. i. a. g. r. a.", []),
        ("", []),
    ],
)
def test_letters_with_one_sign_between_each_two_are_a_word(text: str, expected: list[str]) -> None:
    assert sorted(spaced(text)) == sorted(word.lower() for word in expected)


def test_words_of_letters_apart_are_joined_up_to_a_bound() -> None:
    assert spaced("w o r d  " * 500) == ["word"] * MAX_SPACED_WORDS
    assert "long:w:1000" in found("w " * 100_000)
    assert spelt_words("w " * 100_000) == ["w" * 100_000]


def test_a_blank_of_braille_is_no_punctuation() -> None:
    assert punctuation("a \u2800\u2800 b \u2801") == ["\u2801"]


def test_a_long_word_is_summarised() -> None:
    assert words("x" * 31) == ["long:x:30"]
    assert words("é" * 100_000) == ["long:é:1000"]
    assert normalize_whole_word("host." * 20 + "example") == ("long:h:100",)


def test_what_names_something_stays_whole() -> None:
    assert normalize_whole_word("Mail.Example.ORG") == ("mail.example.org",)
    assert normalize_whole_word("X-Mailer-5.0") == ("x-mailer-5.0", "#x-mailer-0.0")


def test_punctuation_of_text() -> None:
    assert punctuation("Wow!!! 100% free; £5 → now……") == ["!!!", "%", ";", "£", "→", "……"]
    assert punctuation("a" + "=" * 70 + "b") == ["===="]
    assert punctuation("plain words") == []


@given(st.text(max_size=300))
def test_tokens_are_short_words_without_space_or_control(text: str) -> None:
    for token in words(text):
        assert token
        assert len(token) <= 4 * MAX_WORD
        assert not any(char.isspace() or unicodedata.category(char) in ("Cc", "Cf", "Cs") for char in token)


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=200))
def test_both_paths_agree_on_ascii(text: str) -> None:
    """A character beyond ASCII elsewhere in the text sends all of it the other way: the words stay the same."""
    beside = " 语"
    assert Counter(words(text + beside)) == Counter([*words(text), "语"])
    signs = {token for token in found(text) if token.startswith("p:")}
    assert {token for token in found(text + beside) if token.startswith("p:")} == signs
    assert list(signs) == [] or signs == {"p:" + run for run in punctuation(text)}


@given(st.text(max_size=100))
def test_case_and_composition_make_no_other_words(text: str) -> None:
    assert words(unicodedata.normalize("NFD", text)) == words(text)


@given(st.lists(st.text(min_size=1, max_size=10), max_size=30))
def test_words_give_the_same_tokens_again(raws: list[str]) -> None:
    counter = TokenCounter(Vocabulary(), 5)
    for raw in raws + raws:
        counter.begin()
        TokenSink(counter).add_words(Normalization(), raw)
        assert Counter(tokens_of(counter)) == Counter(words(raw))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("a.b.c.d.e.example.org", ("d.e.example.org", "e.example.org", "example.org")),
        ("example.org", ("example.org",)),
        ("-Example.ORG.", ("example.org",)),
        ("10.20.30.40", ("10", "10.20", "10.20.30", "10.20.30.40")),
        ("10.20.30.example", ("10.20.30.example", "20.30.example", "30.example")),
        ("$%!", ()),
    ],
)
def test_a_host_is_told_with_the_domains_above_it(raw: str, expected: tuple[str, ...]) -> None:
    assert normalize_host(raw) == expected


def test_long_hosts_are_read_but_not_remembered() -> None:
    before = hosts._normalize_host.cache_info().currsize
    long = "." * MAX_HOST + "mail.example.org" + "." * MAX_HOST
    assert normalize_host(long) == ("mail.example.org", "example.org")
    assert normalize_host("x" * 2000) == ()
    assert hosts._normalize_host.cache_info().currsize == before
    assert normalize_host("x" * MAX_HOST) == ("x" * MAX_HOST,)
    assert normalize_host("x" * (MAX_HOST + 1)) == ()


def test_of_queue_ids_the_shape_is_told_and_of_what_has_no_digit_nothing_more() -> None:
    assert normalize_received("mail.example.org") == normalize_host("mail.example.org")
    assert normalize_received("mx1.example.org") == ("mx1.example.org", "example.org", "#mx0.example.org")
    assert normalize_received("192.0.2.7") == normalize_host("192.0.2.7")
    assert normalize_received("!!") == ()


def test_urls_tell_their_host_or_else_their_scheme() -> None:
    urls = [
        "http://Example.org/a?http://other.example", "https:/user:secret@a.example.net:8080", "http://Example.org",
        "MAILTO:someone@example.com", "cid:part1", "//example.com", "x" * 50, "",
    ]  # fmt: skip
    assert sorted(url_tokens(urls)) == sorted([
        "url:example.org", "url:other.example", "url:a.example.net", "url:example.net", "url:mailto:", "url:cid:",
        "url:example.com", "url:" + "x" * 12 + ":", "url::", "url:redirector", "url:user",
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://bit.ly/abc", ["url:bit.ly", "url:shortener"]),
        ("http://e.vil.example%2Fpath", ["url:e.vil.example", "url:vil.example", "url:disguised"]),
        ("http://0x7f000001/", ["url:127", "url:127.0", "url:127.0.0", "url:127.0.0.1", "url:disguised"]),
        ("http://[2001:db8::1]:80/x", ["url:[2001:db8::1]"]),
        ("http://xn--pypal-4ve.example/", ["url:xn--pypal-4ve.example", "url:mixed-scripts"]),
        ("https://shop.example/?next=https://www.shop.example/a", ["url:shop.example", "url:www.shop.example",
                                                                    "url:shop.example"]),
        ("HTTPS://\u212aauf.example", ["url:kauf.example"]),
        ("http://" + "login." * 20 + "evil.example", ["url:login.login.evil.example", "url:login.evil.example",
                                                      "url:evil.example", "url:long-host"]),
    ],
)  # fmt: skip
def test_urls_tell_how_they_hide_where_they_lead(url: str, expected: list[str]) -> None:
    assert url_tokens([url]) == expected


@pytest.mark.parametrize("host", sorted(hosts.SHORTENERS))
def test_a_shortener_is_the_domain_that_its_links_have(host: str) -> None:
    assert url_tokens([f"https://{host}/x"])[-1] == "url:shortener"


URLS = st.lists(
    st.sampled_from(["http", "s", ":", "/", "//", "\\", "?u=", "%", "%2F", "%3A", "www.", "a.example", "@", "[::1]",
                     "0x7f", "1.2.3.4", ".", "=", "&", "#", "xn--", "é", "\u3002", "\xad", "/s/", "-3A__", "\t"])
    | st.text(max_size=3)
).map("".join)  # fmt: skip


@given(URLS)
def test_a_quick_look_at_a_url_tells_what_a_close_one_tells(url: str) -> None:
    found = hosts._PLAIN_URL.match(url)
    if found and not hosts._may_hold_url(url[found.end() :]):
        assert read_link(url) == (found.group(1).lower(), (), False, False)
    assert not any(map(str.isspace, "".join(url_tokens(["http://" + url]))))


with uncompiled("spamnb.tokens.groups", "spamnb.tokens.vocabulary") as (source, source_vocabulary):
    pass

SOME = ["", ":", "::", ":)", "a:", "A:b", "[:", "@:", "10:30", "\xe9:x", "p", "p:!", "p::", "html:", "htm:l", "htmlx:y"]

PREFIXED = st.builds("{}:{}".format, st.sampled_from([*PREFIX_GROUPS]), st.text())
TOKEN = st.text() | st.sampled_from([*PREFIX_GROUPS, *SOME]) | PREFIXED


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (["offer", "$5!", "#$0!", "long:15", "10:30", ":-)"], TEXT),
        (["click here", "subject: offer"], PAIRS),
        (["subject:offer", "subject:p:!", "subject:length:3"], SUBJECT),
        (["from:example.org", "header:x-mailer", "received:mail", "X-Odd:word", "attachments:no"], HEADERS),
        (["url:example.org", "html:tag:font", "hidden:word", "attachment:exe", "p:!", "caps:4", "line:3"], STRUCTURE),
    ],
)
def test_the_group_of_a_token(tokens: list[str], expected: int) -> None:
    assert TokenArray.of(tokens).groups.tolist() == [expected] * len(tokens)


@given(st.lists(TOKEN))
@example([*PREFIX_GROUPS, *(prefix + ":x" for prefix in PREFIX_GROUPS), *SOME])
def test_everybody_sees_the_same(tokens: list[str]) -> None:
    expected = list(map(group_of, tokens))
    packed = TokenArray.of(tokens)
    assert packed.groups.tolist() == expected
    assert source.token_groups(packed.text, packed.offsets, packed.lengths).tolist() == expected
    for vocabulary in (Vocabulary(), source_vocabulary.Vocabulary()):
        assert vocabulary.groups(vocabulary.ids(tokens)).tolist() == expected


def group_of(token: str) -> int:
    prefix, colon, _ = token.partition(":")
    if " " in token:
        return PAIRS
    return PREFIX_GROUPS.get(prefix, HEADERS) if colon and prefix[:1].isascii() and prefix[:1].isalpha() else TEXT


def test_of_real_mail(corpora: Path) -> None:
    tokenizer, tokens = Tokenizer(), set[str]()
    for entry in entries([f"mail={corpora / 'spamassassin' / 'spam'}"], pytest.fail):
        tokens |= set(tokenizer(parse(entry.read())))
    packed = TokenArray.of(sorted(tokens))
    assert packed.groups.tolist() == list(map(group_of, packed))
    assert set(np.unique(packed.groups)) == {TEXT, PAIRS, SUBJECT, HEADERS, STRUCTURE}
