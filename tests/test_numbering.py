"""numbering.py: the compiled kernel gives what dictionaries give, for any mail, and both what a Counter gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spamnb import numbering as module
from spamnb.message import Message, parse
from spamnb.numbering import Numbering
from spamnb.tokens import MAX_WORDS, PAIRED, Tokenizer, TokenOptions

needs_kernel = pytest.mark.skipif(
    module.Kernel is None, reason="the kernel is not built: needs a C compiler when spamnb is installed"
)
PIECES = st.sampled_from(
    "a be FREE free Free! FREE!! $5 $1,000.00 don't -- ' ... 1.2.5i now.Click http://a.example/b?c=d café VIAGRA"
    " vіagra 电子邮件 ส่วนลด ½ ﬁn x_y %41 #1 é e\u0301 \u200b \u00ad \u3000 \x00 \x1c \x85 [x] <y>"
    " \\ ~ | ^ ` “ ” € \U0001f600 𝔘".split(" ")
) | st.sampled_from(["w" * 30, "w" * 31, "W" * 60, "W" * 61, "-" * 70, "1" * 40, "ä" * 29, "ä" * 31])  # fmt: skip
TEXT = st.lists(PIECES | st.text(max_size=8), max_size=40).map(" ".join) | st.lists(PIECES, max_size=30).map("".join)
HEADERS = st.lists(
    st.tuples(st.sampled_from("Subject From Received Date Message-ID X-Odd List-Id".split()), TEXT), max_size=6
)


def made(headers: Iterable[tuple[str, str]], texts: Iterable[str], hidden: str) -> Message:
    return Message(tuple(headers), tuple(texts), (), (), (), hidden, (), (), (), b"")


def rows(numbering: Numbering, messages: Iterable[Message]) -> list[dict[str, int]]:
    """Each message's {token: occurrences}, in the order of its row."""
    lengths = [numbering.add(message) for message in messages]
    numbers, repeats = numbering.take()
    assert len(numbers) == len(repeats) == sum(lengths)
    found = iter([(numbering.tokens[n], int(r)) for n, r in zip(numbers, repeats)])
    return [dict(next(found) for _ in range(length)) for length in lengths]


def same(messages: list[Message], options: TokenOptions | None = None, numbering: Numbering | None = None) -> None:
    tokenizer = Tokenizer(options)
    expected = [Counter(tokenizer(message)) for message in messages]
    for compiled in (False, True):
        found = rows(Numbering(tokenizer, compiled), messages)
        assert [list(row.items()) for row in found] == [list(row.items()) for row in expected], compiled


@settings(max_examples=150, deadline=None)
@given(st.lists(st.builds(made, HEADERS, st.lists(TEXT, max_size=3), TEXT), max_size=4), st.sampled_from([1, 2, 3]))
@example([made([("Subject", "A FREE OFFER")], ["two words", "", "x"], "")], 2)
def test_rows_are_what_the_tokenizer_finds(messages: list[Message], ngrams: int) -> None:
    same(messages, TokenOptions(ngrams=ngrams))


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes(raw: bytes) -> None:
    same([parse(raw), parse(b"Subject: x\n\n" + raw), parse(b"Content-Type: text/html\n\n" + raw)])


@pytest.mark.parametrize(
    "options", [TokenOptions(body_only=True), TokenOptions(stem="english"), TokenOptions("treebank")]
)
def test_other_options(options: TokenOptions) -> None:
    same([made([("Subject", "Running runners")], ["He can't have run. He RUNS, running!", "and more"], "ran")], options)


@pytest.mark.parametrize("count", [PAIRED - 1, PAIRED, PAIRED + 1, MAX_WORDS - 1, MAX_WORDS, MAX_WORDS + 1])
def test_at_the_bounds(count: int) -> None:
    words = [f"word{n % 700}" if n % 5 else f"Ab.c{'de' * (n % 3)}!" for n in range(count)]
    half = count // 2
    same([made([], [" ".join(words), "after ALL"], ""), made([], [" ".join(words[:half]), " ".join(words[half:])], "")])


def test_real_mail(corpora: Path) -> None:
    folders = ["spamassassin/spam_2", "spamassassin/hard_ham", "20news-bydate/train/sci.crypt", "mime", "lingspam/spam"]
    paths = [p for folder in folders for p in sorted((corpora / folder).rglob("*")) if p.is_file()]
    same([parse(path.read_bytes()) for path in paths[::4]])


def test_rows_taken_in_parts_and_numbers_that_stay() -> None:
    for compiled in (False, True):
        numbering = Numbering(Tokenizer(TokenOptions(body_only=True)), compiled)
        messages = [made([], [f"lunch number{n % 3} today"], "") for n in range(6)]
        first, second = rows(numbering, messages[:3]), rows(numbering, messages[3:])
        assert first == second
        assert len(numbering) == len(set(numbering.tokens))
        assert numbering.take()[0].shape == (0,)


@needs_kernel
def test_the_kernel_is_used_where_it_is_built() -> None:
    assert Numbering(Tokenizer())._compiled is not None
    assert Numbering(Tokenizer(TokenOptions(ngrams=3)))._compiled is None


@needs_kernel
@pytest.mark.parametrize("room", [0, 3, 50])
def test_what_the_kernel_forgets_it_learns_again(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    kernel = module.Kernel
    monkeypatch.setattr(module, "Kernel", lambda *tables: kernel(*tables, room))
    monkeypatch.setattr(module, "MOST_FIELDS", 2)
    texts = [" ".join(f"w{n * i % 97} x{i}" for i in range(30)) for n in range(20)]
    same([made([(f"X-{n}", text), ("Subject", text)], [text], text[:40]) for n, text in enumerate(texts)])


@needs_kernel
def test_many_words_fields_and_pairs() -> None:
    texts = [" ".join(f"w{(7 * n + i) * 31 % 9973} v{n}.{i}" for i in range(400)) for n in range(60)]
    same([made([(f"X-{n}", text)], [text], "") for n, text in enumerate(texts)])


@needs_kernel
def test_tables_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match="256"):
        module.Kernel({}, b"", b"")


@needs_kernel
def test_an_error_of_a_fold_is_passed_on() -> None:
    def fold(raw: str) -> Any:
        raise RuntimeError(raw)

    kernel = module.Kernel({}, module._WORD, module._SIGN)
    field = kernel.field(fold)
    kernel.begin()
    with pytest.raises(RuntimeError, match="hello"):
        kernel.words(field, b"hello")
    with pytest.raises(IndexError):
        kernel.words(7, b"hello")
