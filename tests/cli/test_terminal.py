"""What a terminal shows, seen in real pseudo terminals, and that whoever reads a pipe gets what they always did."""

import base64
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from mail import message
from rich.cells import cell_len

from spamnb.mailbox import maildir

SUBJECT = "免費無限次任打中港長途電話，一網天下，您的滿意是我們追求的目標"
BIG5 = b"=?big5?b?" + base64.b64encode(SUBJECT.encode("big5")) + b"?="
HOSTILE = b"Subject: =?utf-8?q?pills=1B[2J=E2=80=AE=0Aspam=091.0000?=\nFrom: \x1b]0;x\x07\nDate: \x9b2J\n\n"


def in_terminal(columns: int, *arguments: object, said: str = "") -> list[str]:
    """Return the lines that a command writes into a pseudo terminal; ``said`` is on standard error."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, "-m", "spamnb", *map(str, arguments)],
        stdin=terminal, stdout=terminal, stderr=subprocess.PIPE, env=environment,
    )  # fmt: skip
    os.close(terminal)
    out = b""
    while True:
        try:
            data = os.read(controller, 65_536)
        except OSError:  # so Linux tells that nobody writes any more
            break
        if not data:
            break
        out += data
    os.close(controller)
    assert process.stderr is not None
    with process.stderr:
        told = process.stderr.read().decode()
    assert process.wait() == 0 and said in told, told
    return out.decode().replace("\r\n", "\n").splitlines()


@pytest.fixture
def box(tmp_path: Path) -> Path:
    box = maildir.make_folder(tmp_path / "Maildir")
    for number in range(5):
        (box / "new" / f"{number}.spam").write_bytes(message("spam", 900 + number))
    body = message("spam", 992).partition(b"\n\n")[2]
    dated = b"Date: Thu, 22 Aug 2002 14:26:25 +0200\n"
    (box / "new" / "5.chinese").write_bytes(b"From: Ann <a@x.example>\n" + dated + b"Subject: " + BIG5 + b"\n\n" + body)
    (box / "new" / "6.hostile").write_bytes(HOSTILE + body)
    return box


@pytest.mark.parametrize(("command", "columns"), [("classify", 40), ("classify", 120), ("sort", 80)])
def test_every_message_is_one_line_that_fits(trained: Path, box: Path, command: str, columns: int) -> None:
    where = [box] if command == "sort" else [box / "new"]
    said = (
        "spamnb: mail is called spam if its probability of spam is above 90 %\n" if command == "classify" else "to Junk"
    )
    lines = in_terminal(columns, command, "-m", trained, *where, said=said)
    assert len(lines) == 7 and all(line.isprintable() and cell_len(line) <= columns for line in lines)
    if columns == 40:
        return  # too narrow to tell them apart
    (chinese,) = (line for line in lines if "Ann" in line or "免" in line)
    assert "2002-08-22" in chinese and SUBJECT[:4] in chinese
    hostile = next(line for line in lines if "\\x1b" in line)
    assert hostile.startswith(("spam  ", "ham  "))
    assert columns != 80 or "Ann <a@x.ex" in chinese, "the sender has room at 80 columns"
    assert columns < 120 or all(line.endswith((".spam", "5.chinese", "6.hostile")) for line in lines)
    subjects = {cell_len(line.partition("spam.example")[0]) for line in lines if "spam.example" in line}
    assert len(subjects) <= 1  # columns stand below one another


def test_a_pipe_gets_tabs_and_names_and_no_more(trained: Path, box: Path) -> None:
    command = [sys.executable, "-m", "spamnb", "classify", "-m", trained, "--format", "text"]
    for source in (box / "new", box / "new" / "5.chinese"):
        out = subprocess.run([*command, source], capture_output=True, check=True, text=True).stdout
        rows = [line.split("\t") for line in out.splitlines()]
        names = [str(path) for path in sorted((box / "new").iterdir())] if source.is_dir() else [str(source)]
        assert [row[2:] for row in rows] == [[name] for name in names]
        assert {row[0] for row in rows} <= {"ham", "spam"} and all(row[1].startswith("P(spam) ") for row in rows)
        spam = ("P(spam) 9", "P(spam) over 99.9")
        assert all(row[1].startswith(spam) == (row[0] == "spam") for row in rows)
