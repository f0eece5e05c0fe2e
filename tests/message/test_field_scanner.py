"""The fields that the scanner finds are those that patterns find."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from uncompiled import uncompiled

from spamnb.message.field_scanner import FieldScanner
from spamnb.message.headers import VOLATILE_FIELD

with uncompiled("spamnb.message.field_scanner") as (source,):
    SourceScanner = source.FieldScanner

FOLDED = r"[^\n]*+(?:\n[ \t][^\n]*+)*+"
SECTION = re.compile(rb"(?:[!-9;-~]++:%b(?:\n|\Z))*+" % FOLDED.encode())
FIELD = re.compile(rf"^([!-9;-~]++):[ \t]*+({FOLDED})", re.MULTILINE)
PIECES = st.sampled_from([
    b"\n", b"\n\n", b"\n ", b"\t", b":", b": ", b"A", b"Subject: ", b"\nX-Spam-Flag: YES", b"\nlines:",
    b"\nStatus: R\n O", b"caf\xe9", b"\x7f", b"a b", b"a" * 101,
])  # fmt: skip


@given(st.lists(PIECES, max_size=30).map(b"".join), st.integers(0, 60), st.integers(0, 200))
def test_fields_are_those_of_patterns(data: bytes, start: int, limit: int) -> None:
    limit = min(limit, len(data))
    start = min(start, limit)
    stop = SECTION.match(data, start, limit).end()  # type: ignore[union-attr]
    fields = [(name, value.replace("\n", "")) for name, value in FIELD.findall(data[start:stop].decode("latin-1"))]
    lasting = VOLATILE_FIELD.sub(b"", b"\n" + data[start:stop]).strip(b"\n")
    for scanner in (FieldScanner(), SourceScanner()):
        assert scanner.scan(data, start, limit) == stop
        assert scanner.values(1000) == fields
        assert scanner.values(1) == fields[:1]
        assert scanner.lasting() == lasting


def test_names_that_are_kept_are_bounded() -> None:
    n_names = 3 * source.MAX_KEPT
    section = b"".join(b"X-%d: y\n" % number for number in range(n_names)) + b"%b: y\n" % (b"n" * 101)
    for scanner in (FieldScanner(), SourceScanner()):
        assert scanner.scan(section, 0, len(section)) == len(section)
        assert len(scanner.names) == n_names + 1
        assert scanner.values(n_names + 1)[-2:] == [(f"X-{n_names - 1}", "y"), ("n" * 101, "y")]
    assert len(source.NAMES) <= source.MAX_KEPT
