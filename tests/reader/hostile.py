"""Messages that were made to take a reader much time or memory, by what they do."""

HTML = b"Content-Type: text/html\n\n"


def multipart(depth: int) -> bytes:
    """Parts within parts."""
    parts = [b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (i, i) for i in range(depth)]
    return b"".join(parts) + b"\ntext\n"


MESSAGES = {
    "open tags": HTML + b"<div>" * 200_000,
    "open spans and end tags": HTML + b"<span>" * 500 + b"<i></p>" * 100_000,
    "formatting opened again": HTML + b"".join(b"<font color=#%06d>" % i for i in range(64)) + b"<p>x" * 100_000,
    "formatting around blocks": HTML + (b"<b>" * 250 + b"<div>" * 250 + b"</b>" * 250 + b"</div>" * 250) * 100,
    "table rows": HTML + b"<table><tr>x" * 80_000,
    "attributes": HTML + b"<p " + b"a=b " * 200_000 + b">x",
    "classes and rules": HTML
    + b"<style>"
    + b"".join(b".c%d{color:red}" % i for i in range(3000))
    + b"</style>"
    + (b"<p class='" + b" ".join(b"c%d" % i for i in range(32)) + b"'>") * 3000,
    "rules for any element": HTML + b"<style>" + b"*{color:red}" * 3000 + b"</style>" + b"<p id=a%d>" * 50_000,
    "braces": HTML + b"<style>" + b"{" * 200_000 + b"</style>x",
    "rules in rules": HTML + b"<style>" + b"a{" * 200_000 + b"</style>x",
    "media in media": HTML + b"<style>" + b"@media screen{" * 50_000 + b"</style>x",
    "brackets": HTML + b"<style>" + b"a(" * 200_000 + b"</style>x",
    "declarations": HTML + b"<p style='" + b"color:red;" * 100_000 + b"'>x",
    "styles": HTML + b"".join(b"<p style='color:#%06x'>x" % i for i in range(40_000)),
    "late sheets": HTML + b"<p>x<style>p{color:red}</style>" * 20_000,
    "references": HTML + b"&" * 500_000 + b"&nGt" * 50_000,
    "comments": HTML + b"<!--" * 100_000 + b"--" * 100_000,
    "raw text": HTML + b"<title></titl" * 80_000,
    "links": HTML
    + b"".join(
        b"<a href=http://h%d.example/?u=http%%3a//i%d.example>http://b.example</a>" % (i, i) for i in range(12_000)
    ),
    "srcset": HTML + b"<img srcset='" + b"a.png 1x, " * 80_000 + b"'>",
    "encoded words": b"Subject: " + b"=?utf-8?q?" * 20_000 + b"\n\nx",
    "words one by one": b"Subject: " + b"=?utf-8?q?a?= " * 15_000 + b"\n\nx",
    "parameters": b"Content-Type: text/plain" + b"; a*0*=b" * 25_000 + b"\n\nx",
    "header lines": b"a\n" * 120_000 + b"\nx",
    "fields": b"A: b\n" * 50_000 + b"\nx",
    "folded": b"Subject: a" + b"\n b" * 80_000 + b"\n\nx",
    "boundaries": b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n" * 200_000,
    "false boundaries": b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--bx\n" * 200_000,
    "depth": multipart(3000),
    "messages in messages": b"Content-Type: message/rfc822\n\n" * 30_000,
    "base64 in pieces": b"Content-Transfer-Encoding: base64\n\n" + b"YQ==" * 200_000,
    "base64 lines": b"Content-Transfer-Encoding: base64\n\n"
    + b"Some words here.\naGVsbG8gYWdhaW4gYW5kIGFnYWlu\n" * 20_000,
    "soft breaks": b"Content-Transfer-Encoding: quoted-printable\n\n" + b"=" + b" " * 900_000,
    "letters apart": b"\n" + b"a " * 400_000,
    "one word": b"\n" + b"a" * 900_000,
    "inner punctuation": b"\n" + b"a." * 450_000,
    "punctuation": b"\n" + b"!?" * 450_000,
    "dots": b"\nhttp://" + b"a." * 450_000,
    "www": b"\n" + b"www." * 220_000,
    "schemes": b"\n" + b"http://" * 120_000,
    "accents": b"\na" + "\u0301".encode() * 400_000,
    "unspaced": b"\n" + "電".encode() * 300_000,
    "dakuten": b"\n" + "\u30ab\uff9e".encode() * 120_000,
    "broken characters": b"\n" + b"\xe0\x80" * 400_000,
    "uuencoded": b"\n" + b"begin 644 a\n" * 60_000,
    "NUL": b"\n" + b"a\0" * 400_000,
    "line ends": b"Subject: a\r\n\r\n" + b"a\r" * 400_000,
}
