"""vectorizer.py: compiled it gives what it gives uncompiled, for any mail, and both what a Counter gives."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from uncompiled import uncompiled

from spamnb.message.parse import Message, parse
from spamnb.reader.options import TokenOptions
from spamnb.reader.token_array import TokenArray
from spamnb.tokens import vectorizer as vectorizer_module
from spamnb.tokens.ascii_bytes import INNER_PUNCTUATION
from spamnb.tokens.hosts import normalize_received
from spamnb.tokens.token_counter import TokenCounter
from spamnb.tokens.token_sink import BIGRAM_WORDS, MAX_WORDS, TokenSink
from spamnb.tokens.tokenizer import Tokenizer
from spamnb.tokens.vectorizer import Vectorizer
from spamnb.tokens.vocabulary import Vocabulary
from spamnb.tokens.word_scanner import Normalization
from spamnb.tokens.words import normalize_whole_word, normalize_word, word_text

with uncompiled("spamnb.tokens.vectorizer", "spamnb.tokens.tokenizer", "spamnb.tokens.vocabulary") as found:
    source, source_tokenizer, source_vocabulary = found
PIECES = st.sampled_from(
    "a be FREE free Free! FREE!! $5 $1,000.00 don't -- ' ... 1.2.5i now.Click http://a.example/b?c=d café VIAGRA"
    " vіagra 电子邮件 ส่วนลด ½ ﬁn x_y %41 #1 é e\u0301 \u200b \u00ad \u3000 \x00 \x1c \x85 \xa0 a\xa0b [x] <y>"
    " \\ ~ | ^ ` “ ” € \U0001f600 𝔘".split(" ")
) | st.sampled_from(["w" * 30, "w" * 31, "W" * 60, "W" * 61, "-" * 70, "1" * 40, "ä" * 29, "ä" * 31])  # fmt: skip
TEXT = st.lists(PIECES | st.text(max_size=8), max_size=40).map(" ".join) | st.lists(PIECES, max_size=30).map("".join)
ASCII = st.text(st.characters(max_codepoint=127), max_size=70)
HOSTS = "1.2.3.4 a.2.3.4 .1.2.3. a.b.c.d1 a1.b.c.d.e ab cd.ef 12 g7LBx45 a..b.1 8.11.6 [1.2.3.4] -_ 1..2.3".split()
HEADERS = st.lists(
    st.tuples(st.sampled_from("Subject From Received Date Message-ID X-Odd List-Id".split()), TEXT), max_size=6
)


def made(headers: Iterable[tuple[str, str]], texts: Iterable[str], hidden: str) -> Message:
    return Message(tuple(headers), tuple(texts), (), (), (), hidden, (), (), (), b"")


def rows(vectorizer: Vectorizer, messages: Iterable[Message]) -> list[dict[str, int]]:
    lengths = [vectorizer.add(message) for message in messages]
    _, ids, counts = vectorizer.take_rows()
    assert len(ids) == len(counts) == sum(lengths)
    assert ids.dtype == counts.dtype == np.int32
    found = iter(zip(vectorizer.vocabulary.take(ids), counts.tolist()))
    return [dict(next(found) for _ in range(length)) for length in lengths]


def same(messages: list[Message], options: TokenOptions | None = None) -> None:
    tokenizer, other = Tokenizer(options), source_tokenizer.Tokenizer(options)
    expected = [Counter(tokenizer(message)) for message in messages]
    for vectorizer in (Vectorizer(tokenizer), source.Vectorizer(other)):
        found = rows(vectorizer, messages)
        tokens = vectorizer.vocabulary.tokens()
        assert list(tokens) == list({token: 0 for row in expected for token in row})
        assert tokens.hashes.tolist() == TokenArray.of(tokens).hashes.tolist()
        assert [list(row.items()) for row in found] == [list(row.items()) for row in expected]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.builds(made, HEADERS, st.lists(TEXT, max_size=3), TEXT), max_size=4), st.sampled_from([1, 2, 3]))
@example([made([("Subject", "A FREE OFFER")], ["two words", "", "x"], "")], 2)
def test_rows_are_what_the_tokenizer_finds(messages: list[Message], ngrams: int) -> None:
    same(messages, TokenOptions(ngrams=ngrams))


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes(raw: bytes) -> None:
    same([parse(raw), parse(b"Subject: x\n\n" + raw), parse(b"Content-Type: text/html\n\n" + raw)])


@pytest.mark.parametrize(
    "options", [TokenOptions(body_only=True), TokenOptions(stem="english"), TokenOptions("treebank")]
)
def test_other_options(options: TokenOptions) -> None:
    same([made([("Subject", "Running runners")], ["He can't have run. He RUNS, running!", "and more"], "ran")], options)


@pytest.mark.parametrize(
    "count", [BIGRAM_WORDS - 1, BIGRAM_WORDS, BIGRAM_WORDS + 1, MAX_WORDS - 1, MAX_WORDS, MAX_WORDS + 1]
)
def test_at_the_bounds(count: int) -> None:
    words = [f"word{n % 700}" if n % 5 else f"Ab.c{'de' * (n % 3)}!" for n in range(count)]
    half = count // 2
    same([made([], [" ".join(words), "after ALL"], ""), made([], [" ".join(words[:half]), " ".join(words[half:])], "")])


@pytest.mark.parametrize("gap", [0, 1, 62, 63, 64, 65, 130])
@pytest.mark.parametrize(
    "beyond",
    ["café", "=\u0338", "\u0338", "a=\u0338b", "…!", "\u200b", "\u00a8x", "电", "\u3000", "\xa0", "\xa0\u0338"],
)
def test_ascii_between_other_characters(beyond: str, gap: int) -> None:
    between = ("Now.Click! <$5> " * 9)[:gap]
    ends = [
        (before, sep, after)
        for before in ("", "x ", "AB=")
        for sep in ("", " ", "\n")
        for after in ("", " E, e", "\tq")
    ]
    texts = [f"{before}{beyond}{sep}{between}{sep}{beyond}{after}" for before, sep, after in ends]
    same([made([("Subject", text)], [text, text[::-1]], text) for text in texts])


@pytest.mark.parametrize("gap", [0, 1, 20, 70])
@pytest.mark.parametrize(
    "word", ["V i a g r a", "V.i.a.g.r.a", "v%i.a,g-'r.a.", "в и а г р а", "v i 1 c h e a p", "𝗙 🆁 ᴇ ı"]
)
def test_words_of_letters_apart_are_joined_as_in_python(word: str, gap: int) -> None:
    between = (" now or never " * 9)[:gap]
    texts = [
        before + word + between + word.upper() + after + "\n" + word
        for before in ("", "x ", "ab ", "é ", "a\n")
        for after in ("", " b", "b", " é", "\u2800c")
    ]
    same([made([("Subject", text)], [text, word, text], text) for text in texts])
    same([made([], [f"{word}  " * 60, f"{word}\n" * 60], ""), made([], [word * 3], "")])


def test_disguised_words_of_a_message_become_the_words_that_are_seen() -> None:
    body = "V i a g r a\nC.i.a.l.i.s\n\u202epills\u202c \u0131ntern ᴡᴀᴛᴄʜ 🅵🆁🅴🅴 ca\0sh \u2800"
    raw = f"Subject: V i a g r a\nContent-Type: text/plain; charset=utf-8\n\n{body}".encode()
    message = parse(raw)
    same([message])
    found = Counter(Tokenizer()(message))
    seen = {"viagra": 2, "cialis": 1, "spaced-letters": 3, "pills": 1, "intern": 1, "watch": 1, "free": 1, "cash": 1}
    assert {token: found[token] for token in seen} == seen
    assert "p:\u2800" not in found


@pytest.mark.slow
def test_real_mail(corpora: Path) -> None:
    folders = ["spamassassin/spam_2", "spamassassin/hard_ham", "20news-bydate/train/sci.crypt", "mime", "lingspam/spam"]
    paths = [p for folder in folders for p in sorted((corpora / folder).rglob("*")) if p.is_file()]
    same([parse(path.read_bytes()) for path in paths[::4]])


def test_rows_taken_in_parts_and_numbers_that_stay() -> None:
    for vectorizer in (
        Vectorizer(Tokenizer(TokenOptions(body_only=True))),
        source.Vectorizer(source_tokenizer.Tokenizer(TokenOptions(body_only=True))),
    ):
        messages = [made([], [f"lunch number{n % 3} today"], "") for n in range(6)]
        first, second = rows(vectorizer, messages[:3]), rows(vectorizer, messages[3:])
        assert first == second
        assert len(vectorizer) == len(set(vectorizer.vocabulary.tokens()))
        assert vectorizer.take_rows().indptr.tolist() == [0]


@pytest.mark.parametrize("room", [0, 3, 50])
def test_what_is_forgotten_is_learned_again(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    for module in (vectorizer_module, source):
        counter = module.TokenCounter
        monkeypatch.setattr(module, "TokenCounter", lambda vocabulary, counter=counter: counter(vocabulary, room))
    texts = [" ".join(f"w{n * i % 97} ä{i}" for i in range(30)) for n in range(20)]
    same([made([(f"X-{n}", text), ("Subject", text)], [text], text[:40]) for n, text in enumerate(texts)])


def test_many_words_fields_and_pairs() -> None:
    texts = [" ".join(f"w{(7 * n + i) * 31 % 9973} v{n}.{i} ü{n * i}" for i in range(400)) for n in range(60)]
    same([made([(f"X-{n}", text)], [text], "") for n, text in enumerate(texts)])


def test_an_error_of_normalizing_is_passed_on() -> None:
    def refuse(raw: str) -> Any:
        raise RuntimeError(raw)

    counter = TokenCounter(Vocabulary())
    sink = TokenSink(counter)
    for _ in range(2):
        counter.begin()
        with pytest.raises(RuntimeError, match="hello"):
            sink.add_words(Normalization(refuse), "hello")
    counter.begin()
    sink.add_words(Normalization(lambda raw: tuple(raw.split())), "hello")
    assert counter.end() == 1
    assert counter.take_cells().tolist() == [[0, 1]]


@given(
    st.lists(ASCII | st.text("aB19.-_'", max_size=70) | PIECES, max_size=8),
    st.sampled_from([normalize_word, normalize_whole_word, normalize_received, str.split]),
    st.sampled_from(["", "subject:", "hidden:", "café:"]),
)
@example(["ab.c'd" * 400, "%" * 3000 + "a", "x" * 30_000, "$", "$'%.$%", "a1" * 15, "-a1" * 11], normalize_word, "")
@example(HOSTS, normalize_received, "received:")
@example([c * n for c in ("a", "1", "a1", "1.", "a.") for n in (15, 16, 30, 31, 60, 61)], normalize_received, "")
def test_words_give_the_tokens_of_each(values: list[str], normalize: Any, prefix: str) -> None:
    counter = TokenCounter(Vocabulary())
    sink = TokenSink(counter)
    counter.begin()
    for value in values:
        sink.add_words(Normalization(normalize, prefix), value)
    counter.end()
    ids, counts = counter.take_cells().T
    expected = Counter(prefix + token for value in values for raw in raw_words(value) for token in normalize(raw))
    assert list(zip(counter.vocabulary.take(ids), counts)) == list(expected.items())


def raw_words(value: str) -> list[str]:
    """The raw words of a text, found character by character: what is left of each when it stands alone."""
    return "".join([char if char.isascii() and (char.isalnum() or char in INNER_PUNCTUATION) else " " if char.isascii()
                    else char for char in word_text(value.replace("\xa0", " "))]).split()


@given(st.lists(st.text("aB\n é😀", max_size=60), max_size=3))
def test_the_layout_is_what_it_says(texts: list[str]) -> None:
    counter = TokenCounter(Vocabulary())
    counter.begin()
    TokenSink(counter).add_layout(texts)
    assert counter.end() == 2
    text = "\n".join(texts).rstrip("\n")
    share = 64 * sum("A" <= char <= "Z" for char in text) // max(len([char for char in text if char.isascii()]), 1)
    line = (len(text) - text.count("\n")) // (text.count("\n") + 1 - text.count("\n\n"))
    found = counter.vocabulary.take(counter.take_cells()[:, 0])
    assert found == [f"line:{line.bit_length()}", f"capitals:{share.bit_length()}"]


@given(st.lists(st.lists(st.text(max_size=12) | PIECES, max_size=20), max_size=5))
def test_numbers_of_both_kinds_agree(lists: list[list[str]]) -> None:
    plain, other = source_vocabulary.Vocabulary(), Vocabulary()
    for tokens in lists:
        at = other.ids(tokens)
        assert at.dtype == np.intp
        assert at.tolist() == plain.ids(tokens).tolist()
        assert other.take(at) == tokens
        assert other.hashes(at).dtype == np.int64
        assert other.hashes(at).tolist() == plain.hashes(at).tolist()
        assert len(other) == len(plain)
    for one, two in zip(vars_of(plain.tokens()), vars_of(other.tokens())):
        assert one.dtype == two.dtype
        assert one.tolist() == two.tolist()


def vars_of(tokens: TokenArray) -> tuple[np.ndarray, ...]:
    return tokens.text, tokens.offsets, tokens.lengths, tokens.hashes


def test_many_numbers() -> None:
    tokens = [f"token {n * n}" for n in range(50_000)]
    vocabulary = Vocabulary()
    before = vocabulary.tokens()
    assert vocabulary.ids(tokens).tolist() == vocabulary.ids(iter(tokens)).tolist() == list(range(len(tokens)))
    assert vocabulary.ids(reversed(tokens)).tolist() == list(range(len(tokens)))[::-1]
    assert list(vocabulary.tokens()) == tokens
    assert len(before) == 0
    assert len(set(vocabulary.tokens().hashes.tolist())) == len(tokens)


def test_a_number_that_no_token_has_is_refused() -> None:
    vocabulary = Vocabulary()
    vocabulary.ids(["a", ""])
    assert vocabulary.take(np.array([1, 0])) == ["", "a"]
    for outside in (2, -1, 1 << 40):
        with pytest.raises(IndexError):
            vocabulary.take(np.array([outside]))
    with pytest.raises(IndexError):
        vocabulary.hashes(np.array([2]))


def test_numbers_are_shared() -> None:
    vocabulary = Vocabulary()
    vocabulary.ids(["before"])
    first = Vectorizer(Tokenizer(TokenOptions(body_only=True)), vocabulary)
    second = Vectorizer(Tokenizer(TokenOptions("treebank", body_only=True)), vocabulary)
    assert rows(first, [made([], ["lunch before"], "")]) == [
        {"lunch": 1, "before": 1, "lunch before": 1, "length:2": 1, "caps:0": 1, "line:4": 1, "capitals:0": 1}
    ]
    assert rows(second, [made([], ["lunch"], "")]) == [
        {"lunch": 1, "length:1": 1, "caps:0": 1, "line:3": 1, "capitals:0": 1}
    ]
    assert first.vocabulary is second.vocabulary is vocabulary
    assert list(vocabulary.tokens()) == [
        "before", "lunch", "lunch before", "length:2", "caps:0", "line:4", "capitals:0", "length:1", "line:3",
    ]  # fmt: skip


# Found by lattice reduction: Fowler, Noll and Vo's hash is nearly linear, so anybody can find such words.
ONE_KEY = "bbbbba1b6aa%0ad0bfcbbabb", "l%c%g-1$_bc,0!%p!9!acaac"


def test_two_tokens_of_one_key_are_one_token() -> None:
    keys = TokenArray.of(ONE_KEY).hashes
    assert keys[0] == keys[1]
    for vocabulary in (Vocabulary(), source_vocabulary.Vocabulary()):
        assert vocabulary.ids(["a", *ONE_KEY, "b", *ONE_KEY[::-1]]).tolist() == [0, 1, 1, 2, 1, 1]
        assert list(vocabulary.tokens()) == ["a", ONE_KEY[0], "b"]
    for module, tokenizer in ((vectorizer_module, Tokenizer), (source, source_tokenizer.Tokenizer)):
        vectorizer = module.Vectorizer(tokenizer(TokenOptions(body_only=True, ngrams=1)))
        assert vectorizer.add(made([], [" ".join(ONE_KEY)], "")) == len(vectorizer.take_rows().ids)
        assert len(set(vectorizer.vocabulary.tokens().hashes.tolist())) == len(vectorizer)
