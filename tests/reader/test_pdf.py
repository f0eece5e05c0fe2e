import base64
import multiprocessing
import os
import time
import zlib

import pytest

from spamnb.reader import pdf
from spamnb.reader.message import Reader, parse
from spamnb.reader.pdf_process import MAX_CHARACTERS, MAX_CONTENT, MAX_PAGES

pytest.importorskip("pypdf")


def made(pages: list[bytes], link: bytes = b"http://pay.example/bill", compress: bool = True) -> bytes:
    """A document of pages with these drawing commands, on each of which one link stands."""
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
    out = b"%PDF-1.4\n"
    offsets = []
    for i, each in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (i, each)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    trailer = b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<</Size %d/Root 1 0 R>>\n" % (size, table, size)
    return out + trailer + b"startxref\n%d\n%%%%EOF\n" % len(out)


def page(text: bytes) -> bytes:
    return b"BT /F 12 Tf 50 700 Td (" + text + b") Tj ET"


def mail(document: bytes, kind: str = "application/pdf", name: str = "bill.pdf") -> bytes:
    fields = f"Content-Type: {kind}\nContent-Disposition: attachment; filename={name}\n"
    return f"{fields}Content-Transfer-Encoding: base64\n\n".encode() + base64.encodebytes(document)


@pytest.mark.parametrize("kind", ["application/pdf", "application/octet-stream", "application/x-pdf"])
def test_text_and_links_of_an_attached_pdf_are_read(kind: str) -> None:
    raw = mail(made([page(b"Your invoice"), page(b"is overdue")]), kind)
    message = parse(raw)
    assert [text.split() for text in message.texts] == [["Your", "invoice", "is", "overdue"]]
    assert message.links == ("http://pay.example/bill",) * 2 and not message.cuts
    assert {"invoice", "is overdue", "url:pay.example"} <= set(Reader().tokens(raw))


def test_without_pypdf_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "is_available", lambda: False)
    message = parse(mail(made([page(b"Your invoice")])))
    assert not message.texts and not message.links and not message.cuts


def test_an_empty_document_is_not_one_that_was_cut() -> None:
    assert not parse(mail(b"")).cuts


def test_what_cannot_be_read_is_said_and_is_a_token() -> None:
    raw = mail(b"%PDF-1.4 broken")
    assert parse(raw).cuts == ("pdf",) and "cut:pdf" in Reader().tokens(raw)


@pytest.mark.parametrize(
    "document",
    [
        made([page(b"one")] * (MAX_PAGES + 1)),
        made([page(b"w " * MAX_CHARACTERS)]),
        made([page(b"one"), page(b"two") + b" q Q" * MAX_CONTENT]),
        made([page(b"one")]) + b"\n" * pdf.MAX_BYTES,
    ],
    ids=["pages", "characters", "commands", "bytes"],
)
def test_bounds(document: bytes) -> None:
    message = parse(mail(document))
    assert message.cuts == ("pdf",)
    assert sum(map(len, message.texts)) <= MAX_CHARACTERS and len(message.links) <= MAX_PAGES


def test_many_documents_are_not_all_read() -> None:
    part = mail(made([page(b"word")])).decode()
    body = "".join(f"--b\n{part}\n" for _ in range(5))
    message = parse(f"Content-Type: multipart/mixed; boundary=b\n\n{body}".encode())
    assert len(message.texts) == 3 and message.cuts == ("pdf",)


def test_a_document_that_takes_too_long_ends_its_process_and_keeps_the_pages_before() -> None:
    operators = b"BT /F 9 Tf " + b"(a)Tj " * 40_000 + b"ET"
    slow = made([page(b"first"), *[operators[:MAX_CONTENT]] * 4])
    assert pdf.read_pdf(made([page(b"quick")])).text.strip() == "quick"
    begin = time.process_time()
    text, links, is_whole = pdf.read_pdf(slow)
    assert text.startswith("first") and links and not is_whole and time.process_time() - begin < 5
    assert pdf.read_pdf(made([page(b"again")])).text.strip() == "again"


@pytest.mark.slow
def test_a_document_that_takes_memory_is_no_harm() -> None:
    bomb = zlib.compress(zlib.compress(b"\0" * (1 << 28), 9), 9)
    stream = b"<</Filter[/FlateDecode/FlateDecode]/Length %d>>stream\n%s\nendstream" % (len(bomb), bomb)
    document = made([page(b"x")], compress=False)
    at, end = document.index(b"<</Length"), document.index(b"\nendobj", document.index(b"<</Length"))
    text, _, is_whole = pdf.read_pdf(document[:at] + stream + document[end:])
    assert text == "" and not is_whole
    assert pdf.read_pdf(made([page(b"again")])).text.strip() == "again"


def test_a_process_that_is_gone_is_started_anew() -> None:
    document = made([page(b"here")])
    assert pdf.read_pdf(document).text
    pdf._running[0][1].kill()
    for _ in range(2):
        assert pdf.read_pdf(document).text.strip() == "here"


def _read_in_child(queue: multiprocessing.Queue) -> None:
    queue.put((pdf.read_pdf(made([page(b"child")])).text.strip(), pdf._running[0][0] == os.getpid()))
    pdf.end_process()


def test_a_forked_process_asks_a_process_of_its_own() -> None:
    assert pdf.read_pdf(made([page(b"parent")])).text.strip() == "parent"
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_read_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=120) == ("child", True)
    child.join()
    assert pdf.read_pdf(made([page(b"parent")])).text.strip() == "parent"
