"""S/MIME, signed as a whole (RFC 8551): the entity within the signature. Whether it is valid nobody asks here."""

from __future__ import annotations

OCTETS, OCTETS_IN_PIECES, EXPLICIT = 0x04, 0x24, 0xA0
# ContentInfo ::= SEQUENCE { SIGNED_DATA, [0] SignedData }
# SignedData ::= SEQUENCE { version, digest algorithms, SEQUENCE { DATA, [0] OCTET STRING }, ... }
SIGNED_DATA = bytes.fromhex("06092a864886f70d010702")
DATA = bytes.fromhex("06092a864886f70d010701")
MAX_BEFORE = 4096  # bytes before the entity
MAX_PIECES = 5000  # programs write a text in pieces of a kilobyte


def signed_content(octets: bytes) -> bytes:
    """The entity in PKCS #7 signed data, in DER or BER (RFC 5652); empty where there is none, as in encrypted mail.

    >>> der = bytes.fromhex("301e06092a864886f70d010702a011300f020101310030080603") + b"..."
    >>> signed_content(der)
    b''
    """
    begin = octets.find(SIGNED_DATA, 0, MAX_BEFORE)
    position = octets.find(DATA, begin, MAX_BEFORE)
    pieces = []
    try:
        if begin < 0 or position < 0:
            return b""
        position, _ = _enter(octets, position + len(DATA), EXPLICIT)
        if octets[position] == OCTETS:
            begin, end = _enter(octets, position, OCTETS)
            return octets[begin:end]
        position, end = _enter(octets, position, OCTETS_IN_PIECES)
        for _ in range(MAX_PIECES):
            if position >= end or octets[position : position + 1] != b"\x04":  # the end, or its mark
                break
            begin, position = _enter(octets, position, OCTETS)
            pieces.append(octets[begin:position])
    except IndexError:  # it ends within a value, or is no signed data
        return b""
    return b"".join(pieces)


def _enter(octets: bytes, position: int, tag: int) -> tuple[int, int]:
    """Where the contents of the value at ``position``, which must have this tag, begin and end; without a length they
    end with all there is."""
    if octets[position] != tag:
        raise IndexError("another value")
    begin, size = position + 2, octets[position + 1]
    if size == 0x80:
        return begin, len(octets)
    if size > 0x80:
        n_bytes = size & 0x7F
        if n_bytes > 8:
            raise IndexError("a length of too many bytes")
        size, begin = int.from_bytes(octets[begin : begin + n_bytes], "big"), begin + n_bytes
    return begin, min(begin + size, len(octets))
