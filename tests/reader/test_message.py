"""Messages → rows and what people ask for: the standard library's email package is the oracle."""

from __future__ import annotations

import email
import email.policy
import hashlib
import threading
from email.message import EmailMessage
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.reader import _core, evidence
from spamnb.reader.message import Reader, Vocabulary, parse
from spamnb.tokens.tokenizer import TokenOptions

TEXT = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=80
)


@given(TEXT)
def test_encoded_subjects_are_read(subject: str) -> None:
    message = EmailMessage()
    message["Subject"] = subject
    raw = message.as_bytes()
    expected = str(email.message_from_bytes(raw, policy=email.policy.default)["subject"])
    assert parse(raw).header("subject").split() == expected.split()


@given(TEXT, st.sampled_from(["base64", "quoted-printable", "8bit"]), st.sampled_from(["utf-8", "gb18030"]))
def test_bodies_are_decoded(text: str, encoding: str, charset: str) -> None:
    if charset != "utf-8" and encoding == "8bit":
        encoding = "base64"
    message = EmailMessage()
    message.set_content(text + ".", charset=charset, cte=encoding)
    assert parse(message.as_bytes()).texts[0].strip("\n") == (text + ".").strip("\n")


@given(st.lists(st.tuples(TEXT, st.sampled_from(["plain", "html", "x-other"])), min_size=1, max_size=5))
def test_parts_are_those_of_the_standard_library(parts: list[tuple[str, str]]) -> None:
    message = EmailMessage()
    message.make_mixed()
    for number, (text, kind) in enumerate(parts):
        message.add_attachment(text.encode(), maintype="text", subtype=kind, filename=f"ä{number}.txt")
    found = parse(message.as_bytes()).parts
    assert [part.content_type for part in found] == [f"text/{kind}" for _, kind in parts]
    assert [part.filename for part in found] == [f"ä{number}.txt" for number in range(len(parts))]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_line_ends_and_mailboxes_change_neither_digest_nor_tokens(end: bytes) -> None:
    raw = b"Subject: a\n b\nTo: c\n\nbody\n\ntext\n"
    stored = b"From a@b.example Mon Jan  1 00:00:00 2001\n" + raw.replace(b"To", b"X-Spam-Status: No\nStatus: RO\nTo")
    one, other = parse(raw), parse(stored.replace(b"\n", end))
    assert one.digest == other.digest
    assert Reader().tokens(raw) == Reader().tokens(stored.replace(b"\n", end))
    expected = hashlib.blake2b(b"Subject: a\n b\nTo: c\n\nbody\n\ntext", digest_size=16).digest()
    assert one.digest == expected


@given(st.binary(max_size=600))
def test_digests_are_blake2b(body: bytes) -> None:
    body = body.replace(b"\r", b"")
    expected = hashlib.blake2b(b"A: b\n\n" + body.rstrip(b"\n"), digest_size=16).digest()
    assert parse(b"A: b\n\n" + body).digest == expected


@given(st.binary(max_size=400))
def test_any_bytes_are_a_message(raw: bytes) -> None:
    message = parse(raw)
    assert all(text.encode() is not None for text in message.texts)
    assert Reader().tokens(raw)


def test_rows_are_the_same_one_by_one_and_together(tmp_path: Path) -> None:
    raws = [b"Subject: tea\n\nfour, four", b"\nfour cups", b""]
    vocabulary = Vocabulary()
    for i, raw in enumerate(raws):
        (tmp_path / str(i)).write_bytes(raw)
    reader = Reader()
    together = reader.read(raws, vocabulary)
    paths = reader.read([tmp_path / str(i) for i in range(3)], vocabulary)
    assert together.ids.tolist() == paths.ids.tolist() and together.digests == paths.digests
    for i, raw in enumerate(raws):
        row = slice(together.indptr[i], together.indptr[i + 1])
        counts = dict(zip(vocabulary.take(together.ids[row]), together.counts[row].tolist()))
        assert counts == reader.tokens(raw)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    rows = Reader().read([b"\nhere", tmp_path / "none"], Vocabulary())
    assert [number for number, _ in rows.errors] == [1] and rows.indptr[2] == rows.indptr[1]


@given(st.text(max_size=80), st.text(max_size=80), st.integers(1, 4))
def test_a_token_has_one_id_however_it_came(subject: str, body: str, ngrams: int) -> None:
    vocabulary = Vocabulary()
    raw = f"Subject: {subject}\nReceived: from {subject}\nX: a:b\n\n{body} long{'g' * 40} http://a.example:8".encode()
    Reader(TokenOptions(ngrams=ngrams)).read([raw], vocabulary)
    ids = np.arange(len(vocabulary), dtype=np.uint32)
    assert vocabulary.ids(vocabulary.take(ids)).tolist() == ids.tolist()


def test_vocabularies_of_threads_are_put_together() -> None:
    readers = [(Reader(), Vocabulary()) for _ in range(4)]
    raws = [[f"\nword{i} same{j}".encode() for j in range(200)] for i in range(4)]
    rows = [None] * 4

    def work(i: int) -> None:
        rows[i] = readers[i][0].read(raws[i], readers[i][1])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    every = Vocabulary()
    for i, (_, vocabulary) in enumerate(readers):
        ids = every.add(vocabulary)
        assert every.take(ids[rows[i].ids]) == vocabulary.take(rows[i].ids)
    assert len(every.take(np.arange(len(every)))) == len(set(every.take(np.arange(len(every)))))


def test_a_reader_is_for_one_thread_at_a_time() -> None:
    class Nested:
        def __init__(self) -> None:
            self.reader = None

        def find_codec(self, name: bytes) -> tuple[int, bool, None]:
            self.reader.read([b""], _core.Vocabulary(bytes(16)), False)
            return 0, False, None

    nested = Nested()
    nested.reader = _core.Reader(evidence.header_rules([]), nested, 2, False, False, False)
    with pytest.raises(RuntimeError, match="another thread"):
        nested.reader.read([b"Content-Type: text/plain; charset=x\n\n\xe9"], _core.Vocabulary(bytes(16)), False)
    # And it can be used again.
    assert nested.reader.read([b"\nplain"], _core.Vocabulary(bytes(16)), False)


def test_an_exception_of_the_program_is_passed_on() -> None:
    class Failing:
        def find_codec(self, name: bytes) -> tuple[int, bool, None]:
            raise KeyError(name)

    reader = _core.Reader(evidence.header_rules([]), Failing(), 2, False, False, False)
    vocabulary = _core.Vocabulary(bytes(16))
    with pytest.raises(KeyError):
        reader.read([b"\nfine", b"Content-Type: text/plain; charset=x\n\n\xe9"], vocabulary, False)
    lengths, *_ = reader.read([b"\nfine"], vocabulary, False)
    assert np.frombuffer(lengths, np.uint32).tolist() == [5 + 3]


def test_a_message_that_is_no_bytes_is_refused() -> None:
    with pytest.raises(TypeError):
        Reader().parse("text")  # type: ignore[arg-type]
    with pytest.raises((TypeError, ValueError)):
        Reader().read([bytearray(b"x")], Vocabulary())  # type: ignore[list-item]


def test_the_registry_has_every_kind_of_token() -> None:
    assert set(_core.token_kinds()) <= set(evidence.KINDS)
    vocabulary = Vocabulary()
    ids = vocabulary.ids(["offer", "click here", "subject:offer", "from:example.org", "html:tag:font", "x-mailer:a"])
    groups = [evidence.GROUPS[group] for group in vocabulary.groups(ids)]
    assert groups == ["text", "pairs", "subject", "headers", "structure", "headers"]


def test_words_by_nltk() -> None:
    tokens = Reader(TokenOptions(tokenizer="tweet", stem="english", body_only=True)).tokens(b"\nBuying pills :-)")
    assert tokens["buy"] == 1 and tokens["pill"] == 1 and tokens["buy pill"] == 1


def test_a_stemmer_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="stem"):
        Reader(TokenOptions(stem="klingon"))


def test_words_of_other_scripts() -> None:
    tokens = Reader(TokenOptions(body_only=True, ngrams=1)).tokens(
        "\n电子邮件 vіagra café e\u0301 S.P.A.M. V i a g r a".encode()
    )
    for word in ("电子", "子邮", "邮件", "viagra", "look-alike", "café", "cafe", "é", "spam", "spaced-letters"):
        assert word in tokens


def test_links_tell_where_they_lead() -> None:
    page = b"Content-Type: text/html\n\n<a href='http://bank.example@evil%2Eexample/?u=https://bit.ly/x'>x</a>"
    tokens = Reader().tokens(page + b"<a href=http://3232235521>y</a><a href=http://xn--pypal-4ve.example>z</a>")
    for token in "bit.ly evil.example disguised redirector shortener user 192.168.0.1 mixed-scripts".split():
        assert f"url:{token}" in tokens


def test_uuencoded_files_are_taken_out() -> None:
    message = parse(b"\nsee:\nbegin 644 a.txt\n#86)C\n`\nend\nbye")
    assert message.texts == ("see:\n\nbye", "abc") and message.parts[1].filename == "a.txt"


def test_what_is_cut_is_told() -> None:
    many = b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 400
    assert parse(many).cuts == ("parts",)
    assert "cut:headers" in Reader().tokens(b"A: b\n" * 2000 + b"\nx")
    assert "cut:text" in Reader().tokens(b"\n" + b"word " * 400_000)
