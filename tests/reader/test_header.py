"""Header sections: the standard library's email package is the oracle, and small cases beyond it."""

from __future__ import annotations

import base64
import email
import email.policy
import hashlib
from email.message import EmailMessage

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spamnb.reader.evidence import VOLATILE_FIELDS
from spamnb.reader.message import Reader, parse

TEXT = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=80
)


def subject(value: str | bytes) -> str:
    return parse(b"Subject: " + (value.encode() if isinstance(value, str) else value) + b"\n\n").header("subject")


def test_fields_in_order_unfolded_and_found_by_any_case() -> None:
    message = parse(b"Received: a\n\tb\nSubject: hi\nreceived:c\n\nbody")
    assert message.headers == (("Received", "a\tb"), ("Subject", "hi"), ("received", "c"))
    assert message.header("RECEIVED") == "a\tb"
    assert message.header("to") == ""


@pytest.mark.parametrize(
    ("raw", "names", "text"),
    [
        (b"", [], ""), (b"\nbody", [], "body"), (b"body only", [], "body only"), (b"Subject: x", ["Subject"], ""),
        (b"Subject: x\nbody without a blank line\nmore", ["Subject"], "body without a blank line\nmore"),
        (b"Subject: x\nbody: with a colon is a field\nmore", ["Subject", "body"], "more"),
        (b"Subject: re : fwd : x\nto : be or not\n", ["Subject"], "to : be or not\n"),
        (b"URGENT: call 0900 now", [], "URGENT: call 0900 now"),
        (b"From a@b.example Thu Jan  1 00:00:00 2004\nTo: x\n\nbody", ["To"], "body"),
        (b"From now on, everything\nis free", [], "From now on, everything\nis free"),
        (b"\xef\xbb\xbfTo: x\n\nbody", ["To"], "body"),
    ],
)  # fmt: skip
def test_where_headers_end(raw: bytes, names: list[str], text: str) -> None:
    message = parse(raw)
    assert [name for name, _ in message.headers] == names and message.texts == (text,)


STRAY = [
    b"no field\n",
    b"two words: x\n",
    b": x\n",
    b"X\xe9: y\n",
    b"X\0: y\n",
    b"\x80\xff\n",
    b"From a b\n",
    b">From a b\n",
]


@pytest.mark.parametrize("stray", STRAY)
def test_a_line_that_is_no_field_does_not_end_a_section_of_fields(stray: bytes) -> None:
    raw = b"Received: a\n" + stray + b"Subject: x\nContent-Type: text/html\n\n<b>body"
    for message in (parse(raw), parse(b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" + raw + b"\n--b--")):
        assert message.texts[-1] == "body" and not {"Subject", "html"} & set(" ".join(message.texts).split())
    assert [name for name, _ in parse(raw).headers] == ["Received", "Subject", "Content-Type"]
    raw = b"Content-Type: text/html\nContent-Transfer-Encoding: base64\n" + stray + b"\n" + base64.b64encode(b"<b>body")
    assert parse(raw).texts[-1] == "body"


def test_blanks_may_precede_a_colon_in_a_header_section_but_not_in_a_text() -> None:
    spaced = b"Subject : x\nTo\t: y\nContent-Type : text/html\n\n<b>body"
    assert parse(spaced).headers == (("Subject", "x"), ("To", "y"), ("Content-Type", "text/html"))
    assert parse(spaced).texts == ("body",)
    assert [name for name, _ in parse(b"Subject: x\nX-A : y\nDate: z\n\nbody").headers] == ["Subject", "X-A", "Date"]


def test_the_first_and_the_last_field_of_each_essential_name_are_read() -> None:
    for name in (b"Content-Type", b"Subject"):
        raw = b"Subject: free\n" + b"".join(b"%s: text/plain\n" % name for _ in range(30_000))
        raw += b"Subject: pills\nContent-Type: text/html\n\n<b>body"
        message = parse(raw)
        subjects = [value for name, value in message.headers if name == "Subject"]
        assert (subjects[0], subjects[-1]) == ("free", "pills") and "body" in (
            *message.texts,
            *message.doubtful.split(),
        )
        assert message.truncations == ("headers",) and len(message.headers) < 10_000
    for blank in (b" ", b";a=b"):
        raw = b"Content-Type: multipart/mixed%s; boundary=q\n\n--q\n\nbody\n--q--" % (blank * 300_000)
        assert parse(raw).texts == ("body",)


@given(TEXT)
def test_encoded_subjects_are_read(text: str) -> None:
    message = EmailMessage()
    message["Subject"] = text
    raw = message.as_bytes()
    expected = str(email.message_from_bytes(raw, policy=email.policy.default)["subject"])
    assert parse(raw).header("subject").split() == expected.split()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("=?iso-8859-1?Q?caf=E9?=", "café"), ("=?utf-8?B?Y2Fmw6k=?= au lait", "café au lait"),
        ("=?utf-8?Q?a?= =?utf-8?Q?b?=", "ab"), ("=?utf-8?Q?a?= b =?utf-8?Q?c?=", "a b c"),
        ("=?utf-8?Q?caf=C3?= =?utf-8?Q?=A9?=", "café"),  # a character cut in two
        ("=?koi8-r?B?8NLJ18XU?=", "Привет"), ("=?utf-8*en?Q?x_y?=", "x y"), ("=?no-such?Q?caf=C3=A9?=", "café"),
        ("=?utf-8?X?abc?=", "=?utf-8?X?abc?="), ("(=?utf-8?Q?a?=)", "(a)"), ("=?utf-8?Q?a=0Ab?=", "a b"),
        ("=?utf-8?B?YWJjZA?=", "abcd"),  # padding left out
        ("café", "café"), ("V\0ia\0gra", "Viagra"), ("=?utf-8?Q?Are_you_ready??=", "Are you ready?"),
        ("=?utf-8?Q?Why?_Why_not??= =?utf-8?Q?_Now!?=", "Why? Why not? Now!"),
        ("=?utf-8?Q?never closed? =?utf-8?Q?a?=", "=?utf-8?Q?never closed? a"), ("a =? b ?= c", "a =? b ?= c"),
        (b"caf\xe9 \x93x\x94", "café “x”"),
        ("Déjà vu à Genève".encode() + b" \xff", "Déjà vu à Genève \ufffd"),  # one bad byte
    ],
)  # fmt: skip
def test_encoded_words_and_raw_bytes(value: str | bytes, text: str) -> None:
    assert subject(value) == text


@pytest.mark.parametrize(
    "text", ["=?broken two", "=?utf-8?X?abc?=", " =?koi8-r?B?8NLJ18XU?=  =?", "two", " =?utf-8?q?a?="]
)
def test_blanks_before_an_encoded_word_are_those_of_the_standard_library(text: str) -> None:
    raw = f"Subject: =?utf-8?q?one?= {text}\n\n"
    message = email.message_from_string(raw, policy=email.policy.default)
    assert parse(raw.encode()).header("subject") == str(message["subject"])


def filename(parameters: str) -> str:
    raw = f"Content-Type: image/png\nContent-Disposition: attachment; {parameters}\n\nx".encode()
    return parse(raw).attachments[0][0]


@pytest.mark.parametrize(
    "parameters",
    [
        "filename=a.txt", "filename*=utf-8''%C3%A9.exe", "filename*=UTF-8'en'%C3%A9%20b.exe; filename=a.txt",
        "filename*=iso-8859-1''%E9", "filename*1=.exe; filename*0=a.txt", "filename*0=a; filename*1=b; filename*2=c",
        "filename*1*=%C3%A9; filename*0*=utf-8''a", "filename*0*=utf-8''%41; filename*1=%42",
        "filename*0=a; filename*1=b; filename*1=c",
        "; ".join(f"filename*{n}={chr(0x100 + n)}" for n in reversed(range(100))),
    ],
)  # fmt: skip
def test_pieces_of_parameters_are_those_of_the_standard_library(parameters: str) -> None:
    message = email.message_from_string(f"Content-Disposition: x; {parameters}\n\n", policy=email.policy.default)
    assert filename(parameters) == message.get_filename()


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ("filename=\"aa.txt\"; filename*=utf-8''b%62.exe", "bb.exe"),  # RFC 6266, 4.3
        ("filename=a; filename*0=b; filename*=utf-8''c; filename*=d", "c"), ("filename=a; filename*=utf-8''", "a"),
        ("filename=a; filename*1=c; filename*0=b", "bc"), ("filename=a; filename*1=b", "a"), ("filename*1=b", "b"),
        ("filename*0=a; filename*0=b; filename*1=c", "ac"), ("filename*2=b; filename*0=a", "ab"),
        ("filename=a; filename*x=b", "a"), ("filename=a; filename**=b; filename*0x=c", "a"),
        ("filename*100=b; filename*0=a", "a"), (f"filename*{'9' * 5000}=b; filename*0=a", "a"),
    ],
)  # fmt: skip
def test_the_preferred_form_of_a_parameter_is_read(parameters: str, name: str) -> None:
    assert filename(parameters) == name


def test_a_piece_that_is_not_read_is_counted_as_a_truncation() -> None:
    raw = b"Content-Type: image/png; name*0=a; name*100=.exe\n\nx"
    assert parse(raw).truncations and not parse(raw.replace(b"100", b"99")).truncations


def test_parameters() -> None:
    for value, name in (('; name="=?utf-8?Q?caf=C3=A9?="', "café"), ("; x=y" * 1500 + "; name=b.doc", "doc")):
        assert f"attachment:{name}" in Reader().tokens(f"Content-Type: a/b{value}\n\nx".encode())


@given(st.text(st.characters(categories=["Ll", "Lo"]), min_size=1, max_size=40))
@example("x" * 100)
def test_names_of_files_are_those_of_the_standard_library(name: str) -> None:
    message = EmailMessage()
    message.set_content(b"x", "image", "png", filename=f"{name}.{name}")
    expected = email.message_from_bytes(message.as_bytes(), policy=email.policy.default).get_filename()
    assert expected
    ending = expected.rpartition(".")[2].encode()[:12].decode(errors="ignore")
    assert f"attachment:{ending}" in Reader().tokens(message.as_bytes())


@pytest.mark.parametrize(
    "before", [b"X-A:\n" * 30_000, b"X-A: %s\n" % (b"good " * 100_000), b"no field\n", b"-\n" * 30]
)
def test_fields_that_count_are_found_whatever_stands_before_them(before: bytes) -> None:
    raw = b"X-First: x\nMIME-Version: 1.0\n" + before + b"From: a@spam.example\nSubject: =?utf-8?q?free_p=C3=ADlls?=\n"
    raw += b"Content-Type: text/html\nContent-Transfer-Encoding: base64\n\n" + base64.b64encode(b"<p>buy <b>now</b>")
    found = Reader().tokens(raw)
    assert {"from:spam.example", "free", "pills", "buy", "buy now", "html:tag:b"} <= set(found)


@pytest.mark.parametrize("fields", [
    (b"Content-Type: text/plain", b"Content-Type: text/html"), (b"Content-Type: image/png", b"Content-Type: text/html"),
    (b"Content-Type: text/html", b"Content-Type: image/png"), (b"Content-Type: text/html",),
])  # fmt: skip
@pytest.mark.parametrize("encodings", [(b"8bit", b"base64"), (b"base64", b"8bit"), (b"(x) base64",), (b"base64 (x)",)])
def test_repeated_fields_are_read_as_any_program_may_take_them(
    fields: tuple[bytes, ...], encodings: tuple[bytes, ...]
) -> None:
    coded = [b"Content-Transfer-Encoding: " + encoding for encoding in encodings]
    body = base64.b64encode(b"<p>b<b></b>uy <b>now</b>")
    for order in ([*fields, *coded], [*coded, *fields]):
        assert {"buy", "now"} <= set(Reader().tokens(b"\n".join([b"To: x", *order, b"", body]), doubtful=True))


def test_headers_are_bounded() -> None:
    many = parse(b"".join(b"X-%d: y\n" % n for n in range(3000)) + b"\nbody")
    assert 500 <= len(many.headers) < 3000 and many.texts == ("body",) and many.truncations == ("headers",)
    long = parse(b"Subject: " + b"x" * 2_000_000 + b"\nTo: y\n\nbody")
    assert len(long.header("subject")) < 2_000_000 and long.texts == ("body",) and long.truncations == ("headers",)


RAW = b"Received: x\nSubject: hello\n folded\nFrom: a@b.example\n\nbody\n\nmore\n"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_how_a_message_is_stored_changes_nothing(end: bytes) -> None:
    message, tokens = parse(RAW), Reader().tokens(RAW)
    assert message.digest == hashlib.blake2b(RAW.rstrip(b"\n"), digest_size=16).digest()
    envelope = b"From a@b.example Thu Jan  1 00:00:00 2004\n"
    for stored in (RAW, envelope + RAW, RAW + b"\n", RAW.rstrip(b"\n")):
        stored = stored.replace(b"\n", end)
        assert parse(stored).digest == message.digest and parse(stored).headers == message.headers
        assert Reader().tokens(stored) == tokens


@pytest.mark.parametrize("name", VOLATILE_FIELDS)
def test_what_mailboxes_and_filters_add_is_no_part_of_the_message(name: str) -> None:
    digest, tokens = parse(RAW).digest, Reader().tokens(RAW)
    field = name.replace("*", "whatever").title().encode() + b": some\n\tvalue"
    lines = RAW.split(b"\n")
    for at in (0, 1, 3, 4):
        raw = b"\n".join([*lines[:at], field, field, *lines[at:]])
        assert parse(raw).digest == digest and Reader().tokens(raw) == tokens


LINES = st.lists(
    st.sampled_from([b"\n", b"\n ", b"\t", b":", b": ", b"A", b"Subject: ", b"\nX-Spam-Flag: YES", b"\nLines:",
                     b"\nStatus: R\n O", b"caf\xe9", b"\x7f", b"a b", b"=?utf-8?q?", b"?=", b"a" * 101])
    | st.binary(max_size=20),
    max_size=30,
).map(b"".join)  # fmt: skip


@given(LINES)
def test_any_bytes_are_a_header_whatever_its_line_ends(raw: bytes) -> None:
    raw = raw.replace(b"\r", b"")
    message = parse(raw)
    for text in (*message.texts, *(part for field in message.headers for part in field)):
        assert text.encode() is not None and "\0" not in text and "\r" not in text
    assert parse(raw.replace(b"\n", b"\r\n")) == message == parse(raw.replace(b"\n", b"\r"))
