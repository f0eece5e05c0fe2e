"""A mailbox as Google Takeout writes it."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest

from spamnb.errors import SpamnbError
from spamnb.message.parse import parse
from spamnb.sources.gmail import labels
from spamnb.sources.spec import entries
from spamnb.tokens.tokenizer import Tokenizer


def message(subject: str, gmail: str) -> str:
    return (
        f"From 1786112233445566778@xxx Mon Jan 01 10:00:00 +0000 2024\nX-GM-THRID: 1786112233445566778\n{gmail}"
        f"Delivered-To: me@gmail.com\nSubject: {subject}\n\n>From here on\n\n"
    )


TAKEOUT = [
    message("in", 'X-Gmail-Labels: Inbox,Important,Opened,"Category promotions"\n'),
    message("junk", "X-Gmail-Labels: Spam,Unread\n"),
    message("trash", "X-Gmail-Labels: Trash,Opened\n"),
    message("draft", "X-Gmail-Labels: Drafts\n"),
    message("sent", "X-Gmail-Labels: Sent,Inbox\n"),
    message("chat", "X-Gmail-Labels: Chat\n"),
    message("Entwurf", "X-Gmail-Labels: =?UTF-8?Q?Entw=C3=BCrfe,Ge=C3=B6ffnet?=\n"),
    message("folded", "X-Gmail-Labels: =?UTF-8?Q?Ge=C3=B6ffnet,?=\n =?UTF-8?Q?Spam?=\n"),
    message("comma", 'X-Gmail-Labels: "Trash, sorted",Archived\n'),
    message("bare", ""),
    message("forged", "X-Gmail-Labels: Spam\n").replace("Subject", "X-Gmail-Labels: Sent\nSubject"),
]


def read(spec: str) -> tuple[list[tuple[str | None, str]], list[str]]:
    told: list[str] = []
    found = list(entries([spec], lambda name, error: told.append(f"{name}: {error}")))
    for entry in found:
        assert entry.read().endswith(b"\nFrom here on\n")
    return [(entry.label, entry.read().decode().split("Subject: ")[1].splitlines()[0]) for entry in found], told


@pytest.mark.parametrize("name", ["All mail.mbox", "All mail.mbox.gz"])
def test_classes_go_by_labels(tmp_path: Path, name: str) -> None:
    raw = "".join(TAKEOUT).encode()
    folder = tmp_path / "Takeout" / "Mail"
    folder.mkdir(parents=True)
    (folder / name).write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    for spec in (f"gmail:{folder}/{name}", f"gmail:{folder}", f"gmail:{tmp_path}/Takeout", f"gmail:{tmp_path}"):
        found, [told] = read(spec)
        ham, spam = ["in", "comma"], ["junk", "folded", "forged"]
        assert [subject for label, subject in found if label == "ham"] == ham
        assert [subject for label, subject in found if label == "spam"] == spam
        assert "#10: no X-Gmail-Labels on top" in told


def test_what_is_no_takeout(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "takeout.zip", "w") as archive:
        archive.writestr("Takeout/Mail/All mail.mbox", "".join(TAKEOUT))
    with pytest.raises(SpamnbError, match=r"a ZIP archive, not mail; unpack it, and name the folder or mailbox that"):
        read(f"gmail:{tmp_path}/takeout.zip")
    (tmp_path / "inbox").write_text("From a 1:00\nSubject: x\n\n.\n")
    with pytest.raises(SpamnbError, match="no X-Gmail-Labels"):
        read(f"gmail:{tmp_path}/inbox")
    with pytest.raises(SpamnbError, match="no such file"):
        entries([f"gmail:{tmp_path}/missing"], lambda name, error: None)


@pytest.mark.parametrize(
    "value",
    ["", '"', '"a', "=?", "=?x?q?=FF?=", "=?utf-8?b?A?=", "=?utf-8?b?" + "A" * 7000, "=?a?q?" * 1200, "a," * 4000],
)
def test_any_labels_are_read_in_no_time(value: str) -> None:
    from time import process_time

    start = process_time()
    assert labels(b"From 1\nX-Gmail-Labels: " + value.encode()) is not None
    assert process_time() - start < 0.5


def test_the_labels_are_no_evidence_of_what_they_say() -> None:
    raw = b"X-GM-THRID: 1\nX-Gmail-Labels: Spam,Unread\nSubject: lunch\n\nnoon\n"
    assert not [token for token in Tokenizer()(parse(raw)) if "gm" in token or "label" in token]
    assert parse(raw).digest == parse(raw[raw.index(b"Subject") :]).digest
