"""Folders' names as servers write them, against RFC 3501's examples and the standard library's UTF-7."""

from __future__ import annotations

import os
import re

from hypothesis import example, given
from hypothesis import strategies as st

from spamnb.sources.folder_names import role_of
from spamnb.sources.modified_utf7 import decoded, encoded


def test_the_names_that_dovecot_made_on_disk() -> None:
    """Seen with Dovecot 2.3.19: CREATE of ``été`` and ``R&D`` made these folders; the last is RFC 3501's example."""
    on_disk = {"été": "&AOk-t&AOk-", "R&D": "R&-D", "~peter/mail/台北/日本語": "~peter/mail/&U,BTFw-/&ZeVnLIqe-"}
    for name, written in on_disk.items():
        assert encoded(name) == written and decoded(written) == name


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example("😀&é,/+~\\\0")
def test_what_is_encoded_is_printable_ascii_and_decodes_to_the_name(name: str) -> None:
    written = encoded(name)
    assert re.fullmatch("[ -~]*", written)
    assert decoded(written) == decoded(name)  # a name that is encoded already stays
    assert encoded(written) == written or "&" not in written.replace("&-", "")


@given(st.text(st.characters(min_codepoint=0xA0, exclude_categories=["Cs"]), min_size=1))
def test_letters_beyond_ascii_are_those_of_utf_7(name: str) -> None:
    assert encoded(name) == name.encode("utf-7").decode().replace("+", "&", 1).replace("/", ",")[: len(encoded(name))]
    base64 = encoded(name)[1:-1].replace(",", "/")
    assert f"+{base64}-".encode().decode("utf-7") == name


def test_every_name_is_taken() -> None:
    long = "&" * 300, "&" + "A" * 500 + "-"
    for name in ("&", "&-", "&&", "&A", "&A-", "&AAA-", "&2AA-", os.fsdecode(b"\xff"), *long):
        assert isinstance(decoded(name), str) and role_of(name) is None and isinstance(encoded(name), str)
    assert encoded(os.fsdecode(b"\xff")) == os.fsdecode(b"\xff")


def test_junk_in_other_languages_is_found_as_servers_write_it() -> None:
    for name in ("Нежелательная почта", "Indésirables", "迷惑メール", "สแปม", "דואר זבל", "Ανεπιθύμητα"):
        assert role_of(encoded(name)) == role_of(name) == "junk"
