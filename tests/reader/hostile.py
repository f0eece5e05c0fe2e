"""Messages of any size that were made to take a reader much time or memory: a beginning, and what follows again and
again."""

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
    "formatting around blocks": (HTML, b"<b>" * 250 + b"<div>" * 250 + b"</b>" * 250 + b"</div>" * 250),
    "unclosed formatting in tables": (HTML, b"<table><b>"),
    "end tags of nothing": (HTML + b"<x>" + b"<y>" * 500, b"</z>"),
    "table rows": (HTML, b"<table><tr>x"),
    "nested links": (HTML, b"<a href=http://a.example>www.b.example<table>"),
    "attributes": (HTML + b"<p ", b"a=b "),
    "style attributes": (HTML + b"<p ", b"style=color:red "),
    "classes and rules": (HTML + CLASSES, b"<p class='" + b" ".join(b"c%d" % i for i in range(32)) + b"'>"),
    "rules for any element": (HTML + b"<style>" + b"*{color:red}" * 3000 + b"</style>", b"<p id=a%d>"),
    "many rules": (HTML + b"<style>", b"".join(b".c%d{display:none}" % i for i in range(1000))),
    "braces": (HTML + b"<style>", b"{"),
    "rules in rules": (HTML + b"<style>", b"a{"),
    "media in media": (HTML + b"<style>", b"@media screen{"),
    "selectors in selectors": (HTML + b"<style>", b"p:not("),
    "selectors": (HTML + b"<style>", b"b,"),
    "functions": (HTML + b"<style>a{color:", b"color-mix(in srgb,"),
    "declarations": (HTML + b"<p style='", b"color:red;"),
    "styles": (HTML, b"".join(b"<p style='color:#%06x'>x" % i for i in range(4000))),
    "late sheets": (HTML, b"<p>x<style>p{color:red}</style>"),
    "references": (HTML, b"&&nGt&amp&#x1"),
    "comments": (HTML, b"<!--"),
    "raw text": (HTML + b"<title>", b"</titl"),
    "links": (HTML, b"".join(b"<a href=http://h%d.example/?u=http%%3a//i.de>c.example</a>" % i for i in range(99))),
    "an endless link": (HTML + b"<a href='http://a.example/?u=", b"=//%25http://"),
    "srcset": (HTML + b"<img srcset='", b"a.png 1x, "),
    # header sections
    "encoded words": (b"Subject: ", b"=?utf-8?q?"),
    "words one by one": (b"Subject: ", b"=?utf-8?q?a?= "),
    "parameters": (b"Content-Type: text/plain", b"; a*0*=b"),
    "parameters of parts": (MIXED, b"--b\nContent-Type: text/plain" + b"; a=b" * 25_000 + b"\n\nx\n"),
    "quotes in parameters": (b"Content-Type: text/plain; a=", b'"\\'),
    "fields": (b"", b"A: b\n"),
    "folded": (b"Subject: a", b"\n b"),
    "blank continuations": (b"Subject: x\n", b" \n"),
    # parts
    "boundaries": (MIXED, b"--b\n"),
    "false boundaries": (MIXED, b"--bx\n"),
    "depth": (b"", b"Content-Type: multipart/mixed; boundary=b\n\n--b\n"),
    "messages in messages": (b"", b"Content-Type: message/rfc822\n\n"),
    "base64 in pieces": (BASE64, b"YQ=="),
    "base64 lines": (BASE64, b"Some words here.\naGVsbG8gYWdhaW4gYW5kIGFnYWlu\n"),
    "base64 and blanks": (BASE64, b"A "),
    "parts of base64": (MIXED, b"--b\n" + BASE64 + b"A=\n" * 9000),
    "soft breaks": (QUOTED, b"= "),
    # texts
    "letters apart": (b"\n", b"a "),
    "one word": (b"\n", b"a"),
    "inner punctuation": (b"\n", b"a."),
    "punctuation": (b"\n", b"!?"),
    "dots": (b"\nhttp://", b"a."),
    "www": (b"\n", b"www."),
    "schemes": (b"\n", b"http://"),
    "accents": (PLAIN + b"a", "\u0301".encode()),
    "unspaced": (PLAIN, "\u96fb".encode()),
    "dakuten": (PLAIN, "\u30ab\uff9e".encode()),
    "broken characters": (PLAIN, b"\xe0\x80"),
    "NUL": (b"\n", b"a\0"),
    "line ends": (b"Subject: a\r\n\r\n", b"a\r"),
}  # fmt: skip
NAMES = tuple(_FORMS)


def hostile(name: str, size: int) -> bytes:
    """One of them, of about so many bytes."""
    begin, again = _FORMS[name]
    return begin + again * max(1, (size - len(begin)) // len(again))
