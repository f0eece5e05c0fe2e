"""Messages → rows of a vocabulary's ids, lists of tokens in one piece, and the compiled module below them."""

from __future__ import annotations

import random
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb import core
from spamnb.reader.binding import BODY, ReaderCore
from spamnb.reader.evidence import GROUPS, KINDS, TRUNCATIONS, header_rules
from spamnb.reader.message import Reader, digest, first_fields, parse
from spamnb.reader.tokens import TokenArray, Vocabulary, merge_vocabularies
from spamnb.settings import Settings


def core_reader(program: object) -> ReaderCore:
    return ReaderCore(header_rules([]), program, Settings())


def test_rows_are_the_same_one_by_one_and_together() -> None:
    raws = [b"Subject: tea\n\nfour, four", b"\nfour cups", b""]
    vocabulary, reader = Vocabulary(), Reader()
    together = reader.read(raws, vocabulary)
    for i, raw in enumerate(raws):
        row = slice(together.indptr[i], together.indptr[i + 1])
        tokens = vocabulary.take(together.ids[row])
        assert dict(zip(tokens, together.counts[row].tolist())) == reader.tokens(raw)
        assert together.digests[i].tobytes() == parse(raw).digest == digest(raw)


def test_what_is_no_message_is_refused() -> None:
    with pytest.raises(TypeError):
        Reader().parse("text")  # type: ignore[arg-type]
    with pytest.raises((TypeError, ValueError)):
        Reader().read([bytearray(b"x")], Vocabulary())  # type: ignore[list-item]


class Nested:
    """Reads another message while one is read."""

    def __init__(self) -> None:
        self.reader = core_reader(self)

    def decode(self, octets: bytes, charset: bytes) -> None:
        self.reader.read_cells([b""], Vocabulary(), BODY)


class Failing:
    def decode(self, octets: bytes, charset: bytes) -> bytes:
        raise RuntimeError("another thread has failed")


@pytest.mark.parametrize("program", [Nested, Failing])
def test_exceptions_are_passed_on_and_a_reader_is_for_one_thread_at_a_time(program: type) -> None:
    found = program()
    reader = getattr(found, "reader", core_reader(found))
    with pytest.raises(RuntimeError, match="another thread"):
        reader.read_cells([b"Content-Type: text/plain; charset=x\n\n\xe9"], Vocabulary(), BODY)
    _, _, (lengths, *_) = reader.read_cells([b"\nfine"], Vocabulary(), BODY)  # and it can be used again
    assert lengths.tolist() == [len(Reader().tokens(b"\nfine"))]


class Interrupted(BaseException):
    """Raised by a signal, as KeyboardInterrupt is."""


def test_an_interrupt_at_any_time_while_messages_are_read_is_raised() -> None:
    def interrupt(*_: object) -> None:
        interrupts.append(0)
        raise Interrupted

    interrupts: list[int] = []
    charsets = (b"koi8-r", b"cp1251", b"cp866", b"iso-8859-5")  # for each of which the core asks Python
    raws = [b"Content-Type: text/plain; charset=%s\n\n%s\n" % (name, bytes(range(0xC0, 0xFF))) for name in charsets] * 5
    raised, rng, before = 0, random.Random(1), signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(200):
            reader, vocabulary = Reader(), Vocabulary()
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-4, 3e-3))
                try:
                    reader.read(raws, vocabulary)
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except Interrupted:
                raised += 1
    finally:
        signal.signal(signal.SIGALRM, before)
    assert raised == len(interrupts) > 0


def test_an_interrupt_at_any_line_leaves_a_reader_that_can_be_used() -> None:
    def interrupt_at(line: int) -> bool:
        """Read messages and interrupt it; return whether there was such a line."""
        left = [line]

        def trace(frame: FrameType, event: str, _: object) -> Callable[..., Any]:
            # Python traces the end of the with statement in read_cells, and handles no signal there.
            code = frame.f_code
            left[0] -= event == "line" and code.co_filename.startswith(package) and code.co_name != "read_cells"
            if left[0] < 0:
                raise Interrupted
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            reader.read(raws, vocabulary, doubtful=True)
        except Interrupted:
            return True
        finally:
            sys.settrace(before)
        return False

    reader, vocabulary, package = Reader(), Vocabulary(), str(Path(core.__file__).parents[1])
    raws = [b"\nfour cups", b"Content-Type: text/plain; charset=koi8-r\n\n%s\n" % bytes(range(0xC0, 0xFF))]
    expected = reader.read(raws, vocabulary, doubtful=True)
    line = 0
    while interrupt_at(line):
        rows = reader.read(raws, vocabulary, doubtful=True)
        assert (rows.ids.tolist(), rows.counts.tolist()) == (expected.ids.tolist(), expected.counts.tolist()), line
        line += 1
    assert line > 20


def test_no_python_code_runs_when_an_object_of_the_core_is_deleted() -> None:
    events: list[object] = []
    objects = [Vocabulary(), Reader()]
    before = sys.gettrace()
    sys.settrace(lambda frame, *_: events.append(frame.f_code))
    objects.clear()
    sys.settrace(before)
    assert events == []


def test_the_header_is_read_without_the_body() -> None:
    raw = b"Received: from a\n by b\nSubject: =?utf-8?q?caf=C3=A9?=\n today\n\nText\n"
    fields = {name.lower(): value for name, value in parse(raw).headers}
    assert first_fields(raw + b"x" * 100) == fields and fields["subject"] == "café today"
    assert first_fields(b"no fields here") == {}


def test_every_kind_of_token_is_registered_and_has_a_group() -> None:
    literals = re.compile(r'"([a-z-]+):(?!//)')
    assert literals.findall('LITERAL("form:action"), LITERAL("form:"), "://"') == ["form", "form"]
    folder = Path(core.__file__).parent
    written = set(literals.findall("".join([path.read_text() for path in folder.glob("*.c")])))
    assert len(written) > 9 and written - {"data", "cid", "prefers-color-scheme"} <= set(KINDS)
    groups = {
        "text": ["offer", "$5!", "#$0!", "10:30", ":-)", "день", ""],
        "pairs": ["click here", "subject: offer"],
        "subject": ["subject:offer", "subject:p:!", "subject:length:3"],
        "headers": ["from:example.org", "header:x-mailer", "received:mail", "x-odd:word", "attachments:no"],
        "structure": ["url:example.org", "html:tag:font", "attachment:exe", "p:!", "caps:4", "line:3"],
    }
    for group, tokens in groups.items():
        vocabulary = Vocabulary()
        assert {GROUPS[number] for number in vocabulary.take(vocabulary.ids(tokens)).groups} == {group}
        assert {GROUPS[number] for number in TokenArray.of(tokens).groups} == {group}


def test_each_bound_that_is_reached_is_a_token_of_a_registered_name() -> None:
    folder = Path(core.__file__).parent
    names = re.search(r"NAMES\[\] = \{(.*?)\}", (folder / "evidence.c").read_text(), re.DOTALL)
    assert names and re.findall(r'"(\w+)"', names[1]) == list(TRUNCATIONS)
    many = b"Content-Type: text/html\n\n" + b"<a href=//x.example>" * 3000
    assert parse(many).truncations == ("links",) and "truncated:links" in Reader().tokens(many)


TEXT = st.text(st.characters(codec="utf-8"), max_size=12)


@given(st.lists(TEXT, max_size=30), st.data())
def test_a_list_in_one_piece_is_a_list(words: list[str], data: st.DataObject) -> None:
    tokens, vocabulary = TokenArray.of(words), Vocabulary()
    assert (list(tokens), len(tokens), list(tokens[1::2])) == (words, len(words), words[1::2])
    ids = vocabulary.ids(words)
    assert list(vocabulary.take(ids)) == words and len(vocabulary) == len(set(words))
    assert tokens.hashes.tolist() == vocabulary.take(ids).hashes.tolist()
    assert tokens.groups.tolist() == vocabulary.take(ids).groups.tolist()
    indices = np.array(data.draw(st.lists(st.integers(0, len(words) - 1), max_size=9)) if words else [], np.intp)
    taken = tokens.take(indices)
    assert list(taken) == [words[i] for i in indices] == list(vocabulary.take(ids).take(indices))
    assert taken.packed().tobytes().decode() == "".join(taken)
    assert list(vocabulary.take(np.arange(len(vocabulary)))) == list(dict.fromkeys(words))


@given(st.lists(st.lists(TEXT, unique=True, max_size=12), min_size=1, max_size=4))
def test_union(lists: list[list[str]]) -> None:
    tokens, indices = merge_vocabularies([TokenArray.of(words) for words in lists])
    assert sorted(tokens) == sorted({word for words in lists for word in words})
    assert (tokens.hashes[1:] > tokens.hashes[:-1]).all()
    for words, index in zip(lists, indices, strict=True):
        assert [tokens[int(i)] for i in index] == words


def test_hashes_of_many_tokens_differ_and_are_the_same_in_every_vocabulary() -> None:
    tokens = [f"token {n * n}" for n in range(50_000)]
    vocabulary = Vocabulary()
    assert vocabulary.ids(tokens).tolist() == list(range(len(tokens)))
    assert vocabulary.ids(tokens[::-1]).tolist() == list(range(len(tokens)))[::-1]
    assert len(set(vocabulary.take(np.arange(len(tokens))).hashes.tolist())) == len(tokens)
    # Fowler, Noll and Vo's hash, which anybody can make collide, gave these two the same.
    one, other = TokenArray.of(["bbbbba1b6aa%0ad0bfcbbabb", "l%c%g-1$_bc,0!%p!9!acaac"]).hashes
    assert one != other


def test_what_lies_outside_is_refused() -> None:
    vocabulary = Vocabulary()
    for lengths in ([-1], [4], [1, 3], [2**31 - 1]):
        with pytest.raises(ValueError):
            vocabulary.ids(TokenArray.of_packed(np.zeros(3, np.uint8), np.array(lengths, np.int32)))
    vocabulary.ids(["a", ""])
    for outside in (2, (1 << 32) - 1):
        with pytest.raises(ValueError):
            vocabulary.take(np.array([outside], np.uint32))
