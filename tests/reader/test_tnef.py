import base64
import random
import struct

import pytest

from spamnb.reader.message import parse
from spamnb.reader.tnef import MAX_ATTACHMENTS, read_tnef

PAGE = b"<p>Pay <a href='http://pay.example/'>here</a></p>"
RTF = struct.pack("<II4sI", 19, 7, b"MELA", 0) + rb"{\rtf1}"  # in the property's form, not compressed


def attribute(number: int, value: bytes, level: int = 1) -> bytes:
    return struct.pack("<BII", level, number, len(value)) + value + struct.pack("<H", sum(value) % 65536)


def tnef(*attributes: bytes) -> bytes:
    return struct.pack("<IH", 0x223E9F78, 1) + b"".join(attributes)


def properties(*found: tuple[int, int, bytes]) -> bytes:
    """(type, number, value) of properties, behind one of every other form that must be passed over."""
    others = [
        struct.pack("<HHI", 3, 0x0E07, 1),
        struct.pack("<HHQ", 0x40, 0x0039, 7),
        struct.pack("<HH16sIII", 0x1E, 0x8001, b"g" * 16, 0, 5, 1) + struct.pack("<I3sx", 3, b"ab\0"),
        struct.pack("<HH16sII6sxx", 3, 0x8002, b"g" * 16, 1, 6, "abc".encode("utf-16-le")) + struct.pack("<I", 4),
        struct.pack("<HHI", 0x1003, 0x1234, 2) + struct.pack("<II", 1, 2),
    ]
    values = []
    for kind, number, value in found:
        if kind == 3:
            values.append(struct.pack("<HH", kind, number) + value)
        else:
            padding = bytes(-len(value) % 4)
            values.append(struct.pack("<HHII", kind, number, 1, len(value)) + value + padding)
    return attribute(0x69003, struct.pack("<I", len(others) + len(values)) + b"".join(others + values))


def mail(document: bytes, kind: str = "application/ms-tnef") -> bytes:
    fields = f"Content-Type: {kind}; name=winmail.dat\nContent-Transfer-Encoding: base64\n\n"
    return fields.encode() + base64.encodebytes(document)


@pytest.mark.parametrize("kind", ["application/ms-tnef", "application/vnd.ms-tnef", "application/octet-stream"])
def test_the_page_in_a_winmail_dat_is_read(kind: str) -> None:
    message = parse(mail(tnef(attribute(0x89006, b"1"), properties((0x102, 0x1013, PAGE))), kind))
    assert message.texts[0].strip() == "Pay here" and message.links == ("http://pay.example/",)


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ([attribute(0x2800C, b"Pay here\0")], "Pay here"),
        ([properties((0x1F, 0x1000, "Pay ближе\0".encode("utf-16-le")))], "Pay ближе"),
        ([properties((3, 0x3FDE, struct.pack("<I", 1251)), (0x102, 0x1013, "<p>Плати".encode("cp1251")))], "Плати"),
    ],
)
def test_bodies_of_other_kinds_are_read(attributes: list[bytes], text: str) -> None:
    assert [found.strip() for found in parse(mail(tnef(*attributes))).texts] == [text]


def test_attachments_are_parts_and_those_that_are_text_are_read() -> None:
    files = [("bill.html", PAGE), ("a.exe", b"MZ")]
    attributes = [
        attribute(0x69002, b"") + attribute(0x18010, name.encode() + b"\0") + attribute(0x6800F, content)
        for name, content in files
    ]
    message = parse(mail(tnef(*attributes)))
    assert message.links == ("http://pay.example/",)
    assert [(part.filename, part.size) for part in message.parts[1:]] == [("bill.html", len(PAGE)), ("a.exe", 2)]
    assert len(read_tnef(tnef(*attributes * MAX_ATTACHMENTS)).files) == MAX_ATTACHMENTS


def test_a_body_that_is_rtf_alone_is_not_read_and_said() -> None:
    rtf = properties((0x102, 0x1009, RTF))
    message = parse(mail(tnef(rtf)))
    assert message.texts == () and message.cuts == ("tnef",)
    message = parse(mail(tnef(rtf, attribute(0x2800C, b"Pay here\0"))))
    assert message.texts == ("Pay here",) and message.cuts == ()


def test_too_much_is_cut_and_said() -> None:
    parts = b"".join(b"--b\n" + mail(tnef(attribute(0x2800C, b"x"))) for _ in range(3))
    message = parse(b"Content-Type: multipart/mixed; boundary=b\n\n" + parts)
    assert len(message.texts) == 2 and message.cuts == ("tnef",)


def test_any_bytes_may_be_others() -> None:
    chance = random.Random(5)
    whole = tnef(attribute(0x2800C, b"x"), properties((0x102, 0x1009, RTF), (0x1F, 0x1000, b"a\0")))
    for n in range(len(whole)):
        parse(mail(whole[:n]))
        spoilt = bytearray(whole)
        for _ in range(3):
            spoilt[chance.randrange(len(spoilt))] = chance.randrange(256)
        assert len(parse(mail(bytes(spoilt))).parts) >= 1
