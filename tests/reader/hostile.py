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
    "nested links": (HTML, b"<a href=http://a.example>www.b.example<table>"),
    "style attributes": (HTML + b"<p ", b"style=color:red "),
    "classes and rules": (HTML + CLASSES, b"<p class='" + b" ".join(b"c%d" % i for i in range(32)) + b"'>"),
    "many rules": (HTML + b"<style>", b"".join(b".c%d{display:none}" % i for i in range(1000))),
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
    "fields": (b"", b"A: b\n"),
    "blank continuations": (b"Subject: x\n", b" \n"),
    # parts
    "false boundaries": (MIXED, b"--bx\n"),
    "depth": (b"", b"Content-Type: multipart/mixed; boundary=b\n\n--b\n"),
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
}  # fmt: skip
NAMES = tuple(_FORMS)


def hostile(name: str, size: int) -> bytes:
    """One of them, of about so many bytes."""
    begin, again = _FORMS[name]
    return begin + again * max(1, (size - len(begin)) // len(again))
