"""Character references that are looked up are those that the pattern finds."""

from __future__ import annotations

from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.message import references
from spamnb.message.references import KNOWN, MAX_PIECES, resolve_references

PIECES = st.sampled_from([
    b"&", b"&amp", b"&amp;", b"&nbsp;", b"nbsp;", b"&lt;b&gt;", b"&copy2", b"&copy=", b"#39;", b"&#39;", b"&#xa0;",
    b"&NBSP;", b"&zwnj;=", b"&;", b"&nosuch;", b"&#", b"&#x110000;", b"a", b";", b"=", b"&amp;lt;",
])  # fmt: skip


@given(st.lists(PIECES, max_size=20).map(b"".join), st.booleans())
def test_looking_up_changes_nothing(octets: bytes, in_attribute: bool) -> None:
    by_pattern = references.REFERENCE.sub(references._in_attribute if in_attribute else references._in_text, octets)
    assert resolve_references(octets, in_attribute) == by_pattern


def test_what_is_looked_up_is_what_the_standard_says() -> None:
    for name, octets in KNOWN.items():
        assert unescape("&" + name.decode()) == octets.decode()


@pytest.mark.parametrize("octets", [b"&nbsp;", b"&", b"&nosuch;"])
def test_as_many_as_there_may_be_are_resolved(octets: bytes) -> None:
    expected = {b"&nbsp;": "\xa0"}.get(octets, octets.decode())
    assert resolve_references(octets * (3 * MAX_PIECES)).decode() == expected * (3 * MAX_PIECES)
