"""S/MIME signed data (RFC 8551) → the signed entity. The signature is not verified."""

from __future__ import annotations

import re

# ContentInfo ::= SEQUENCE { SIGNED_DATA, [0] SignedData }
# SignedData ::= SEQUENCE { version, digest algorithms, SEQUENCE { DATA, [0] OCTET STRING }, ... }
SIGNED_DATA = bytes.fromhex("06092a864886f70d010702")
LENGTH = rb"(?:[\x00-\x80]|\x81.|\x82..|\x83...|\x84....)"  # \x80: no length; an end mark follows the value
DATA = re.escape(bytes.fromhex("06092a864886f70d010701"))
BEGIN = re.compile(DATA + rb"\xa0" + LENGTH + rb"(?:\x24" + LENGTH + rb")?(?=\x04)", re.DOTALL)
PIECE = re.compile(rb"\x04(?:([\x00-\x7f])|\x81(.)|\x82(..)|\x83(...)|\x84(....))", re.DOTALL)
MAX_PREFIX_BYTES = 4096  # before the entity there are only versions and digest algorithms, some 60 bytes
MAX_OCTET_STRINGS = 5000  # of the entity; mail programs write pieces of a kilobyte


def signed_content(octets: bytes) -> bytes:
    """Return the entity in PKCS #7 signed data, in DER or BER (RFC 5652); empty if there is none, as in encrypted mail.

    >>> der = bytes.fromhex("301e06092a864886f70d010702a011300f020101310030080609 2a864886f70d010701a0050403") + b"abc"
    >>> signed_content(der)
    b'abc'
    """
    outer = octets.find(SIGNED_DATA, 0, MAX_PREFIX_BYTES)
    begin = BEGIN.search(octets, outer, MAX_PREFIX_BYTES) if outer >= 0 else None
    position = begin.end() if begin else len(octets)
    pieces: list[bytes] = []
    while len(pieces) < MAX_OCTET_STRINGS and (piece := PIECE.match(octets, position)):
        size = int.from_bytes(b"".join(filter(None, piece.groups())), "big")
        position = piece.end() + size
        pieces.append(octets[piece.end() : position])
    return b"".join(pieces)
