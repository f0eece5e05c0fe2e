import base64
import shutil
import subprocess
from pathlib import Path

import pytest

from spamnb.reader.message import parse
from spamnb.reader.smime import signed_content

ENTITY = b"Content-Type: text/html\r\n\r\n<p>Pay <a href='http://pay.example/'>here</a></p>\r\n"
OID_SIGNED, OID_DATA = bytes.fromhex("06092a864886f70d010702"), bytes.fromhex("06092a864886f70d010701")


def der(tag: int, *contents: bytes) -> bytes:
    """A value with its length in as many bytes as it takes."""
    body = b"".join(contents)
    size = len(body).to_bytes(4, "big")
    return bytes([tag]) + (bytes([len(body)]) if len(body) < 128 else b"\x84" + size) + body


def unmeasured(tag: int, *contents: bytes) -> bytes:
    """A value of no stated length."""
    return bytes([tag, 0x80]) + b"".join(contents) + b"\0\0"


def signed(content: bytes, pieces: bool = False) -> bytes:
    """``content`` as OpenSSL packs it, in DER or, in pieces, in BER; without a signer."""
    value = unmeasured if pieces else der
    cut = [der(4, content[i : i + 9]) for i in range(0, len(content), 9)]
    octets = value(0x24, *cut) if pieces else der(4, content)
    digests = unmeasured(0x31, der(0x30, der(6, b"\x60\x86"))) if pieces else der(0x31)
    info = value(0x30, OID_DATA, value(0xA0, octets))
    return value(0x30, OID_SIGNED, value(0xA0, value(0x30, der(2, b"\1"), digests, info, der(0x31))))


def mail(octets: bytes, name: str = "smime.p7m", kind: str = "application/pkcs7-mime; smime-type=signed-data") -> bytes:
    fields = f"Content-Type: {kind}; name={name}\nContent-Transfer-Encoding: base64\n\n"
    return fields.encode() + base64.encodebytes(octets)


@pytest.mark.parametrize("pieces", [False, True])
@pytest.mark.parametrize("kind", ["application/pkcs7-mime", "application/x-pkcs7-mime", "application/octet-stream"])
def test_the_message_within_a_signature_is_read(pieces: bool, kind: str) -> None:
    message = parse(mail(signed(ENTITY, pieces), kind=kind))
    assert message.texts == ("Pay here\n\n",) and message.links == ("http://pay.example/",)
    assert [part.content_type for part in message.parts] == [kind, "text/html"]


def test_signatures_within_signatures_are_read_to_a_depth() -> None:
    entity = ENTITY
    for _ in range(5):
        entity = mail(signed(entity))
    assert parse(entity).links == ("http://pay.example/",)
    for _ in range(20):
        entity = mail(signed(entity[:200_000]))
    assert not parse(entity).texts and parse(entity).cuts


def test_what_is_no_signed_text_is_a_part_without_text() -> None:
    whole = signed(ENTITY)
    encrypted = whole.replace(OID_SIGNED, OID_SIGNED[:-1] + b"\3")
    broken = [whole[:n] for n in range(40)]
    for octets in (b"", b"0", encrypted, *broken, b"\x30\x80" * 9000, b"\x30\x89" + b"\xff" * 99):
        assert signed_content(octets) == b"" and not parse(mail(octets)).texts


def test_any_byte_may_be_another() -> None:
    whole = signed(ENTITY, True)
    for i in range(len(whole)):
        for byte in (0, 4, 0x24, 0x30, 0x80, 0x84, 0xFF):
            signed_content(whole[:i] + bytes([byte]) + whole[i + 1 :])


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_what_openssl_signed_is_read(tmp_path: Path) -> None:
    key, certificate = str(tmp_path / "key"), str(tmp_path / "certificate")
    subject = ["-subj", "/CN=example.org", "-days", "2", "-nodes"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", *subject, "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    for form in (["-nodetach"], ["-nodetach", "-stream"]):
        command = ["openssl", "smime", "-sign", "-signer", certificate, "-inkey", key, *form]
        raw = subprocess.run(command, input=ENTITY, check=True, capture_output=True).stdout
        assert [text.strip() for text in parse(raw).texts] == ["Pay here"], form
