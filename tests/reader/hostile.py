"""Messages that were made to get past a reader, to end it or to take it much time or memory.

``hostile``: of any size, a beginning and what follows again and again. ``made``: those of the folder ``hostile``.
"""

import base64
import gzip
from pathlib import Path

FOLDER = Path(__file__).with_name("hostile")

HTML = b"Content-Type: text/html\n\n"
PLAIN = b"Content-Type: text/plain; charset=utf-8\n\n"
MIXED = b"Content-Type: multipart/mixed; boundary=b\n\n"
BASE64 = b"Content-Transfer-Encoding: base64\n\n"
QUOTED = b"Content-Transfer-Encoding: quoted-printable\n\n"
CLASSES = b"<style>" + b"".join(b".c%d{color:red}" % i for i in range(3000)) + b"</style>"

_FORMS: dict[str, tuple[bytes, bytes]] = {
    # pages
    "open tags": (HTML, b"<div>"),
    "formatting in paragraphs": (HTML + b"".join(b"<font color=#%06d>" % i for i in range(64)), b"<p>x"),
    "long declarations of formatting in paragraphs": (
        HTML + b"<p><b style='" + b"color:red;" * 30_000 + b"'>x", b"<p>x"
    ),
    "many classes of formatting in paragraphs": (
        HTML + b"<style>.a{color:red} .b .a{color:#111}</style><p><b class='" + b"a b c " * 50_000 + b"'>x", b"<p>x"
    ),
    "formatting around blocks": (HTML, b"<b>" * 250 + b"<div>" * 250 + b"</b>" * 250 + b"</div>" * 250),
    "unclosed formatting in tables": (HTML, b"<table><b>"),
    "end tags of nothing": (HTML + b"<x>" + b"<y>" * 500, b"</z>"),
    "nested links": (HTML, b"<a href=http://a.example>www.b.example<table>"),
    "style attributes": (HTML + b"<p ", b"style=color:red "),
    "classes and rules": (HTML + CLASSES, b"<p class='" + b" ".join(b"c%d" % i for i in range(32)) + b"'>"),
    "many rules": (HTML + b"<style>", b"".join(b".c%d{display:none}" % i for i in range(1000))),
    "parts of a long id": (HTML + b"<p id=" + b"a" * 150_000 + b"><style>", b"[id*=" + b"a" * 20 + b"b]{color:red}"),
    "slashes": (HTML, b"<p style=background:" + b"0/" * 50_000 + b">"),
    "rules in rules": (HTML + b"<style>", b"a{"),
    "selectors in selectors": (HTML + b"<style>", b"p:not("),
    "selectors": (HTML + b"<style>", b"b,"),
    "declarations": (HTML + b"<p style='", b"color:red;"),
    "references": (HTML, b"&&nGt&amp&#x1"),
    "comments": (HTML, b"<!--"),
    "an endless link": (HTML + b"<a href='http://a.example/?u=", b"=//%25http://"),
    # header sections
    "encoded words": (b"Subject: ", b"=?utf-8?q?"),
    "words one by one": (b"Subject: ", b"=?utf-8?q?a?= "),
    "parameters of parts": (MIXED, b"--b\nContent-Type: text/plain" + b"; a=b" * 25_000 + b"\n\nx\n"),
    "quotes in parameters": (b"Content-Type: text/plain; a=", b'"\\'),
    "comments in parameters": (b"Content-Type: text/plain; a=", b"(a\\"),
    "parts with comments": (MIXED, b"--b\nContent-Type: text/plain" + b";(a(" * 2500 + b"\n\nx\n"),
    "fields": (b"", b"A: b\n"),
    "lines that are no fields": (MIXED, b"--b\nTo: x\n" + b"a\n" * 8000 + b"To: x\n\n"),
    "raw fields": (PLAIN[:-1], b"To: \xe9\n"),
    "blank continuations": (b"Subject: x\n", b" \n"),
    # parts
    "false boundaries": (MIXED, b"--bx\n"),
    "depth": (b"", b"Content-Type: multipart/mixed; boundary=b\n\n--b\n"),
    "multiparts without their boundary": (
        b"", b"".join(b"%s: multipart/mixed; boundary=x\n%s--b%d\n" % (MIXED[:12], BASE64, i) for i in range(9999))
    ),
    "epilogues": (MIXED, b"--b\n\nx\n--b--\n--c\nContent-Type: x\n\n--c--\n--c\nContent-Type: y\n\n"),
    "messages in messages": (b"", b"Content-Type: message/rfc822\n\n"),
    "base64 lines": (BASE64, b"Some words here.\naGVsbG8gYWdhaW4gYW5kIGFnYWlu\n"),
    "base64 and blanks": (BASE64, b"A "),
    "parts of base64": (MIXED, b"--b\n" + BASE64 + b"A=\n" * 9000),
    "soft breaks": (QUOTED, b"= "),
    # texts
    "letters apart": (b"\n", b"a "),
    "one word": (b"\n", b"a"),
    "inner punctuation": (b"\n", b"a."),
    "punctuation": (b"\n", b"!?"),
    "accents": (PLAIN + b"a", "\u0301".encode()),
    "dakuten": (PLAIN, "\u30ab\uff9e".encode()),
    "broken characters": (PLAIN, b"\xe0\x80"),
    "line ends": (b"Subject: a\r\n\r\n", b"a\r"),
    # ever new ones
    "all characters": (PLAIN + "".join(map(chr, range(0x20000, 0x60000))).encode(), b"x"),
    "characters of all blocks": (PLAIN + "".join([chr(n * 41 % 0xD800) for n in range(0xD800)]).encode(), b"x"),
    "letters without a blank": (PLAIN, "".join([chr(0x4E00 + n * n % 20_000) for n in range(99_991)]).encode()),
    "parts of a word": (PLAIN, b"".join([b"%x-" % (n * n) for n in range(99_991)])),
    "charsets of words": (b"Subject: ", b"".join([b"=?c%x?q?=E9?=" % n for n in range(70_000)])),
    "charsets of parts": (
        MIXED, b"".join([b"--b\nContent-Type: text/a; charset=c%x\n\n\xe9\n" % n for n in range(25_000)])
    ),
    "charsets of pages": (
        MIXED, b"".join([b"--b\n%b<meta charset=c%x>\xe9\n" % (HTML, n) for n in range(20_000)])
    ),
    "hosts": (HTML, b"".join([b"<a href=//xn--%x-ecp.xn--a-ecp>" % n for n in range(30_000)])),
    "hosts of letters": (HTML, "".join([f"<a href=//{chr(0x4E00 + n % 20_000) * 60}>" for n in range(5000)]).encode()),
    "unknown elements": (
        HTML + b"".join([b"<x%0200d>" % n for n in range(500)]), b"".join([b"</y%0200d>" % n for n in range(4000)])
    ),
    "classes": (
        HTML + CLASSES, b"".join([b"<p class=c%d style=color:#%03x>x" % (n % 3000, n % 4096) for n in range(30_000)])
    ),
    "signed data": (
        MIXED, b"--b\nContent-Type: application/pkcs7-mime\n" + BASE64
        + base64.encodebytes(bytes.fromhex("06092a864886f70d010702") * 370)
    ),
    "words of fields": (b"", b"".join([b"X-%d: %x %x %x\n" % (n, n * n, n + 2, n * 3) for n in range(40_000)])),
    "fields that count": (b"", b"To: a@b.example\n"),
    "broken fields": (MIXED, b"--b\nContent-Type: text/plain\nx\nContent-Type: text/html\n\n"),
    "repeated fields": (b"Content-Type: a/b\n" * 900 + MIXED, b"--b\nContent-Type: a/b\nContent-Type: c/d\n\nx\n"),
    "readings of readings": (
        b"".join([
            b"Content-Type: multipart/mixed; boundary=b%d\nContent-Type: multipart/mixed;boundary=b%d\n"
            b"Content-Transfer-Encoding: 8bit\nContent-Transfer-Encoding: 7bit\n\n--b%d\n" % (n, n, n)
            for n in range(7)
        ]) + HTML, b"<p>x"
    ),
    "readings of long fields": (
        b"".join([
            b"Content-Type: multipart/mixed; boundary=b%d\nContent-Type: multipart/mixed;boundary=b%d\n"
            b"Content-Transfer-Encoding: 8bit\nContent-Transfer-Encoding: 7bit\n\n--b%d\n" % (n, n, n)
            for n in range(6)
        ]) + b"Content-Type: text/plain" + b"; a=b" * 2400 + b"\nContent-Type: text/html" + b"; a=b" * 2400
        + b"\nContent-Disposition: inline" + b"; a=b" * 2400
        + b"\nContent-Transfer-Encoding: 8bit\nContent-Transfer-Encoding: 7bit\n\n", b"x"
    ),
    "empty parts": (MIXED, b"--b\nA:\n\n"),
    "pieces of parameters": (
        MIXED, b"--b\nContent-Type: a/b" + b"".join([b";name*%d*=a" % max(99 - n, 0) for n in range(900)]) + b"\n\nx\n"
    ),
    "controls": (PLAIN, b"a\1b\2"),
    "elements in words": (HTML, b"a<img>b"),
    "formatting of pages": (
        MIXED, b"--b\n" + HTML + b"".join([b"<font color=#%06d>" % n for n in range(20)]) + b"<p>x" * 2000 + b"\n"
    ),
    "pages in pages": (HTML, b"<iframe srcdoc='<iframe srcdoc=x>'>"),
    "alternative texts": (HTML, b"<img alt=a>"),
    "pictures": (HTML, b"<svg><p><style>"),
    "uuencode": (b"Content-Transfer-Encoding: x-uuencode\n\nbegin 644 x\n", b"#86)C\n"),
    "user names": (HTML, b"<a href='http://" + b"a@" * 3000 + b"'>"),
}  # fmt: skip
NAMES = tuple(_FORMS)


def hostile(name: str, size: int) -> bytes:
    """One of them, of about so many bytes."""
    begin, again = _FORMS[name]
    return (begin + again * max(1, (size - len(begin)) // len(again)))[: max(size, 1000)]


def made() -> dict[str, bytes]:
    """Return the messages of the folder by their names without suffixes."""
    files = {path.name.partition(".")[0]: path for path in sorted(FOLDER.iterdir())}
    return {
        name: gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for name, path in files.items()
    }
