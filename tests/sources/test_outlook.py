"""Outlook's messages: compound files built here as Outlook builds them, read back by the standard library's parser."""

import email
import email.message
import email.policy
import random
import struct
import sys
from pathlib import Path

import pytest
from mail import write_file

from spamnb.errors import SpamnbError
from spamnb.sources import outlook
from spamnb.sources.entries import Entry
from spamnb.sources.formats import NotMail
from spamnb.sources.spec import find_entries, find_labelled_entries

SECTOR, CUTOFF = 512, 4096
END, FREE, FAT, NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF
Tree = dict[str, "bytes | Tree"]


def compound(tree: Tree) -> bytes:
    """Return a compound file whose folders are chains.

    Streams are padded with zeros to whole sectors, so that none is in the stream of short streams.
    """
    sectors: list[bytes] = []
    fat: list[int] = []

    def store(data: bytes) -> int:
        first, number = len(sectors), -(-len(data) // SECTOR)
        sectors.extend(data[place * SECTOR : (place + 1) * SECTOR].ljust(SECTOR, b"\0") for place in range(number))
        fat.extend([*range(first + 1, first + number), END][:number])
        return first if number else END

    directory: list[list] = [
        ["Root Entry", 5, NONE, NONE, END, 0]
    ]  # name, kind, the next, the first inside, start, size

    def add(parent: int, inside: Tree) -> None:
        at, link = parent, 3
        for name, value in sorted(inside.items()):
            directory[at][link] = len(directory)
            at, link = len(directory), 2
            if isinstance(value, dict):
                directory.append([name, 1, NONE, NONE, 0, 0])
                add(at, value)
            else:
                value = value.ljust(CUTOFF, b"\0")
                directory.append([name, 2, NONE, NONE, store(value), len(value)])

    add(0, tree)
    rows = b""
    for name, kind, after, child, start, size in directory:
        wide = name.encode("utf-16-le")
        rows += wide.ljust(64, b"\0") + struct.pack("<HBB3I", len(wide) + 2, kind, 1, NONE, after, child)
        rows += bytes(36) + struct.pack("<IQ", start, size)
    rows += (bytes(64) + struct.pack("<HBB3I", 0, 0, 0, NONE, NONE, NONE) + bytes(48)) * (-len(directory) % 4)
    directory_start = store(rows)
    places: list[int] = []
    while len(places) * 128 < len(fat):
        places.append(len(sectors))
        sectors.append(b"")
        fat.append(FAT)
    table = struct.pack(f"<{len(fat)}I", *fat).ljust(len(places) * SECTOR, b"\xff")
    for number, place in enumerate(places):
        sectors[place] = table[number * SECTOR : (number + 1) * SECTOR]
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<5H", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<9I", 0, len(places), directory_start, 0, CUTOFF, END, 0, END, 0)
    assert len(places) <= 109
    return header + struct.pack("<109I", *places, *[FREE] * (109 - len(places))) + b"".join(sectors)


def properties(size: int, **numbers: int) -> bytes:
    entries = (struct.pack("<HHIQ", int(key[-4:], 16), int(key[1:5], 16), 6, value) for key, value in numbers.items())
    return bytes(size) + b"".join(entries)


def strings(**values: str) -> Tree:
    return {f"__substg1.0_{key[1:]}001F": value.encode("utf-16-le") for key, value in values.items()}


def attachment(number: int, inside: Tree) -> Tree:
    return {f"__attach_version1.0_#{number:08X}": {"__properties_version1.0": properties(8), **inside}}


HEADERS = """Microsoft Mail Internet Headers Version 2.0
Received: from a.example by b.example;
 Mon, 1 Jan 2024 10:00:00 +0000
From: =?utf-8?q?Zo=C3=AB?= <zoe@a.example>
Subject: Tea
Content-Type: multipart/alternative;
 boundary="gone"
Content-Transfer-Encoding: 7bit
MIME-Version: 1.0
X-Last: yes

""".replace("\n", "\r\n")
LONG = "Tea at four, with Zoë. " * 400
HTML = "<p>Tea at four, with Zoë.</p>" * 400
INNER: Tree = {
    "__properties_version1.0": properties(24),
    **strings(_001A="IPM.Note", _0037="Inner", _1000="in"),
}
WHOLE: Tree = {
    "__properties_version1.0": properties(32, _3FDE0003=1252),
    "__nameid_version1.0": {f"__substg1.0_000{number}0102": b"" for number in (2, 3, 4)},
    "__recip_version1.0_#00000000": {"__properties_version1.0": properties(8), **strings(_3001="Ann")},
    **strings(_001A="IPM.Note", _007D=HEADERS, _1000=LONG, _0037="Tea"),
    "__substg1.0_10130102": HTML.encode("cp1252"),
    **attachment(0, {**strings(_3707='tea "list".csv', _370E="text/csv"), "__substg1.0_37010102": b"a,b\n" * 2000}),
    **attachment(1, {"__substg1.0_37010102": b"\0\1", **strings(_3704="X.BIN", _370E="multipart/evil\r\nBcc: x")}),
    **attachment(2, {"__substg1.0_3701000D": INNER}),
}


def parsed(raw: bytes) -> email.message.EmailMessage:
    found = email.message_from_bytes(outlook.message_from_msg(raw, "a.msg"), policy=email.policy.default)
    assert isinstance(found, email.message.EmailMessage)
    assert not any(part.defects for part in found.walk())
    return found


def test_headers_text_html_and_attachments_come_back() -> None:
    message = parsed(compound(WHOLE))
    assert message["From"] == "Zoë <zoe@a.example>" and message["X-Last"] == "yes" and message["Received"]
    assert "gone" not in str(message["Content-Type"]) and message.get_all("MIME-Version") == ["1.0"]
    text, html = message.get_body(("plain",)), message.get_body(("html",))
    assert text is not None and text.get_content() == LONG and html is not None and html.get_content() == HTML
    _, one, two, inner = message.iter_parts()
    assert one.get_filename() == "tea 'list'.csv" and one.get_content() == "a,b\n" * 2000
    assert (two.get_content_type(), two.get_filename()) == ("application/octet-stream", "X.BIN")
    assert two.get_content().rstrip(b"\0") == b"\0\1" and message["Bcc"] is None
    assert inner.get_content()["Subject"] == "Inner" and "in" in inner.as_string()


def test_a_draft_gets_the_fields_that_it_has() -> None:
    tree = {
        "__properties_version1.0": properties(32),
        **strings(_0037="Tea\r\nBcc: x", _0C1A="Ann", _5D01="ann@a.example", _0E04="Bob; Cy", _1000="x"),
    }
    message = parsed(compound(tree))
    assert (message["From"], message["Subject"]) == ("Ann <ann@a.example>", "Tea Bcc: x") and message["Bcc"] is None


def test_strings_of_eight_bits_are_in_the_code_page_of_the_message() -> None:
    tree: Tree = {
        "__properties_version1.0": properties(32, _3FFD0003=1251),
        "__substg1.0_0037001E": "Чай".encode("cp1251"),
        "__substg1.0_1000001E": "в четыре".encode("cp1251"),
    }
    message = parsed(compound(tree))
    assert message["Subject"] == "Чай" and message.get_content() == "в четыре"


def test_a_msg_is_a_source_like_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_file(tmp_path / "ham/a.msg", compound(WHOLE))
    for found in (find_labelled_entries([f"ham={tmp_path}/ham"], pytest.fail), find_entries([str(path)], pytest.fail)):
        [entry] = found
        assert b"\nX-Last: yes\n" in entry.read() and entry.read() == entry.read()
    document = write_file(tmp_path / "a.doc", compound({"WordDocument": b"x" * 5000, "1Table": b"y"}))
    with pytest.raises(NotMail, match="an older Office document, not mail"):
        Entry(None, "a", str(document)).read()
    monkeypatch.setitem(sys.modules, "olefile", None)
    with pytest.raises(SpamnbError, match=r"not mail; 'pip install olefile'.*'msgconvert'"):
        list(find_entries([str(path)], pytest.fail))


def test_messages_within_messages_end() -> None:
    def nested(depth: int) -> Tree:
        inner: Tree = {"__properties_version1.0": properties(24), **strings(_0037=f"at {depth}")}
        return inner | (attachment(0, {"__substg1.0_3701000D": nested(depth - 1)}) if depth else {})

    assert b"Subject: at 0\n" in outlook.message_from_msg(compound(nested(8)), "a")
    with pytest.raises(OSError, match="messages nested more than 8 deep"):
        outlook.message_from_msg(compound(nested(9)), "a")
    many: Tree = {"__properties_version1.0": properties(32)}
    for number in range(251):
        many |= attachment(number, {})
    with pytest.raises(OSError, match="more than 250 attachments"):
        outlook.message_from_msg(compound(many), "a")


def test_a_stream_cannot_be_larger_than_the_file_nor_all_together_than_the_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw = compound(WHOLE)
    size = struct.pack("<Q", len(LONG.encode("utf-16-le")))
    assert raw.count(size) == 1
    with pytest.raises(OSError, match="larger than the file"):
        outlook.message_from_msg(raw.replace(size, struct.pack("<Q", 1 << 31)), "a")
    monkeypatch.setattr(outlook, "_MAX_BYTES", 20_000)
    with pytest.raises(OSError, match="a broken Outlook message: more than"):
        outlook.message_from_msg(raw, "a")


def test_whatever_is_broken_is_a_message_or_one_line() -> None:
    good = compound(WHOLE)
    dice = random.Random(1)
    for number in range(500):
        broken = bytearray(good)
        for _ in range(1 + number % 20):
            broken[dice.choice((dice.randrange(512), dice.randrange(len(broken))))] = dice.randrange(256)
        raw = good[: dice.randrange(9, len(good))] if number % 10 == 0 else bytes(broken)
        try:
            assert isinstance(outlook.message_from_msg(raw, "a.msg"), bytes)
        except OSError as error:
            assert "\n" not in str(error.strerror) and len(str(error)) < 300
