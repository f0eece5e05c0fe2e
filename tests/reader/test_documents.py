"""Files that hold text for people: PDF, winmail.dat, and what an S/MIME signature goes around."""

from __future__ import annotations

import base64
import json
import multiprocessing
import os
import random
import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable

import pytest

from spamnb.reader import pdf
from spamnb.reader.message import Reader, parse
from spamnb.reader.pdf import MAX_CHARACTERS, MAX_CONTENT_BYTES, MAX_PAGES
from spamnb.reader.smime import signed_content

needs_pypdf = pytest.mark.skipif(not pdf.is_available(), reason="the extra spamnb[pdf] is not installed")
PAGE = b"<p>Pay <a href='http://pay.example/'>here</a></p>"


def mail(octets: bytes, kind: str, name: str = "") -> bytes:
    fields = f"Content-Type: {kind}; name={name}\nContent-Transfer-Encoding: base64\n\n"
    return fields.encode() + base64.encodebytes(octets)


# PDF


def made(pages: list[bytes], link: bytes = b"http://pay.example/bill", compress: bool = True) -> bytes:
    """Return a document of pages with these drawing commands, and a link on each page."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * i) for i in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[" + kids + b"]/Count %d>>" % len(pages),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for i, page in enumerate(pages):
        annotation = b"<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(" + link + b")>>>>"
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>/Annots["
            + annotation + b"]/Contents %d 0 R>>" % (5 + 2 * i)
        )  # fmt: skip
        stream = zlib.compress(page) if compress else page
        filter_ = b"/Filter/FlateDecode" if compress else b""
        objects.append(b"<<%s/Length %d>>stream\n%s\nendstream" % (filter_, len(stream), stream))
    out, offsets = b"%PDF-1.4\n", []
    for i, each in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (i, each)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    trailer = b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<</Size %d/Root 1 0 R>>\n" % (size, table, size)
    return out + trailer + b"startxref\n%d\n%%%%EOF\n" % len(out)


def page(text: bytes) -> bytes:
    return b"BT /F 12 Tf 50 700 Td (" + text + b") Tj ET"


def bill(document: bytes) -> bytes:
    return mail(document, "application/pdf", "bill.pdf")


def read(document: bytes) -> str:
    return pdf.read_pdf(document).text.strip()


@needs_pypdf
@pytest.mark.parametrize("kind", ["application/pdf", "application/octet-stream", "application/x-pdf"])
def test_text_and_links_of_an_attached_pdf_are_read(kind: str) -> None:
    raw = mail(made([page(b"Your invoice"), page(b"is overdue")]), kind, "bill.pdf")
    message = parse(raw)
    assert message.doubtful.split() == ["Your", "invoice", "is", "overdue"]
    assert message.links == ("http://pay.example/bill",) * 2 and not message.truncations
    assert {"invoice", "is overdue", "url:pay.example"} <= set(Reader().tokens(raw, doubtful=True))


@needs_pypdf
def test_a_pdf_is_known_by_its_first_bytes_and_the_beginning_of_a_long_page_is_read() -> None:
    long = made([page(b"Your invoice") + b" q Q" * MAX_CONTENT_BYTES, b" q Q" * MAX_CONTENT_BYTES, page(b"is overdue")])
    message = parse(mail(long, "application/octet-stream", "bill.bin"))
    assert message.doubtful.split() == ["Your", "invoice", "is", "overdue"] and message.truncations == ("pdf",)


def test_every_answer_can_be_read() -> None:
    longest = pdf.PdfText("😀" * MAX_CHARACTERS, ["😀" * pdf.MAX_LINK] * pdf.MAX_LINKS * MAX_PAGES, True)
    assert len(json.dumps(longest)) < pdf.MAX_ANSWER_BYTES


@needs_pypdf
@pytest.mark.parametrize(
    "document",
    [
        b"%PDF-1.4 broken",
        made([page(b"one")] * (MAX_PAGES + 1)),
        made([page(b"w " * MAX_CHARACTERS)]),
        made([page(b"one"), page(b"two") + b" q Q" * MAX_CONTENT_BYTES]),
        made([page(b"one")]) + b"\n" * pdf.MAX_BYTES,
    ],
    ids=["broken", "pages", "characters", "commands", "bytes"],
)
def test_what_is_not_read_is_told(document: bytes) -> None:
    message = parse(bill(document))
    assert message.truncations == ("pdf",)
    assert sum(map(len, message.texts)) <= MAX_CHARACTERS and len(message.links) <= MAX_PAGES
    assert not parse(bill(b"")).truncations


@needs_pypdf
def test_what_is_read_of_a_document_of_much_work_is_the_same_each_time_and_the_pages_before_stay() -> None:
    operators = b"BT /F 9 Tf " + b"(a)Tj " * 40_000 + b"ET"
    slow = made([page(b"first"), *[operators[:MAX_CONTENT_BYTES]] * 4])
    results = [pdf.read_pdf(slow) for _ in range(3)]
    assert results[0].text.startswith("first") and results[0].links and not results[0].is_whole
    assert results[1] == results[0] == results[2]
    assert read(made([page(b"again")])) == "again"


def _read_in_child(queue: multiprocessing.Queue) -> None:
    queue.put((read(made([page(b"child")])), os.getpid() in pdf.processes))
    pdf.end_process()


@needs_pypdf
def test_a_process_that_is_gone_is_started_anew_and_a_fork_has_its_own() -> None:
    assert read(made([page(b"here")])) == "here"
    process = pdf.processes[os.getpid()].process
    assert process
    process.kill()
    process.wait()
    assert read(made([page(b"parent")])) == "parent"
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_read_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=120) == ("child", True)
    child.join()
    assert read(made([page(b"parent")])) == "parent"


# winmail.dat

RTF = struct.pack("<II4sI", 19, 7, b"MELA", 0) + rb"{\rtf1}"  # in the property's form, not compressed


def attribute(number: int, value: bytes) -> bytes:
    return struct.pack("<BII", 1, number, len(value)) + value + struct.pack("<H", sum(value) % 65536)


def tnef(*attributes: bytes) -> bytes:
    return struct.pack("<IH", 0x223E9F78, 1) + b"".join(attributes)


def properties(*found: tuple[int, int, bytes]) -> bytes:
    """(type, number, value) of properties, behind two that must be passed over."""
    every = struct.pack("<HHI", 3, 0x0E07, 1) + struct.pack("<HHII3sx", 0x1E, 0x1001, 1, 3, b"ab\0")
    for kind, number, value in found:
        count = b"" if kind == 3 else struct.pack("<II", 1, len(value))
        every += struct.pack("<HH", kind, number) + count + value + bytes(-len(value) % 4)
    return attribute(0x69003, struct.pack("<I", len(found) + 2) + every)


def winmail(document: bytes, kind: str = "application/ms-tnef") -> bytes:
    return mail(document, kind, "winmail.dat")


CODEPAGE = (3, 0x3FDE, struct.pack("<I", 1251))


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ([attribute(0x89006, b"1"), properties((0x102, 0x1013, PAGE))], "Pay here"),
        ([attribute(0x2800C, b"Pay here\0")], "Pay here"),
        ([properties((0x1F, 0x1000, "Pay ближе\0".encode("utf-16-le")))], "Pay ближе"),
        ([properties(CODEPAGE, (0x102, 0x1013, "<p>Плати".encode("cp1251")))], "Плати"),
        ([properties(CODEPAGE, (0x1E, 0x1000, "Плати\0".encode("cp1251")))], "Плати"),
        ([properties((0x1E, 0x1000, "Плати\0".encode("cp1251")), CODEPAGE)], "Плати"),
        ([properties(CODEPAGE, (0x1F, 0x1013, "<p>Плати\0".encode("utf-16-le")))], "Плати"),
    ],
)
@pytest.mark.parametrize("kind", ["application/ms-tnef", "application/vnd.ms-tnef", "application/octet-stream"])
def test_the_text_in_a_winmail_dat_is_read(attributes: list[bytes], text: str, kind: str) -> None:
    message = parse(winmail(tnef(*attributes), kind))
    assert [found.strip() for found in message.texts] == [text] and not message.truncations


def test_attachments_in_a_winmail_dat_are_parts_and_those_that_are_text_are_read() -> None:
    files = [("bill.html", PAGE), ("a.exe", b"MZ")]
    attributes = [
        attribute(0x69002, b"") + attribute(0x18010, name.encode() + b"\0") + attribute(0x6800F, content)
        for name, content in files
    ]
    assert parse(winmail(tnef(*attributes))).links == ("http://pay.example/",)
    assert {"attachment:html", "attachment:exe"} <= set(Reader().tokens(winmail(tnef(*attributes))))
    assert 10 < Reader().tokens(winmail(tnef(*attributes * 100)))["attachment:exe"] <= 100


def test_what_of_winmail_dat_is_not_read_is_told() -> None:
    rtf = properties((0x102, 0x1009, RTF))
    assert parse(winmail(tnef(rtf))).truncations == ("tnef",) and parse(winmail(tnef(rtf))).texts == ()
    assert parse(winmail(tnef(rtf, attribute(0x2800C, b"Pay here\0")))).truncations == ()
    parts = b"".join(b"--b\n" + winmail(tnef(attribute(0x2800C, b"x"))) for _ in range(9))
    assert parse(b"Content-Type: multipart/mixed; boundary=b\n\n" + parts).truncations == ("tnef",)


def test_any_bytes_of_a_winmail_dat_may_be_others() -> None:
    chance = random.Random(5)
    whole = tnef(attribute(0x2800C, b"x"), properties((0x102, 0x1009, RTF), (0x1F, 0x1000, b"a\0")))
    for n in range(len(whole)):
        spoilt = bytearray(whole)
        spoilt[chance.randrange(n + 1)] = chance.randrange(256)
        assert all("attachment:dat" in Reader().tokens(winmail(document)) for document in (whole[:n], bytes(spoilt)))


# S/MIME

ENTITY = b"Content-Type: text/html\r\n\r\n" + PAGE


def smime(octets: bytes, kind: str = "application/pkcs7-mime") -> bytes:
    return mail(octets, f"{kind}; smime-type=signed-data", "smime.p7m")


@pytest.fixture(scope="module", params=["-nodetach", "-stream"])
def signed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[bytes], bytes]:
    """Signs an entity as openssl does, in one piece or in several."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    key, certificate = (str(tmp_path_factory.getbasetemp() / name) for name in ("key", "certificate"))
    subject = ["-subj", "/CN=example.org", "-days", "2", "-nodes", "-keyout", key, "-out", certificate]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", *subject], check=True, capture_output=True)
    command = ["openssl", "smime", "-sign", "-signer", certificate, "-inkey", key, "-nodetach", "-binary"]
    form = [request.param, "-outform", "DER"]
    return lambda entity: subprocess.run([*command, *form], input=entity, check=True, capture_output=True).stdout


@pytest.mark.parametrize("kind", ["application/pkcs7-mime", "application/x-pkcs7-mime", "application/octet-stream"])
def test_the_message_within_a_signature_is_read(signed: Callable[[bytes], bytes], kind: str) -> None:
    message = parse(smime(signed(ENTITY), kind))
    assert message.texts[0].strip() == "Pay here" and message.links == ("http://pay.example/",)
    assert {f"part:{kind}", "part:text/html"} <= set(Reader().tokens(smime(signed(ENTITY), kind)))
    long = ENTITY + b"".join(b"<p>%d" % number for number in range(9999)) + b"<p>end"
    assert parse(smime(signed(long), kind)).texts[0].endswith("end")


def test_what_is_no_signed_text_is_a_part_without_text(signed: Callable[[bytes], bytes]) -> None:
    whole = signed(ENTITY)
    encrypted = whole.replace(bytes.fromhex("06092a864886f70d010702"), bytes.fromhex("06092a864886f70d010703"))
    broken = [whole[:n] for n in range(40)]
    for octets in (b"", b"0", encrypted, *broken, b"\x30\x80" * 9000, b"\x30\x89" + b"\xff" * 99):
        assert signed_content(octets) == b"" and not parse(smime(octets)).texts
    for i in range(100):
        for byte in (0, 4, 0x24, 0x30, 0x80, 0x84, 0xFF):
            assert isinstance(signed_content(whole[:i] + bytes([byte]) + whole[i + 1 :]), bytes)
