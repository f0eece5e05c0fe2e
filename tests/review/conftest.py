"""The pages with a ledger and a folder for users' models, and hostile mail in the ledger."""

from pathlib import Path

import pytest
from mail import write_ledger

from spamnb.ledger.ledger import Ledger
from spamnb.mailbox import maildir
from spamnb.review.app import Review
from spamnb.user_models import Models

SCRIPT = "<script>window.pwned = 1</script><img src=x onerror='window.pwned=1'>\" onfocus='window.pwned=1' autofocus"
BIDI = "\u202e\u2066evil\u0301\u0301\u0301\u0301\u0301".encode()
HOSTILE = [
    f"From: {SCRIPT}\nSubject: {SCRIPT}\nMessage-ID: {SCRIPT}\n\n{SCRIPT} <b>bold</b>".encode(),
    f"Subject: one\nContent-Type: text/html\n\n<p>{SCRIPT}</p><p hidden>{SCRIPT}</p><base href=//x><form>".encode(),
    b"Subject: " + BIDI + b"\nFrom: " + BIDI + b"\n\n" + BIDI,
    b"Subject: " + b"x" * 1_000_000 + b"\n\n" + b"word " * 200_000,
    b"Subject: javascript:window.pwned=1\n\n</pre></main><script src=//x.example/y.js></script>",
]


@pytest.fixture
def hostile(tmp_path: Path, model: Path) -> int:
    """Hostile messages in a Maildir and in the ledger; how many they are."""
    box = maildir.make_folder(tmp_path / "Mail")
    for number, raw in enumerate(HOSTILE):
        (box / "cur" / str(number)).write_bytes(raw)
        write_ledger(tmp_path, model, raw, place=str(box / "cur" / str(number)))
    return len(HOSTILE)


@pytest.fixture
def review(tmp_path: Path, model: Path) -> Review:
    Ledger.open(tmp_path / "ledger").close()
    (tmp_path / "users").mkdir()
    return Review(tmp_path / "ledger", Models(model, tmp_path / "users", writable=True), "secret")
